"""Messages for people. They go to standard error; standard output is for answers."""

from __future__ import annotations

import os
import sys


def warn(message: str) -> None:
    """Say something that the user has to know."""
    if sys.stderr is not None:  # it is None under pythonw
        print(f"rocm-sdk: {message}", file=sys.stderr, flush=True)


def log(message: str) -> None:
    """Say what is being done, when ROCM_SDK_VERBOSE asks for it."""
    if os.environ.get("ROCM_SDK_VERBOSE", "0") not in ("", "0"):
        warn(message)
