"""What to install for the GPUs of this machine, in one line."""

from __future__ import annotations

from . import _targets
from ._errors import TargetError
from ._packages import DIST, describe, find, has_target, missing


def missing_device() -> str | None:
    """Return what to install when a GPU's package is not there; None when nothing is missing.

    Only the kernel's list and ROCM_SDK_TARGET_FAMILY are asked, a few small files: no process
    is started. Without the libraries nothing is missing, since device packages belong to them.
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
        return []  # the doctor tells; nothing here could be installed
