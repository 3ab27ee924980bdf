"""Check of the imports of DLLs and programs on Windows.

An import is resolved in the directories of Windows and Python, in the file's directory, and in those
that `preload_libraries` opens. Functions are compared only between DLLs of packages, because those
of Windows' DLLs depend on its version.
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
        """Return the unresolved imports of a file; raises PeError if it is damaged."""
        user = read(path)
        return [] if user is None else list(self._lacks(path, user))

    def _lacks(self, path: Path, user: Pe) -> Iterator[Lack]:
        for library, functions in user.imports:
            if _API_SET.fullmatch(library) or self._find(library, self._system):
                continue
            found = self._find(library, [path.parent, *self._opened])
            other = self._facts(found) if found else None
            if other is None:
                yield Lack(library)
            elif other.machine != user.machine:
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
                self._read[path] = None  # the check of this file reports it
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
