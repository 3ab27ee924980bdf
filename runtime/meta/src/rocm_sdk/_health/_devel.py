"""Check of the devel tree against its archive and the other packages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from .. import _device
from .._devel import Devel
from .._lock import is_held
from .._packages import COMMAND, Installed
from .._shipped import lost
from ._finding import ERROR, WARNING, Finding, named, reinstall

_INIT = f"{COMMAND} init"


@dataclass(frozen=True)
class Tree:
    """State of the tree.

    `state` is `not installed`, `not expanded`, `being expanded`, `unfinished`,
    `out of date` or `expanded`.
    """

    state: str
    root: str = ""
    files: int = 0


def look(installed: list[Installed]) -> Tree:
    """Return the state of the devel tree."""
    found = next((one for one in installed if one.package.kind == "devel"), None)
    if found is None:
        return Tree("not installed")
    devel = Devel(found)
    root = str(devel.root)
    if devel.state() is not None and not devel.workspace.exists():
        files = sum(map(devel.is_ours, devel.record.known_rows()))
        return Tree("expanded", root, files)
    if is_held(found.module_dir):
        return Tree("being expanded", root)
    if devel.workspace.exists():
        return Tree("unfinished", root)
    if devel.root.exists() and (devel.is_outdated() or not devel.ships_files):
        return Tree("out of date" if devel.is_outdated() else "unfinished", root)
    return Tree("not expanded", root)


def check(tree: Tree, installed: list[Installed]) -> list[Finding]:
    """Return the findings about the tree; a missing tree is not a fault."""
    found = next((one for one in installed if one.package.kind == "devel"), None)
    if found is None:
        return []
    name = found.package.distribution
    if tree.state == "unfinished":
        message = f"{tree.root} is incomplete: its expansion was interrupted"
        return [Finding("devel-unfinished", WARNING, name, message, _INIT)]
    if tree.state == "out of date":
        message = f"{tree.root} was expanded from an archive that is no longer installed"
        return [Finding("devel-outdated", WARNING, name, message, _INIT)]
    return list(_contents(Devel(found), installed)) if tree.state == "expanded" else []


def _contents(devel: Devel, installed: list[Installed]) -> Iterator[Finding]:
    name = devel.installed.package.distribution
    state = devel.state() or {"links": {}, "pending": {}}
    damaged = devel.damaged()
    if damaged:
        message = f"files of the tree are missing or changed: {named(damaged)}"
        remedy = reinstall(devel.installed) if lost(devel, damaged) else _INIT
        yield Finding("devel-damaged", ERROR, name, message, remedy)
    separated = list(devel.separated(state))
    if separated:
        message = (
            "hard-linked libraries of the tree became copies (cp, rsync, container layers), and a"
            f" process can load both: {named(separated)}"
        )
        yield Finding(
            "devel-separated", ERROR, name, message, f"{_INIT} (in an image: {_INIT} --symlinks)"
        )
    waiting = [*devel.waiting(state), *(str(path) for path in _device.unlinked(devel))]
    if waiting:
        message = f"files of later packages are not linked into the tree: {named(waiting)}"
        yield Finding("devel-incomplete", WARNING, name, message, _INIT)
    yield from _dangling(devel, installed)


def _dangling(devel: Devel, installed: list[Installed]) -> Iterator[Finding]:
    """Find symbolic links without a target, grouped by the target's package."""
    broken: dict[str, list[str]] = {}
    for path in devel.record.known_rows():
        full = devel.site / path
        if devel.is_ours(path) and full.is_symlink() and not full.exists():
            target = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(full)))
            broken.setdefault(target.partition(os.sep)[0], []).append(path)
    owners = {one.package.platform_dir: one for one in reversed(installed)}
    for top, paths in broken.items():
        owner = owners.get(top)
        remedy = reinstall(owner) if owner is not None and top != devel.name else _INIT
        message = f"links of the tree have no target: {named(paths)}"
        yield Finding("link-broken", ERROR, devel.installed.package.distribution, message, remedy)
