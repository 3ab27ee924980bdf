"""Extraction of the devel archive into a directory, with its names in a tree."""

from __future__ import annotations

import hashlib
import lzma
import mmap
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, wait
from pathlib import Path

from . import _xz
from ._errors import DevelError
from ._paths import below
from ._record import Row, row_of
from ._tar import Chunks, Member, TarError, members
from ._tree import Tree

_BATCH_FILES = 64
_BATCH_BYTES = 4 << 20
_WAITING_BYTES = 64 << 20  # limit of decoded, unwritten bytes


def unpack(
    archive: Path, tree: Tree, into: str, pool: Executor, show: Callable[[int], None]
) -> None:
    """Write the files of `archive` below the directory `into`, and all names into `tree`.

    `show` receives the percentage of read bytes from time to time. Raises DevelError for a damaged,
    truncated or invalid archive, and OSError if a file cannot be written.
    """
    try:
        with _Writers(tree, into, pool) as writers:
            chunks = Chunks(_chunks(archive, pool, show))
            for member in members(chunks):
                _take(tree, member, writers)
            chunks.finish()  # the checksums are at the end
    except (TarError, lzma.LZMAError, EOFError) as error:
        raise DevelError(f"{archive} is damaged ({error}): reinstall its package") from error


def _chunks(archive: Path, pool: Executor, show: Callable[[int], None]) -> Iterator[memoryview]:
    """Yield the tar stream from a memory map, which saves one copy."""
    with open(archive, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise EOFError("empty file")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if sys.platform == "linux":
        mapped.madvise(mmap.MADV_WILLNEED)
    data = memoryview(mapped)
    if archive.name.endswith(".xz"):
        pieces = _xz.chunks(data, pool, ahead=os.cpu_count() or 1)
        total = sum(block.size for block in _xz.index(data) or [])
    else:
        pieces = (data[at : at + _BATCH_BYTES] for at in range(0, len(data), _BATCH_BYTES))
        total = len(data)
    done = 0
    for piece in pieces:
        yield piece
        done += len(piece)
        show(100 * done // total if total else 0)


def _take(tree: Tree, member: Member, writers: _Writers) -> None:
    name = tree.check_name(member.name)
    if member.kind == "0":
        tree.add_file(name)
        writers.add(name, member)
    elif member.kind == "5":
        tree.add_directory(name)
    elif member.kind == "2":
        tree.add_link(name, member.link)
    elif member.kind == "1":
        up = "../" * name.count("/")  # hard links have the full name of a member
        tree.add_link(name, up + tree.check_name(member.link))
    else:
        raise DevelError(f"the devel archive has an unsupported kind of member: {name!r}")


class _Writers:
    """Writers of files in threads, in batches; the rows are added to the tree.

    One thread makes directories. No link is made, so no link is followed.
    """

    def __init__(self, tree: Tree, into: str, pool: Executor) -> None:
        self._tree, self._into, self._pool = tree, into, pool
        self._directories: set[str] = set()
        self._batch: list[tuple[str, Member]] = []
        self._batch_bytes = 0
        self._running: deque[tuple[Future[dict[str, Row]], int]] = deque()
        self._waiting = 0

    def __enter__(self) -> _Writers:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Wait for all writes; raises their errors."""
        try:
            if kind is None:
                self._submit()
                while self._running:
                    self._collect()
        finally:
            for future, _size in self._running:
                future.cancel()
            wait([future for future, _size in self._running])

    def add(self, name: str, member: Member) -> None:
        """Add a file; waits while too many bytes are unwritten."""
        self._make(name.rpartition("/")[0])
        self._batch.append((name, member))
        self._batch_bytes += sum(map(len, member.data))
        if self._batch_bytes >= _BATCH_BYTES or len(self._batch) >= _BATCH_FILES:
            self._submit()
        while self._waiting > _WAITING_BYTES:
            self._collect()

    def _make(self, directory: str) -> None:
        """Make a directory and its parents, once each, without a look at the disk."""
        if directory not in self._directories:
            above, slash, _ = directory.rpartition("/")
            if slash:
                self._make(above)
            os.mkdir(below(self._into, directory))
            self._directories.add(directory)

    def _submit(self) -> None:
        future = self._pool.submit(_write_all, self._into, self._batch)
        self._running.append((future, self._batch_bytes))
        self._waiting += self._batch_bytes
        self._batch, self._batch_bytes = [], 0

    def _collect(self) -> None:
        future, size = self._running.popleft()
        self._waiting -= size
        self._tree.files.update(future.result())


def _write_all(into: str, batch: list[tuple[str, Member]]) -> dict[str, Row]:
    return {name: _write(below(into, name), member) for name, member in batch}


def _write(path: str, member: Member) -> Row:
    """Write one file with the permissions of the umask, executable if the member is."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o777 if member.mode & 0o111 else 0o666)
    try:
        digest = hashlib.sha256()
        size = 0
        for view in member.data:
            digest.update(view)
            size += len(view)
            while view:
                view = view[os.write(descriptor, view) :]
    finally:
        os.close(descriptor)
    if member.mtime > 0:
        os.utime(path, (member.mtime, member.mtime))
    return row_of(digest.digest(), size)
