"""Check of the needs of shared libraries and programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from .._libraries import dll_directories
from .._loader import ElfError, Loader, Missing
from .._packages import Installed, describe
from .._pe import PeError
from ._binaries import is_extension_module, programs, shared_libraries
from ._dlls import Dlls, Lack, system_directories
from ._finding import ERROR, Finding, find_system_library, install, named, reinstall

_Lack = TypeVar("_Lack", Missing, Lack)


@dataclass
class _Users:
    """Users of a missing library: `needing` need it directly, `affected` cannot be loaded.

    `versions` has the missing symbol versions of an existing library, `newest` its newest ones;
    both are empty for a missing library.
    """

    needing: set[str] = field(default_factory=set)
    affected: set[str] = field(default_factory=set)
    versions: set[str] = field(default_factory=set)
    newest: set[str] = field(default_factory=set)

    def add(self, lack: Missing, needing: str, affected: str) -> None:
        self.needing.add(needing)
        self.affected.add(affected)
        self.versions |= {lack.version} if lack.version else set()
        self.newest |= {lack.newest} if lack.newest else set()

    @property
    def description(self) -> str:
        """Text for a message."""
        also = len(self.affected - self.needing)
        text = f"needed by {named(sorted(self.needing))}"
        return f"{text}; {also} more do not work without it" if also else text


def check(installed: list[Installed]) -> tuple[int, list[Finding]]:
    """Return the number of checked files, and the findings.

    Each missing or too old library has one finding, for all its users.
    """
    if sys.platform == "win32":
        return _check_dlls(installed, Dlls(dll_directories(), system_directories()))
    loader = Loader()
    count, findings, lacking = _examined(installed, lambda path: loader.missing(str(path)))
    missing: dict[tuple[str, str], _Users] = {}
    for short, lack in lacking:
        users = missing.setdefault((lack.library, lack.provider or ""), _Users())
        users.add(lack, _short(lack.file, installed), short)
    lacks = (_finding(*key, users, installed) for key, users in sorted(missing.items(), key=_key))
    return count, [*findings, *lacks]


def _check_dlls(installed: list[Installed], dlls: Dlls) -> tuple[int, list[Finding]]:
    count, findings, lacking = _examined(installed, dlls.lacks)
    users: dict[Lack, set[str]] = {}
    for short, lack in lacking:
        users.setdefault(lack, set()).add(short)
    lacks = sorted(users.items(), key=lambda item: (item[0].library, item[0].functions))
    return count, [*findings, *(_finding_of_dll(*item, installed) for item in lacks)]


def _examined(
    installed: list[Installed], lacks: Callable[[Path], list[_Lack]]
) -> tuple[int, list[Finding], list[tuple[str, _Lack]]]:
    """Return the number of files, findings for damaged ones, and what each of the others lacks."""
    findings: list[Finding] = []
    lacking: list[tuple[str, _Lack]] = []
    count = 0
    for one, path in _files(installed):
        count += 1
        short = _short(str(path), installed)
        try:
            lacking += [(short, lack) for lack in lacks(path)]
        except (ElfError, PeError, OSError) as error:
            findings.append(Finding("library-damaged", ERROR, short, str(error), reinstall(one)))
    return count, findings, lacking


def _finding_of_dll(lack: Lack, users: set[str], installed: list[Installed]) -> Finding:
    needed = f"needed by {named(sorted(users))}"
    if lack.functions:
        message = f"it has no {named(lack.functions)}; {needed}"
        remedy = "install the packages of one version"
        return Finding("library-too-old", ERROR, lack.library, message, remedy)
    message = f"it {lack.reason}; {needed}"
    return Finding("library-missing", ERROR, lack.library, message, _remedy(lack.library, installed))


def _key(item: tuple[tuple[str, str], _Users]) -> tuple[str, str]:
    return item[0]


def _files(installed: list[Installed]) -> Iterator[tuple[Installed, Path]]:
    seen: set[Path] = set()  # device packages share the directory of the libraries
    for one in installed:
        if one.package.kind != "devel" and one.root not in seen:
            seen.add(one.root)
            for name in dict.fromkeys([*shared_libraries(one.root), *programs(one.root)]):
                # Extension modules need their version of Python.
                if not is_extension_module(name):
                    yield one, one.root / name


def explain(path: Path) -> str | None:
    """Return the reason if missing needs or damage prevent loading a library."""
    if sys.platform == "win32":
        return _explain_dll(path)
    try:
        lacks = Loader().missing(str(path))
    except (ElfError, OSError) as error:
        return str(error)
    return "; ".join(dict.fromkeys(map(_description, lacks))) or None


def _explain_dll(path: Path) -> str | None:
    try:
        lacks = Dlls(dll_directories(), system_directories()).lacks(path)
    except (PeError, OSError) as error:
        return str(error)
    texts = (
        f"{lack.library} has no {named(lack.functions)}"
        if lack.functions
        else f"{lack.library} {lack.reason}"
        for lack in lacks
    )
    return "; ".join(texts) or None


def _description(lack: Missing) -> str:
    if lack.version is None:
        return f"{lack.library} is missing, needed by {os.path.basename(lack.file)}"
    return f"{lack.provider} has no {lack.version}" + (
        f", {lack.newest} at most" * bool(lack.newest)
    )


def _short(path: str, installed: list[Installed]) -> str:
    path = os.path.normpath(path)
    for one in installed:
        if path.startswith(f"{one.site}{os.sep}"):
            return path[len(str(one.site)) + 1 :]
    return path


def _finding(library: str, provider: str, users: _Users, installed: list[Installed]) -> Finding:
    if not provider:
        message = f"it is missing; {users.description}"
        return Finding("library-missing", ERROR, library, message, _remedy(library, installed))
    lacking = ", ".join(sorted(users.versions))
    has = f" ({', '.join(sorted(users.newest))} at most)" if users.newest else ""
    message = f"{provider} has no {lacking}{has}; {users.description}"
    remedy = f"use a system or Python environment with {lacking} in {library}"
    return Finding("library-too-old", ERROR, library, message, remedy)


def _remedy(library: str, installed: list[Installed]) -> str:
    """Return the command that restores a library of a package or installs one of the system."""
    for one in installed:
        rows = one.record.known_rows()
        if any(path.endswith(f"/{library}") and _is_gone(one, path) for path in rows):
            return reinstall(one)
    if not any(one.package.logical == "core" for one in installed):
        return install(describe("core"))
    return find_system_library(library)


def _is_gone(installed: Installed, path: str) -> bool:
    return not (installed.site / path).exists()
