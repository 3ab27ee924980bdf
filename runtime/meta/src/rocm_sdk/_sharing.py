"""Repetition of accesses that Windows refuses while another process has the file open.

Windows opens files for Python, and for many other programs, without the right of others to replace
or rename them: neither a file nor a directory above it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Readers of RECORD and virus scanners hold a file for a moment. A file without permission has the
# same error, and its user waits this long for it.
_SECONDS = 10.0
_POLL_SECONDS = 0.05


def repeated(access: Callable[[], T]) -> T:
    """Return the result of `access`, repeated for some seconds while Windows denies permission.

    Other systems have no such refusal, and there it is called once.
    """
    end = time.monotonic() + (_SECONDS if sys.platform == "win32" else 0.0)
    while True:
        try:
            return access()
        except PermissionError:
            if time.monotonic() >= end:
                raise
            time.sleep(_POLL_SECONDS)
