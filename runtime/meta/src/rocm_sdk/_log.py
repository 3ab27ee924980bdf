"""Messages for people. They go to standard error; standard output is for answers."""

from __future__ import annotations

import os
import sys
import time

_NAME = __name__.partition(".")[0].replace("_", "-")
_SECONDS = 0.2  # between two changes of a line that shows progress


def warn(message: str) -> None:
    """Say something that the user has to know."""
    if sys.stderr is not None:  # it is None under pythonw
        print(f"{_NAME}: {message}", file=sys.stderr, flush=True)


def log(message: str) -> None:
    """Say what is being done, when ROCM_SDK_VERBOSE asks for it."""
    if os.environ.get("ROCM_SDK_VERBOSE", "0") not in ("", "0"):
        warn(message)


class Progress:
    """A line that says how far something is; only on a terminal, and gone afterwards."""

    def __init__(self, what: str, *, quiet: bool) -> None:
        self._what = what
        self._active = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _SECONDS
        self._shown = False

    def show(self, percent: int) -> None:
        """Say it, if the last time was long enough ago."""
        if self._active and time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS
            self._shown = True
            text = f"\r{_NAME}: {self._what}: {percent:3} %"
            print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave the terminal's line for what comes next."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False
