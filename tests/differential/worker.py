# SPDX-License-Identifier: MIT
"""Runs pip, installer, zipfile, tarfile, packaging and twine, each case in a forked process, without starting Python
again.

Reads lines of JSON (tool, file, target, log) and answers each with the exit status, or with the negative number of a
signal: SIGKILL at the time limit. Started by `tools.py`.
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
import pip._internal.operations.install.wheel
import pip._internal.resolution.resolvelib.resolver
import pip._vendor.distlib.scripts
import pip._vendor.pyproject_hooks  # noqa: F401: loaded here, so that no fork loads it again, like the modules above
import twine.commands.check
import twine.package
from pip._internal.cli.main import main as pip_main
from pip._internal.commands import create_command

TIME_LIMIT = 120  # seconds


def pip_(file, target):
    """Install with pip's own command line, into an environment."""
    options = ["--no-index", "--no-deps", "--no-cache-dir", "--no-compile", "--disable-pip-version-check", "--quiet",
               "--no-build-isolation", "--ignore-installed", "--no-warn-script-location"]
    return pip_main(["install", *options, "--prefix", target, file])


def installer_(file, target):
    """Install with the reference library, after its check of RECORD."""
    python = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    site = f"lib/{python}/site-packages"
    scheme = {"purelib": site, "platlib": site, "scripts": "bin", "data": "", "headers": f"include/site/{python}/demo"}
    destination = installer.destinations.SchemeDictionaryDestination(
        {name: str(Path(target, part)) for name, part in scheme.items()}, str(Path(target, "bin", "python")), "posix")
    with installer.sources.WheelFile.open(file) as source:
        source.validate_record(validate_contents=True)
        installer.install(source, destination, {"INSTALLER": b"installer"})
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
    """Extract with the filter for untrusted data."""
    with tarfile.open(file) as archive:
        # Raises all errors; level 1 ignores some.
        archive.errorlevel = 2
        archive.extractall(target, filter="data")
    return 0


def packaging_(file, target):
    """Check the metadata as index servers do."""
    if tarfile.is_tarfile(file):
        with tarfile.open(file) as archive:
            names = [name for name in archive.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO")]
            data = archive.extractfile(_first(names, "PKG-INFO")).read()
    else:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
            data = archive.read(_first(names, "METADATA"))
    packaging.metadata.Metadata.from_email(data, validate=True)
    return 0


def _first(names, file):
    """Return the first name. A package without the file is refused, as by index servers."""
    if not names:
        raise FileNotFoundError(f"the package has no {file}")
    return names[0]


def twine_(file, target):
    """Check metadata as `twine check` does."""
    twine.package.PackageFile.from_filename(file, None).metadata_dictionary()
    return 1 if twine.commands.check.check([file], strict=False) else 0


TOOLS = {"packaging": packaging_, "pip": pip_, "installer": installer_, "zipfile": zipfile_, "tarfile": tarfile_, "twine": twine_}


def child(tool, file, target, log):
    """Run one tool; never returns."""
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    # The standard input has the next requests, which the tool must not read.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # A process group, so that the time limit also ends programs that the tool started, such as a build backend.
    os.setpgid(0, 0)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(0, signal.SIGKILL))
    signal.alarm(TIME_LIMIT)
    status = 1
    try:
        status = TOOLS[tool](file, target)
    except SystemExit as error:
        # As in Python: None is success, and a text an error.
        status = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001: any error of a tool is its refusal
        print(f"{type(error).__name__}: {error}", flush=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status or 0)


def main():
    # Loads pip's command and OpenSSL once, because each fork would load them again.
    create_command("install")
    hashlib.sha256()
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            child(**request)
        _, status = os.waitpid(process, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
