"""Which library of a name does Windows load, where there is more than one?

A process has one DLL of a name: what imports it later gets the one that is there. Looked for
is beside the file that imports it, beside the program (`python.exe`), in the directories that
`rocm_sdk` opens, in System32. A display driver puts libraries there under names of ours.
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

# Start of VS_FIXEDFILEINFO: its signature, and the version of the structure.
_FIXED_FILE_INFO = struct.pack("<II", 0xFEEF04BD, 0x00010000)

Version = tuple[int, ...]

_MODULE = __name__.partition(".")[0]


@dataclass(frozen=True)
class Rival:
    """A library of a package, and another file of its name where Windows looks too.

    `wins` is the one that libraries of other packages get, by what `reason` says.
    """

    name: str
    ours: str
    other: str
    wins: str
    reason: str
    our_version: Version | None
    other_version: Version | None

    def told(self) -> str:
        """Say it in a line."""
        loses = self.other if self.wins == self.ours else self.ours
        ours, other = _told(self.our_version), _told(self.other_version)
        first, second = (ours, other) if self.wins == self.ours else (other, ours)
        return f"{self.name}: {self.wins}{first} wins over {loses}{second}: {self.reason}"

    @property
    def is_newer(self) -> bool:
        """Tell whether the other one is newer."""
        known = self.our_version is not None and self.other_version is not None
        return known and (self.other_version or ()) > (self.our_version or ())


def look() -> list[Rival]:
    """Return the libraries of packages that have a rival on this machine."""
    if sys.platform != "win32":
        return []
    return [rival for path in declared_files() for rival in _of(path)]


def check(rivals: list[Rival]) -> list[Finding]:
    """Return what is wrong with them. A driver that is as old as the packages is in order."""
    findings: list[Finding] = []
    for rival in rivals:
        if rival.wins == rival.other:
            remedy = f"move {rival.other} away, or use another Python"
            findings.append(Finding("library-shadowed", WARNING, rival.name, rival.told(), remedy))
        elif rival.is_newer:
            message = f"the system's is newer, and is not used. {rival.told()}"
            remedy = f'pip install --upgrade "{DIST["distribution"]}"'
            findings.append(Finding("library-older", WARNING, rival.name, message, remedy))
    return findings


def _of(path: Path) -> Iterator[Rival]:
    program = os.path.dirname(getattr(sys, "_base_executable", "") or sys.executable)
    system = os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
    places = [
        (program, True, "Windows looks beside the program before it looks where a package is"),
        (system, False, f"{_MODULE} opens its packages' directories, which come before System32"),
    ]
    for directory, wins, reason in places:
        other = os.path.join(directory, path.name)
        if os.path.isfile(other) and not os.path.samefile(other, path):
            winner = other if wins else str(path)
            versions = (file_version(path), file_version(other))
            yield Rival(path.name, str(path), other, winner, reason, *versions)


def file_version(path: str | Path) -> Version | None:
    """Return the version in a file's resources, or None where there is none to read."""
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


def _told(version: Version | None) -> str:
    return f" ({'.'.join(map(str, version))})" if version else ""
