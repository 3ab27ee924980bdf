"""Search and loading of ROCm files that are installed as Python packages.

The import is cheap: each function imports its dependencies when it is called.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` takes longer than this module
if TYPE_CHECKING:
    import ctypes
    import re
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from ._driver import Driver
    from ._errors import NotFoundError
    from ._find import Found

    __version__: str
    """Version of this distribution, normalised by PEP 440."""

__all__ = [
    "Driver",
    "Found",
    "NotFoundError",
    "__version__",
    "driver",
    "find_bitcode_library",
    "find_header_directory",
    "find_libraries",
    "find_library",
    "find_program",
    "find_static_library",
    "initialize_process",
    "preload_libraries",
    "resolve_deps",
    "root",
]

_TYPES = {"Driver": "_driver", "Found": "_find", "NotFoundError": "_errors"}


_ALL_CDLLS: dict[str, ctypes.CDLL] = {}
"""Loaded libraries by short name. Libraries that a program adds are not loaded again."""


def __getattr__(name: str) -> Any:
    """Return `__version__`, the module `_dist_info` or a public type, loaded on first use."""
    if name == "__version__":
        from ._versions import own_version

        return own_version()
    if name == "_dist_info":
        import importlib

        # `from . import` would call this function again.
        return importlib.import_module("._dist_info", __name__)
    if name in _TYPES:
        import importlib

        return getattr(importlib.import_module(f".{_TYPES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def find_libraries(*shortnames: str, missing_ok: bool = False) -> list[Path]:
    """Return the file of each library with one of these short names, in their order.

    Raises ModuleNotFoundError for an unknown name, or if a library's package is not installed (the
    message names the extra that installs it), and FileNotFoundError if the package lacks the file.
    With `missing_ok`, libraries of the other operating system and those that this build lacks are
    skipped; a damaged package remains an error.
    """
    from . import _libraries

    return _libraries.find(*shortnames, missing_ok=missing_ok)


def find_library(name: str) -> Found:
    """Return a shared library by short name (`amdhip64`, `hsa-runtime64`, `LLVM`).

    Every library of the packages has a short name: its file name without `lib`, ending and
    version. The order of the search: installed packages, the devel tree (expanded if necessary),
    the directory of ROCM_PATH, the system. The result is usable as a path.

    Raises NotFoundError, which lists these places and the command that installs an absent package.
    """
    from . import _find

    return _find.library(name)


def find_header_directory(name: str) -> Found:
    """Return the directory to pass with `-I` for a header (`hip/hip_runtime.h`, `rocblas`).

    `name` is a header, or a directory of headers, relative to the result. Searches and raises like
    `find_library`; the headers are in the devel package.
    """
    from . import _find

    return _find.header_directory(name)


def find_program(name: str) -> Found:
    """Return a program (`amdclang`, `rocminfo`), not the console script that starts it.

    Searches and raises like `find_library`; PATH has the system's directories.
    """
    from . import _find

    return _find.program(name)


def find_bitcode_library(name: str) -> Found:
    """Return a library of device bitcode (`ocml`, `ockl`, `oclc_abi_version_600`).

    Searches and raises like `find_library`.
    """
    from . import _find

    return _find.bitcode_library(name)


def find_static_library(name: str) -> Found:
    """Return a static library by its name for the linker option `-l`.

    Searches and raises like `find_library`; static libraries are in the devel package.
    """
    from . import _find

    return _find.static_library(name)


def root(*, require_devel: bool = False) -> Path:
    """Return the directory that has the layout of /opt/rocm.

    This is the devel tree, expanded if necessary. Without the devel package it is core's directory,
    which has no headers; with `require_devel`, a ModuleNotFoundError is raised instead.
    """
    from . import _find

    return _find.root(require_devel=require_devel)


def driver() -> Driver:
    """Return the kernel driver for AMD GPUs, without starting a process.

    `loaded` is false on a machine without a driver. `usable` is false if this user cannot open the
    device; `problem` has the reason and the remedy. `supported` is false if the driver is older
    than these packages need, None if they name no version.
    """
    from . import _driver

    return _driver.look()


def preload_libraries(
    *shortnames: str, rtld_global: bool = True, missing_ok: bool = False
) -> None:
    """Load these libraries into this process and keep them loaded.

    Libraries that are loaded later find them by SONAME. Each library is loaded once. With
    `rtld_global`, their symbols are visible to libraries that are loaded later. Raises the errors
    of `find_libraries`, which has `missing_ok` too, and OSError if loading fails.
    """
    from . import _libraries

    _libraries.preload(*shortnames, rtld_global=rtld_global, missing_ok=missing_ok)


def resolve_deps(*shortnames: str) -> list[str]:
    """Return the short names of these libraries and of those that they need, in load order.

    Raises the errors of `find_libraries`. Libraries without a declared short name are left out:
    the loader finds them by the rpath of their users.
    """
    from . import _framework

    return _framework.with_dependencies(shortnames)


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

    Checks the version, warns once of a GPU without its package (with the command that installs
    it), then preloads `preload_shortnames` and, with `env_override`, the libraries of
    ROCM_SDK_PRELOAD_LIBRARIES (separated by `,` or `;`). `preload_shortnames` can have libraries
    of both operating systems; those of the other one are skipped.

    `check_version` is the expected version with `*` as wildcard, or a compiled pattern that must
    match from the start. A mismatch is a warning, or a RuntimeError with
    `fail_on_version_mismatch`.

    Unknown arguments, from packages that were built with a newer version, are logged and ignored.
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
