# SPDX-License-Identifier: MIT
"""A Debian root with the libraries that Debian's ROCm takes from Debian."""

import re

import debian
import expectations
from report import NotRun


def ensure_extended_root(root):
    """Return a copy of the root with these libraries."""
    return ensure_root_with(root, "root-extended", expectations.DEBIAN_PACKAGES)


def ensure_root_with(root, name, patterns):
    """Return a copy of the root that has these packages of Debian (regular expressions) too."""
    names = root.run(["apt-cache", "pkgnames"], root.work / "home").out.split()
    packages = [name for name in names if any(re.fullmatch(pattern, name) for pattern in patterns)]
    absent = [one for one in sorted(patterns) if not any(re.fullmatch(one, name) for name in packages)]
    if absent:
        raise NotRun(f"Debian has no package {', '.join(absent)}")
    return debian.ensure_copy(root, name, packages)
