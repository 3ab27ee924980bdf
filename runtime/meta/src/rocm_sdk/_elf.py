"""What a dynamic loader reads of an ELF file: its needs, names, paths and versions.

The layout is that of the System V gABI, symbol versions that of the LSB. 32 and 64 bits
and both byte orders are read; nothing is loaded or run.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ._regular import open_regular

SHARED_OBJECT = 3  # ET_DYN: a library, or a program that can lie anywhere
_EXECUTABLE = 2
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _STRINGS, _SONAME, _RPATH, _RUNPATH = 1, 5, 14, 15, 29
_DEFINITIONS, _DEFINITION_COUNT = 0x6FFFFFFC, 0x6FFFFFFD
_NEEDS, _NEED_COUNT = 0x6FFFFFFE, 0x6FFFFFFF
_WEAK = 2  # a version that may be absent


class ElfError(ValueError):
    """A file that starts as an ELF file, but cannot be read as one."""


@dataclass(frozen=True)
class Elf:
    """One file. `identity` is class, byte order and machine: what a process can load.

    `versions` are the symbol versions needed, by the library that has to define them;
    `defined` those that this file defines.
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
        """Tell whether it is started, not loaded."""
        return self.interpreter or self.kind == _EXECUTABLE


def read(path: str | Path) -> Elf | None:
    """Return the facts of an ELF program or shared library, or None for any other file.

    Raises ElfError for one that is cut off or inconsistent, OSError when it cannot be read.
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
        self._loads: list[tuple[int, int, int]] = []  # address, offset, size in the file

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self._order + form, self._data, offset)

    def facts(self) -> Elf | None:
        kind, machine = self._unpack("HH", 16)
        identity = (self._data[4], self._data[5], machine)
        if kind not in (SHARED_OBJECT, _EXECUTABLE):
            return None
        segments = list(self._segments())
        self._loads = [where for what, where in segments if what == _LOAD]
        interpreter = any(what == _INTERPRETER for what, _ in segments)
        dynamic = next((where for what, where in segments if what == _DYNAMIC), None)
        if dynamic is None:
            return Elf(identity, kind, interpreter)
        entries = self._dynamic(dynamic)
        numbers = dict(reversed(entries))  # of a tag that is there twice the first counts
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
        """Return type, and address, offset and size in the file, of each program header."""
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
            raise IndexError("a name has no end")
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
