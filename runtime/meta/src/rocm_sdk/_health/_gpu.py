"""Check of the device packages against the GPUs of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from .. import _targets
from .._errors import TargetError
from .._packages import DIST, Installed, describe, has_target, published
from ._finding import ERROR, WARNING, Finding, install, uninstall


@dataclass(frozen=True)
class Gpus:
    """GPUs with their source, and the targets that support them.

    `source` is `environment`, `kernel` or `offload-arch`, or None without a GPU; `detail` the
    variable, directory or program. `unserved` GPUs have no target.
    """

    names: list[str]
    source: str | None
    detail: str
    targets: list[str] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)


def look() -> tuple[Gpus, list[Finding]]:
    """Return the GPUs of the environment or the machine, with findings about the environment."""
    requested = os.environ.get(_targets.ENVIRONMENT, "").strip()
    if requested:
        try:
            targets = _targets.requested()
        except TargetError as error:
            remedy = f"unset {_targets.ENVIRONMENT}, or set it to one of: {_published()}"
            finding = Finding("target-unknown", ERROR, _targets.ENVIRONMENT, str(error), remedy)
            return Gpus([], "environment", f"{_targets.ENVIRONMENT}={requested}"), [finding]
        return Gpus(targets, "environment", f"{_targets.ENVIRONMENT}={requested}", targets), []
    found = _targets.machine()
    unserved = [isa for isa in found.isas if not _targets.serves(isa)]
    served = [isa for isa in found.isas if _targets.serves(isa)]
    targets = _targets.match_machine(served) if served else []
    return Gpus(found.isas, found.source, found.where, targets, unserved), []


def check(gpus: Gpus, installed: list[Installed]) -> list[Finding]:
    """Compare the GPUs with the installed device packages."""
    logical = next((one for one in DIST["packages"] if has_target(one)), None)
    if logical is None:
        return []
    present = [one for one in installed if one.package.logical == logical]
    # Only the libraries use device packages.
    if not present and all(one.package.logical != "libraries" for one in installed):
        return []
    return [
        *_unserved(gpus),
        *_missing(gpus, logical, present),
        *_superfluous(gpus, logical, present),
    ]


def _published() -> str:
    return _targets.listed(published())


def _unserved(gpus: Gpus) -> Iterator[Finding]:
    for isa in gpus.unserved:
        # A processor's small GPU is harmless next to a supported GPU.
        severity = WARNING if gpus.targets else ERROR
        product = f"{DIST['distribution']} {DIST['version']}"
        message = f"{product} has no package for this GPU, only for: {_published()}"
        remedy = f"set {_targets.ENVIRONMENT} to one of these if the GPU can run its code"
        yield Finding("gpu-unknown", severity, isa, message, remedy)


def _missing(gpus: Gpus, logical: str, present: list[Installed]) -> Iterator[Finding]:
    names = {one.package.distribution for one in present}
    for target in gpus.targets:
        package = describe(logical, target)
        if package.distribution not in names:
            message = f"it is not installed, and this machine has a {target} ({gpus.detail})"
            yield Finding("device-missing", ERROR, package.distribution, message, install(package))
    if gpus.source is None and not present:
        one = describe(logical, published()[0]) if published() else None
        if one is not None:
            message = "no device package is installed, and no GPU was found to select one"
            remedy = f"{install(one)}  # or another of: {_published()}"
            yield Finding("device-missing", WARNING, logical, message, remedy)


def _superfluous(gpus: Gpus, logical: str, present: list[Installed]) -> Iterator[Finding]:
    wanted = {describe(logical, target).distribution for target in gpus.targets}
    for one in present if wanted else []:
        name = one.package.distribution
        if name not in wanted:
            message = f"it is for another GPU than {_targets.listed(gpus.targets)}"
            yield Finding("device-superfluous", WARNING, name, message, uninstall(name))
