"""Messages on standard error; standard output has only answers."""

from __future__ import annotations

import os
import sys
import time

_NAME = __name__.partition(".")[0].replace("_", "-")
_SECONDS = 0.2  # between two updates of a progress line


def warn(message: str) -> None:
    """Print a message for the user."""
    if sys.stderr is not None:  # None under pythonw
        print(f"{_NAME}: {message}", file=sys.stderr, flush=True)


def log(message: str) -> None:
    """Print an action if ROCM_SDK_VERBOSE is set."""
    if os.environ.get("ROCM_SDK_VERBOSE", "0") not in ("", "0"):
        warn(message)


class Progress:
    """A progress line on a terminal, erased at the end."""

    def __init__(self, action: str, *, quiet: bool) -> None:
        self._action = action
        self._active = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _SECONDS
        self._shown = False

    def show(self, percent: int) -> None:
        """Update the line, at most every 0.2 s."""
        if self._active and time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS
            self._shown = True
            text = f"\r{_NAME}: {self._action}: {percent:3} %"
            print(text, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False
