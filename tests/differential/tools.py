# SPDX-License-Identifier: MIT
"""The programs that are asked about each package, and what each left behind."""

import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import fetch
from process import run
from report import NotRun

HERE = Path(__file__).resolve().parent
PACKAGES = ("uv", "pip", "installer", "packaging")
# Written by an installer about itself, or in its own manner.
OWN = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
SECONDS = 120


@dataclass(frozen=True)
class Answer:
    """What a tool made of a package: its refusal or None, and the files that it installed."""

    refusal: str | None
    files: frozenset


def fetched(work):
    """Return a directory with the tools, or raise NotRun."""
    home = work / "tools"
    if not all((home / "bin" / name).is_file() for name in ("uv", "pip")) or not (home / "ready").is_file():
        done = run([sys.executable, "-m", "venv", "--clear", home], work)
        if done.status:
            raise NotRun(f"this Python makes no virtual environment with pip: {done.problem}")
        done = run([home / "bin" / "pip", "install", "--quiet", "--upgrade", *PACKAGES], work, fetch.machine())
        if done.status:
            raise NotRun(f"the tools cannot be had from PyPI: {done.problem}")
        (home / "ready").touch()
    return home / "bin"


def files_of(target):
    """Return paths and contents of the installed modules, without scripts and files that the installer adds."""
    found = set()
    for directory, _, names in os.walk(target):
        for name in names:
            path = Path(directory, name)
            below = path.relative_to(target)
            if below.parts[0] in ("bin", "include", "share", "__pycache__", ".lock") or name in OWN or "__pycache__" in below.parts:
                continue
            data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
            found.add((below.as_posix(), hashlib.sha256(data).hexdigest()))
    return frozenset(found)


class Tools:
    """One user of all tools, for a thread."""

    def __init__(self, bin_, rockpack, work):
        self.bin, self.rockpack, self.work = bin_, rockpack, work
        self.work.mkdir(parents=True, exist_ok=True)
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
        words = ["wheel", "verify", "--json", "--manifest", "built-in", str(path)]
        try:
            done = subprocess.run([str(self.rockpack), *words], capture_output=True, text=True, timeout=SECONDS, cwd=self.work, errors="replace")
        except subprocess.TimeoutExpired:
            return None, f"no answer in {SECONDS} s"
        if done.returncode == 2 and "neither a wheel nor an sdist" in " ".join(done.stderr.replace("│", " ").split()):
            return [("error", "usage", done.stderr.strip(), None, None)], done.stderr
        if done.returncode not in (0, 1):
            return None, f"exit status {done.returncode}: {done.stderr}"
        try:
            found = json.loads(done.stdout)["findings"]
        except (ValueError, KeyError):
            return None, f"no JSON: {done.stdout[:600]}{done.stderr}"
        return [(one["severity"], one["code"], one["what"], one["member"], one["detail"]) for one in found], done.stderr

    def ask(self, tool, path):
        """Give the package to one tool."""
        target, log = self.work / f"{tool}.out", self.work / f"{tool}.log"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        if tool.startswith("uv"):
            status, said = self._uv(tool, path, target)
        else:
            words = {"tool": tool, "file": str(path), "target": str(target), "log": str(log)}
            self.worker.stdin.write(json.dumps(words) + "\n")
            self.worker.stdin.flush()
            status, said = json.loads(self.worker.stdout.readline()), log.read_text(errors="replace")
        answer = Answer(said.strip()[-600:] or f"exit status {status}" if status else None, files_of(target))
        shutil.rmtree(target, ignore_errors=True)
        return answer

    def _uv(self, tool, path, target):
        place = str(path)
        if tool == "uv-stream":
            place = f"http://127.0.0.1:{self.server.server_address[1]}/{path.relative_to(self.work).as_posix()}"
        words = ["pip", "install", "--no-index", "--no-deps", "--no-cache", "--no-config", "--quiet", "--no-build-isolation", "--link-mode", "copy"]
        command = [str(self.bin / "uv"), *words, "--python", str(self.bin / "python"), "--target", str(target), place]
        keep = {"PATH": os.environ["PATH"], "UV_PYTHON_DOWNLOADS": "never", "HOME": str(self.work), "LANG": "C.UTF-8"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=keep, cwd=self.work, errors="replace")
        return done.returncode, done.stderr


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
