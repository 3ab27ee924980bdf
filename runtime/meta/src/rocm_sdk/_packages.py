"""Packages of this distribution: names and places."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._dist_info import DIST as _GENERATED
from ._record import Record
from ._versions import installed_version, is_in_set, own_version, version_in_set

DIST: dict[str, Any] = {**_GENERATED, "version": own_version()}
COMMAND: str = DIST["command"]
"""Shell command of the tool."""
_PLACEHOLDERS = ("{isa}", "{family}")


def version_of(distribution: str) -> str:
    """Return a distribution's version in this set: the one that the selector requires.

    It differs from the selector's in sets with packages of earlier nights, and for post releases.
    """
    return version_in_set(DIST, str(DIST["version"]), distribution)


@dataclass(frozen=True)
class Package:
    """Names of a package, with the target filled in."""

    logical: str
    distribution: str
    module: str
    platform_dir: str
    kind: str
    extra: str | None

    @property
    def workspace(self) -> str:
        """Name of the directory in which the devel tree is built, next to the tree."""
        return f"{self.platform_dir}.partial"

    @property
    def requirement(self) -> str:
        """Requirement that installs this package."""
        if self.extra is None:
            return f"{self.distribution}=={version_of(self.distribution)}"
        return f"{DIST['distribution']}[{self.extra}]"


@dataclass(frozen=True)
class Installed:
    """An installed package in the directory `site`, usually site-packages."""

    package: Package
    site: Path

    @property
    def module_dir(self) -> Path:
        """Directory of the import package."""
        return self.site / self.package.module

    @property
    def root(self) -> Path:
        """Platform directory, with the layout of /opt/rocm."""
        return self.site / self.package.platform_dir

    @property
    def info(self) -> dict[str, Any]:
        """`DIST` of the package."""
        module = importlib.import_module(f"{self.package.module}._dist_info")
        return dict(module.DIST)

    @property
    def scripts(self) -> dict[str, Any]:
        """Console scripts by name, with programs relative to `root`."""
        scripts: dict[str, Any] = self.info.get("scripts", {})
        return scripts

    @property
    def aliases(self) -> frozenset[str]:
        """Forwarding libraries, relative to `root`."""
        return frozenset(self.info.get("aliases", ()))

    @property
    def libraries(self) -> dict[str, str]:
        """Shared libraries by short name, relative to `root`, without forwarding libraries."""
        libraries: dict[str, str] = self.info.get("shared", {})
        return libraries

    @property
    def version(self) -> str:
        """Version of the package, which can differ from the selector's."""
        return installed_version(str(self.site), self.package.distribution) or str(
            self.info["version"]
        )

    @property
    def is_in_set(self) -> bool:
        """Whether the package has the version that the selector requires."""
        return is_in_set(self.version, version_of(self.package.distribution))

    @property
    def record(self) -> Record:
        """RECORD of the package."""
        return Record.of(self.site, self.package.distribution)


def has_target(logical: str) -> bool:
    """Return whether each GPU target has its own package."""
    names: dict[str, str] = DIST["packages"][logical]
    return _has_placeholder(names["module"])


def is_overlay(logical: str) -> bool:
    """Return whether a package has files for one target in another one's platform directory."""
    return has_target(logical) and not _has_placeholder(DIST["packages"][logical]["platform_dir"])


def _has_placeholder(name: str) -> bool:
    return any(mark in name for mark in _PLACEHOLDERS)


def describe(logical: str, target: str | None = None) -> Package:
    """Return the names of a package; `target` replaces the placeholder for ISA or family."""
    row: dict[str, Any] = DIST["packages"][logical]
    extra: str | None = row["extra"]
    if extra is not None and target is not None:
        # Without a placeholder in the extra, an extra with the target as suffix may exist.
        named = _fill(extra, target) if _has_placeholder(extra) else f"{extra}-{target}"
        extra = named if named in DIST["extras"] else extra
    if extra is not None and _has_placeholder(extra):
        extra = None
    return Package(
        logical=logical,
        distribution=_fill(row["distribution"], target),
        module=_fill(row["module"], target, as_identifier=True),
        platform_dir=_fill(row["platform_dir"], target, as_identifier=True),
        kind=row["kind"],
        extra=extra,
    )


def _fill(name: str, target: str | None, *, as_identifier: bool = False) -> str:
    if target is not None:
        value = target.replace("-", "_") if as_identifier else target
        for mark in _PLACEHOLDERS:
            name = name.replace(mark, value)
    return name


def find(logical: str, target: str | None = None) -> Installed | None:
    """Return the installed package, or None, without an import of it."""
    if logical not in DIST["packages"]:
        return None
    package = describe(logical, target)
    spec = importlib.util.find_spec(package.module)
    # A directory without __init__.py is a leftover, not a package.
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    return Installed(package, Path(spec.origin).parent.parent)


def require(logical: str, target: str | None = None) -> Installed:
    """Return the installed package.

    Raises ModuleNotFoundError with the command that installs an absent package.
    """
    installed = find(logical, target)
    if installed is None:
        if logical not in DIST["packages"]:
            raise ModuleNotFoundError(f"{DIST['distribution']} has no package {logical!r}")
        raise missing([describe(logical, target)])
    return installed


def missing(packages: list[Package]) -> ModuleNotFoundError:
    """Return the error for absent packages, with the command that installs them."""
    names = ", ".join(package.distribution for package in packages)
    extras = sorted({package.extra for package in packages if package.extra is not None})
    wanted = [package.requirement for package in packages if package.extra is None]
    if extras:
        wanted.append(f"{DIST['distribution']}[{','.join(extras)}]")
    command = " ".join(f'"{requirement}"' for requirement in wanted)
    verb = "is" if len(packages) == 1 else "are"
    return ModuleNotFoundError(
        f"{names} {verb} not installed; to install: pip install {command}",
        name=packages[0].module,
    )


def version_advice(distribution: str) -> str:
    """Return the end of a message about another version of a distribution."""
    selector, version = f"{DIST['distribution']} {DIST['version']}", version_of(distribution)
    if version == DIST["version"]:
        return f"{DIST['distribution']} is {version}: install the same version of both"
    return f"{version} belongs to {selector}: pip install {distribution}=={version}"


def published() -> list[str]:
    """Return the published targets of this operating system."""
    return list(DIST["targets"].get("win32" if sys.platform == "win32" else "linux", []))


def every_installed() -> list[Installed]:
    """Return the installed packages of this distribution in the declared order."""
    found: list[Installed] = []
    for logical in DIST["packages"]:
        for target in published() if has_target(logical) else [None]:
            installed = find(logical, target)
            if installed is not None:
                found.append(installed)
    return found
