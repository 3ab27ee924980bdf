"""Finds and loads the ROCm libraries that are installed as Python packages.

Importing this module costs next to nothing: every function loads what it needs
when it is called, and no process is started.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` for its constant would take longer than all the rest
if TYPE_CHECKING:
    import ctypes
    import re
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    __version__: str
    """The version of this distribution, normalised as PEP 440 has it."""

__all__ = [
    "__version__",
    "find_libraries",
    "initialize_process",
    "preload_libraries",
]


_ALL_CDLLS: dict[str, ctypes.CDLL] = {}
"""Libraries of this process by short name. One that a program puts here is not loaded again."""


def __getattr__(name: str) -> Any:
    """Return `__version__` or the module `_dist_info`, both of which are generated."""
    if name == "__version__":
        from ._dist_info import DIST

        return str(DIST["version"])
    if name == "_dist_info":
        import importlib

        # `from . import` would ask for the attribute first, and so call this again.
        return importlib.import_module("._dist_info", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find_libraries(*shortnames: str) -> list[Path]:
    """Return the files of the libraries with these short names, in their order.

    A library that is optional and was not built, or that does not exist on this
    operating system, is left out of the answer.

    Raises ModuleNotFoundError when the package of a library is not installed (the
    message names the extra that installs it) or when no library has that name, and
    FileNotFoundError when the package is installed but lacks the file.
    """
    from . import _libraries

    return _libraries.find(*shortnames)


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Load these libraries into this process and keep them loaded.

    What is loaded later then finds them by SONAME. A library is loaded once, however
    often it is asked for. With `rtld_global` their symbols serve libraries that are
    loaded later. Raises what `find_libraries` raises, and OSError when loading fails.
    """
    from . import _libraries

    _libraries.preload(*shortnames, rtld_global=rtld_global)


def initialize_process(
    *,
    preload_shortnames: Iterable[str] | None = None,
    rtld_global: bool = True,
    env_override: bool = True,
    check_version: str | re.Pattern[str] | None = None,
    fail_on_version_mismatch: bool = False,
    **unknown: object,
) -> None:
    """Prepare this process for a package that was built against ROCm.

    Warns once of a GPU whose package is not installed, with the command that installs it.
    Checks the version first, then preloads `preload_shortnames` and, with
    `env_override`, the libraries that ROCM_SDK_PRELOAD_LIBRARIES names (`,` or `;`
    between them).

    `check_version` is the expected version, in which `*` stands for anything, or a
    compiled pattern that has to match from the start. A mismatch is a warning, or a
    RuntimeError with `fail_on_version_mismatch`.

    Arguments that this version does not know, as packages built with a newer one pass them, are
    logged and have no effect.
    """
    from . import _process

    _process.initialize(
        preload_shortnames=preload_shortnames,
        rtld_global=rtld_global,
        env_override=env_override,
        check_version=check_version,
        fail_on_version_mismatch=fail_on_version_mismatch,
        unknown=tuple(unknown),
    )
