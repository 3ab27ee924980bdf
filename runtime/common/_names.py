"""Packages and libraries under the names by which other projects import them.

`_dist_info` exports these stable names. docs/installed.md lists them with the projects that use
each. All values derive from `DIST`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._dist_info import DIST as _GENERATED
from ._versions import installed_version, own_version, version_in_set

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_DIST: dict[str, Any] = dict(_GENERATED)
_PLACEHOLDERS = ("{isa}", "{family}")


class PackageEntry:
    """A package of the distribution. `target_family` selects one of the packages per target."""

    def __init__(
        self,
        logical_name: str,
        *,
        dist_package_template: str,
        pure_py_package_name: str,
        platform_template: str,
        required: bool,
    ) -> None:
        self.logical_name = logical_name
        self.dist_package_template = dist_package_template
        self.pure_py_package_name = pure_py_package_name
        self._platform_template = platform_template
        self.required = required

    @property
    def is_required(self) -> bool:
        """True if the selector installs the package without an extra."""
        return self.required

    @property
    def is_target_specific(self) -> bool:
        """True if each target has its own package."""
        return any(mark in self.dist_package_template for mark in _PLACEHOLDERS)

    def get_dist_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the distribution."""
        return self._filled(self.dist_package_template, target_family)

    def get_dist_package_require(self, target_family: str | None = None) -> str:
        """Return the requirement for the distribution in this version."""
        name = self.get_dist_package_name(target_family)
        return f"{name}=={_version_of(name)}"

    def get_py_package_name(self, target_family: str | None = None) -> str:
        """Return the name of the platform directory in site-packages."""
        return self._filled(self._platform_template, target_family, as_identifier=True)

    def get_py_package(self, target_family: str | None = None) -> ModuleSpec | None:
        """Return the spec of the platform directory; None if the package is not installed.

        The directory of devel is the expanded tree. Device packages share the directory of another
        package, so their module decides.
        """
        module = self._filled(self.pure_py_package_name, target_family, as_identifier=True)
        if importlib.util.find_spec(module) is None:
            return None
        return importlib.util.find_spec(self.get_py_package_name(target_family))

    def has_py_package(self, target_family: str | None = None) -> bool:
        """Return whether the package is installed."""
        return self.get_py_package(target_family) is not None

    def _filled(self, name: str, target: str | None, *, as_identifier: bool = False) -> str:
        if self.is_target_specific and target is None:
            raise ValueError(
                f"{self.logical_name} has a package for each target: pass target_family"
            )
        value = (target or "").partition(":")[0]
        value = value.replace("-", "_").replace(".", "_") if as_identifier else value
        for mark in _PLACEHOLDERS:
            name = name.replace(mark, value)
        return name

    def __repr__(self) -> str:
        return self.dist_package_template


class LibraryEntry:
    """A library with a short name: package, directory, and file name pattern per system.

    The pattern is empty on a system without the library.
    """

    windows_relpath: str
    posix_relpath: str

    def __init__(self, shortname: str, package: PackageEntry, row: dict[str, Any]) -> None:
        self.shortname = shortname
        self.package = package
        self.optional = bool(row["optional"])
        self.posix_relpath, self.so_pattern = _parted(row["linux"], "lib")
        self.windows_relpath, self.dll_pattern = _parted(row["windows"], "bin")

    def __repr__(self) -> str:
        return (
            f"{self.shortname}(so_pattern={self.so_pattern}, dll_pattern={self.dll_pattern}, "
            f"package={self.package})"
        )


def _parted(pattern: str | None, directory: str) -> tuple[str, str]:
    """Return directory and file name of a pattern."""
    if pattern is None:
        return directory, ""
    parent, _, name = pattern.rpartition("/")
    return parent, name


def _packages() -> dict[str, PackageEntry]:
    rows: dict[str, dict[str, Any]] = _DIST["packages"]
    selector: dict[str, str] | None = _DIST["selector"]
    found: dict[str, PackageEntry] = {}
    if selector is not None:
        found[selector["package"]] = PackageEntry(
            selector["package"],
            dist_package_template=selector["distribution"],
            pure_py_package_name=selector["module"],
            platform_template=f"_{selector['module']}",
            required=True,
        )
    for logical, row in rows.items():
        found[logical] = PackageEntry(
            logical,
            dist_package_template=row["distribution"],
            pure_py_package_name=row["module"],
            platform_template=row["platform_dir"],
            required=row["extra"] is None,
        )
    return found


