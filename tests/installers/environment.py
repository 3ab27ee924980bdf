# SPDX-License-Identifier: MIT
"""Virtual environments, and the installers that fill them."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import snapshot
from process import Result, start, wait
from pythons import Interpreter


@dataclass(frozen=True)
class Tool:
    """An installer: `pip` (`path` is added to PYTHONPATH) or `uv` (`path` is the program)."""

    name: str
    path: Path
    version: str

    @property
    def label(self):
        """Name and version."""
        return f"{self.name} {self.version}"

    @property
    def is_uv(self):
        """True for uv."""
        return self.name == "uv"

    @property
    def release(self):
        """The version as numbers, to compare."""
        return tuple(int(part) for part in self.version.split(".") if part.isdigit())


class Environment:
    """A virtual environment of one interpreter, filled by one tool; it starts without any package."""

    def __init__(self, python: Interpreter, tool: Tool, place: Path, settings: dict, name="venv"):
        self.python, self.tool = python, tool
        self.work = place
        self.place, self.home = place / name, place / "home"
        self.settings = settings

    @property
    def site(self):
        """The directory of its packages."""
        return next((self.place / "lib").glob("python3*/site-packages"))

    def sibling(self, place):
        """Return the same for an environment that was copied or moved to `place`."""
        other = Environment(self.python, self.tool, self.work, self.settings)
        other.place = place
        return other

    def make(self):
        """Make the environment, without pip in it; the snapshot of it stays in `before`."""
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        result = self.run([self.python.path, "-m", "venv", "--without-pip", self.place])
        self.before = snapshot.contents(self.place)
        return result

    def start(self, command, env=None, cwd=None):
        """Start a program that knows nothing of this machine's configuration."""
        settings = {
            "HOME": str(self.home), "TMPDIR": str(self.home / "tmp"),
            "PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore",
            "UV_CACHE_DIR": str(self.home / "uv-cache"), "UV_NO_CONFIG": "1", "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1", **self.settings, **(env or {}),
        }
        return start(self.python.command(command), cwd or self.work, settings)

    def run(self, command, env=None, cwd=None):
        """Run a program to its end."""
        return self.outcome(self.start(command, env, cwd), command)

    @staticmethod
    def outcome(process, command):
        """Wait for a process of `start`; return its result with the command without the words that enter a root."""
        result = wait(process)
        return Result(tuple(map(str, command)), result.status, result.out, result.err)

    def module(self, *arguments, env=None):
        """Run `python -m rocm_sdk`, which serves wherever the environment is."""
        return self.run([self.place / "bin/python", "-m", "rocm_sdk", *arguments], env)

    def program(self, name, *arguments, env=None):
        """Run one of the environment's own programs."""
        return self.run([self.place / "bin" / name, *arguments], env)

    def command(self, verb, *arguments):
        """Return `pip VERB` or `uv pip VERB` for this environment, and the variables it needs."""
        if self.tool.is_uv:
            return [self.tool.path, "pip", verb, "--python", self.place / "bin/python", *arguments], {}
        sure = ["--yes"] if verb == "uninstall" else []
        return [self.place / "bin/python", "-m", "pip", verb, *sure, *arguments], {"PYTHONPATH": str(self.tool.path)}

    def installer(self, verb, *arguments, env=None):
        """Run `pip VERB` or `uv pip VERB` to its end."""
        command, needed = self.command(verb, *arguments)
        return self.run(command, {**needed, **(env or {})})

    def install(self, source, *words, env=None):
        """Install requirements (and options) from a source."""
        return self.installer("install", *source.options, *words, env=env)

    def leftovers(self):
        """Describe the differences of the environment from its initial state."""
        after = snapshot.contents(self.place)
        after.pop(".lock", None)  # uv's
        return snapshot.difference(self.before, after)

    def remove(self):
        """Delete the environment, and the caches made for it."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)
