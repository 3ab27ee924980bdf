"""The packages of this distribution: what they are called and where they are."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._dist_info import DIST as _GENERATED
from ._record import Record

DIST: dict[str, Any] = dict(_GENERATED)
COMMAND: str = DIST["command"]
"""What starts the tool in a shell."""
_PLACEHOLDERS = ("{isa}", "{family}")


@dataclass(frozen=True)
class Package:
    """One package, with the target filled in where its name has one."""

    logical: str
    distribution: str
    module: str
    platform_dir: str
    kind: str
    extra: str | None

    @property
    def workspace(self) -> str:
        """The directory in which the devel tree is put together, beside the tree's place."""
        return f"{self.platform_dir}.partial"

    @property
    def requirement(self) -> str:
        """What to pass to an installer to get this package."""
        if self.extra is None:
            return f"{self.distribution}=={DIST['version']}"
        return f"{DIST['distribution']}[{self.extra}]"


@dataclass(frozen=True)
class Installed:
    """A package that is there, in the directory `site` (site-packages, mostly)."""

    package: Package
    site: Path

    @property
    def module_dir(self) -> Path:
        """The directory of the import package."""
        return self.site / self.package.module

    @property
    def root(self) -> Path:
        """The platform directory: what would be /opt/rocm elsewhere."""
        return self.site / self.package.platform_dir

    @property
    def info(self) -> dict[str, Any]:
        """What the package says of itself."""
        module = importlib.import_module(f"{self.package.module}._dist_info")
        return dict(module.DIST)

    @property
    def scripts(self) -> dict[str, Any]:
        """Its console scripts: where the program behind each is, below `root`."""
        scripts: dict[str, Any] = self.info.get("scripts", {})
        return scripts

    @property
    def aliases(self) -> frozenset[str]:
        """Its forwarding libraries, relative to `root`."""
        return frozenset(self.info.get("aliases", ()))

    @property
    def version(self) -> str:
        """The version of the package, which can differ from this one's."""
        return str(self.info["version"])

    @property
    def record(self) -> Record:
        """The list of its files."""
        return Record.of(self.site, self.package.distribution, self.version)


def has_target(logical: str) -> bool:
    """Tell whether there is one such package per GPU target."""
    names: dict[str, str] = DIST["packages"][logical]
    return _marked(names["module"])


def _marked(name: str) -> bool:
    return any(mark in name for mark in _PLACEHOLDERS)


def describe(logical: str, target: str | None = None) -> Package:
    """Return the names of a package; `target` fills the place of the ISA or family."""
    row: dict[str, Any] = DIST["packages"][logical]
    extra: str | None = row["extra"]
    if extra is not None and target is not None:
        # Of an extra for each target the mark is in the name; else there can be one beside it.
        named = _fill(extra, target) if _marked(extra) else f"{extra}-{target}"
        extra = named if named in DIST["extras"] else extra
    if extra is not None and _marked(extra):
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
    """Return the installed package, or None. Nothing is imported."""
    if logical not in DIST["packages"]:
        return None
    package = describe(logical, target)
    spec = importlib.util.find_spec(package.module)
    # A directory without __init__.py is a leftover, not the package.
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    return Installed(package, Path(spec.origin).parent.parent)


def require(logical: str, target: str | None = None) -> Installed:
    """Return the installed package.

    Raises ModuleNotFoundError, saying how to install it, when it is not there.
    """
    installed = find(logical, target)
    if installed is None:
        if logical not in DIST["packages"]:
            raise ModuleNotFoundError(f"{DIST['distribution']} has no package {logical!r}")
        raise missing([describe(logical, target)])
    return installed


def missing(packages: list[Package]) -> ModuleNotFoundError:
    """Return the error for packages that are not installed: it names the extras."""
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


def published() -> list[str]:
    """Return the targets that the distribution has for this operating system."""
    return list(DIST["targets"].get("win32" if sys.platform == "win32" else "linux", []))


def every_installed() -> list[Installed]:
    """Return all packages of this distribution that are there, in the declared order."""
    found: list[Installed] = []
    for logical in DIST["packages"]:
        for target in published() if has_target(logical) else [None]:
            installed = find(logical, target)
            if installed is not None:
                found.append(installed)
    return found
