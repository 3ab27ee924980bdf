"""Answers for builds of frameworks: libraries, their load order and their places.

They derive from the installed packages and the distribution's declarations, so frameworks need no
list of libraries.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from . import _libraries
from ._elf import Elf, read
from ._errors import RocmSdkError
from ._packages import COMMAND, DIST, Installed, describe, every_installed, has_target
from ._packages import find as find_package
from ._targets import determine

_FORMAT = 1


@dataclass(frozen=True)
class Library:
    """A library with a short name. `requirement` installs one without `path`."""

    name: str
    distribution: str
    requirement: str
    path: Path | None
    site: Path | None
    soname: str | None

    @property
    def file(self) -> str | None:
        """Path relative to site-packages, with `/`."""
        if self.path is None or self.site is None:
            return None
        return self.path.relative_to(self.site).as_posix()


def libraries(names: Iterable[str] | None = None) -> list[Library]:
    """Return the libraries with these short names, or all of this system, in load order.

    Libraries follow their dependencies, otherwise the declared order applies. Raises the errors of
    `rocm_sdk.find_libraries` for `names`, with `missing_ok`.
    """
    asked = tuple(dict.fromkeys(names)) if names is not None else None
    if asked is not None:
        _libraries.locate(asked, missing_ok=True)
    rows = DIST["libraries"] if asked is None else asked
    known = [found for name in rows if (found := _library(name)) is not None]
    return _in_loading_order(known)


def _library(name: str) -> Library | None:
    if _libraries.pattern(name) is None:
        return None
    logical = DIST["libraries"][name]["package"]
    target = determine() if has_target(logical) else None
    package, installed = describe(logical, target), find_package(logical, target)
    path: Path | None = None
    if installed is not None:
        try:
            ((_, path),) = _libraries.locate((name,))
        except FileNotFoundError:
            path = None
    elf = _elf(path)
    return Library(
        name=name,
        distribution=package.distribution,
        requirement=package.requirement,
        path=path,
        site=installed.site if installed else None,
        soname=elf.soname if elf else (path.name if path else None),
    )


def _elf(path: Path | None) -> Elf | None:
    if path is None or sys.platform == "win32":
        return None
    try:
        return read(path)
    except (OSError, ValueError) as error:
        raise RocmSdkError(f"{path} cannot be read ({error}): reinstall its package") from error


def _in_loading_order(known: list[Library], others: Iterable[Library] = ()) -> list[Library]:
    """Sort by dependencies, including those through libraries without a short name.

    Those of `others` that the known ones need are added.
    """
    files = _files_by_name(every_installed()) if sys.platform != "win32" else {}
    by_file = {str(one.path): one for one in [*others, *known] if one.path is not None}
    ordered: dict[str, Library] = {}
    seen: set[str] = set()

    def visit(path: Path) -> None:
        if str(path) in seen:
            return
        seen.add(str(path))
        elf = _elf(path)
        for name in elf.needed if elf else []:
            if name in files:
                visit(files[name])
        one = by_file.get(str(path))
        if one is not None:
            ordered[one.name] = one

    for one in known:
        if one.path is not None:
            visit(one.path)
    return [*ordered.values(), *(one for one in known if one.path is None)]


def _files_by_name(installed: Iterable[Installed]) -> dict[str, Path]:
    """Return the libraries of the packages by file name, without forwarding libraries."""
    files: dict[str, Path] = {}
    for one in installed:
        if one.package.kind == "devel":
            continue
        aliases = one.aliases
        for directory in _library_directories():
            place = one.root / directory
            names = sorted(os.listdir(place)) if place.is_dir() else []
            for name in names:
                if ".so" in name and f"{directory}/{name}" not in aliases:
                    files.setdefault(name, place / name)
    return files


def _library_directories() -> list[str]:
    patterns = [str(row["linux"]) for row in DIST["libraries"].values() if row["linux"]]
    return list(dict.fromkeys(pattern.rpartition("/")[0] for pattern in patterns))


# ------------------------------------------------------------------------------ answers


def as_text(found: list[Library]) -> str:
    """Return a table of short name, SONAME and file, in load order."""
    rows = [(one.name, one.soname or "-", one.file or _absent(one)) for one in found]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    lines = [f"{a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
    return "".join(f"{line}\n" for line in lines)


def _absent(one: Library) -> str:
    if one.site is None:
        return f"not installed: {one.requirement}"
    return f"not in {one.distribution}"


def as_json(found: list[Library]) -> str:
    """Return the libraries as one JSON object."""
    rows = [
        {
            "name": one.name,
            "soname": one.soname,
            "file": one.file,
            "path": None if one.path is None else str(one.path),
            "distribution": one.distribution,
            "requirement": one.requirement,
        }
        for one in found
    ]
    return json.dumps({"format": _FORMAT, "version": DIST["version"], "libraries": rows}, indent=1)


def rpath(start: str, names: Iterable[str] | None = None) -> list[str]:
    """Return the rpath entries of a file in the directory `start`, below site-packages.

    They cover the libraries `names`, or all installed ones. Raises the errors of
    `rocm_sdk.find_libraries` for `names` of this operating system.
    """
    if sys.platform == "win32":
        raise RocmSdkError("files for Windows have no rpath; call initialize_process")
    below = _below_site(start)
    covered = libraries() if names is None else _required(names)
    files = [PurePosixPath(one.file) for one in covered if one.file is not None]
    declared = list(dict.fromkeys(one.package.platform_dir for one in every_installed()))
    files.sort(key=lambda file: declared.index(file.parts[0]))
    directories = dict.fromkeys(str(file.parent) for file in files)
    return [f"$ORIGIN/{os.path.relpath(directory, below)}" for directory in directories]


def with_dependencies(names: Iterable[str]) -> list[str]:
    """Return the names with those of all libraries that they need, in load order."""
    asked = _required(names)
    return [one.name for one in _in_loading_order(asked, others=libraries())]


def _required(names: Iterable[str]) -> list[Library]:
    """Return the libraries of this operating system in load order; each must exist."""
    asked = _libraries.of_this_system(names)
    _libraries.locate(asked)
    return libraries(asked)


def _below_site(start: str) -> str:
    """Return a directory relative to site-packages."""
    path = Path(start)
    if path.is_absolute():
        for one in every_installed():
            if path.is_relative_to(one.site):
                return path.relative_to(one.site).as_posix()
        raise RocmSdkError(
            f"{start} is not below site-packages: write a path relative to it, such as torch/lib"
        )
    below = os.path.normpath(start)
    if below == os.pardir or below.startswith(os.pardir + os.sep):
        raise RocmSdkError(f"{start} leads out of site-packages: write a path such as torch/lib")
    return below


_TEMPLATE = '''\
"""Loads the ROCm libraries that this package was built against.

