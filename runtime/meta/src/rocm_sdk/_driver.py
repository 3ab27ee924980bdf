"""Kernel driver for AMD GPUs, read from /sys and /dev.

`amdgpu` has a version only if it was installed separately from the kernel (DKMS). A driver that is
part of the kernel has the kernel's version.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ._packages import DIST

_MODULE = "/sys/module/amdgpu"
_DEVICE = "/dev/kfd"
# WSL lends the GPU of Windows's driver: no module is loaded, and no file has a version.
_WSL_DEVICE = "/dev/dxg"


@dataclass(frozen=True)
class Driver:
    """Driver of this machine.

    With `source` `module`, `version` is the module's (installed separately from the kernel), on
    Windows the HIP library's; with `kernel`, the running kernel's. Without a driver, and on WSL,
    both are None.
    `supported` is whether these packages support the version, None if they name none for this
    source.
    """

    loaded: bool
    usable: bool
    version: str | None = None
    source: str | None = None
    problem: str | None = None
    supported: bool | None = None


def look(module: str = _MODULE, device: str = _DEVICE, wsl_device: str = _WSL_DEVICE) -> Driver:
    """See `rocm_sdk.driver`."""
    if sys.platform == "win32":
        return _of_windows()
    if not os.path.isdir(module):
        if os.path.exists(wsl_device):
            obstacle = _problem(wsl_device)
            return Driver(True, obstacle is None, problem=obstacle)
        problem = "the kernel module amdgpu is not loaded: sudo modprobe amdgpu (on the host)"
        return Driver(False, False, problem=problem)
    try:
        version, source = Path(module, "version").read_text("utf-8", "replace").strip(), "module"
    except OSError:
        version, source = platform.release(), "kernel"
    obstacle = _problem(device)
    return Driver(
        True, obstacle is None, version, source, obstacle, _is_supported(version, source)
    )


def _is_supported(version: str, source: str) -> bool | None:
    """Compare with the oldest version in the packages' data."""
    oldest: str | None = DIST.get("driver", {}).get(source)
    match = re.match(r"\d+(\.\d+)*", version)
    if oldest is None or match is None:
        return None
    return _numbers(match[0]) >= _numbers(oldest)


def _numbers(version: str) -> list[int]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:  # 6.8 is 6.8.0
        numbers.pop()
    return numbers


def _problem(device: str) -> str | None:
    if not os.path.exists(device):
        return f"{device} is missing: a container needs --device={device} --device=/dev/dri"
    if not os.access(device, os.R_OK | os.W_OK):
        group = _group(device)
        return (
            f"this user cannot open {device}: sudo usermod -a -G {group} $USER, then log in again"
        )
    return None


def _group(device: str) -> str:
    if sys.platform != "win32":
        import grp

        number = os.stat(device).st_gid
        try:
            return grp.getgrgid(number).gr_name
        except KeyError:  # a container does not know the host's groups
            return str(number)
    return ""


def _digits(path: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", path.stem)]


def _of_windows() -> Driver:
    """Return the version of the HIP library that the display driver installs."""
    from ._health._rivals import file_version

    system = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
    # Drivers install one for each major version, such as `amdhip64_6.dll`; the newest has theirs.
    path = max(system.glob("amdhip64*.dll"), key=_digits, default=None)
    if path is None:
        problem = f"{system} has no amdhip64*.dll: install AMD's display driver"
        return Driver(False, False, problem=problem)
    version = file_version(path)
    return Driver(True, True, ".".join(map(str, version)) if version else None, "module")
