"""Versions of installed distributions, and of the set that a selector names.

Versions are read from the names of metadata directories, because tools that change the version of a
package rename its directory, but do not know the generated `_dist_info.py`.
"""

from __future__ import annotations

import os

from ._dist_info import DIST as _GENERATED

TYPE_CHECKING = False  # importing `typing` takes longer than starting a program
if TYPE_CHECKING:
    from typing import Any

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_METADATA = ".dist-info"


def metadata_directory(site: str, distribution: str) -> str | None:
    """Return the name of a distribution's metadata directory in `site`, or None."""
    wanted = f"{normalised(distribution)}-"
    try:
        names = sorted(os.listdir(site))
    except OSError:
        return None
    for name in names:
        # Installers keep the case of the wheel's file name.
        if name.endswith(_METADATA) and name.lower().startswith(wanted):
            version = name[len(wanted) : -len(_METADATA)]
            if "-" not in version and os.path.isfile(os.path.join(site, name, "METADATA")):
                return name
    return None


def normalised(distribution: str) -> str:
    """Return a distribution's name in the form of metadata directories."""
    parts = distribution.lower().replace("-", "_").replace(".", "_").split("_")
    return "_".join(part for part in parts if part)


def installed_version(site: str, distribution: str) -> str | None:
    """Return the version of a distribution in `site`, or None without metadata."""
    name = metadata_directory(site, distribution)
    return None if name is None else name[len(normalised(distribution)) + 1 : -len(_METADATA)]


def own_version() -> str:
    """Return the version of this distribution.

    In frozen programs, which have no metadata, it is the version of the build.
    """
    generated: dict[str, Any] = dict(_GENERATED)
    return installed_version(_SITE, generated["distribution"]) or str(generated["version"])


def version_in_set(selector: dict[str, Any], version: str, distribution: str) -> str:
    """Return the version of a distribution in the set of a selector with this version."""
    earlier: dict[str, str] = selector.get("versions", {})
    if distribution in earlier:
        return earlier[distribution]
    lists: list[list[str]] = [selector.get("requires", []), *selector.get("extras", {}).values()]
    for requirement in (one for each in lists for one in each):
        name, _, pin = requirement.partition(";")[0].partition("==")
        if name.strip() == distribution and pin:
            return pin.strip()
    return version


def is_in_set(version: str, expected: str) -> bool:
    """Return whether a package's version satisfies the one that its selector requires.

    One of them can be a post release of the other; two different post releases do not match.
    """
    plain, plain_expected = without_post(version), without_post(expected)
    return version == expected or (
        plain == plain_expected and (version == plain or expected == plain_expected)
    )


def without_post(version: str) -> str:
    """Return a version without its post release: `7.2.dev3` for `7.2.post1.dev3`."""
    public, plus, local = version.partition("+")
    start, _, rest = public.partition(".post")
    return f"{start}{rest.lstrip('0123456789')}{plus}{local}"
