"""Check of the packages: presence, version, files, duplicates, leftovers."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from .._packages import DIST, Installed, describe, has_target, version_of
from .._paths import unlimited
from .._record import Record, RecordError
from .._versions import normalised
from ._finding import ERROR, WARNING, Finding, install, named, reinstall, remove, uninstall

_DIST_INFO = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)\.dist-info")


def check(installed: list[Installed]) -> list[Finding]:
    """Return the findings about packages."""
    return [
        *_absent(installed),
        *(finding for one in installed for finding in check_one(one)),
        *_installed_twice(installed),
        *_left_behind(installed),
    ]


def check_one(installed: Installed) -> list[Finding]:
    """Return the findings about the version and the files of one package."""
    return [*_version(installed), *_files(installed)]


def _absent(installed: list[Installed]) -> Iterator[Finding]:
    present = {one.package.logical for one in installed}
    needed = {"core": "every other package needs it"}
    if "device" in present:
        needed["libraries"] = "the device packages belong to it"
    for logical, reason in needed.items():
        if logical in DIST["packages"] and logical not in present and not has_target(logical):
            package = describe(logical)
            message = f"{package.distribution} is not installed, and {reason}"
            yield Finding("package-missing", ERROR, package.distribution, message, install(package))


def _version(installed: Installed) -> Iterator[Finding]:
    name = installed.package.distribution
    if not installed.is_in_set:
        expected = version_of(name)
        same = expected == DIST["version"]
        selector = f"{DIST['distribution']} " + ("is" if same else f"{DIST['version']} needs")
        message = f"its version is {installed.version}, but {selector} {expected}"
        yield Finding("version-mismatch", ERROR, name, message, install(installed.package))


def _files(installed: Installed) -> Iterator[Finding]:
    """Compare RECORD with the disk, except for the devel tree."""
    name = installed.package.distribution
    missing: list[str] = []
    changed: list[str] = []
    replaced: list[str] = []
    try:
        rows = installed.record.rows()
    except RecordError as error:
        yield Finding("record-damaged", ERROR, name, str(error), reinstall(installed))
        return
    for path, (_, size) in rows.items():
        if _is_in_devel(path):
            continue
        try:
            state = _state(installed.site, path)
        except (OSError, ValueError):  # ValueError: an impossible file name
            missing.append(path)
            continue
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISLNK(state.st_mode)):
            replaced.append(path)
        elif size and str(state.st_size) != size:
            changed.append(path)
    if missing:
        message = f"files are missing: {named(missing)}"
        yield Finding("files-missing", ERROR, name, message, reinstall(installed))
    if replaced:
        message = f"directories, FIFOs or devices have replaced files: {named(replaced)}"
        yield Finding("files-replaced", ERROR, name, message, reinstall(installed))
    if changed:
        message = f"files have changed their size since installation: {named(changed)}"
        yield Finding("files-changed", WARNING, name, message, reinstall(installed))


def _state(site: Path, path: str) -> os.stat_result:
    """Return the state of a file in RECORD."""
    try:
        return os.lstat(unlimited(site / path))
    except FileNotFoundError:
        if not path.startswith("../"):
            raise
        # `pip install --target` moves scripts there, and leaves RECORD as it was.
        return os.lstat(unlimited(site / "bin" / PurePosixPath(path).name))


def _is_in_devel(path: str) -> bool:
    if "devel" not in DIST["packages"]:
        return False
    devel = describe("devel")
    return path.partition("/")[0] in (devel.platform_dir, devel.workspace)


# ------------------------------------------------------------- duplicates and leftovers


def _installed_twice(installed: list[Installed]) -> Iterator[Finding]:
    """Find distributions with several copies on Python's path."""
    wanted = {normalised(one.package.distribution): one for one in installed}
    places: dict[str, list[tuple[Path, str]]] = {}
    # `lib64` of a virtual environment is a link to `lib`, and Python searches both.
    directories: dict[str, str] = {}
    for entry in sys.path:
        directories.setdefault(os.path.realpath(entry or "."), os.path.abspath(entry or "."))
    for directory in directories.values():
        for name, version in _dist_infos(Path(directory)):
            places.setdefault(name, []).append((Path(directory), version))
    for name, found in places.items():
        if name in wanted and len(found) > 1:
            distribution = wanted[name].package.distribution
            where = ", ".join(f"{version} in {site}" for site, version in found)
            again = install(wanted[name].package)
            yield Finding(
                "installed-twice",
                ERROR,
                distribution,
                f"installed {len(found)} times ({where}); Python uses the copy in {found[0][0]}",
                f"{uninstall(distribution)}  # repeat until none is left; then: {again}",
            )


def _dist_infos(site: Path) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(os.listdir(site))
    except OSError:
        return  # an archive or a missing directory
    for name in names:
        if (match := _DIST_INFO.fullmatch(name)) and (site / name / "METADATA").is_file():
            yield normalised(match["name"]), match["version"]


def _left_behind(installed: list[Installed]) -> Iterator[Finding]:
    """Find platform directories without a distribution.

    Suffixes and families of names differ between builds, so prefixes are compared.
    """
    starts = {
        "_" + normalised(row["distribution"].partition("{")[0].rstrip("-"))
        for row in DIST["packages"].values()
    }
    own = {one.package.platform_dir for one in installed}
    own |= {one.package.workspace for one in installed if one.package.kind == "devel"}
    for site in dict.fromkeys(one.site for one in installed):
        suspects = {
            name
            for name in os.listdir(site)
            if name.startswith(tuple(starts)) and name not in own and (site / name).is_dir()
        }
        left = sorted(suspects - _owned(site)) if suspects else []
        if left:
            yield Finding(
                "leftover-directory",
                WARNING,
                named(left),
                f"no installed distribution owns it (in {site})",
                remove(site / name for name in left),
            )


def _owned(site: Path) -> set[str]:
    """Return the top directories of all distributions' files."""
    owned: set[str] = set()
    for directory in site.glob("*.dist-info"):
        owned |= {path.partition("/")[0] for path in Record(directory / "RECORD").known_rows()}
    return owned
