"""Expansion of the devel tree from its archive and from files of other packages."""

from __future__ import annotations

import os
import posixpath
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import _archive
from ._devel_tree import DevelTree
from ._errors import DevelError
from ._log import log, warn
from ._packages import Installed, every_installed, is_overlay
from ._paths import below
from ._place import is_same_file, link_symbolically, place_all, summary
from ._record import NO_ROW, Row, row_of_bytes, row_of_file
from ._sharing import repeated
from ._shipped import PLACEHOLDER, shipped
from ._tree import Tree

_BATCH = 256  # links of one task, because a task for each would take longer than the link
_MOST_THREADS = 8


def expand(devel: DevelTree, show: Callable[[int], None]) -> tuple[dict[str, Any], str]:
    """Expand the archive; return the state for the marker, and a summary for the user.

    The caller holds the lock and has created the workspace. The tree does not exist, except for
    files of the wheel.
    """
    start = time.monotonic()
    workspace = str(devel.workspace)
    into = str(devel.site) if devel.ships_files else workspace
    with ThreadPoolExecutor(min(_MOST_THREADS, (os.cpu_count() or 1) + 1)) as pool:
        if devel.ships_files:
            tree = shipped(devel).tree
        else:
            tree = Tree(devel.name)
            _archive.unpack(devel.archive, tree, workspace, pool, show)
        plan = _Plan(tree, devel.site, keep=devel.info.get("keep_links", []))
        has_links = sys.platform != "win32" and _links_work(workspace)
        if devel.symlinks:
            if not has_links:
                raise DevelError(f"{devel.site} has no symbolic links: omit --symlinks")
            plan.link_symbolically()
        elif not has_links:
            plan.spell_out(tree, devel.site)
        rows = _rows(plan, tree, devel.site)
        if devel.ships_files:
            devel.rewrite(add=rows)
        ways = _assemble(plan, tree, devel.site, into, pool)
    shared = {
        name: source
        for name, source in plan.copies.items()
        if source not in tree.files
        and is_shared_library(name)
        and is_same_file(below(into, name), below(str(devel.site), source))
    }
    state = {
        "links": plan.outer,
        "pending": plan.pending,
        "shared": shared,
        "symlinks": devel.symlinks,
    }
    devel.rewrite(add={**rows, **devel.marker_row(state)})
    if not devel.ships_files:
        repeated(lambda: os.rename(below(into, devel.name), devel.tree))
    make_outer_links(devel, plan.outer)
    if plan.pending and not devel.quiet:
        packages = sorted({source.partition("/")[0] for source in plan.pending.values()})
        names = ", ".join(packages)
        warn(f"{len(plan.pending)} links are pending until installation of {names}")
    seconds = time.monotonic() - start
    return state, f"{len(tree.files):,} files and {summary(ways)} in {seconds:.1f} s"


def _links_work(directory: str) -> bool:
    """Return whether the file system supports symbolic links."""
    probe = below(directory, ".symbolic-link")
    try:
        os.symlink(".", probe, target_is_directory=True)
        if not os.path.islink(probe):  # some systems report success without a link
            raise OSError("no link was made")
    except OSError as error:
        log(f"no symbolic links ({error}): making files instead")
        return False
    finally:
        with suppress(OSError):
            os.unlink(probe)
    return True


