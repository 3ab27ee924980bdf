"""Paths without Windows' limit of 259 characters.

Unless the machine's settings lift the limit, longer paths need the prefix `\\\\?\\`, which requires
an absolute path with backslashes.
"""

from __future__ import annotations

import ntpath
import sys
from pathlib import Path

_VERBATIM = "\\\\?\\"
_SHARE = "\\\\?\\UNC\\"


def unlimited(path: Path) -> Path:
    """Return a path for file access, not for output."""
    return Path(extended(str(path))) if sys.platform == "win32" else path


def extended(path: str) -> str:
    """Return an absolute path of Windows without the limit."""
    full = ntpath.abspath(path)
    if full.startswith(("\\\\?\\", "\\\\.\\")):
        return full
    return _SHARE + full[2:] if full.startswith("\\\\") else _VERBATIM + full


def programs(path: Path) -> list[Path]:
    """Return the files that a program can be, in the order of Windows' console scripts."""
    if sys.platform != "win32":
        return [path]
    return [path.with_name(path.name + suffix) for suffix in (".exe", ".bat", "")]


def below(directory: str, name: str) -> str:
    """Return the path of a name with `/` in a directory."""
    return joined(directory, name) if sys.platform == "win32" else f"{directory}/{name}"


def joined(directory: str, name: str) -> str:
    """Return the path of a name with `/` in a directory on Windows."""
    return ntpath.join(directory, name.replace("/", "\\"))
