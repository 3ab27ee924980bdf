"""Searches for files of ROCm by name: libraries, headers, programs, bitcode, static libraries.

Each search has the same places in the same order: the installed packages, the devel tree, the
directory of ROCM_PATH, the system.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import _libraries
from ._errors import DevelError, NotFoundError
from ._loader import cached_libraries
from ._packages import COMMAND, DIST, Installed, describe, every_installed, has_target
from ._packages import find as find_package
from ._paths import programs

PACKAGE, DEVEL, ENVIRONMENT, SYSTEM = "package", "devel", "environment", "system"
_VARIABLE = "ROCM_PATH"
_WINDOWS = sys.platform == "win32"
_SYSTEM_ROOT = "/opt/rocm"
_LIBRARY_DIRECTORIES = ("bin", "lib") if _WINDOWS else ("lib", "lib64", "lib/llvm/lib")
_STATIC_DIRECTORIES = ("lib", "lib64", "lib/llvm/lib")
_PROGRAM_DIRECTORIES = ("bin", "lib/llvm/bin", "llvm/bin")
_BITCODE_DIRECTORIES = (
    "lib/llvm/lib/clang/*/amdgcn/bitcode",
    "lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
    "lib/llvm/amdgcn/bitcode",
    "amdgcn/bitcode",
)


@dataclass(frozen=True)
class Found:
    """A file or directory, and the place that has it; usable as a path.

    `found_via` is `package`, `devel` (the expanded tree), `environment` (ROCM_PATH) or `system`.
    `distribution` is the package that installed it, None outside packages and devel tree.
    """

    name: str
    path: Path
    found_via: str
    distribution: str | None = None

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return os.fspath(self.path)


@dataclass(frozen=True)
class _Place:
    """A directory in the layout of /opt/rocm, or the reason why it cannot be searched."""

    found_via: str
    root: Path | None
    distribution: str | None = None
    reason: str = ""

    def __str__(self) -> str:
        return self.reason or str(self.root)


def library(name: str) -> Found:
    """See `rocm_sdk.find_library`."""
    short = name.removeprefix("lib").partition(".so")[0] if name.startswith("lib") else name
    for candidate in dict.fromkeys((name, short)):
        located = _located(candidate)
        if located is not None:
            return located
    pattern = re.compile(_library_pattern(short), re.IGNORECASE if _WINDOWS else 0)

    def best(paths: Iterable[Path]) -> Path | None:
        matches = (path for path in paths if pattern.fullmatch(path.name))
        rank = _libraries.library_rank
        return max(matches, key=lambda path: rank(short, path.name) or (False, []), default=None)

    def search(root: Path) -> Path | None:
        return best(path for below in _LIBRARY_DIRECTORIES for path in _files(root / below))

    def of_system() -> Path | None:
        return best(Path(paths[0]) for paths in cached_libraries().values())

    return _first("library", name, _places(), search, of_system, _libraries.names, searched=PACKAGE)


def header_directory(name: str) -> Found:
    """See `rocm_sdk.find_header_directory`."""
    relative = _below(name)

    def search(root: Path) -> Path | None:
        directory = root / "include"
        return directory if (directory / relative).exists() else None

    return _first("header", name, _places(), search, lambda: _usr("include", relative, parent=True))


def program(name: str) -> Found:
    """See `rocm_sdk.find_program`."""
    relative = _below(name)
    names = programs(relative)
    for installed in every_installed():
        target = installed.scripts.get(name)
        path = installed.root / target["program"] if target else None
        if path is not None and (started := _program(path)) is not None:
            return Found(name, started, PACKAGE, installed.package.distribution)

    def scripts() -> list[str]:
        return [script for installed in every_installed() for script in installed.scripts]

    def search(root: Path) -> Path | None:
        candidates = [root / below / one for below in _PROGRAM_DIRECTORIES for one in names]
        return next(
            (path for path in candidates if os.access(path, os.X_OK) and path.is_file()), None
        )

    return _first("program", name, _places(), search, lambda: _on_path(name), scripts)


def bitcode_library(name: str) -> Found:
    """See `rocm_sdk.find_bitcode_library`."""
    relative = _below(name)
    file = relative if name.endswith(".bc") else relative.with_name(f"{relative.name}.bc")

    def search(root: Path) -> Path | None:
        directories = [
            found for pattern in _BITCODE_DIRECTORIES for found in _globbed(root, pattern)
        ]
        return next((path for each in directories if (path := each / file).is_file()), None)

    return _first("bitcode library", name, _places(), search)


def static_library(name: str) -> Found:
    """See `rocm_sdk.find_static_library`."""
    relative = _below(name)
    file = f"{relative}.lib" if _WINDOWS else f"lib{relative}.a"

    def search(root: Path) -> Path | None:
        candidates = [root / below / file for below in _STATIC_DIRECTORIES]
        return next((path for path in candidates if path.is_file()), None)

    return _first("static library", name, _places(), search, lambda: _usr("lib", Path(file)))


def root(*, require_devel: bool = False) -> Path:
    """See `rocm_sdk.root`."""
    from . import _devel
    from ._packages import require

    if require_devel or find_package("devel") is not None:
        return _devel.ensure()
    return require("core").root


SEARCHES: dict[str, tuple[str, Callable[[str], Found]]] = {
    "library": ("a shared library by short name, such as `amdhip64`", library),
    "header": (
        "the include directory that has a header or a directory of headers",
        header_directory,
    ),
    "program": ("a program, such as `amdclang`", program),
    "bitcode": ("a library of device bitcode, such as `ocml`", bitcode_library),
    "static": ("a static library by its name for the linker option `-l`", static_library),
}
"""Searches of the command line by name, with descriptions."""


def _located(name: str) -> Found | None:
    """Return a library of the installed packages by short name."""
    try:
        located = _libraries.packaged((name,))
    except (ModuleNotFoundError, FileNotFoundError):
        return None
    _, path, one = located[0]
    return Found(name, path, PACKAGE, one.package.distribution)


def _places() -> Iterator[_Place]:
    """Yield the places lazily: the devel tree is expanded only after the packages are searched."""
    installed = every_installed()
    for one in _once(installed):
        if one.package.kind != "devel":
            yield _Place(PACKAGE, one.root, one.package.distribution)
    yield from _absent(installed)
    yield _devel_place()
    yield _environment_place()
    yield _system_place()


def _once(installed: list[Installed]) -> Iterator[Installed]:
    """Return one package for each platform directory: device packages share one."""
    seen: set[Path] = set()
    for one in installed:
        if one.root not in seen:
            seen.add(one.root)
            yield one


def _absent(installed: list[Installed]) -> Iterator[_Place]:
    """Return the packages that are not installed, except devel."""
    present = {one.package.logical for one in installed}
    for logical, row in DIST["packages"].items():
        if logical in present or row["kind"] == "devel":
            continue
        package = describe(logical)
        reason = f'{package.distribution} is not installed; to install: pip install "{package.requirement}"'
        if has_target(logical):
            each = describe(logical, "*").distribution
            reason = f"no {each} is installed; {COMMAND} doctor names the needed one"
        yield _Place(PACKAGE, None, reason=reason)


def _devel_place() -> _Place:
    from . import _devel

    if "devel" not in DIST["packages"]:
        return _Place(DEVEL, None, reason=f"{DIST['distribution']} has no devel package")
    try:
        found = find_package("devel")
        tree = _devel.ensure()
    except (ModuleNotFoundError, DevelError) as error:
        return _Place(DEVEL, None, reason=str(error))
    return _Place(DEVEL, tree, found.package.distribution if found else None)


def _environment_place() -> _Place:
    value = os.environ.get(_VARIABLE, "")
    if not value:
        return _Place(ENVIRONMENT, None, reason=f"{_VARIABLE} is not set")
    if not os.path.isdir(value):
        return _Place(ENVIRONMENT, None, reason=f"{_VARIABLE}={value} is not a directory")
    return _Place(ENVIRONMENT, Path(value))


def _system_place() -> _Place:
    if _WINDOWS:
        value = os.environ.get("HIP_PATH", "")
        return (
            _Place(SYSTEM, Path(value))
            if value
            else _Place(SYSTEM, None, reason="HIP_PATH is not set")
        )
    return _Place(SYSTEM, Path(_SYSTEM_ROOT))


def _first(
    kind: str,
    name: str,
    places: Iterable[_Place],
    search: Callable[[Path], Path | None],
    of_system: Callable[[], Path | None] = lambda: None,
    known: Callable[[], Iterable[str]] = list,
    searched: str | None = None,
) -> Found:
    """Return the match of the first place that has one; raises NotFoundError with all places.

    `of_system` searches the system's directories, which differ from the layout of /opt/rocm.
    `known` returns names for a hint. `searched` is a kind of places that the caller has already
    searched without a match; the error lists them too.
    """
    visited: list[_Place] = []
    for place in places:
        visited.append(place)
        if place.root is None or place.found_via == searched:
            continue
        path = search(place.root)
        if path is not None:
            return Found(name, path, place.found_via, place.distribution)
    last = of_system()
    if last is not None:
        return Found(name, last, SYSTEM)
    near = difflib.get_close_matches(name, list(known()), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    width = max(len(place.found_via) for place in visited)
    lines = [f"  {place.found_via:{width}}  {place}" for place in visited]
    message = "\n".join([f"no {kind} {name!r} was found{hint}", *lines])
    raise NotFoundError(message, name, [(place.found_via, str(place)) for place in visited])


def _below(name: str) -> Path:
    """Return the name as a relative path; raises ValueError for an absolute path or `..`."""
    path = Path(name)
    if not name or path.is_absolute() or path.drive or ".." in path.parts:
        raise ValueError(f"{name!r} must be a name, or a relative path without `..`")
    return path


def _library_pattern(short: str) -> str:
    stem = re.escape(short)
    return rf"(?:lib)?{stem}(?:_\d+)?\.dll" if _WINDOWS else rf"lib{stem}\.so(?:\.\d+[a-z]*)*"


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.is_file())
    except OSError:
        return []


def _globbed(root: Path, pattern: str) -> list[Path]:
    """Return the directories of a pattern, newest compiler first."""
    return sorted(
        root.glob(pattern), key=lambda path: _numbers(path.relative_to(root)), reverse=True
    )


def _numbers(path: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", str(path))]


def _program(path: Path) -> Path | None:
    return next((one for one in programs(path) if one.is_file()), None)


def _on_path(name: str) -> Path | None:
    """Return a program in PATH, except console scripts of this Python."""
    scripts = os.path.realpath(sysconfig.get_path("scripts"))
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    others = [entry for entry in entries if entry and os.path.realpath(entry) != scripts]
    found = shutil.which(name, path=os.pathsep.join(others)) if others else None
    return Path(found) if found else None


def _usr(directory: str, relative: Path, *, parent: bool = False) -> Path | None:
    if _WINDOWS:
        return None
    multiarch = sysconfig.get_config_var("MULTIARCH") or "."
    for base in (Path("/usr") / directory, Path("/usr") / directory / multiarch):
        if (base / relative).exists():
            return base if parent else base / relative
    return None
