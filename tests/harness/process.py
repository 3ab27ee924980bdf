# SPDX-License-Identifier: MIT
"""Starting programs: on this machine, and in the Debian root."""

import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIME_LIMIT = 3600  # seconds for one program; only a hang reaches it


@dataclass(frozen=True)
class Result:
    """Result of a program: its exit status (negative: the signal) and its output."""

    command: tuple
    status: int
    out: str
    err: str

    @property
    def problem(self):
        """Return a description of the failure, or None."""
        return None if self.status == 0 else f"{self.ending}: {self.err or self.out}"

    @property
    def ending(self):
        """Return the command with its exit status or signal."""
        end = signal.Signals(-self.status).name if self.status < 0 else f"exit status {self.status}"
        return f"`{' '.join(self.command)}`: {end}"


def start(command, cwd, env=None, **options):
    """Start a program with a clean environment and no input; its output is piped."""
    environment = {"PATH": PATH, "LANG": "C.UTF-8", "ROCKPACK_NO_CACHE": "1", **(env or {})}
    return subprocess.Popen(
        [str(part) for part in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def wait(process):
    """Wait for a program that `start` started. One over the time limit is killed, so its result has SIGKILL."""
    try:
        out, err = process.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    texts = (text.decode("utf-8", "replace") for text in (out, err))
    return Result(tuple(process.args), process.returncode, *texts)


def run(command, cwd, env=None, **options):
    """Run a program to its end."""
    return wait(start(command, cwd, env, **options))


class Root:
    """A Debian root directory; programs started in it see `work` as /w."""

    def __init__(self, path, tools, work):
        self.path, self.tools, self.work = path, tools, work

    def inside(self, path):
        """Return the path in the root of something below the work directory."""
        return "/w/" + Path(path).relative_to(self.work).as_posix()

    def start(self, command, home, env=None):
        """Start a program; `home`, below the work directory, takes its caches."""
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        # make-root sets HOME and PATH, so `env` sets them again inside of the root.
        settings = {
            "HOME": self.inside(home), "TMPDIR": self.inside(temporary),
            "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore",
            "UV_CACHE_DIR": self.inside(home / "uv-cache"), "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1", **(env or {}),
        }
        words = [f"{name}={value}" for name, value in settings.items()]
        make_root = [self.tools / "make-root", self.path, "--"]
        return start([*make_root, "env", *words, *command], self.work)

    def run(self, command, home, env=None):
        """Run a program in the root to its end."""
        result = wait(self.start(command, home, env))
        return Result(tuple(map(str, command)), result.status, result.out, result.err)


def kill(process):
    """Kill a program that `start` started. (make-root and similar programs replace themselves by it.)"""
    process.send_signal(signal.SIGKILL)
    process.communicate()
