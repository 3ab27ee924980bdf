"""GPU targets of this machine and of the distribution.

A target is a variant of a package: an ISA (`gfx942`) in distributions with a device package per
ISA, a family of ISAs (`gfx94X-dcgpu`) in those with libraries per family.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from ._errors import TargetError
from ._log import log
from ._packages import DIST, find, published
from ._regular import open_regular

ENVIRONMENT = "ROCM_SDK_TARGET_FAMILY"
_KERNEL_NODES = "/sys/class/kfd/kfd/topology/nodes"
_KERNEL_NODES_OVERRIDE = "ROCM_SDK_KFD_NODES"
_OFFLOAD_ARCH_SECONDS = 60


LINUX: list[str] = list(DIST["targets"].get("linux", []))
WINDOWS: list[str] = list(DIST["targets"].get("win32", []))
AVAILABLE: list[str] = list(dict.fromkeys([*LINUX, *WINDOWS]))
DEFAULT: str | None = DIST["default_target"]


def published_isas() -> list[str]:
    """Return the ISAs of the published targets, each once."""
    isas: list[str] = []
    for target in published():
        isas += [isa for isa in _isas_of(target) if isa not in isas]
    return isas


@dataclass(frozen=True)
class Gpus:
    """ISAs of this machine's GPUs, each once.

    `source` is `kernel` or `offload-arch`, or None without a GPU; `where` the directory or program.
    """

    isas: list[str]
    source: str | None
    where: str


def determine() -> str:
    """Return the target for this process.

    The first target of ROCM_SDK_TARGET_FAMILY wins, then the target of the machine's first
    supported GPU, then the distribution's default. Raises TargetError for an unsupported target
    or machine.
    """
    targets = requested()
    if targets:
        return targets[0]
    isas = machine().isas
    if isas:
        return match_machine(isas)[0]
    if DEFAULT is None:
        raise TargetError(f"{_product()} has no package for a GPU")
    log(f"no GPU found; using the default target {DEFAULT}")
    return DEFAULT


def discover() -> str | None:
    """Return the target of this machine's first supported GPU, or None."""
    served = [isa for isa in machine().isas if serves(isa)]
    return match(served[0]) if served else None


def requested() -> list[str]:
    """Return the targets of ROCM_SDK_TARGET_FAMILY, which `,` or `;` separates.

    Raises TargetError for an unpublished name.
    """
    names = os.environ.get(ENVIRONMENT, "").replace(";", ",").split(",")
    return list(dict.fromkeys(match(name.strip()) for name in names if name.strip()))


def match(name: str) -> str:
    """Return the published target for an ISA or a family name, or raise TargetError."""
    base = name.split(":", 1)[0]  # the package of gfx942 serves gfx942:sramecc+:xnack-
    if base in published():
        return base
    candidates = _candidates(base)
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise TargetError(f"{name} matches several targets; write one of: {listed(candidates)}")
    raise TargetError(f"{_product()} has no package for {name}, only for: {listed(published())}")


def serves(isa: str) -> bool:
    """Return whether a published target supports this ISA."""
    return isa in published() or bool(_candidates(isa))


def match_machine(isas: list[str]) -> list[str]:
    """Return the published targets for these GPUs, each once, in the order of the GPUs.

    Unsupported GPUs are skipped, because many processors have a small one without compute use.
    Raises TargetError if no GPU is supported.
    """
    targets = list(dict.fromkeys(match(isa) for isa in isas if serves(isa)))
    if targets:
        return targets
    raise TargetError(
        f"{_product()} has no package for this machine's GPU ({listed(isas)}), "
        f"only for: {listed(published())}; set {ENVIRONMENT} to choose one"
    )


def machine() -> Gpus:
    """Return this machine's GPUs from the kernel or, as a fallback, from offload-arch.

    The kernel's list is a few small files. The process offload-arch is started only if the list
    is absent (Windows) or has no GPU.
    """
    nodes = str(kernel_nodes())
    isas = kernel_isas()
    if isas:
        found = Gpus(isas, "kernel", nodes)
    else:
        isas, where = _offload_arch()
        found = Gpus(isas, "offload-arch" if isas else None, where if isas else nodes)
    log(f"GPUs of this machine: {listed(found.isas)} ({found.source or 'none'}: {found.where})")
    return found


def kernel_nodes() -> Path:
    """Return the directory in which the kernel driver lists GPUs.

    Tests replace it with ROCM_SDK_KFD_NODES.
    """
    return Path(os.environ.get(_KERNEL_NODES_OVERRIDE) or _KERNEL_NODES)


def kernel_isas() -> list[str]:
    """Return the ISAs of the kernel driver's list, each once, in its order."""
    nodes = kernel_nodes()
    try:
        names = sorted((name for name in os.listdir(nodes) if name.isdigit()), key=int)
    except OSError:
        return []
    isas: list[str] = []
    for name in names:
        isa = _kernel_isa(nodes / name / "properties")
        if isa is not None and isa not in isas:
            isas.append(isa)
    return isas


_LONGEST_PROPERTIES = 1 << 20


def _kernel_isa(properties: Path) -> str | None:
    try:
        with open_regular(properties) as file:
            text = file.read(_LONGEST_PROPERTIES).decode("utf-8", "replace")
    except OSError:
        return None  # the kernel hides nodes from containers without access
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "gfx_target_version" and value.strip().isdigit():
            return isa_name(int(value))
    return None


def isa_name(version: int) -> str | None:
    """Return the name for the kernel's `gfx_target_version`; None for a CPU's 0.

    The number has two decimal digits each for minor and stepping, the name one hexadecimal digit:
    90402 is gfx942, 90010 is gfx90a.
    """
    if version == 0:
        return None
    major, minor, stepping = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def _offload_arch() -> tuple[list[str], str]:
    """Run core's program, not its console script, which expands devel."""
    core = find("core")
    if core is None or (row := core.scripts.get("offload-arch")) is None:
        return [], ""
    program = core.root / row["program"]
    if sys.platform == "win32":
        program = program.with_name(program.name + ".exe")
    return _answered(str(program)), str(program)


def _answered(program: str) -> list[str]:
    import subprocess  # slow to import, so only here

    try:
        answer = subprocess.run(
            [program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_OFFLOAD_ARCH_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log(f"offload-arch failed: {error}")
        return []
    words = answer.stdout.decode("utf-8", "replace").split()
    isas = [word.split(":", 1)[0] for word in words if word.startswith("gfx")]
    return list(dict.fromkeys(isas))


def _candidates(name: str) -> list[str]:
    """Return the published targets that match an unpublished name."""
    if DIST["mode"] == "kpack":
        return [isa for isa in published() if name in _families_of(isa)]
    serving = [family for family in published() if family in _families_of(name)]
    # The family with the fewest ISAs fits best; the name decides between equals.
    return sorted(serving, key=lambda family: (len(_isas_of(family)), family))[:1]


def _families_of(isa: str) -> list[str]:
    families: dict[str, list[str]] = DIST["families"]
    return families.get(isa, [])


def _isas_of(target: str) -> list[str]:
    members = [isa for isa, families in DIST["families"].items() if target in families]
    return members or [target]


def _product() -> str:
    return f"{DIST['distribution']} {DIST['version']}"


def listed(names: list[str]) -> str:
    """Return names for a message, separated by commas."""
    return ", ".join(names) or "none"
