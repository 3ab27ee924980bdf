"""Links to the files of device packages in the devel tree."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ._devel_tree import DevelTree
from ._errors import DevelError
from ._expand import target
from ._log import log
from ._packages import (
    DIST,
    Installed,
    describe,
    every_installed,
    find,
    is_overlay,
    version_advice,
)
from ._place import place
from ._record import row_of_bytes, row_of_file
from ._tree import Tree

_LISTS = ".devel_links"


def unlinked(devel: DevelTree) -> list[tuple[Installed, Path]]:
    """Return device packages with the link lists that are not linked into the tree yet."""
    return [(owner, path) for owner, path in _lists(devel) if owner.is_in_set]


def skipped(devel: DevelTree) -> list[str]:
    """Return a warning for each device package that is not linked, because of its version."""
    others = (owner for owner, _ in _lists(devel) if not owner.is_in_set)
    return [
        f"{name} {one.version} is not linked into the devel tree: {version_advice(name)}"
        for one in others
        for name in [one.package.distribution]
    ]


def check_lists(devel: DevelTree) -> None:
    """Raise DevelError if the list of an installed device package is missing."""
    for one in every_installed():
        if is_overlay(one.package.logical):
            lists = f"{one.package.platform_dir}/{_LISTS}/"
            for path in one.record.known_rows():
                if path.startswith(lists) and not (devel.site / path).is_file():
                    product = f"{one.package.distribution} {one.version}"
                    raise DevelError(f"{devel.site / path} is missing: reinstall {product}")


def _lists(devel: DevelTree) -> Iterator[tuple[Installed, Path]]:
    """Yield the link lists of installed device packages without a marker in the tree."""
    packages = [logical for logical in DIST["packages"] if is_overlay(logical)]
    for name in dict.fromkeys(describe(logical).platform_dir for logical in packages):
        directory = devel.site / name / _LISTS
        lists = sorted(os.listdir(directory)) if directory.is_dir() else []
        for path in (directory / one for one in lists if one.endswith(".json")):
            if not _marker(devel, path.stem).exists():
                owner = _owner(path.stem, f"{name}/{_LISTS}/{path.name}", packages)
                if owner is not None:
                    yield owner, path


def _owner(stem: str, path: str, packages: list[str]) -> Installed | None:
    # A list can be a leftover of a package that was deleted without an installer.
    for logical in packages:
        installed = find(logical, stem.removesuffix(f"-{logical}"))
        if installed is not None:
            rows = installed.record.rows()
            # Some Linux distributions remove RECORD.
            if path in rows or not rows:
                return installed
    return None


def _marker(devel: DevelTree, stem: str) -> Path:
    # In the root of the tree: pip removes empty directories only below a directory in which it
    # removes a file.
    return devel.root / f".device-{stem}"


def link(devel: DevelTree, installed: Installed, path: Path) -> None:
    """Link the files in a device package's list into the tree."""
    content = json.loads(path.read_text("utf-8"))
    marker = _marker(devel, path.stem)
    text = f"{installed.version}\n".encode()
    links = dict(_checked(devel, content["links"]))
    known = installed.record.rows()
    rows = {
        f"{devel.name}/{name}": known.get(source) or row_of_file(devel.site / source)
        for name, source in links.items()
    }
    rows[f"{devel.name}/{marker.name}"] = row_of_bytes(text)
    installed.record.rewrite(scratch=devel.workspace, add=rows)
    for name, source in links.items():
        (devel.tree / name).parent.mkdir(parents=True, exist_ok=True)
        place(str(devel.site / source), str(devel.tree / name))
    marker.write_bytes(text)
    log(f"linked {len(links)} files of {installed.package.distribution}")


def _checked(devel: DevelTree, links: Iterable[dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each link's name in the tree and its file in site-packages."""
    for one in links:
        name = Tree(devel.name).check_name(f"{devel.name}/{one['relpath']}")
        source = target(name, one["target"])
        if source.startswith(("../", "/")):
            raise DevelError(f"a device package links out of site-packages: {source!r}")
        yield name.partition("/")[2], source
