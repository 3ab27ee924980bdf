"""What can go wrong, as types."""

from __future__ import annotations


class RocmSdkError(RuntimeError):
    """The base of the errors that this package raises on its own account."""


class TargetError(RocmSdkError, ValueError):
    """The GPU target that was asked for, or found, is not one of this distribution."""


class DevelError(RocmSdkError):
    """The devel tree could not be expanded, or does not fit the other packages."""
