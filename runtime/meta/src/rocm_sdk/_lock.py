"""Lock between processes, without a lock file to remove."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ._log import log, warn

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
    import msvcrt

    # Far behind the end, because Windows keeps others from reading locked bytes.
    _LOCKED_BYTE = 1 << 30

    def _acquire(directory: Path) -> int:
        """Lock a byte of a file of the wheel, which needs no right to write.

        A file made for this would remain after a crash of the system, even one that Windows
        deletes at the end of a process.
        """
        path = directory / "_dist_info.py"
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if not _try_lock(descriptor):
                log(f"waiting for another process that has locked {path}")
                while not _try_lock(descriptor):
                    time.sleep(_POLL_SECONDS)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _try_lock(descriptor: int) -> bool:
        """Lock the byte unless another process has; return whether this process has it now."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def is_held(directory: Path) -> bool:
        """Return whether a process holds the lock; false if that is unknown."""
        try:
            descriptor = os.open(directory / "_dist_info.py", os.O_RDONLY)
        except OSError:
            return False
        try:
            return not _try_lock(descriptor)
        finally:
            os.close(descriptor)

else:
    import errno
    import fcntl

    # Errors of file systems without locks, such as Lustre without `-o flock`.
    _NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)

    def _acquire(directory: Path) -> int:
        """Lock the directory, since uninstallers would not know a new file."""
        try:
            return _lock(directory, os.O_RDONLY)
        except OSError as error:
            # NFS locks only files that are open for writing, so a file of the wheel is locked.
            log(f"cannot lock {directory} ({error}): locking a file in it instead")
            path = directory / "_dist_info.py"
            try:
                return _lock(path, os.O_RDWR)
            except OSError as refusal:
                if refusal.errno not in _NO_LOCKS:
                    raise
                warn(f"{path} cannot be locked ({refusal}): run one process at a time")
                return os.open(path, os.O_RDONLY)

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
