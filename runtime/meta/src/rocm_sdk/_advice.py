"""Advice for absent packages of this machine's GPUs."""

from __future__ import annotations

from . import _targets
from ._errors import TargetError
from ._packages import DIST, describe, find, has_target, missing


def missing_device() -> str | None:
    """Return one line with the command that installs absent packages of GPUs, or None.

    It reads ROCM_SDK_TARGET_FAMILY and the kernel's list, and starts no process. Device packages
    belong to the libraries, so none is missing without them.
    """
    logical = next((one for one in DIST["packages"] if has_target(one)), None)
    if logical is None or "libraries" not in DIST["packages"] or has_target("libraries"):
        return None
    if find("libraries") is None:
        return None
    absent = [target for target in _wanted() if find(logical, target) is None]
    if not absent:
        return None
    error = missing([describe(logical, target) for target in absent])
    return f"this machine has a {_targets.listed(absent)}, but {error}"


def _wanted() -> list[str]:
    try:
        asked = _targets.requested()
        return asked or _targets.match_machine(_targets.kernel_isas())
    except TargetError:
        return []  # no package to install; the doctor reports the name
