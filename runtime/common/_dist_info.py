"""Facts about this distribution, written by its build, and names that `_names` derives."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would take longer than starting a program
if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    # The import system asks each module for names such as `__path__`.
    if name.startswith("__") and name != "__version__":
        raise AttributeError(name)
    from ._names import attribute

    return attribute(name)
