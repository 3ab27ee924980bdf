# SPDX-License-Identifier: MIT
"""The programs that are asked about each package, and the environment that each left behind."""

import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import fetch
from process import run
from report import NotRun

HERE = Path(__file__).resolve().parent
PACKAGES = ("uv", "pip", "installer", "packaging", "twine")
# Written by an installer about itself, or in its own manner.
WRITTEN_BY_INSTALLERS = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
INSTALLERS = ("uv", "uv-stream", "pip", "installer")
SECONDS = 120
# Installers write the path of the interpreter in their own manner.
INTERPRETER = re.compile(rb"\A#!(?:[^\n]*python[^\n]*\n|/bin/sh\n'''exec' [^\n]*\n' '''\n)")
COMMAND = re.compile(rb"^from (\S+) import (\S+)$.*^ *sys\.exit\((.+)\(\)\)$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Answer:
    """The refusal of a tool or None, the files that it installed, and files of the environment that it changed."""

    refusal: str | None
    files: frozenset = frozenset()
    harm: tuple = ()

    def row(self):
        """Return the answer as JSON."""
        return [self.refusal, sorted(self.files), list(self.harm)]

    @classmethod
    def read(cls, line):
        """Return an answer that was kept."""
        return cls(line[0], frozenset(tuple(one) for one in line[1]), tuple(line[2]))


class NoAnswer(Exception):
    """A signal ended a tool, such as SIGKILL at its time limit. This is not a refusal of the package."""


def refusal(tool, status, text):
    """Return the refusal of a tool with this exit status and output, None if it accepts, or raise NoAnswer."""
    if status < 0:
        raise NoAnswer(f"{tool} ended with {signal.Signals(-status).name}: {text.strip()[-600:]}")
    return (text.strip()[-600:] or f"exit status {status}") if status else None


def fetched(work):
    """Return a directory with the tools, or raise NotRun."""
    home = work / "tools"
    ready = home / "ready"
    if not ready.is_file() or ready.read_text() != " ".join(PACKAGES):
        result = run([sys.executable, "-m", "venv", "--clear", home], work)
        if result.status:
            raise NotRun(f"this Python makes no virtual environment with pip: {result.problem}")
        result = run([home / "bin" / "pip", "install", "--quiet", "--upgrade", *PACKAGES], work, fetch.machine())
        if result.status:
            raise NotRun(f"the tools are not available from PyPI: {result.problem}")
        ready.write_text(" ".join(PACKAGES))
    return home / "bin"


def versions(bin_):
    """Return the versions of all tools, which decide their answers."""
    code = f"import importlib.metadata as m, sys; print(sys.version.split()[0], *[m.version(p) for p in {PACKAGES!r}])"
    return subprocess.run([str(bin_ / "python"), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def content(path):
    """Return the content of an installed file, without the differences that each installer makes in programs."""
    if path.is_symlink():
        return f"link {os.readlink(path)}".encode()
    data = path.read_bytes()
    if path.parent.name.lower() not in ("bin", "scripts") or not data.startswith(b"#!"):
        return data
    command = COMMAND.search(data)
    if command:
        return b"command " + b" ".join(command.groups())
    return INTERPRETER.sub(b"#!python\n", data)


def tree(env):
    """Return the digest of each file of an environment, by path."""
    entries = {}
    for directory, directories, names in os.walk(env):
        directories[:] = [name for name in directories if name != "__pycache__"]
        for name in names + [one for one in directories if Path(directory, one).is_symlink()]:
            path = Path(directory, name)
            below = path.relative_to(env)
            if name in WRITTEN_BY_INSTALLERS and below.parts[-2].endswith(".dist-info") or below.as_posix() == ".lock":
                continue
            entries[below.as_posix()] = hashlib.sha256(content(path)).hexdigest()[:16]
    return entries


class Tools:
    """One user of all tools, for a thread."""

    def __init__(self, bin_, rockpack, work):
        self.bin, self.rockpack, self.work = bin_, rockpack, work
        self.work.mkdir(parents=True, exist_ok=True)
        self.plain = self.work / "plain"
        result = run([bin_ / "python", "-m", "venv", "--without-pip", self.plain], self.work)
        if result.status:
            raise NotRun(f"this Python makes no virtual environment: {result.problem}")
        self.before = tree(self.plain)
        self.worker = subprocess.Popen(
            [str(bin_ / "python"), "-B", str(HERE / "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.server = _serve(self.work)

    def close(self):
        """End the worker and the server."""
        self.worker.stdin.close()
        self.worker.wait()
        self.server.shutdown()

    def verify(self, path):
        """Return findings (severity, code, text), or the text of an error that is not about the package."""
        words = ["wheel", "verify", "--json", "--manifest", "built-in", path]
        result = run([self.rockpack, *words], self.work, os.environ, SECONDS)
        if result.status == 2 and "neither a wheel nor an sdist" in " ".join(result.err.replace("│", " ").split()):
            return [("error", "usage", result.err.strip(), None, None)], result.err
        if result.status not in (0, 1):
            return None, result.problem
        try:
            findings = json.loads(result.out)["findings"]
        except (ValueError, KeyError):
            return None, f"no JSON: {result.out[:600]}{result.err}"
        return [(one["severity"], one["code"], one["what"], one["member"], one["detail"]) for one in findings], result.err

    def ask(self, tool, path):
        """Give the package to one tool, with a new environment if it installs; may raise NoAnswer."""
        target, log = self.work / f"{tool}.out", self.work / f"{tool}.log"
        shutil.rmtree(target, ignore_errors=True)
        installs = tool in INSTALLERS
        if installs:
            shutil.copytree(self.plain, target, symlinks=True)
        else:
            target.mkdir()
        if tool.startswith("uv"):
            status, text = self._uv(tool, path, target)
        else:
            words = {"tool": tool, "file": str(path), "target": str(target), "log": str(log)}
            self.worker.stdin.write(json.dumps(words) + "\n")
            self.worker.stdin.flush()
            status, text = json.loads(self.worker.stdout.readline()), log.read_text(errors="replace")
        reason = refusal(tool, status, text)
        if not installs or reason:
            return Answer(reason)
        after = tree(target)
        new = frozenset((path, digest) for path, digest in after.items() if path not in self.before)
        harm = tuple(sorted(path for path, digest in self.before.items() if after.get(path) != digest))
        return Answer(None, new, harm)

    def _uv(self, tool, path, target):
        place = str(path)
        if tool == "uv-stream":
            place = f"http://127.0.0.1:{self.server.server_address[1]}/{path.relative_to(self.work).as_posix()}"
        words = ["pip", "install", "--no-index", "--no-deps", "--no-config", "--quiet", "--no-build-isolation", "--link-mode", "copy"]
        # uv's cache knows the interpreter; each package has a new path, so uv reads it anew.
        command = [self.bin / "uv", *words, "--cache-dir", self.work / "cache", "--python", target / "bin" / "python", place]
        keep = {"PATH": os.environ["PATH"], "UV_PYTHON_DOWNLOADS": "never", "HOME": str(self.work), "LANG": "C.UTF-8"}
        result = run(command, self.work, keep, SECONDS)
        return result.status, result.err


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of one directory, without a log."""

    def log_message(self, *_):
        """Print nothing."""


def _serve(directory):
    """Serve a directory on the loopback, for the installer that unpacks while it downloads."""
    def handler(*words):
        return Quiet(*words, directory=str(directory))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
