"""Paths in the form that the system opens whatever their length.

Windows opens 259 characters, and more only where the machine's settings allow them or where
the path says that nothing is to be made of it (`\\\\?\\`): then it has to be absolute, and its
separators have to be backslashes.
"""

from __future__ import annotations

import ntpath
import sys
from pathlib import Path

_AS_IT_IS = "\\\\?\\"
_SHARE = "\\\\?\\UNC\\"


def unlimited(path: Path) -> Path:
    """Return the path for opening what is there or below; not for people or programs."""
    return Path(extended(str(path))) if sys.platform == "win32" else path


def extended(path: str) -> str:
    """Return a path of Windows without a limit on its length."""
    full = ntpath.abspath(path)
    if full.startswith(("\\\\?\\", "\\\\.\\")):
        return full
    return _SHARE + full[2:] if full.startswith("\\\\") else _AS_IT_IS + full


def below(directory: str, name: str) -> str:
    """Return the path of a name with `/` below a directory."""
    return joined(directory, name) if sys.platform == "win32" else f"{directory}/{name}"


def joined(directory: str, name: str) -> str:
    """Return the same on Windows."""
    return ntpath.join(directory, name.replace("/", "\\"))