Generated by `{command} framework-init` of {distribution} {version} for {asked};
regenerate it for another version.
"""


def initialize() -> None:
    import {module}

    {module}.initialize_process(
        preload_shortnames=[
{names}
        ],
        check_version="{check}",{strict}
    )
'''


def init_module(names: Iterable[str], check: str, *, strict: bool) -> str:
    """Return the module `_rocm_init` of a framework.

    `check` is `exact`, `minor` (any release with this major and minor number), or a version with
    `*` as wildcard. With `strict`, another version is an error, not a warning.
    """
    version = str(DIST["version"])
    if check == "minor":
        numbers = re.match(r"(?:\d+!)?\d+(?:\.\d+)?", version)
        check = f"{numbers[0] if numbers else version}.*"
    elif check == "exact":
        check = version
    elif re.fullmatch(r"[A-Za-z0-9.!+*]+", check) is None:
        raise RocmSdkError(f"`{check}` is not a version: write one such as {version} or 7.*")
    # Libraries of the other system remain: one file serves both.
    asked = list(dict.fromkeys(names))
    loading = [one.name for one in _required(asked)]
    rest = [name for name in asked if name not in loading]
    return _TEMPLATE.format(
        command=COMMAND,
        module=__package__,
        distribution=DIST["distribution"],
        version=version,
        asked=", ".join(asked),
        names="\n".join(f'            "{name}",' for name in [*loading, *rest]),
        check=check,
        strict="\n        fail_on_version_mismatch=True," if strict else "",
    )


def split(text: str) -> Iterator[str]:
    """Return the names of a list that `,`, `;` or blanks separate."""
    return (name for name in re.split(r"[,;\s]+", text) if name)
