"""Putting the devel tree together from its archive and from the other packages' files."""

from __future__ import annotations

import os
import posixpath
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
from ._packages import every_installed
from ._paths import below
from ._place import place_all, told
from ._record import NO_ROW, Row, row_of_bytes, row_of_file
from ._tree import Tree

_PLACEHOLDER = ".keep"
_BATCH = 256
_MOST_THREADS = 8


def expand(devel: DevelTree, show: Callable[[int], None]) -> tuple[dict[str, Any], str]:
    """Expand the archive; return what the marker has to say, and a summary for people.

    The caller holds the lock and has the workspace; nothing is in the tree's place.
    """
    start = time.monotonic()
    tree = Tree(devel.name)
    into = str(devel.workspace)
    with ThreadPoolExecutor(min(_MOST_THREADS, (os.cpu_count() or 1) + 1)) as pool:
        _archive.unpack(devel.archive, tree, into, pool, show)
        plan = _Plan(tree, devel.site, keep=devel.info.get("keep_links", []))
        if sys.platform == "win32" or not _links_work(into):
            plan.spell_out(tree, devel.site)
        ways = _assemble(plan, tree, devel.site, into, pool)
    state = {"links": plan.outer, "pending": plan.pending}
    devel.rewrite(add={**_rows(plan, tree, devel.site), **devel.marker_row(state)})
    os.rename(below(into, devel.name), devel.tree)
    make_outer_links(devel, plan.outer)
    if plan.pending and not devel.quiet:
        packages = sorted({source.partition("/")[0] for source in plan.pending.values()})
        warn(f"{len(plan.pending)} links wait for files of {', '.join(packages)}")
    seconds = time.monotonic() - start
    return state, f"{len(tree.files):,} files and {told(ways)} in {seconds:.1f} s"


def _links_work(directory: str) -> bool:
    """Return whether symbolic links can be made there: some file systems have none."""
    probe = below(directory, ".symbolic-link")
    try:
        os.symlink(".", probe, target_is_directory=True)
        if not os.path.islink(probe):  # some say that they made one, and made nothing
            raise OSError("what was made is not a link")
    except OSError as error:
        log(f"no symbolic links here ({error}): files stand in their place")
        return False
    finally:
        with suppress(OSError):
            os.unlink(probe)
    return True


class _Plan:
    """What becomes of the links of an archive; all names are relative to site-packages.

    - `copies`: name and file; it becomes a hard link of the file, or a copy.
    - `inner`: links to directories of the tree; they stay symbolic links.
    - `outer`: links into other packages that stay symbolic links.
    - `pending`: like `copies`, but the file's package is not installed.
    - `placeholders`: files that stand in directories which would be empty, because
      uninstallers know files only.
    """

    def __init__(self, tree: Tree, site: Path, keep: Iterable[str]) -> None:
        self.copies: dict[str, str] = {}
        self.inner: dict[str, str] = {}
        self.outer: dict[str, str] = {}
        self.pending: dict[str, str] = {}
        kept = {f"{tree.root}/{name}" for name in keep}
        for name, text in sorted(tree.links.items()):
            self._place(name, text, tree.follow(name), tree, site, is_kept=name in kept)
        self.placeholders = [f"{name}/{_PLACEHOLDER}" for name in tree.empty_directories()]

    def _place(
        self, name: str, text: str, target: str, tree: Tree, site: Path, *, is_kept: bool
    ) -> None:
        if target in tree.files:
            (self.inner if is_kept else self.copies)[name] = text if is_kept else target
        elif target in tree.directories:
            self.inner[name] = text
        elif target.startswith(f"{tree.root}/"):
            log(f"{name} leads to nothing and is left out")
        elif not os.path.exists(path := below(str(site), target)):
            self.pending[name] = target
        elif is_kept or os.path.isdir(path):
            self.outer[name] = text
        else:
            self.copies[name] = target

    def spell_out(self, tree: Tree, site: Path) -> None:
        """Put files in place of symbolic links: each file below what a link leads to."""
        links = [*self.inner, *self.outer]
        found = {name: dict(self._below(name, tree, site, ())) for name in links}
        self.inner.clear()
        self.outer.clear()
        for name, files in found.items():
            for rest, source in files.items():
                is_there = source in tree.files or (site / source).is_file()
                (self.copies if is_there else self.pending)[f"{name}{rest}"] = source

    def _below(
        self, link: str, tree: Tree, site: Path, through: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        """Yield what stands behind a link: the rest of the name, and the file."""
        if link in through:
            raise DevelError(f"the devel archive has a directory in itself: {link!r}")
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
                    yield f"{name[len(target):]}{rest}", source
        if target not in tree.directories:
            for parent, _, files in os.walk(site / target):
                inside = Path(parent).relative_to(site).as_posix()
                for file in files:
                    yield f"{inside[len(target):]}/{file}", f"{inside}/{file}"


def _assemble(plan: _Plan, tree: Tree, site: Path, into: str, pool: Executor) -> Counter[str]:
    """Make what is not in the archive as a file; return how files came to second names."""
    # A directory is made when there is a file for it: some uninstallers see no others.
    names = [*plan.placeholders, *plan.copies, *plan.inner]
    for directory in sorted({name.rpartition("/")[0] for name in names}):
        os.makedirs(below(into, directory), exist_ok=True)
    for name in plan.placeholders:
        with open(below(into, name), "xb"):
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
        os.symlink(text, below(into, name), target_is_directory=True)
    return ways


def _rows(plan: _Plan, tree: Tree, site: Path) -> dict[str, Row]:
    """Return the rows of the tree; those of files of other packages are in their RECORDs."""
    known: dict[str, Row] = {}
    for installed in every_installed():
        if installed.package.kind != "devel":
            known.update(installed.record.rows())
    rows: dict[str, Row] = dict(tree.files)
    for name, source in plan.copies.items():
        row = tree.files.get(source) or known.get(source, NO_ROW)
        rows[name] = row if row[0] else row_of_file(site / source)
    rows.update(dict.fromkeys([*plan.inner, *plan.outer], NO_ROW))
    rows.update(dict.fromkeys(plan.placeholders, row_of_bytes(b"")))
    return rows


def make_outer_links(devel: DevelTree, links: dict[str, str]) -> None:
    """Make the symbolic links into other packages.

    The other package's RECORD lists them too: pip does not see a link whose target is
    gone, and so would leave it behind where the other package was uninstalled first.
    """
    for installed in every_installed():
        prefix = f"{installed.package.platform_dir}/"
        if installed.package.kind != "devel" and installed.package.logical != "device":
            own = [name for name, text in links.items() if target(name, text).startswith(prefix)]
            if own:
                rows = dict.fromkeys(own, NO_ROW)
                installed.record.rewrite(scratch=devel.workspace, add=rows)
    for name, text in links.items():
        path = below(str(devel.site), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(text, path)


def target(name: str, text: str) -> str:
    """Return where a link leads, relative to site-packages as its name is."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), text))
