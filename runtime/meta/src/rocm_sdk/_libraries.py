"""Shared libraries by short name."""

from __future__ import annotations

import ctypes
import difflib
import os
import re
import sys
import warnings
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ._errors import NotBuiltError
from ._log import log
from ._packages import DIST, Installed, Package, describe, every_installed, has_target, missing
from ._packages import find as find_package
from ._targets import determine

_aliases: list[ctypes.CDLL] = []
_dll_directories: list[Any] = []  # a directory is in the search path until its handle closes

_ELF_NAME = re.compile(r"(?:lib)?(?P<stem>.+)\.so(?P<version>(?:\.\d+[a-z]*)*)")
_DLL_NAME = re.compile(r"(?:lib)?(?P<stem>.+)\.dll(?P<version>)", re.IGNORECASE)
_IN_STEM = re.compile(r"(?:[-_.]?\d+)*")  # as in amdhip64_7.dll, hiprtc0702.dll, libclang-22.so.22


def find(*shortnames: str, missing_ok: bool = False) -> list[Path]:
    """See `rocm_sdk.find_libraries`."""
    return [path for _, path in locate(shortnames, missing_ok=missing_ok)]


def locate(shortnames: Iterable[str], *, missing_ok: bool = False) -> list[tuple[str, Path]]:
    """Return short name and file of each library; one error lists all absent packages."""
    return [(name, path) for name, path, _ in packaged(shortnames, missing_ok=missing_ok)]


def packaged(
    shortnames: Iterable[str], *, missing_ok: bool = False
) -> list[tuple[str, Path, Installed]]:
    """Return short name, file and package of each library; one error lists all absent packages."""
    rows = [(shortname, row(shortname)) for shortname in shortnames]
    packages: dict[str, Installed] = {}
    absent: list[Package] = []
    wanted = (library["package"] for _, library in rows if _pattern(library) is not None)
    for logical in dict.fromkeys(wanted):
        package = installed(logical)
        if package is None:
            absent.append(describe(logical, _target(logical)))
        else:
            packages[logical] = package
    if absent:
        raise missing(absent)
    found: list[tuple[str, Path, Installed]] = []
    for name, library in rows:
        try:
            if _pattern(library) is None:
                raise NotBuiltError(f"no package for {sys.platform} has the library {name!r}")
            package = packages[library["package"]]
            found.append((name, _file(name, library, package), package))
        except NotBuiltError as error:
            if not missing_ok:
                raise
            log(f"{error}: skipped")
    return found


def of_this_system(shortnames: Iterable[str]) -> list[str]:
    """Return the names of libraries that this operating system has."""
    return [name for name in shortnames if pattern(name) is not None]


def installed(logical: str) -> Installed | None:
    """Return an installed package: for this process's target, if packages are per target."""
    return find_package(logical, _target(logical))


def _target(logical: str) -> str | None:
    return determine() if has_target(logical) else None


def preload(*shortnames: str, rtld_global: bool = True, missing_ok: bool = False) -> None:
    """See `rocm_sdk.preload_libraries`."""
    from . import _ALL_CDLLS as loaded

    wanted = tuple(name for name in dict.fromkeys(shortnames) if name not in loaded)
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    for shortname, path in locate(wanted, missing_ok=missing_ok):
        _open_dll_directories()
        log(f"loading {path}")
        _warn_of_another(path)
        loaded[shortname] = ctypes.CDLL(str(path), mode=mode)
        if (alias := _alias(row(shortname), path)) is not None:
            log(f"loading {alias}")
            _aliases.append(ctypes.CDLL(str(alias), mode=mode))


def _alias(library: dict[str, Any], path: Path) -> Path | None:
    """Return the forwarding library of a library, with the name without a version.

    Its SONAME is that name, so programs that open the name later get the loaded library.
    """
    directory = str(_pattern(library)).rpartition("/")[0]
    if (match := _ELF_NAME.fullmatch(path.name)) is None or not match["version"]:
        return None
    alias = path.with_name(path.name.removesuffix(match["version"]))
    package = installed(library["package"])
    known = package is not None and f"{directory}/{alias.name}" in package.aliases
    return alias if known and alias.is_file() else None


def pattern(shortname: str) -> str | None:
    """Return the pattern of a library in its package; None on a system without the library."""
    return _pattern(row(shortname))


