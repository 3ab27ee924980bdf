"""Check for several DLLs of one name on Windows.

A process has one DLL of a name; later imports get the loaded one. Windows searches the directories
of the importing file and of the program (`python.exe`), the directories that `rocm_sdk` adds, and
System32. Display drivers install libraries with the same names in System32.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .._libraries import declared_files
from .._packages import DIST
from .._regular import open_regular
from ._finding import WARNING, Finding

# Start of VS_FIXEDFILEINFO: signature and version of the structure.
_FIXED_FILE_INFO = struct.pack("<II", 0xFEEF04BD, 0x00010000)

Version = tuple[int, ...]

_MODULE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Rival:
    """A library of a package, and another file of its name in a searched directory.

    `wins` is the file that other packages' libraries load, because of `reason`.
    """

    name: str
    ours: str
    other: str
    wins: str
    reason: str
    our_version: Version | None
    other_version: Version | None

    def description(self) -> str:
        """Return one line for a message."""
        loses = self.other if self.wins == self.ours else self.ours
        ours, other = _in_parentheses(self.our_version), _in_parentheses(self.other_version)
        first, second = (ours, other) if self.wins == self.ours else (other, ours)
        return f"{self.name}: {self.wins}{first} wins over {loses}{second}: {self.reason}"

    @property
    def is_newer(self) -> bool:
        """Return whether the other file is newer."""
        known = self.our_version is not None and self.other_version is not None
        return known and (self.other_version or ()) > (self.our_version or ())


def look() -> list[Rival]:
    """Return the rivals of libraries of the packages on this machine."""
    if sys.platform != "win32":
        return []
    return [rival for path in declared_files() for rival in _of(path)]


def check(rivals: list[Rival]) -> list[Finding]:
    """Return the findings; a driver's library that is not newer is harmless."""
    findings: list[Finding] = []
    for rival in rivals:
        if rival.wins == rival.other:
            remedy = f"move {rival.other} away, or use another Python"
            findings.append(
                Finding("library-shadowed", WARNING, rival.name, rival.description(), remedy)
            )
        elif rival.is_newer:
            message = f"the system's newer library is not used: {rival.description()}"
            remedy = f'pip install --upgrade "{DIST["distribution"]}"'
            findings.append(Finding("library-older", WARNING, rival.name, message, remedy))
    return findings


def _of(path: Path) -> Iterator[Rival]:
    program = os.path.dirname(getattr(sys, "_base_executable", "") or sys.executable)
    system = os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
    places = [
        (program, True, "Windows searches the program's directory before the packages'"),
        (system, False, f"Windows searches the directories that {_MODULE} adds before System32"),
    ]
    for directory, wins, reason in places:
        other = os.path.join(directory, path.name)
        if os.path.isfile(other) and not os.path.samefile(other, path):
            winner = other if wins else str(path)
            versions = (file_version(path), file_version(other))
            yield Rival(path.name, str(path), other, winner, reason, *versions)


def file_version(path: str | Path) -> Version | None:
    """Return the version in a file's resources, or None."""
    try:
        with (
            open_regular(path) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            at = data.rfind(_FIXED_FILE_INFO)
            high, low = struct.unpack_from("<II", data, at + 8) if at >= 0 else (0, 0)
    except (OSError, ValueError, struct.error):
        return None
    version = (high >> 16, high & 0xFFFF, low >> 16, low & 0xFFFF)
    return version if any(version) else None


def _in_parentheses(version: Version | None) -> str:
    return f" ({'.'.join(map(str, version))})" if version else ""