class _Plan:
    """Treatment of the links of an archive; all names are relative to site-packages.

    - `copies`: name and file, which become a hard link or a copy.
    - `inner`: links to directories of the tree, which remain symbolic links.
    - `outer`: links into other packages, which remain symbolic links.
    - `pending`: like `copies`, but the file's package is not installed.
    - `placeholders`: files in otherwise empty directories, because uninstallers know only files.
    """

    def __init__(self, tree: Tree, site: Path, keep: Iterable[str]) -> None:
        self.copies: dict[str, str] = {}
        self.inner: dict[str, str] = {}
        self.outer: dict[str, str] = {}
        self.pending: dict[str, str] = {}
        kept = {f"{tree.root}/{name}" for name in keep}
        for name, text in sorted(tree.links.items()):
            self._place(name, text, tree.follow(name), tree, site, is_kept=name in kept)
        self.placeholders = [f"{name}/{PLACEHOLDER}" for name in tree.empty_directories()]

    def _place(
        self, name: str, text: str, target: str, tree: Tree, site: Path, *, is_kept: bool
    ) -> None:
        if target in tree.files:
            (self.inner if is_kept else self.copies)[name] = text if is_kept else target
        elif target in tree.directories:
            self.inner[name] = text
        elif target.startswith(f"{tree.root}/"):
            log(f"{name} has no target and is skipped")
        elif not os.path.exists(path := below(str(site), target)):
            self.pending[name] = target
        elif is_kept or os.path.isdir(path):
            self.outer[name] = text
        else:
            self.copies[name] = target

    def link_symbolically(self) -> None:
        """Replace hard links of libraries by symbolic links.

        Programs remain hard links: they find their directory by the path of their file.
        """
        for name, source in list(self.copies.items()):
            if is_shared_library(name):
                del self.copies[name]
                is_inner = source.partition("/")[0] == name.partition("/")[0]
                (self.inner if is_inner else self.outer)[name] = relative_link(name, source)

    def spell_out(self, tree: Tree, site: Path) -> None:
        """Replace symbolic links by the files of their targets."""
        links = [*self.inner, *self.outer]
        found = {name: dict(self._below(name, tree, site, ())) for name in links}
        self.inner.clear()
        self.outer.clear()
        for name, files in found.items():
            for rest, source in files.items():
                exists = source in tree.files or (site / source).is_file()
                (self.copies if exists else self.pending)[f"{name}{rest}"] = source

    def _below(
        self, link: str, tree: Tree, site: Path, through: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        """Yield the files of a link's target: path relative to the link, and source."""
        if link in through:
            raise DevelError(f"the devel archive has a directory that contains itself: {link!r}")
        target = tree.follow(link)
        if target in tree.files or (site / target).is_file():
            yield "", target
            return
        start = f"{target}/"
        own = ((name, name) for name in tree.files)
        for name, source in [*own, *self.copies.items(), *self.pending.items()]:
            if name.startswith(start):
                yield name[len(target) :], source
        for name in [*self.inner, *self.outer]:
            if name.startswith(start):
                for rest, source in self._below(name, tree, site, (*through, link)):
                    yield f"{name[len(target) :]}{rest}", source
        if target not in tree.directories:
            for parent, _, files in os.walk(site / target):
                inside = Path(parent).relative_to(site).as_posix()
                for file in files:
                    yield f"{inside[len(target) :]}/{file}", f"{inside}/{file}"


def _assemble(plan: _Plan, tree: Tree, site: Path, into: str, pool: Executor) -> Counter[str]:
    """Make placeholders and links; return the number of hard links, reflinks and copies."""
    # Only directories with files are made: some uninstallers miss empty ones.
    names = [*plan.placeholders, *plan.copies, *plan.inner]
    for directory in sorted({name.rpartition("/")[0] for name in names}):
        os.makedirs(below(into, directory), exist_ok=True)
    for name in plan.placeholders:
        with open(below(into, name), "ab"):  # one without a row may exist
            pass
    pairs = [
        (below(into if source in tree.files else str(site), source), below(into, name))
        for name, source in plan.copies.items()
    ]
    batches = (pairs[at : at + _BATCH] for at in range(0, len(pairs), _BATCH))
    ways: Counter[str] = Counter()
    for counted in pool.map(place_all, batches):
        ways += counted
    for name, text in plan.inner.items():
        link_symbolically(below(into, name), text)
    return ways


def _rows(plan: _Plan, tree: Tree, site: Path) -> dict[str, Row]:
    """Return the rows of the tree; RECORDs of other packages have the hashes of linked files."""
    known: dict[str, Row] = {}
    for installed in every_installed():
        if installed.package.kind != "devel":
            known.update(installed.record.rows())
    rows: dict[str, Row] = dict(tree.files)
    for name, source in plan.copies.items():
        row = tree.files.get(source)
        rows[name] = row or _current_row(site / source, known.get(source, NO_ROW))
    rows.update(dict.fromkeys([*plan.inner, *plan.outer], NO_ROW))
    rows.update(dict.fromkeys(plan.placeholders, row_of_bytes(b"")))
    return rows


def _current_row(path: Path, recorded: Row) -> Row:
    """Return the recorded row of a file, a new one if its size has changed since."""
    digest, size = recorded
    return recorded if digest and size == str(path.stat().st_size) else row_of_file(path)


def forget_outer_links(devel: DevelTree) -> None:
    """Remove the rows of a previous tree's links from the RECORDs of other packages."""
    for installed in _linked():
        if any(map(devel.is_ours, installed.record.rows())):
            installed.record.rewrite(scratch=devel.workspace, drop=devel.is_ours)


def _linked() -> list[Installed]:
    """Return the packages with links of the tree in their RECORD."""
    return [
        installed
        for installed in every_installed()
        if installed.package.kind != "devel" and not is_overlay(installed.package.logical)
    ]


def make_outer_links(devel: DevelTree, links: dict[str, str]) -> None:
    """Make the symbolic links into other packages.

    The RECORD of the other package lists them too: pip skips links without a target, and would
    leave them behind if the other package is uninstalled first.
    """
    for installed in _linked():
        prefix = f"{installed.package.platform_dir}/"
        own = [name for name, text in links.items() if target(name, text).startswith(prefix)]
        if own:
            installed.record.rewrite(scratch=devel.workspace, add=dict.fromkeys(own, NO_ROW))
    for name, text in links.items():
        path = below(str(devel.site), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        link_symbolically(path, text)


def is_shared_library(name: str) -> bool:
    """Return whether a name is a shared library's."""
    return re.search(r"\.so(\.[^/]*)?$", name) is not None


def relative_link(name: str, source: str) -> str:
    """Return the text of a link from `name` to `source`, both relative to site-packages."""
    return posixpath.relpath(source, posixpath.dirname(name))


def target(name: str, text: str) -> str:
    """Return the target of a link; name and target are relative to site-packages."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), text))
