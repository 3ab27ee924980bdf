"""Preparation of the process of a package that was built against ROCm."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable

from . import __version__
from ._advice import missing_device
from ._libraries import of_this_system, preload, warn_of_second
from ._log import log

_ENVIRONMENT = "ROCM_SDK_PRELOAD_LIBRARIES"


def initialize(
    *,
    preload_shortnames: Iterable[str] | None,
    rtld_global: bool,
    env_override: bool,
    check_version: str | re.Pattern[str] | None,
    fail_on_version_mismatch: bool,
    unknown: tuple[str, ...],
) -> None:
    """See `rocm_sdk.initialize_process`."""
    for name in unknown:
        log(f"initialize_process of {__version__} ignores the unknown argument {name!r}")
    if check_version is not None:
        _check(check_version, fail=fail_on_version_mismatch)
    _warn_of_missing_device()
    warn_of_second()
    # A generated `_rocm_init.py` has the names of both systems.
    preload(*of_this_system(preload_shortnames or ()), rtld_global=rtld_global)
    if env_override:
        _preload_from_environment(rtld_global=rtld_global)


_warned: list[str] = []


def _warn_of_missing_device() -> None:
    """Warn once per process of a GPU without its package, since its kernels are missing."""
    if _warned:
        return
    line = missing_device()
    if line is not None:
        _warned.append(line)
        # Frames: this function, initialize, rocm_sdk.initialize_process.
        warnings.warn(line, RuntimeWarning, stacklevel=4)


def _check(expected: str | re.Pattern[str], *, fail: bool) -> None:
    if isinstance(expected, str):
        wanted = expected
        parts = [re.escape(part) for part in expected.split("*")]
        matches = re.fullmatch(".*".join(parts), __version__) is not None
    else:
        wanted = expected.pattern
        matches = expected.match(__version__) is not None
    if matches:
        return
    # Tests of other projects match the words up to `matching`.
    message = (
        f"The program was compiled against a ROCm version matching {wanted}, "
        f"but {__version__} is installed"
    )
    if fail:
        raise RuntimeError(message)
    # Frames: this function, initialize, rocm_sdk.initialize_process.
    warnings.warn(f"{message}; it may not work", UserWarning, stacklevel=4)


def _preload_from_environment(*, rtld_global: bool) -> None:
    value = os.environ.get(_ENVIRONMENT, "")
    shortnames = [name.strip() for name in re.split("[,;]", value)]
    try:
        preload(*(name for name in shortnames if name), rtld_global=rtld_global)
    except OSError as error:
        raise type(error)(f"{error} (asked for by {_ENVIRONMENT}={value})") from error
    except ModuleNotFoundError as error:
        message = f"{error} (asked for by {_ENVIRONMENT}={value})"
        raise ModuleNotFoundError(message, name=error.name) from error
