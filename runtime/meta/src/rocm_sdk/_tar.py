"""Reading a tar archive forward, without copying what its files hold.

`tarfile` takes longer to read the headers of an archive of 8,000 small files than `tar`
takes to unpack it, and reads contents one after another. Here a content is views of the
memory that the archive is in, so that threads can write many at once.

Read are the formats that archives are made in today: ustar and pax (POSIX.1-2001), and
GNU tar's long names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = 512
_ZEROS = bytes(_BLOCK)
_CHECKSUM = slice(148, 156)
_BLANKS = 8 * 0x20  # the checksum counts its own field as blanks


class TarError(ValueError):
    """What was read is no tar archive, or not one of the formats that are read here."""


class Member(NamedTuple):
    """One entry. `kind` is its type flag; `data` the content, in as many views as chunks."""

    name: str
    kind: str
    link: str
    mode: int
    mtime: float
    data: list[memoryview]


class Chunks:
    """Consecutive pieces of memory, read as one."""

    def __init__(self, chunks: Iterator[memoryview]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def take(self, size: int) -> list[memoryview]:
        """Return views of the next `size` bytes; raises EOFError when there are fewer."""
        views: list[memoryview] = []
        while size:
            if not self._rest:
                self._rest = self._next()
            view = self._rest[:size]
            self._rest = self._rest[len(view) :]
            size -= len(view)
            views.append(view)
        return views

    def _next(self) -> memoryview:
        try:
            return next(self._chunks)
        except StopIteration:
            raise EOFError("its end is missing") from None

    def finish(self) -> None:
        """Read the rest, so that whatever checks it has seen all of it."""
        self._rest = memoryview(b"")
        for _ in self._chunks:
            pass


def members(chunks: Chunks) -> Iterator[Member]:
    """Return the members in their order.

    Raises TarError for what is no archive, and EOFError for one that was cut off.
    """
    defaults: dict[str, str] = {}
    extra: dict[str, str] = {}
    while True:
        header = b"".join(chunks.take(_BLOCK))
        if header == _ZEROS:
            return
        member, size = _parse(header, {**defaults, **extra})
        data = chunks.take(size)
        chunks.take(-size % _BLOCK)
        if member.kind == "g":
            defaults.update(_pax(b"".join(data)))
        elif member.kind == "x":
            extra.update(_pax(b"".join(data)))
        elif member.kind in ("L", "K"):
            text = b"".join(data).rstrip(b"\0").decode("utf-8", "surrogateescape")
            extra["path" if member.kind == "L" else "linkpath"] = text
        else:
            extra = {}
            yield member._replace(data=data)


def _parse(header: bytes, extra: dict[str, str]) -> tuple[Member, int]:
    """Return a member without its content, and the size of that."""
    expected = _number(header[_CHECKSUM])
    if sum(header) - sum(header[_CHECKSUM]) + _BLANKS != expected:
        raise TarError("a checksum of its tar headers is wrong")
    kind = chr(header[156])
    describes_next = kind in "xgLK"
    name = _text(header[:100])
    if header[257:263] == b"ustar\0" and header[345]:
        name = f"{_text(header[345:500])}/{name}"
    size = _number(header[124:136])
    mtime: float = _number(header[136:148])
    link = _text(header[157:257])
    if extra and not describes_next:
        name, link = extra.get("path", name), extra.get("linkpath", link)
        size, mtime = _overridden(extra, size, mtime)
    # POSIX: only a file has a content, whatever the size field of others says.
    stored = size if kind in "07\0" or describes_next else 0
    return Member(
        name, "0" if kind in "7\0" else kind, link, _number(header[100:108]), mtime, []
    ), stored


def _overridden(extra: dict[str, str], size: int, mtime: float) -> tuple[int, float]:
    try:
        return int(extra.get("size", size)), float(extra.get("mtime", mtime))
    except ValueError:
        raise TarError("a pax header has no number where one has to be") from None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    """Read octal digits, or what GNU tar writes for numbers that they cannot hold."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise TarError("a tar header has no number where one has to be") from None


def _pax(data: bytes) -> dict[str, str]:
    """Read pax records, `LENGTH KEY=VALUE` and a line break each."""
    records: dict[str, str] = {}
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or not len(length) < int(length) <= len(data):
            raise TarError("a length of its pax headers is wrong")
        record = data[len(length) + 1 : int(length) - 1]
        key, _, value = record.partition(b"=")
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        data = data[int(length) :]
    return records
