"""Check for a second ROCm that a process could load.

A process with two copies of one library fails with misleading messages. On Windows, `_rivals` has
this check.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

from .._libraries import declared_files
from .._loader import cached_libraries
from .._packages import DIST, Installed
from ._finding import WARNING, Finding

_SHOWN = 3
_VARIABLE = "LD_LIBRARY_PATH"

# Other copies by directory: file names, and files of the packages.
_Copies = dict[str, list[tuple[str, Path]]]


def check(installed: list[Installed]) -> list[Finding]:
    """Return findings for directories and distributions with libraries of the same names."""
    ours = {path.name: path for path in declared_files()}
    if sys.platform == "win32" or not ours:
        return []
    roots = {os.path.realpath(one.root) for one in installed}
    return [
        *_in_variable(ours, roots),
        *_in_cache(ours, roots),
        *_in_distributions(ours, {one.package.distribution for one in installed}),
    ]


def _in_variable(ours: dict[str, Path], roots: set[str]) -> Iterator[Finding]:
    entries = [entry for entry in os.environ.get(_VARIABLE, "").split(":") if entry]
    paths = [os.path.join(entry, name) for entry in entries for name in ours]
    for directory, copies in _others(paths, ours, roots).items():
        message = (
            f"the loader searches it first ({_VARIABLE}), and it has {_listed(directory, copies)}"
        )
        yield Finding(
            "library-shadowed", WARNING, directory, message, f"remove {directory} from {_VARIABLE}"
        )


def _in_cache(ours: dict[str, Path], roots: set[str]) -> Iterator[Finding]:
    paths = [path for name in ours for path in cached_libraries().get(name, [])]
    for directory, copies in _others(paths, ours, roots).items():
        message = (
            "libraries of other packages load this ROCm (/etc/ld.so.cache): "
            f"{_listed(directory, copies)}"
        )
        remedy = "build its users against these packages, or run them in another process"
        yield Finding("other-sdk", WARNING, directory, message, remedy)


def _in_distributions(ours: dict[str, Path], packages: set[str]) -> Iterator[Finding]:
    for one in distributions():
        name, files = _name_and_files(one)
        if name in packages or name == DIST["distribution"]:
            continue
        copies = [
            (file, ours[os.path.basename(file)]) for file in files if os.path.basename(file) in ours
        ]
        if copies:
            path, our_path = copies[0]
            more = f", and {len(copies) - 1} more" if len(copies) > 1 else ""
            message = f"its wheel contains a ROCm: {path}, here {our_path}{more}"
            remedy = f"install a build of {name} that requires {DIST['distribution']}"
            yield Finding("other-sdk", WARNING, name, message, remedy)


def _name_and_files(one: Distribution) -> tuple[str, list[str]]:
    """Return the name and the files of a distribution, neither of a damaged one.

    Releases of Python raise different errors for these.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return one.metadata["Name"], [str(one.locate_file(file)) for file in one.files or []]
    except Exception:
        return "", []


def _others(paths: list[str], ours: dict[str, Path], roots: set[str]) -> _Copies:
    copies: _Copies = {}
    for path in dict.fromkeys(paths):
        directory, name = os.path.split(path)
        inside = any(os.path.realpath(directory).startswith(f"{root}{os.sep}") for root in roots)
        if not inside and os.path.isfile(path) and not os.path.samefile(path, ours[name]):
            copies.setdefault(directory, []).append((name, ours[name]))
    return copies


def _listed(directory: str, copies: list[tuple[str, Path]]) -> str:
    shown = [f"{directory}/{name}, here {ours}" for name, ours in copies[:_SHOWN]]
    more = len(copies) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")
