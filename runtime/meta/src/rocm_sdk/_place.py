"""Putting a file in a second place: as a hard link, else a reflink, else a copy."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable

HARD_LINK, REFLINK, COPY = "hard link", "reflink", "copy"

# What the systems say when a file cannot have a second name there: another file system
# (or btrfs subvolume), one without hard links, too many names, another user's file.
_NO_LINK = (
    errno.EXDEV,
    errno.EPERM,
    errno.EMLINK,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.EINVAL,
)
_FICLONE = 0x40049409  # linux/fs.h: the files share their blocks until one is written to


def place(source: str, name: str) -> str:
    """Make `name` the same file as `source`, or one with the same bytes; say which.

    What has stood there goes first, and is never written to: its bytes can be shared.
    """
    try:
        return _placed(source, name)
    except FileExistsError:
        os.unlink(name)
        return _placed(source, name)


def place_all(pairs: Iterable[tuple[str, str]]) -> Counter[str]:
    """Place each file of pairs of source and name; count the ways in which it was done."""
    return Counter(place(source, name) for source, name in pairs)


def link_symbolically(path: str, text: str) -> None:
    """Make `path` a symbolic link with this text, in place of any file there."""
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(text, path)


def is_same_file(one: str, other: str) -> bool:
    """Return whether two names are one file, links not followed; false where one is missing."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def told(ways: Counter[str]) -> str:
    """Say how often each way was taken, the usual one first."""
    order = (HARD_LINK, REFLINK, COPY)
    plural = {HARD_LINK: "hard links", REFLINK: "reflinks", COPY: "copies"}
    counted = [(way, ways[way]) for way in order if ways[way]]
    return ", ".join(f"{n:,} {way if n == 1 else plural[way]}" for way, n in counted) or "no links"


def _placed(source: str, name: str) -> str:
    try:
        os.link(source, name)
        return HARD_LINK
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
    with open(source, "rb") as old, open(name, "xb") as new:
        way = REFLINK if _cloned(old.fileno(), new.fileno()) else COPY
        if way == COPY:
            shutil.copyfileobj(old, new, 1 << 20)
    shutil.copystat(source, name)
    return way


if sys.platform == "linux":
    import fcntl

    def _cloned(source: int, target: int) -> bool:
        try:
            fcntl.ioctl(target, _FICLONE, source)
        except OSError:
            return False
        return True

else:

    def _cloned(source: int, target: int) -> bool:
        return False
