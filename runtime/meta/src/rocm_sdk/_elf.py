"""Reader of the dynamic loader's data in ELF files: needs, names, paths, versions.

Sources: the System V gABI, for symbol versions the LSB. Both sizes and both byte orders are
supported. No file is loaded.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ._regular import open_regular

SHARED_OBJECT = 3  # ET_DYN: a library or a position-independent program
_EXECUTABLE = 2
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS, _SONAME, _RPATH, _RUNPATH = 1, 5, 14, 15, 29
_DEFINITIONS, _DEFINITION_COUNT = 0x6FFFFFFC, 0x6FFFFFFD
_NEEDS, _NEED_COUNT = 0x6FFFFFFE, 0x6FFFFFFF
_WEAK = 2  # optional version


class ElfError(ValueError):
    """A damaged ELF file."""


@dataclass(frozen=True)
class Elf:
    """Facts of a file.

    `identity` is class, byte order and machine, equal for all files of a process. `versions` has
    the required symbol versions by library, `defined` the versions that this file defines.
    """

    identity: tuple[int, int, int]
    kind: int
    interpreter: bool
    needed: list[str] = field(default_factory=list)
    soname: str | None = None
    rpath: list[str] = field(default_factory=list)
    runpath: list[str] = field(default_factory=list)
    versions: dict[str, list[str]] = field(default_factory=dict)
    defined: list[str] = field(default_factory=list)

    @property
    def is_program(self) -> bool:
        """Return whether the file is a program, not a library."""
        return self.interpreter or self.kind == _EXECUTABLE


def read(path: str | Path) -> Elf | None:
    """Return the facts of an ELF program or shared library, or None for any other file.

    Raises ElfError for a truncated or inconsistent file, OSError for an unreadable one.
    """
    with open_regular(path) as file:
        if file.read(4) != b"\x7fELF":
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).facts()
            except (struct.error, IndexError, UnicodeDecodeError) as error:
                raise ElfError(f"{path} is damaged: {error}") from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._wide = data[4] == 2
        self._order = "<" if data[5] == 1 else ">"
        self._loads: list[tuple[int, int, int]] = []  # address, offset, stored size

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, offset)

    def facts(self) -> Elf | None:
        kind, machine = self._unpack("HH", 16)
        identity = (self._data[4], self._data[5], machine)
        if kind not in (SHARED_OBJECT, _EXECUTABLE):
            return None
        segments = list(self._segments())
        self._loads = [place for type_, place in segments if type_ == _LOAD]
        interpreter = any(type_ == _INTERPRETER for type_, _ in segments)
        dynamic = next((place for type_, place in segments if type_ == _DYNAMIC), None)
        if dynamic is None:
            return Elf(identity, kind, interpreter)
        entries = self._dynamic(dynamic)
        numbers = dict(reversed(entries))  # the first of repeated tags wins
        strings = self._offset(numbers[_STRINGS]) if _STRINGS in numbers else 0
        return Elf(
            identity,
            kind,
            interpreter,
            needed=[self._text(strings + value) for tag, value in entries if tag == _NEEDED],
            soname=self._text(strings + numbers[_SONAME]) if _SONAME in numbers else None,
            rpath=self._paths(strings, numbers.get(_RPATH)),
            runpath=self._paths(strings, numbers.get(_RUNPATH)),
            versions=dict(self._needs(numbers, strings)),
            defined=list(self._definitions(numbers, strings)),
        )

    def _segments(self) -> Iterator[tuple[int, tuple[int, int, int]]]:
        """Yield type, and address, offset and stored size, of each program header."""
        start = self._unpack("Q" if self._wide else "I", 32 if self._wide else 28)[0]
        size, count = self._unpack("HH", 54 if self._wide else 42)
        for offset in range(start, start + size * count, size or 1):
            if self._wide:
                kind, _, place, address, _, stored = self._unpack("IIQQQQ", offset)
            else:
                kind, place, address, _, stored = self._unpack("IIIII", offset)
            yield kind, (address, place, stored)

    def _dynamic(self, where: tuple[int, int, int]) -> list[tuple[int, int]]:
        _, start, size = where
        form = "qQ" if self._wide else "iI"
        step = struct.calcsize(f"={form}")
        entries: list[tuple[int, int]] = []
        for offset in range(start, start + size - step + 1, step):
            tag, value = self._unpack(form, offset)
            if tag == 0:
                break
            entries.append((tag, value))
        return entries

    def _offset(self, address: int) -> int:
        for start, place, size in self._loads:
            if start <= address < start + size:
                return place + address - start
        raise IndexError(f"no segment has the address {address:#x}")

    def _text(self, offset: int) -> str:
        end = self._data.find(b"\0", offset)
        if end < 0:
            raise IndexError("a name is unterminated")
        return self._data[offset:end].decode("utf-8", "surrogateescape")

    def _paths(self, strings: int, value: int | None) -> list[str]:
        return [] if value is None else [p for p in self._text(strings + value).split(":") if p]

    def _needs(self, numbers: dict[int, int], strings: int) -> Iterator[tuple[str, list[str]]]:
        if _NEEDS not in numbers:
            return
        offset = self._offset(numbers[_NEEDS])
        for _ in range(numbers.get(_NEED_COUNT, 0)):
            _, count, name, first, following = self._unpack("HHIII", offset)
            versions: list[str] = []
            one = offset + first
            for _ in range(count):
                _, flags, _, version, step = self._unpack("IHHII", one)
                if not flags & _WEAK:
                    versions.append(self._text(strings + version))
                one += step
            yield self._text(strings + name), versions
            offset += following

    def _definitions(self, numbers: dict[int, int], strings: int) -> Iterator[str]:
        if _DEFINITIONS not in numbers:
            return
        offset = self._offset(numbers[_DEFINITIONS])
        for _ in range(numbers.get(_DEFINITION_COUNT, 0)):
            _, _, _, _, _, first, following = self._unpack("HHHHIII", offset)
            yield self._text(strings + self._unpack("I", offset + first)[0])
            offset += following
