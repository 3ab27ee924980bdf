# SPDX-License-Identifier: MIT
"""Runs pip, installer, zipfile and tarfile, each case in a process of its own, without starting Python again.

Reads lines of JSON (tool, file, target, log) and answers each with the exit status; started by `tools.py`.
"""

import hashlib
import json
import os
import signal
import sys
import tarfile
import zipfile
from pathlib import Path

import installer
import installer.destinations
import installer.sources
import packaging.metadata
from pip._internal.cli.main import main as pip_main
from pip._internal.commands import create_command
from pip._internal.commands.install import InstallCommand  # noqa: F401: imported once, before all forks

SECONDS = 120


def pip(file, target):
    """Install with pip's own command line."""
    words = ["--no-index", "--no-deps", "--no-cache-dir", "--no-compile", "--disable-pip-version-check", "--quiet"]
    return pip_main(["install", *words, "--no-build-isolation", "--target", target, file])


def installer_(file, target):
    """Install with the reference library, with the checks of RECORD that it has."""
    below = {"purelib": "", "platlib": "", "scripts": "bin", "data": "", "headers": "include/site/demo"}
    place = installer.destinations.SchemeDictionaryDestination(
        {name: str(Path(target, part)) for name, part in below.items()}, sys.executable, "posix")
    with installer.sources.WheelFile.open(file) as source:
        source.validate_record(validate_contents=True)
        installer.install(source, place, {"INSTALLER": b"installer"})
    return 0


def zipfile_(file, target):
    """Test, then extract."""
    with zipfile.ZipFile(file) as archive:
        broken = archive.testzip()
        if broken is not None:
            raise zipfile.BadZipFile(f"testzip: {broken}")
        archive.extractall(target)
    return 0


def tarfile_(file, target):
    """Extract with the filter for data of others."""
    with tarfile.open(file) as archive:
        archive.errorlevel = 2
        archive.extractall(target, filter="data")
    return 0


def packaging_(file, target):
    """Check the metadata as index servers do."""
    if tarfile.is_tarfile(file):
        with tarfile.open(file) as archive:
            name = next(name for name in archive.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO"))
            data = archive.extractfile(name).read()
    else:
        with zipfile.ZipFile(file) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            data = archive.read(name)
    packaging.metadata.Metadata.from_email(data, validate=True)
    return 0


TOOLS = {"packaging": packaging_, "pip": pip, "installer": installer_, "zipfile": zipfile_, "tarfile": tarfile_}


def child(tool, file, target, log):
    """Run one tool; never returns."""
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    signal.alarm(SECONDS)
    status = 1
    try:
        status = TOOLS[tool](file, target)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001: any error of a tool is its refusal
        print(f"{type(error).__name__}: {error}", flush=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


def main():
    create_command("install")
    hashlib.sha256()
    for line in sys.stdin:
        words = json.loads(line)
        process = os.fork()
        if process == 0:
            child(**words)
        _, status = os.waitpid(process, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