ALL_PACKAGES: dict[str, PackageEntry] = _packages()
ALL_LIBRARIES: dict[str, LibraryEntry] = {
    name: LibraryEntry(name, ALL_PACKAGES[row["package"]], row)
    for name, row in _DIST["libraries"].items()
}


def attribute(name: str) -> Any:
    """Return the value of a name of `_dist_info`; raises AttributeError for an unknown name."""
    if name in _OWN:
        return _OWN[name]
    if name in _OF_TARGETS:
        if "targets" in _DIST:
            return getattr(importlib.import_module(f"{__package__}._targets"), _OF_TARGETS[name])
        return _of_selector(name)
    raise AttributeError(f"module {f'{__package__}._dist_info'!r} has no attribute {name!r}")


def _of_selector(name: str) -> Any:
    """Return the selector's value: other packages do not know the published targets."""
    selector: dict[str, str] | None = _DIST["selector"]
    if selector is None:
        raise AttributeError(f"{name!r} needs a selector, and {_DIST['distribution']} has none")
    try:
        return getattr(importlib.import_module(f"{selector['module']}._dist_info"), name)
    except ModuleNotFoundError as error:
        wanted = f"{selector['distribution']}=={own_version()}"
        message = f"{name!r} needs {selector['distribution']}; to install: pip install {wanted}"
        raise AttributeError(message) from error


def _version_of(distribution: str) -> str:
    """Return a distribution's version in the selector's set; without a selector, the own one."""
    facts, selector = _DIST, _DIST["selector"]
    version = own_version()
    if "targets" not in _DIST and selector is not None:
        try:
            module = importlib.import_module(f"{selector['module']}._dist_info")
        except ModuleNotFoundError:
            return version
        facts = module.DIST
        site = os.path.dirname(os.path.dirname(os.path.abspath(str(module.__file__))))
        version = installed_version(site, selector["distribution"]) or str(facts["version"])
    return version_in_set(facts, version, distribution)


def _suffix() -> str:
    """Return the suffix of directory names from `--version-suffix`."""
    for row in _DIST["packages"].values():
        plain = "_" + row["distribution"].replace("-", "_").replace(".", "_")
        if row["platform_dir"].startswith(plain):
            return str(row["platform_dir"][len(plain) :])
    return ""


def _this_target() -> str | None:
    """Return the target of this distribution: the only one of its files or of its selector."""
    row = _DIST["packages"].get(_DIST.get("package"))
    if row is None:
        return _DIST["default_target"] if _DIST.get("mode") == "legacy" else None
    for mark in _PLACEHOLDERS:
        before, found, after = row["distribution"].partition(mark)
        if found:
            name: str = _DIST["distribution"]
            return name.removeprefix(before).removesuffix(after)
    return None


def _initialized() -> Path | None:
    """Return the path of the file that marks an expanded tree, relative to devel's module."""
    devel = _DIST["packages"].get("devel")
    return None if devel is None else Path("..", devel["platform_dir"], ".rocm-sdk.json")


_OWN: dict[str, Any] = {
    "ALL_PACKAGES": ALL_PACKAGES,
    "ALL_LIBRARIES": ALL_LIBRARIES,
    "LibraryEntry": LibraryEntry,
    "PackageEntry": PackageEntry,
    "DEVEL_INITIALIZED": _initialized(),
    "PY_PACKAGE_SUFFIX_NONCE": _suffix(),
    "THIS_TARGET_FAMILY": _this_target(),
    "__version__": own_version(),
}
# Names in `_targets`.
_OF_TARGETS = {
    "AVAILABLE_TARGET_FAMILIES": "AVAILABLE",
    "DEFAULT_TARGET_FAMILY": "DEFAULT",
    "LINUX_TARGET_FAMILIES": "LINUX",
    "WINDOWS_TARGET_FAMILIES": "WINDOWS",
    "determine_target_family": "determine",
    "discover_current_target_family": "discover",
}
