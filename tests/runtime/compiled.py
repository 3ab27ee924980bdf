"""Compiled shared libraries and programs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path


def skip_loudly(reason: str) -> unittest.SkipTest:
    """Return the exception that skips a test, and print the reason."""
    print(f"\n*** NOT TESTED: {reason} ***", file=sys.stderr)
    return unittest.SkipTest(reason)


def compiler() -> str:
    path = shutil.which("cc")
    if path is None:
        raise skip_loudly("the C compiler `cc` is not installed")
    return path


def library(
    path: Path,
    *,
    code: str = "",
    needs: tuple[Path, ...] = (),
    rpath: str | None = "$ORIGIN",
    tag: str = "rpath",
    versions: str | None = None,
    soname: str | None = None,
    more: tuple[str, ...] = (),
) -> Path:
    """Compile a library with the libraries `needs` and the version script `versions`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    function = path.name.partition(".")[0].replace("-", "_")
    arguments = ["-shared", "-fPIC", f"-Wl,-soname,{soname or path.name}", *more]
    if versions is not None:
        script = path.with_name(path.name + ".map")
        script.write_text(versions)
        arguments.append(f"-Wl,--version-script={script}")
    _compile(path, code or f"int {function}(void) {{ return 7; }}", arguments, needs, rpath, tag)
    if versions is not None:
        script.unlink()
    return path


def program(path: Path, *, needs: tuple[Path, ...] = (), rpath: str | None = None) -> Path:
    """Compile an empty program with these needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _compile(path, "int main(void) { return 0; }", [], needs, rpath, "rpath")
    return path


def _compile(
    path: Path,
    code: str,
    arguments: list[str],
    needs: tuple[Path, ...],
    rpath: str | None,
    tag: str,
) -> None:
    tags = {"rpath": "--disable-new-dtags", "runpath": "--enable-new-dtags"}
    if rpath is not None:
        arguments = [*arguments, f"-Wl,-rpath,{rpath}", f"-Wl,{tags[tag]}"]
    links = ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", *map(str, needs)]
    command = [compiler(), "-x", "c", "-", "-x", "none", "-o", str(path), *arguments, *links]
    result = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
