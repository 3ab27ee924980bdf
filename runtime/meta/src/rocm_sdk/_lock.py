"""Lock between processes, without a lock file to remove."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._log import log

_POLL_SECONDS = 0.2


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Hold the lock of an import package's directory; wait while another process holds it.

    The kernel releases the lock when the process ends, also when it is killed.
    """
    descriptor = _acquire(directory)
    try:
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _acquire(directory: Path) -> int:
        """Create a file that Windows deletes when this process ends."""
        path = directory / ".lock"
        while True:
            try:
                return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_TEMPORARY)
            except (FileExistsError, PermissionError):
                # PermissionError: the file is being deleted, or the directory is read-only.
                if not path.exists() and not os.access(directory, os.W_OK):
                    raise
                time.sleep(_POLL_SECONDS)

    def is_held(directory: Path) -> bool:
        """Return whether a process holds the lock."""
        return (directory / ".lock").exists()

else:
    import fcntl

    def _acquire(directory: Path) -> int:
        """Lock the directory, since uninstallers would not know a new file."""
        try:
            return _lock(directory, os.O_RDONLY)
        except OSError as error:
            # NFS locks only files that are open for writing, so a file of the wheel is locked.
            log(f"cannot lock {directory} ({error}): locking a file in it instead")
            return _lock(directory / "_dist_info.py", os.O_RDWR)

    def _lock(path: Path, flags: int) -> int:
        descriptor = os.open(path, flags)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log(f"waiting for another process that has locked {path}")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def is_held(directory: Path) -> bool:
        """Return whether a process holds the lock; false if that is unknown."""
        try:
            descriptor = os.open(directory, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        finally:
            os.close(descriptor)
        return False
