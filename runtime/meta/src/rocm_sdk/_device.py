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
from ._packages import DIST, belongs, describe, find, require, version_of
from ._place import place
from ._record import row_of_bytes, row_of_file
from ._tree import Tree

_LISTS = ".devel_links"


def unlinked(devel: DevelTree) -> list[Path]:
    """Return the link lists of device packages that are not linked into the tree yet."""
    if "device" not in DIST["packages"]:
        return []
    directory = devel.site / describe("device").platform_dir / _LISTS
    if not directory.is_dir():
        return []
    lists = [directory / name for name in sorted(os.listdir(directory)) if name.endswith(".json")]
    # A list can be a leftover of a package that was deleted without an installer.
    return [
        path
        for path in lists
        if not _marker(devel, path.stem).exists() and find("device", path.stem) is not None
    ]


def _marker(devel: DevelTree, isa: str) -> Path:
    # In the root of the tree: pip removes empty directories only below a directory in which it
    # removes a file.
    return devel.root / f".device-{isa}"


def link(devel: DevelTree, path: Path) -> None:
    """Link the files in a device package's list into the tree."""
    isa = path.stem
    content = json.loads(path.read_text("utf-8"))
    installed = require("device", isa)
    name = installed.package.distribution
    if content["version"] != version_of(name):
        raise DevelError(f"{name} {content['version']} is installed, but {belongs(name)}")
    marker = _marker(devel, isa)
    said = f"{content['version']}\n".encode()
    links = dict(_checked(devel, content["links"]))
    known = installed.record.rows()
    rows = {
        f"{devel.name}/{name}": known.get(source) or row_of_file(devel.site / source)
        for name, source in links.items()
    }
    rows[f"{devel.name}/{marker.name}"] = row_of_bytes(said)
    installed.record.rewrite(scratch=devel.workspace, add=rows)
    for name, source in links.items():
        (devel.tree / name).parent.mkdir(parents=True, exist_ok=True)
        place(str(devel.site / source), str(devel.tree / name))
    marker.write_bytes(said)
    log(f"linked {len(links)} files of {installed.package.distribution}")


def _checked(devel: DevelTree, links: Iterable[dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each link's name in the tree and its file in site-packages."""
    for one in links:
        name = Tree(devel.name).check_name(f"{devel.name}/{one['relpath']}")
        source = target(name, one["target"])
        if source.startswith(("../", "/")):
            raise DevelError(f"a device package links out of site-packages: {source!r}")
        yield name.partition("/")[2], source
