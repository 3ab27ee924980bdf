"""What can go wrong, as types."""

from __future__ import annotations


class RocmSdkError(RuntimeError):
    """The base of the errors that this package raises on its own account."""


class TargetError(RocmSdkError, ValueError):
    """The GPU target that was asked for, or found, is not one of this distribution."""


class DevelError(RocmSdkError):
    """The devel tree could not be expanded, or does not fit the other packages."""


class NotFoundError(RocmSdkError, LookupError):
    """No place has the library, header, program or other file.

    `name` is the name that was searched, `places` each place in the order of the search: its kind
    (`package`, `devel`, `environment`, `system`), and its directory or the reason why there is none.
    """

    def __init__(self, message: str, name: str, places: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.name = name
        self.places = places
