"""The kernel's driver for AMD GPUs, read from /sys and /dev.

`amdgpu` has a version of its own only where it was installed apart from the kernel (DKMS). The
driver that a kernel brings along has the kernel's version.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

_MODULE = "/sys/module/amdgpu"
_DEVICE = "/dev/kfd"


@dataclass(frozen=True)
class Driver:
    """The driver of this machine.

    `version` is that of the module with `source` `module` (installed apart from the kernel), that
    of the running kernel with `source` `kernel`; both are None without a driver.
    """

    loaded: bool
    usable: bool
    version: str | None = None
    source: str | None = None
    problem: str | None = None


def look(module: str = _MODULE, device: str = _DEVICE) -> Driver:
    """See `rocm_sdk.driver`."""
    if sys.platform == "win32":
        return _of_windows()
    if not os.path.isdir(module):
        return Driver(False, False, problem="the kernel has not loaded the module amdgpu")
    try:
        version, source = Path(module, "version").read_text("utf-8", "replace").strip(), "module"
    except OSError:
        version, source = platform.release(), "kernel"
    problem = _problem(device)
    return Driver(True, problem is None, version, source, problem)


def _problem(device: str) -> str | None:
    if not os.path.exists(device):
        return f"there is no {device}: a container needs --device={device} --device=/dev/dri"
    if not os.access(device, os.R_OK | os.W_OK):
        group = _group(device)
        return (
            f"this user may not open {device}: sudo usermod -a -G {group} $USER, then log in again"
        )
    return None


def _group(device: str) -> str:
    if sys.platform != "win32":
        import grp

        number = os.stat(device).st_gid
        try:
            return grp.getgrgid(number).gr_name
        except KeyError:  # a container lacks the host's groups
            return str(number)
    return ""


def _of_windows() -> Driver:
    """Return the version of the HIP library that the display driver installs."""
    from ._health._rivals import file_version

    system = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32")
    for path in sorted(system.glob("amdhip64*.dll"), reverse=True):
        version = file_version(path)
        return Driver(True, True, ".".join(map(str, version)) if version else None, "module")
    return Driver(False, False, problem=f"no display driver has put amdhip64 into {system}")
