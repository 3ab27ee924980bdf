"""Reader of tar archives in one pass, without copies of contents.

`tarfile` needs longer for the headers of 8,000 small files than `tar` needs to extract them, and
reads contents sequentially. Here contents are views of the archive's memory, so threads can write
many files concurrently.

Supported formats: ustar and pax (POSIX.1-2001), and GNU tar's long names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_BLOCK = 512
_ZEROS = bytes(_BLOCK)
_CHECKSUM = slice(148, 156)
_BLANKS = 8 * 0x20  # the checksum counts its field as blanks


class TarError(ValueError):
    """The data is not a tar archive of a supported format."""


class Member(NamedTuple):
    """Entry of an archive. `kind` is the type flag, `data` the content in views of chunks."""

    name: str
    kind: str
    link: str
    mode: int
    mtime: float
    data: list[memoryview]


class Chunks:
    """Reader of consecutive pieces of memory."""

    def __init__(self, chunks: Iterator[memoryview]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def take(self, size: int) -> list[memoryview]:
        """Return views of the next `size` bytes; raises EOFError if fewer are left."""
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
            raise EOFError("it is truncated") from None

    def finish(self) -> None:
        """Read the rest, so that checksums of the source are verified."""
        self._rest = memoryview(b"")
        for _ in self._chunks:
            pass


def members(chunks: Chunks) -> Iterator[Member]:
    """Yield the members in their order.

    Raises TarError for an invalid archive, EOFError for a truncated one.
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
    """Return a member without its content, and the size of the content."""
    expected = _number(header[_CHECKSUM])
    if sum(header) - sum(header[_CHECKSUM]) + _BLANKS != expected:
        raise TarError("wrong checksum of a tar header")
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
    # POSIX: only files have contents; the size field of other members is ignored.
    stored = size if kind in "07\0" or describes_next else 0
    return Member(
        name, "0" if kind in "7\0" else kind, link, _number(header[100:108]), mtime, []
    ), stored


def _overridden(extra: dict[str, str], size: int, mtime: float) -> tuple[int, float]:
    try:
        return int(extra.get("size", size)), float(extra.get("mtime", mtime))
    except ValueError:
        raise TarError("invalid number in a pax header") from None


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    """Return a number from octal digits, or from GNU tar's binary form of large numbers."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise TarError("invalid number in a tar header") from None


def _pax(data: bytes) -> dict[str, str]:
    """Return pax records from lines of `LENGTH KEY=VALUE`."""
    records: dict[str, str] = {}
    while data:
        length, _, _ = data.partition(b" ")
        if not length.isdigit() or not len(length) < int(length) <= len(data):
            raise TarError("wrong length in a pax header")
        record = data[len(length) + 1 : int(length) - 1]
        key, _, value = record.partition(b"=")
        records[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        data = data[int(length) :]
    return records