def row(shortname: str) -> dict[str, Any]:
    """Return package and pattern of a library; raises ModuleNotFoundError for an unknown name.

    The distribution declares the most used ones, also of absent packages; installed packages list
    all their libraries.
    """
    declared: dict[str, dict[str, Any]] = DIST["libraries"]
    if shortname in declared:
        return declared[shortname]
    for package in every_installed():
        path = package.libraries.get(shortname)
        logical = package.package.logical
        # Of packages for single targets, only that for this process's target counts.
        if path is not None and (not has_target(logical) or installed(logical) == package):
            return {
                "package": logical,
                "linux": path,
                "windows": path,
                "optional": False,
            }
    near = difflib.get_close_matches(shortname, names(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(declared)}"
    raise ModuleNotFoundError(f"unknown ROCm library {shortname!r}{hint}", name=shortname)


def names() -> list[str]:
    """Return the short names of all declared libraries and all libraries of installed packages."""
    found = [name for package in every_installed() for name in package.libraries]
    return list(dict.fromkeys([*DIST["libraries"], *found]))


def _pattern(row: dict[str, Any]) -> str | None:
    pattern: str | None = row["windows" if sys.platform == "win32" else "linux"]
    return pattern


def _file(shortname: str, row: dict[str, Any], installed: Installed) -> Path:
    directory, _, name = str(_pattern(row)).rpartition("/")
    try:
        names = os.listdir(installed.root / directory)
    except FileNotFoundError:
        names = []
    best = _best(shortname, f"{directory}/{name}", names, installed)
    if best is not None:
        return installed.root / directory / best
    package = f"{installed.package.distribution} {installed.version}"
    top = f"{installed.package.platform_dir}/{directory}/"
    recorded = [path.removeprefix(top) for path in installed.record.known_rows()]
    lost = _best(shortname, f"{directory}/{name}", recorded, installed)
    if lost is not None:
        raise FileNotFoundError(
            f"{installed.root / directory / lost} is missing: reinstall {package}"
        )
    raise NotBuiltError(f"{package} was built without the library {shortname!r} ({_pattern(row)})")


def _best(shortname: str, pattern: str, names: Iterable[str], installed: Installed) -> str | None:
    """Return the best of the names in a pattern's directory, without forwarding libraries."""
    directory, _, name = pattern.rpartition("/")
    aliases = installed.aliases
    names = [n for n in names if fnmatchcase(n, name) and f"{directory}/{n}" not in aliases]
    ranked = sorted((rank, n) for n in names if (rank := library_rank(shortname, n)) is not None)
    return ranked[-1][1] if ranked else None


def library_rank(shortname: str, name: str) -> tuple[bool, list[int]] | None:
    """Return the rank of a matching name: exact name first, then the longest version.

    `*hipblas*.dll` also matches libhipblaslt.dll, `libclang*.so*` also libclang-cpp.so.22.1. None
    for files such as libx.so.1.debug.
    """
    own = shortname.casefold()
    match = _ELF_NAME.fullmatch(name) or _DLL_NAME.fullmatch(name)
    if match is None:
        return None
    stem = match["stem"].casefold()
    version = stem.removeprefix(own)
    is_own = stem.startswith(own) and _IN_STEM.fullmatch(version) is not None
    numbers = [int(part) for part in re.findall(r"\d+", version + match["version"])]
    return is_own, [len(numbers), *numbers]


def warn_of_second() -> None:
    """Warn of each loaded library that is a second copy of one of the packages."""
    if sys.platform == "win32":
        return
    mapped = " ".join(_mapped_files())
    # Only packages of libraries that this process has loaded are searched.
    stems = {
        name: str(pattern).rpartition("/")[2].partition("*")[0] for name, pattern in _patterns()
    }
    for path in declared_files(name for name, stem in stems.items() if stem in mapped):
        _warn_of_another(path, stacklevel=5)


def declared_files(shortnames: Iterable[str] | None = None) -> list[Path]:
    """Return the files of declared libraries of installed, undamaged packages."""
    found: list[Path] = []
    for shortname in DIST["libraries"] if shortnames is None else shortnames:
        try:
            found += [path for _, path in locate((shortname,))]
        except Exception as error:  # a damaged package can raise any error; the doctor reports it
            log(f"{shortname}: {error}")
    return found


def _patterns() -> list[tuple[str, str]]:
    found = [(name, _pattern(library)) for name, library in DIST["libraries"].items()]
    return [(name, pattern) for name, pattern in found if pattern is not None]


_warned: set[str] = set()


def _warn_of_another(path: Path, *, stacklevel: int = 4) -> None:
    """Warn once if the process has loaded another file as this library.

    Frames of `stacklevel`: this function, preload, rocm_sdk.preload_libraries.
    """
    other = _loaded_as(path.name)
    if (
        other is None
        or other in _warned
        or not os.path.exists(other)
        or os.path.samefile(other, path)
    ):
        return
    _warned.add(other)
    warnings.warn(
        f"{other} was loaded before {path}: libraries that need {path.name} get the former; "
        f"to fix it, call {__package__} before the package that loads the former",
        RuntimeWarning,
        stacklevel=stacklevel,
    )


def _loaded_as(name: str) -> str | None:
    """Return the file of a loaded library by its name."""
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetModuleHandleW.restype = ctypes.c_void_p
        handle = kernel.GetModuleHandleW(ctypes.c_wchar_p(name))
        if handle:
            text = ctypes.create_unicode_buffer(1 << 15)
            kernel.GetModuleFileNameW(ctypes.c_void_p(handle), text, len(text))
            return text.value
        return None
    return _mapped_files().get(name)


def _mapped_files() -> dict[str, str]:
    """Return the loaded libraries by file name, from the kernel's list."""
    try:
        with open("/proc/self/maps", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return {}  # macOS has none
    # The sixth column is the path, which can have spaces.
    columns = (line.split(maxsplit=5) for line in lines if b".so" in line)
    paths = (os.fsdecode(parts[5]) for parts in columns if len(parts) == 6)
    return {os.path.basename(path): path for path in paths if path.startswith("/")}


def _open_dll_directories() -> None:
    """Let the DLLs of packages find each other, since Windows has no rpath."""
    if sys.platform == "win32" and not _dll_directories:
        for directory in dll_directories():
            _dll_directories.append(os.add_dll_directory(str(directory)))


def dll_directories() -> list[Path]:
    """Return the directories of installed packages with DLLs that have a short name."""
    rows: dict[str, dict[str, Any]] = DIST["libraries"]
    named = [(row["package"], str(row["windows"])) for row in rows.values() if row["windows"]]
    places = [
        installed.root / pattern.rpartition("/")[0]
        for installed in every_installed()
        for logical, pattern in named
        if logical == installed.package.logical
    ]
    return [place for place in dict.fromkeys(places) if place.is_dir()]
