"""Exceptions of this package."""

from __future__ import annotations


class RocmSdkError(RuntimeError):
    """Base class of this package's errors."""


class TargetError(RocmSdkError, ValueError):
    """The requested or detected GPU target is not published."""


class DevelError(RocmSdkError):
    """The devel tree cannot be expanded, or has another version than the other packages."""


class NotBuiltError(FileNotFoundError):
    """The packages of this operating system were built without a library."""


class NotFoundError(RocmSdkError, LookupError):
    """No searched place has the library, header, program or other file.

    `places` has each place in the order of the search: its kind (`package`, `devel`,
    `environment`, `system`), and its directory or the reason for its absence.
    """

    def __init__(self, message: str, name: str, places: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.name = name
        self.places = places
