"""Second names of files: hard links, otherwise reflinks, otherwise copies."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable

HARD_LINK, REFLINK, COPY = "hard link", "reflink", "copy"

# Errors of systems that refuse a hard link: another file system (or btrfs subvolume), no support,
# too many links, another user's file.
_NO_LINK = (
    errno.EXDEV,
    errno.EPERM,
    errno.EMLINK,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.EINVAL,
)
_FICLONE = 0x40049409  # linux/fs.h: the files share blocks until a write


def place(source: str, name: str) -> str:
    """Link or copy `source` to `name`; return the way.

    An existing file is removed first, never overwritten, because its bytes can be shared.
    """
    try:
        return _placed(source, name)
    except FileExistsError:
        os.unlink(name)
        return _placed(source, name)


def place_all(pairs: Iterable[tuple[str, str]]) -> Counter[str]:
    """Place pairs of source and name; return the count of each way."""
    return Counter(place(source, name) for source, name in pairs)


def link_symbolically(path: str, text: str) -> None:
    """Make a symbolic link with this text, replacing an existing file."""
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(text, path)


def is_same_file(one: str, other: str) -> bool:
    """Return whether two names are one file, without following links; false if one is missing."""
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def summary(ways: Counter[str]) -> str:
    """Return the counts of the ways for a message."""
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
