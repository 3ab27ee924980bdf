"""Reading the devel archive: its files go to a staging directory, its names to a tree."""

from __future__ import annotations

import lzma
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ._errors import DevelError
from ._tree import Tree

_BLOCK = 1 << 20
_END_OF_TAR = bytes(1024)  # POSIX: two blocks of zeros
_PROGRESS_SECONDS = 0.5


def read(archive: Path, root: str, stage: Callable[[], Path], *, quiet: bool) -> Tree:
    """Unpack `archive`, of which every member lies below `root`.

    `stage` gives the path for the next file. Raises DevelError for what does not belong
    into such an archive, and for one that ends too early.
    """
    tree = Tree(root)
    progress = _Progress(archive, quiet=quiet)
    try:
        with (
            open(archive, "rb") as raw,
            _decoded(archive, raw) as data,
            tarfile.open(fileobj=data, mode="r:") as tar,  # reads forward only, as it comes
        ):
            for member in tar:
                _take(tree, tar, member, stage)
                progress.show(raw.tell())
            while data.read(_BLOCK):  # the checksums stand at the very end
                pass
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise DevelError(f"{archive} is damaged ({error}): reinstall its package") from error
    progress.finish()
    return tree


@contextmanager
def _decoded(archive: Path, raw: IO[bytes]) -> Iterator[IO[bytes]]:
    """Return the tar stream. An archive that was cut off must not pass for a short one."""
    if archive.name.endswith(".xz"):
        with lzma.open(raw) as data:  # raises EOFError where the end is missing
            yield data
        return
    raw.seek(0, os.SEEK_END)
    if raw.tell() < len(_END_OF_TAR):
        raise EOFError("it is empty")
    raw.seek(-len(_END_OF_TAR), os.SEEK_END)
    if raw.read() != _END_OF_TAR:
        raise EOFError("its end is missing")
    raw.seek(0)
    yield raw


def _take(
    tree: Tree, tar: tarfile.TarFile, member: tarfile.TarInfo, stage: Callable[[], Path]
) -> None:
    name = tree.check_name(member.name)
    if member.isdir():
        tree.add_directory(name)
    elif member.issym():
        tree.add_link(name, member.linkname)
    elif member.islnk():
        up = "../" * name.count("/")  # a hard link's target is a member's full name
        tree.add_link(name, up + tree.check_name(member.linkname))
    elif member.isreg():
        tree.add_file(name, _store(tar, member, stage()))
    else:
        raise DevelError(f"the devel archive has neither file, directory nor link: {name!r}")


def _store(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> Path:
    source = tar.extractfile(member)
    assert source is not None  # it is a regular file
    with source, open(path, "xb") as out:
        shutil.copyfileobj(source, out, _BLOCK)
    if member.mode & 0o111:
        mode = path.stat().st_mode
        path.chmod(mode | (mode & 0o444) >> 2)  # who may read may execute, as the umask has it
    if member.mtime > 0:
        os.utime(path, (member.mtime, member.mtime))
    return path


class _Progress:
    """A line on the terminal that says how far the archive is read."""

    def __init__(self, archive: Path, *, quiet: bool) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._total = 0 if quiet or not terminal else archive.stat().st_size
        self._next = 0.0

    def show(self, position: int) -> None:
        now = time.monotonic()
        if self._total and now >= self._next:
            self._next = now + _PROGRESS_SECONDS
            percent = 100 * position // self._total
            print(f"\rrocm-sdk: expanding: {percent:3} %", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._total:
            print("\rrocm-sdk: expanding: 100 %", file=sys.stderr, flush=True)
