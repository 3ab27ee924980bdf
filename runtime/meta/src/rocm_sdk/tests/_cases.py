"""Cases of the self-test for the installed packages."""

from __future__ import annotations

import filecmp
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from .. import _devel
from .._errors import NotBuiltError
from .._health import _devel as devel_health
from .._health import _libraries as library_health
from .._health import _packages as package_health
from .._health import _programs as program_health
from .._health._binaries import shared_libraries, why_not_alone
from .._health._finding import named
from .._libraries import locate, pattern
from .._packages import DIST, Installed, describe, every_installed, find, has_target
from ._outcome import OK, Case, Outcome, fail, judged, process, python, skip

_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
_MODULE = __name__.partition(".")[0]
_LOAD_WINDOWS = f"import {_MODULE}._libraries as r; r._open_dll_directories(); " + _LOAD
_PRELOAD = f"import {_MODULE} as sdk, sys; sdk.preload_libraries(sys.argv[1])"
_QUESTIONS = ("--version", "--help", "-h")


def collect() -> list[Case]:
    """Return all cases, in the order of the report."""
    installed = every_installed()
    return [
        *_layout_cases(installed),
        *_library_cases(installed),
        *_preload_cases(),
        *_script_cases(installed),
        *_devel_cases(installed),
    ]


# ---------------------------------------------------------------------------- layout


def _layout_cases(installed: list[Installed]) -> Iterator[Case]:
    present = {found.package.logical for found in installed}
    for logical in DIST["packages"]:
        if logical not in present:
            yield Case(f"layout:{logical}", partial(_absent, logical))
    for found in installed:
        yield Case(f"layout:{found.package.distribution}", partial(_layout, found))


def _absent(logical: str) -> Outcome:
    if logical == "core":
        return fail("not installed, but all other packages need it")
    package = describe(logical)
    return skip(f'not installed; to install: pip install "{package.requirement}"')


def _layout(found: Installed) -> Outcome:
    package = found.package
    if found.is_in_set and (package.kind != "devel" or found.root.exists()):
        # The devel tree is expanded later; device packages share the libraries' directory.
        spec = importlib.util.find_spec(package.platform_dir)
        expected = found.root / "__init__.py"
        if spec is None or spec.origin is None or not os.path.samefile(spec.origin, expected):
            return fail(f"{found.root} is not a regular Python package next to {package.module}")
    return judged(package_health.check_one(found))


# -------------------------------------------------------------------------- libraries


def _library_cases(installed: list[Installed]) -> Iterator[Case]:
    for found in installed:
        if found.package.kind != "devel":
            for name in _own_libraries(found, installed):
                case = f"library:{found.package.logical}:{name}"
                yield Case(case, partial(_load, found.root / name))


def _own_libraries(found: Installed, installed: list[Installed]) -> list[str]:
    """Return the libraries of a package; device packages share another's directory."""
    names = list(shared_libraries(found.root))
    sharing = [one for one in installed if one.root == found.root]
    if len(sharing) == 1:
        return names
    recorded = {one.package.distribution: _recorded(one) for one in sharing}
    own = recorded.pop(found.package.distribution)
    if f"{found.root.name}/__init__.py" not in own:
        return [name for name in names if f"{found.root.name}/{name}" in own]
    # The owner of the directory has all libraries that no other package has recorded.
    others = set().union(*recorded.values())
    return [name for name in names if f"{found.root.name}/{name}" not in others]


def _recorded(found: Installed) -> set[str]:
    return set(found.record.rows())


def _load(path: Path) -> Outcome:
    reason = why_not_alone(path)
    if reason is not None:
        return skip(reason)
    outcome = python(_LOAD_WINDOWS if sys.platform == "win32" else _LOAD, str(path))
    # The loader names only the first missing need.
    lacks = library_health.explain(path) if outcome.status == "FAIL" else None
    return fail(lacks) if lacks else outcome


def _preload_cases() -> Iterator[Case]:
    for shortname in DIST["libraries"]:
        yield Case(f"preload:{shortname}", partial(_preload, shortname))


def _preload(shortname: str) -> Outcome:
    logical = DIST["libraries"][shortname]["package"]
    if not has_target(logical) and find(logical) is None:
        return skip(f"{describe(logical).distribution} is not installed")
    try:
        locate((shortname,))
    except NotBuiltError as error:
        expected = pattern(shortname) is not None and not DIST["libraries"][shortname]["optional"]
        return fail(str(error)) if expected else skip(str(error))
    return python(_PRELOAD, shortname)


# ---------------------------------------------------------------------------- scripts


def _script_cases(installed: list[Installed]) -> Iterator[Case]:
    for found in installed:
        for name in found.scripts:
            yield Case(f"script:{name}", partial(_script, name, found))


def _script(name: str, found: Installed) -> Outcome:
    path = _script_path(name, found)
    if path is None:
        return fail("the script is not installed")
    finding = program_health.check_one(name, found)
    if finding is not None:
        return judged([finding])
    ended = []
    for question in _QUESTIONS:
        one = process([str(path), question])
        fault = one.loader_fault or one.start_fault or (one.reason if one.is_fault else None)
        if fault is not None:
            return fail(f"{question}: {fault}")
        if one.status == 0:
            return OK
        ended.append(one)
    # The program starts but fails without a GPU, or knows no such option.
    reason = f"{_QUESTIONS[0]}: {ended[0].reason}"
    return fail(reason) if any(one.has_traceback for one in ended) else Outcome("ok", reason)


def _script_path(name: str, found: Installed) -> Path | None:
    """Return the installed script from RECORD or from the scripts directory."""
    names = (name, f"{name}.exe")
    scripts = [path for path in found.record.rows() if path.startswith("../")]
    places = [found.site / path for path in scripts if PurePosixPath(path).name in names]
    # The latter is of `pip install --target`.
    for directory in (sysconfig.get_path("scripts"), found.site / "bin"):
        places += [Path(directory, one) for one in names]
    return next((Path(os.path.normpath(place)) for place in places if place.is_file()), None)


# ------------------------------------------------------------------------------ devel


def _devel_cases(installed: list[Installed]) -> Iterator[Case]:
    if any(found.package.kind == "devel" for found in installed):
        yield Case("devel:expand", _expand)
        for found in installed:
            # The tree lacks the profiler; device packages share the libraries' directory.
            if found.package.logical not in ("devel", "profiler", "device"):
                yield Case(f"devel:{found.package.distribution}", partial(_mirrors, found))


def _expand() -> Outcome:
    root = _devel.ensure(quiet=True)
    if not (root / "__init__.py").is_file():
        return fail(f"{root} is not a regular Python package")
    installed = every_installed()
    return judged(devel_health.check(devel_health.look(installed), installed))


def _mirrors(found: Installed) -> Outcome:
    """Compare the libraries of a package with their namesakes in the devel tree."""
    root = _devel.ensure(quiet=True)
    aliases = found.aliases
    # Forwarding libraries of the package are links to the library in the tree.
    names = [name for name in shared_libraries(found.root) if name not in aliases]
    absent = [name for name in names if not (root / name).is_file()]
    if absent:
        return fail(f"the tree lacks libraries: {named(absent)}")
    differing = [name for name in names if not _is_same(found.root / name, root / name)]
    if differing:
        return fail(f"libraries differ in the tree: {named(differing)}")
    return OK


def _is_same(first: Path, second: Path) -> bool:
    return os.path.samefile(first, second) or filecmp.cmp(first, second, shallow=False)
