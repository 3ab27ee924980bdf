"""Reader of imports and exports in PE files (Microsoft, "PE Format"). No file is loaded."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ._regular import open_regular

_DLL = 0x2000
_EXPORTS, _IMPORTS = 0, 1
_MOST_ENTRIES = 1 << 17  # a damaged table may have no end


class PeError(ValueError):
    """A damaged PE file."""


@dataclass(frozen=True)
class Pe:
    """Facts of a file. Functions are names, or numbers for ordinals.

    `imports` are loaded at start; delay imports are not read, since a program can do without.
    """

    machine: int
    is_library: bool
    imports: list[tuple[str, list[str | int]]]
    exports: frozenset[str | int]


def read(path: str | Path) -> Pe | None:
    """Return the facts of a program or DLL, or None for any other file.

    Raises PeError for a truncated or inconsistent file, OSError for an unreadable one.
    """
    with open_regular(path) as file:
        if file.read(2) != b"MZ":
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _Reader(data).facts()
            except (struct.error, IndexError, UnicodeDecodeError) as error:
                raise PeError(f"{path} is damaged: {error}") from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._sections: list[tuple[int, int, int]] = []  # address, size, offset

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from("<" + form, self._data, offset)

    def facts(self) -> Pe | None:
        (header,) = self._unpack("I", 0x3C)
        if self._data[header : header + 4] != b"PE\0\0":
            return None
        machine, sections, optional, flags = self._unpack("HH12xHH", header + 4)
        start = header + 24
        self._wide = self._unpack("H", start)[0] == 0x20B
        directories = start + (112 if self._wide else 96)
        for at in range(sections):
            place = start + optional + 40 * at
            size, address, raw, offset = self._unpack("IIII", place + 8)
            self._sections.append((address, min(size, raw) or raw, offset))
        self._directories = directories
        (self._count,) = self._unpack("I", directories - 4)
        return Pe(
            machine,
            bool(flags & _DLL),
            list(self._imports()),
            frozenset(self._exports()),
        )

    def _directory(self, index: int) -> int:
        return self._unpack("I", self._directories + 8 * index)[0] if index < self._count else 0

    def _place(self, address: int) -> int:
        for start, size, offset in self._sections:
            if start <= address < start + size:
                return offset + address - start
        raise IndexError(f"address {address:#x} is in no section")

    def _text(self, address: int) -> str:
        place = self._place(address)
        end = self._data.find(b"\0", place)
        if end < 0:
            raise IndexError(f"the name at {place:#x} does not end")
        return self._data[place:end].decode("latin-1")

    def _imports(self) -> Iterator[tuple[str, list[str | int]]]:
        address = self._directory(_IMPORTS)
        if not address:
            return
        place = self._place(address)
        for at in range(place, place + 20 * _MOST_ENTRIES, 20):
            lookup, called, first = self._unpack("I8xII", at)
            if not called or not first:
                return
            yield self._text(called), list(self._functions(lookup or first))

    def _functions(self, address: int) -> Iterator[str | int]:
        size, form, ordinal = (8, "Q", 1 << 63) if self._wide else (4, "I", 1 << 31)
        place = self._place(address)
        for at in range(place, place + size * _MOST_ENTRIES, size):
            (entry,) = self._unpack(form, at)
            if not entry:
                return
            yield entry & 0xFFFF if entry & ordinal else self._text(entry + 2)

    def _exports(self) -> Iterator[str | int]:
        address = self._directory(_EXPORTS)
        if not address:
            return
        base, functions, names = self._unpack("III", self._place(address) + 16)
        tables = self._unpack("III", self._place(address) + 28)
        if functions:
            place = self._place(tables[0])
            for at, address in enumerate(self._unpack(f"{min(functions, 1 << 16)}I", place)):
                if address:
                    yield base + at
        if names:
            for address in self._unpack(f"{min(names, 1 << 16)}I", self._place(tables[1])):
                yield self._text(address)
