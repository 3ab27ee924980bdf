"""Shared libraries and programs of a package."""

from __future__ import annotations

import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from .._regular import open_regular

_SO_NAME = re.compile(r".+\.so(\.\d+)*")
_EXTENSION_MODULE = re.compile(r".+\.(cpython-[^.]+|abi3|pypy[^.]+)(-[^.]+)*\.so|.+\.pyd", re.I)
_SANITIZER = re.compile(r"libclang_rt\.[a-z]*san[a-z_]*.*")
_SHARED_OBJECT = 3  # ET_DYN of the gABI


def shared_libraries(root: Path) -> Iterator[str]:
    """Yield the shared libraries below `root`, as sorted relative paths with `/`."""
    for directory, subdirectories, names in os.walk(root):
        subdirectories.sort()
        for name in sorted(names):
            path = Path(directory, name)
            if _is_shared_library(path):
                yield path.relative_to(root).as_posix()


def programs(root: Path) -> Iterator[str]:
    """Yield the programs below `root`, as sorted relative paths with `/`."""
    for directory, subdirectories, names in os.walk(root):
        subdirectories.sort()
        for name in sorted(names):
            path = Path(directory, name)
            if _is_program(path):
                yield path.relative_to(root).as_posix()


def _is_program(path: Path) -> bool:
    if sys.platform == "win32":
        return path.suffix.lower() == ".exe"
    may_start = _SO_NAME.fullmatch(path.name) is None and os.access(path, os.X_OK)
    return may_start and _elf_header(path) is not None


def _is_shared_library(path: Path) -> bool:
    if sys.platform == "win32":
        return path.suffix.lower() in (".dll", ".pyd")
    header = _elf_header(path) if _SO_NAME.fullmatch(path.name) else None
    return header is not None and header[1] == _SHARED_OBJECT


def is_extension_module(name: str) -> bool:
    """Return whether a name is a Python extension module's."""
    return _EXTENSION_MODULE.fullmatch(name) is not None


def why_not_alone(path: Path) -> str | None:
    """Return the reason if a library cannot be loaded alone, otherwise None."""
    if is_extension_module(path.name):
        return "a Python extension module loads by import"
    if _SANITIZER.fullmatch(path.name):
        return "a sanitizer runtime must be the first library of a process"
    if sys.platform != "win32" and _processor(path) != _processor(Path(sys.executable)):
        return "it is for another kind of processor"
    return None


def _processor(path: Path) -> tuple[bytes, int] | None:
    header = _elf_header(path)
    return None if header is None else (header[0], header[2])


def _elf_header(path: Path) -> tuple[bytes, int, int] | None:
    """Return class and byte order, type and machine; None for other files."""
    try:
        with open_regular(path) as file:
            start = file.read(20)
    except OSError:
        return None
    if len(start) < 20 or not start.startswith(b"\x7fELF"):
        return None
    order = "<" if start[5] == 1 else ">"
    kind, machine = struct.unpack_from(f"{order}HH", start, 16)
    return start[4:6], kind, machine
