# SPDX-License-Identifier: MIT
"""Wine, a compiler for Windows, and a Python for Windows."""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

from fetch import ensure_pip, machine
from process import PATH, run
from report import NotRun

HERE = Path(__file__).resolve().parent
WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
SERVER = ("wineserver", "/usr/lib/wine/wineserver64", "/usr/lib/wine/wineserver")
COMPILER = "x86_64-w64-mingw32-gcc"
SECONDS = 600
ATTEMPTS = 3
# The wheel of this project has the DLL and the extension modules of CPython for Windows, to freeze programs with; the
# rest of Python is text, the same on every system.
FROZEN = "panda3d==1.10.16"
NOT_COPIED = ("__pycache__", "site-packages", "dist-packages", "test", "idlelib", "tkinter", "turtledemo",
              "lib-dynload", "config-*", "EXTERNALLY-MANAGED", "sitecustomize.py")


@dataclass(frozen=True)
class Ended:
    """Result of a program of Windows."""

    status: int
    out: str
    err: str


class Windows:
    """A directory that Wine takes for a machine."""

    def __init__(self, work):
        self.work = work
        self.wine, self.server = _first(WINE), _first(SERVER)
        if self.wine is None:
            raise NotRun("Wine is not installed (Debian: wine64)")
        if shutil.which(COMPILER) is None:
            raise NotRun(f"{COMPILER} is not installed (Debian: gcc-mingw-w64-x86-64)")
        self.prefix = work / "prefix"
        self.system = self.prefix / "drive_c" / "windows" / "system32"
        self._environment = {
            "PATH": PATH, "LANG": "C.UTF-8", "HOME": str(work), "WINEPREFIX": str(self.prefix),
            "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=",
        }
        probe = self.compile("probe.c", work / "probe.exe", "-municode")
        started = self.run([probe, "C:\\windows\\system32\\kernel32.dll"])
        if started.out != "loaded\n":
            raise NotRun(f"Wine starts no program here: {started}")
        self.probe = probe

    def run(self, command, cwd=None, **variables):
        """Run a program of Windows; pipes are all that it can have, since Wine knows no `/dev/null`.

        On a busy machine, Wine ends a program now and then with status 1 before its first output: that is repeated.
        """
        for _ in range(ATTEMPTS):
            result = subprocess.run(
                [self.wine, *map(str, command)], cwd=cwd or self.work, env={**self._environment, **variables},
                input=b"", capture_output=True, timeout=SECONDS, check=False)
            if result.returncode != 1 or result.stdout or result.stderr:
                break
        out, err = (text.decode("utf-8", "replace").replace("\r\n", "\n") for text in (result.stdout, result.stderr))
        return Ended(result.returncode, out, err)

    def load(self, file, *call, directories=(), first=()):
        """Return the result of loading a DLL, with these directories opened, after these DLLs."""
        opened = [word for directory in directories for word in ("--directory", windows_path(directory))]
        opened += [word for one in first for word in ("--first", windows_path(one))]
        return self.run([self.probe, *opened, windows_path(file), *call]).out.strip()

    def compile(self, source, target, *options):
        """Compile a source of this directory, or a generated one, for Windows."""
        return compiled([HERE / source, *options], target)

    def stop(self):
        """End Wine's processes of this machine, and no others."""
        if self.server is not None:
            subprocess.run([self.server, "-k"], env=self._environment, check=False, timeout=SECONDS)


def _first(names):
    return next((path for name in names if (path := shutil.which(name))), None)


def compiled(words, target):
    """Run the compiler; the file that it makes."""
    result = run([COMPILER, *words, "-O1", "-o", target], target.parent)
    if result.status:
        raise RuntimeError(result.problem)
    return target


def windows_path(path):
    """Return the name that a file of this machine has in Wine."""
    return "Z:" + str(path).replace("/", "\\")


def python_for_windows(work):
    """Return a directory with Python for Windows and pip, made once."""
    place = work / "python"
    if place.is_dir():
        return place
    number = f"{sys.version_info[0]}{sys.version_info[1]}"
    pip = ensure_pip(work)
    fresh = work / "python.partial"
    shutil.rmtree(fresh, ignore_errors=True)
    (fresh / "DLLs").mkdir(parents=True)
    with zipfile.ZipFile(_wheel(work)) as wheel:
        for name in wheel.namelist():
            file = name.removeprefix("deploy_libs/")
            if file == name or file.startswith("api-ms-"):
                continue
            beside = file.lower() in (f"python{number}.dll", "vcruntime140.dll", "vcruntime140_1.dll")
            (fresh / ("" if beside else "DLLs") / file).write_bytes(wheel.read(name))
    standard = sysconfig.get_paths()["stdlib"]
    shutil.copytree(standard, fresh / "Lib", ignore=shutil.ignore_patterns(*NOT_COPIED))
    (fresh / "Lib" / "site-packages").mkdir()
    for one in pip.iterdir():
        if one.name.startswith("pip") and one.is_dir():
            shutil.copytree(one, fresh / "Lib" / "site-packages" / one.name)
    name = f'-DPYTHON_DLL=L"python{number}.dll"'
    compiled([HERE / "python.c", name, "-municode"], fresh / "python.exe")
    fresh.rename(place)
    return place


def _wheel(work):
    fetched = work / "fetched"
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not list(fetched.glob("*.whl")):
        command = [sys.executable, "-m", "venv", work / "venv"]
        result = run(command, work)
        if not result.status:
            result = run([work / "venv/bin/python", "-m", "pip", "download", "--quiet", "--no-deps",
                          "--only-binary", ":all:", "--platform", "win_amd64", "--python-version", version,
                          "--dest", fetched, FROZEN], work, machine())
        if result.status:
            raise NotRun(f"no Python {version} for Windows can be had from PyPI: {result.problem}")
    return next(fetched.glob("*.whl"))
