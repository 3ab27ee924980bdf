"""Decoder of xz files in several threads.

A file that several threads compressed has independent blocks and an index with their positions.
Each block is decoded as a separate xz file of stream header and block. liblzma verifies a block's
checksum at its end. (The .xz file format, version 1.2.1, sections 2 to 4.)
"""

from __future__ import annotations

import lzma
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from typing import NamedTuple

_HEADER = 12  # size of header and footer
_LARGEST = 128 << 20  # larger blocks need too much memory
_PIECE = 4 << 20


class Block(NamedTuple):
    """Position of a block in the file, stored size and decoded size."""

    start: int
    stored: int
    size: int


def chunks(data: memoryview, pool: Executor, ahead: int) -> Iterator[memoryview]:
    """Yield the decoded content of an xz file; up to `ahead` blocks are decoded in advance.

    Raises lzma.LZMAError for a damaged file, EOFError for a truncated one.
    """
    blocks = index(data)
    if blocks is None or any(block.size > _LARGEST for block in blocks):
        yield from _in_one_go(data)
        return
    running: deque[Future[bytes]] = deque()
    for block in blocks:
        running.append(pool.submit(_decode, data, block))
        if len(running) > ahead:
            yield memoryview(running.popleft().result())
    while running:
        yield memoryview(running.popleft().result())


def _decode(data: memoryview, block: Block) -> bytes:
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    out = decoder.decompress(data[:_HEADER])
    out = decoder.decompress(data[block.start : block.start + block.stored])
    if len(out) != block.size:
        raise lzma.LZMAError("the size of a block differs from the index")
    return out


def _in_one_go(data: memoryview) -> Iterator[memoryview]:
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    position = 0
    while not decoder.eof:
        if decoder.needs_input:
            if position >= len(data):
                raise EOFError("it is truncated")
            piece: bytes | memoryview = data[position : position + _PIECE]
            position += _PIECE
        else:
            piece = b""
        yield memoryview(decoder.decompress(piece, _PIECE))
    if position < len(data) or decoder.unused_data.strip(b"\0"):
        raise lzma.LZMAError("data follows its end")


def index(data: memoryview) -> list[Block] | None:
    """Return the blocks of a file, or None if it has several streams or is damaged."""
    footer = bytes(data[-_HEADER:])
    if len(data) < 2 * _HEADER or footer[-2:] != b"YZ" or not _is_summed(footer[4:10], footer[:4]):
        return None
    length = (int.from_bytes(footer[4:8], "little") + 1) * 4
    end = len(data) - _HEADER - length
    if end < _HEADER or bytes(data[6:8]) != footer[8:10]:
        return None
    content = bytes(data[end : end + length])
    if not _is_summed(content[:-4], content[-4:]) or content[0]:
        return None
    blocks = _records(content)
    last = blocks[-1].start + blocks[-1].stored if blocks else _HEADER
    return blocks if last == end else None  # None: several streams


def _is_summed(content: bytes, crc: bytes) -> bool:
    return zlib.crc32(content) == int.from_bytes(crc, "little")


def _records(content: bytes) -> list[Block]:
    count, position = _number(content, 1)
    start = _HEADER
    blocks: list[Block] = []
    for _ in range(count):
        unpadded, position = _number(content, position)
        size, position = _number(content, position)
        stored = -(-unpadded // 4) * 4
        blocks.append(Block(start, stored, size))
        start += stored
    return blocks


def _number(content: bytes, position: int) -> tuple[int, int]:
    """Return a number of 7 bits per byte, lowest first, and the next position."""
    value = shift = 0
    while True:
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, position
