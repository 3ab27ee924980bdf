# SPDX-License-Identifier: MIT
"""The packages that are installed: three versions, made from one artifact tree."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from process import run

OLD, NEW, NEXT = "7.2.0", "7.2.1", "7.3.0"
NONCE = "n7"  # of the newest version: its platform directories have other names
DEVICES = ("rocm-sdk-device-gfx942", "rocm-sdk-device-gfx1100")
EVERYTHING = ("rocm", "rocm-sdk-core", "rocm-sdk-libraries", *DEVICES, "rocm-profiler", "rocm-sdk-devel")
# Distributions that an installation with every extra but `device` leaves out.
CHOICE = "rocm-sdk-device"


@dataclass(frozen=True)
class Packages:
    """Directories with packages: each version's, and all of them together."""

    all: Path
    old: Path


def build(report, rockpack, tree, place):
    """Build the three versions; return them, or None when that fails."""
    dist = place / "all"
    dist.mkdir(parents=True)
    later = place / "tree"
    _later_tree(tree, later)
    for version, artifacts, options in ((OLD, tree, []), (NEW, later, []), (NEXT, later, ["--version-suffix", NONCE])):
        dest = place / version
        result = run([rockpack, "build", "--artifact-dir", artifacts, "-o", dest, "--version", version, *options],
                     place)
        built = sorted(path for path in (dest / "dist").glob("rocm*") if path.is_file()) if not result.status else []
        is_complete = len(built) == len((*EVERYTHING, CHOICE))
        absent = result.problem or (not is_complete and f"it makes {[path.name for path in built]}")
        if not report.check(f"build {version} {' '.join(options)}".rstrip(), absent):
            return None
        for path in built:
            shutil.copy2(path, dist)
    return Packages(dist, place / OLD / "dist")


def _later_tree(tree, later):
    """Copy the tree as a later release has it: a header went, one came, a library has another name."""
    shutil.copytree(tree, later, symlinks=True)
    headers = next(later.glob("blas_dev_generic/*/include/hipblas"))
    (headers / "hipblas.h").rename(headers / "hipblas-renamed.h")
    core = next(later.glob("core-hip_lib_generic/*/lib"))
    real = core / "libhiprtc.so.7.2"
    renamed = real.rename(core / "libhiprtc.so.7.2.1")
    (core / "libhiprtc.so.7").unlink()
    (core / "libhiprtc.so.7").symlink_to(renamed.name)
