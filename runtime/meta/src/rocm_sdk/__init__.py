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

    from ._driver import Driver
    from ._errors import NotFoundError
    from ._find import Found

    __version__: str
    """The version of this distribution, normalised as PEP 440 has it."""

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
    "root",
]

_TYPES = {"Driver": "_driver", "Found": "_find", "NotFoundError": "_errors"}


_ALL_CDLLS: dict[str, ctypes.CDLL] = {}
"""Libraries of this process by short name. One that a program puts here is not loaded again."""


def __getattr__(name: str) -> Any:
    """Return `__version__`, the module `_dist_info` or a public type; none is loaded before."""
    if name == "__version__":
        from ._dist_info import DIST

        return str(DIST["version"])
    if name == "_dist_info":
        import importlib

        # `from . import` would ask for the attribute first, and so call this again.
        return importlib.import_module("._dist_info", __name__)
    if name in _TYPES:
        import importlib

        return getattr(importlib.import_module(f".{_TYPES[name]}", __name__), name)
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


def find_library(name: str) -> Found:
    """Return a shared library by short name (`amdhip64`, `hsa-runtime64`, `LLVM`).

    Every library of the packages has a short name: its file name without `lib`, ending and
    version. The order of the search: installed packages, the devel tree (expanded first where
    necessary), the directory of ROCM_PATH, the system. The answer is usable as a path.

    Raises NotFoundError, which lists these places and the command that installs an absent package.
    """
    from . import _find

    return _find.library(name)


def find_header_directory(name: str) -> Found:
    """Return the directory to pass with `-I` for a header (`hip/hip_runtime.h`, `rocblas`).

    `name` is a header, or a directory of headers, below the answer. Searches and raises as
    `find_library` does; the headers are in the devel package.
    """
    from . import _find

    return _find.header_directory(name)


def find_program(name: str) -> Found:
    """Return a program (`amdclang`, `rocminfo`), not the console script that starts it.

    Searches and raises as `find_library` does; the system's directories are those of PATH.
    """
    from . import _find

    return _find.program(name)


def find_bitcode_library(name: str) -> Found:
    """Return a library of device bitcode (`ocml`, `ockl`, `oclc_abi_version_600`).

    Searches and raises as `find_library` does.
    """
    from . import _find

    return _find.bitcode_library(name)


def find_static_library(name: str) -> Found:
    """Return a static library by the name that a linker takes with `-l`.

    Searches and raises as `find_library` does; static libraries are in the devel package.
    """
    from . import _find

    return _find.static_library(name)


def root(*, require_devel: bool = False) -> Path:
    """Return the directory that has the layout of /opt/rocm.

    This is the devel tree, expanded first where necessary; without the devel package, core's
    directory, which has no headers. With `require_devel` that is a ModuleNotFoundError.
    """
    from . import _find

    return _find.root(require_devel=require_devel)


def driver() -> Driver:
    """Return the kernel's driver for AMD GPUs; no process is started.

    `loaded` is false on a machine without one. `usable` says whether this user may open it, and
    `problem` why not, with the remedy.
    """
    from . import _driver

    return _driver.look()


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
