# SPDX-License-Identifier: MIT
"""A Debian root with the libraries that Debian's ROCm takes from Debian."""

import re

import debian
import expectations
from report import NotRun


def ensure_extended_root(root):
    """Return a copy of the root with these libraries."""
    known = root.run(["apt-cache", "pkgnames"], root.work / "home").out.split()
    patterns = sorted(expectations.DEBIAN_PACKAGES)
    packages = [name for name in known if any(re.fullmatch(pattern, name) for pattern in patterns)]
    absent = [one for one in patterns if not any(re.fullmatch(one, name) for name in packages)]
    if absent:
        raise NotRun(f"Debian has no package {', '.join(absent)} (expectations.py)")
    return debian.ensure_copy(root, "root-extended", packages)
