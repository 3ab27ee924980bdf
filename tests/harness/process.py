# SPDX-License-Identifier: MIT
"""Starting programs: on this machine, and in the Debian root."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIME_LIMIT = 3600  # seconds for one program; only a hang reaches it
PATIENCE = 5  # seconds for the end of killed programs


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
    """Start a program with a clean environment and no input; its output is piped.

    It leads a session, so that `kill` also ends the programs that it starts.
    """
    environment = {"PATH": PATH, "LANG": "C.UTF-8", "ROCKPACK_NO_CACHE": "1", **(env or {})}
    return subprocess.Popen(
        [str(part) for part in command], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **options)


def wait(process, limit=TIME_LIMIT):
    """Wait for a program that `start` started, until it and all programs with its output have ended.

    After `limit` seconds they are killed, and the status is that of SIGKILL.
    """
    try:
        out, err = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        out, err = kill(process)
        # The program can have ended well: then only a program that it started was late.
        status = -signal.SIGKILL
    except BaseException:
        # Ctrl+C at a terminal does not reach another session.
        kill(process)
        raise
    texts = (text.decode("utf-8", "replace") for text in (out, err))
    return Result(tuple(process.args), status, *texts)


def run(command, cwd, env=None, limit=TIME_LIMIT, **options):
    """Run a program to its end, or to the time limit."""
    return wait(start(command, cwd, env, **options), limit)


def kill(process):
    """Kill a program that `start` started, and the programs of its group; return the output.

    `make-root` and `env` replace themselves with the program that they run, so it has their process ID.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    try:
        return process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        # A program in another group, such as a daemon, keeps the pipes open.
        process.stdout.close()
        process.stderr.close()
        process.wait()
        return late.output or b"", late.stderr or b""


class Root:
    """A Debian root directory; programs started in it see `work` as /w."""

    def __init__(self, path, tools, work):
        self.path, self.tools, self.work = path, tools, work

    def inside(self, path):
        """Return the path of a file below the work directory, as programs in the root see it."""
        return "/w/" + Path(path).relative_to(self.work).as_posix()

    def start(self, command, home, env=None):
        """Start a program; `home`, below the work directory, takes its caches."""
        temporary = home / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        # make-root replaces HOME and PATH, so the variables are set by the program `env`, inside the root.
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
