"""Check of the needs of DLLs and programs on Windows.

A DLL is found beside the file, in the directories that `preload_libraries` opens, in Python's, and
in Windows' own. Functions are compared between DLLs of packages; those of Windows depend on it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .._pe import Pe, PeError, read

# Contracts that Windows maps to its DLLs.
_API_SET = re.compile(r"(api|ext)-ms-.+-l\d+-\d+-\d+\.dll", re.I)


@dataclass(frozen=True)
class Lack:
    """A missing DLL, or functions that the found one lacks."""

    library: str
    functions: tuple[str, ...] = ()
    reason: str = "is missing"


class Dlls:
    """Search in the directories of packages and of the system."""

    def __init__(self, opened: Iterable[Path], system: Iterable[Path]) -> None:
        self._opened = list(opened)
        self._system = list(system)
        self._names: dict[Path, dict[str, Path]] = {}
        self._read: dict[Path, Pe | None] = {}

    def lacks(self, path: Path) -> list[Lack]:
        """Return what a file needs and Windows does not find; PeError if it is damaged."""
        own = read(path)
        return [] if own is None else list(self._lacks(path, own))

    def _lacks(self, path: Path, own: Pe) -> Iterator[Lack]:
        for library, functions in own.imports:
            if _API_SET.fullmatch(library) or self._find(library, self._system):
                continue
            found = self._find(library, [path.parent, *self._opened])
            other = self._facts(found) if found else None
            if other is None:
                yield Lack(library)
            elif other.machine != own.machine:
                yield Lack(library, reason="is for another kind of processor")
            else:
                absent = [str(name) for name in functions if name not in other.exports]
                if absent:
                    yield Lack(library, tuple(absent))

    def _facts(self, path: Path) -> Pe | None:
        if path not in self._read:
            try:
                self._read[path] = read(path)
            except (PeError, OSError):
                self._read[path] = None  # it has a finding of its own
        return self._read[path]

    def _find(self, library: str, directories: list[Path]) -> Path | None:
        for directory in directories:
            if directory not in self._names:
                names = os.listdir(directory) if directory.is_dir() else []
                self._names[directory] = {name.lower(): directory / name for name in names}
            found = self._names[directory].get(library.lower())
            if found is not None:
                return found
        return None


def system_directories() -> list[Path]:
    """Return the directories of Windows and of this Python."""
    windows = Path(os.environ.get("SYSTEMROOT", r"C:\Windows"))
    pythons = dict.fromkeys([Path(sys.base_prefix), Path(sys.executable).parent])
    return [windows / "System32", *pythons]
