"""Files of a devel tree that are members of its wheel (`layout "files"`), and those made later."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from . import _archive
from ._devel_tree import MARKER, PACKAGES, DevelTree
from ._record import NO_ROW, Row, row_of_bytes
from ._tree import Tree

PLACEHOLDER = ".keep"


@dataclass
class Shipped:
    """Files of the wheel and links of its archive, and the paths that an expansion makes."""

    tree: Tree
    made: set[str]


def shipped(devel: DevelTree) -> Shipped:
    """Return the names of an installed wheel; `made` has those of its RECORD alone."""
    tree = Tree(devel.name)
    with ThreadPoolExecutor(1) as pool:
        _archive.unpack(devel.archive, tree, str(devel.workspace), pool, lambda _: None)
    made: set[str] = set()
    placeholders: dict[str, Row] = {}
    for path, row in _rows(devel).items():
        if _is_made(devel, tree, path):
            made.add(path)
        elif path.endswith(f"/{PLACEHOLDER}") and row == row_of_bytes(b""):
            placeholders[path] = row
        else:
            _add(tree, path, row)
    empty = tree.empty_directories()
    for path, row in placeholders.items():
        if path.rpartition("/")[0] in empty:
            made.add(path)
        else:
            _add(tree, path, row)
    return Shipped(tree, made)


def _add(tree: Tree, path: str, row: Row) -> None:
    tree.add_file(path)
    tree.files[path] = row


def _is_made(devel: DevelTree, tree: Tree, path: str) -> bool:
    if path in (f"{devel.name}/{MARKER}", f"{devel.name}/{PACKAGES}"):
        return True
    while path:  # a directory can be in the place of a link
        if path in tree.links:
            return True
        path = path.rpartition("/")[0]
    return False


def lost(devel: DevelTree, damaged: list[str]) -> list[str]:
    """Return those of the damaged files that only a reinstallation restores."""
    if not damaged or not devel.ships_files:
        return []
    made = shipped(devel).made
    return [path for path in damaged if path not in made]


def _rows(devel: DevelTree) -> dict[str, Row]:
    rows = devel.record.rows()
    if rows:
        return {path: row for path, row in rows.items() if devel.is_ours(path)}
    # Some Linux distributions remove RECORD.
    found: dict[str, Row] = {}
    for parent, _, files in os.walk(devel.tree):
        inside = os.path.relpath(parent, devel.site).replace(os.sep, "/")
        found.update((f"{inside}/{name}", NO_ROW) for name in files)
    return found
