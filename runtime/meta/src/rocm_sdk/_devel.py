"""Devel tree: the files for compilers and CMake, expanded from the archive of the devel wheel.

The expansion is atomic, and each file is in RECORD before it exists: a killed run leaves only
files that uninstallers know, and the next run restarts.

1. RECORD gets a row for the workspace, a directory next to the tree. Installers remove a listed
   directory with its content.
2. The tree is built and hashed in the workspace.
3. RECORD gets the rows of the tree's files; the tree is renamed to its place.
4. The workspace and its row are removed. A marker file in the tree marks it as complete.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from . import _device, _expand
from ._devel_tree import DevelTree
from ._errors import DevelError
from ._lock import exclusive
from ._log import Progress, log, warn
from ._packages import COMMAND, DIST, Installed, describe, require, version_of
from ._place import HARD_LINK, is_same_file, place
from ._record import NO_ROW, row_of_file
from ._sharing import repeated
from ._shipped import lost, shipped

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def ensure(*, quiet: bool = True, thorough: bool = False, symlinks: bool | None = None) -> Path:
    """Return the root of the devel tree, expanded and completed if necessary.

    Device packages that were installed later are linked into it. Processes can call this
    concurrently: one works, the others wait. `quiet` silences progress and summary. `thorough`
    compares the tree with RECORD, expands it again if a file is missing or has another size, and
    restores hard links that became copies (`cp -r`, container layers). Otherwise only links into
    other packages are checked.

    With `symlinks`, libraries of the tree are symbolic links to files of other packages, for
    container images; without, hard links. None keeps the links of an existing tree.

    Raises ModuleNotFoundError if the devel package is not installed, and DevelError if its version
    differs from the selector's, the tree cannot be written, or with `thorough`, the list of a device
    package's links is missing. A device package of another version is skipped with a warning.
    """
    devel = Devel(require("devel"), quiet=quiet, symlinks=symlinks)
    devel.check_versions()
    for reason in _device.skipped(devel):
        warn(reason)
    if thorough:
        _device.check_lists(devel)
    try:
        if not devel.is_current(thorough=thorough):
            with exclusive(devel.installed.module_dir):
                devel.update(thorough=thorough)
    except OSError as error:
        raise DevelError(_explain(error, devel.installed)) from error
    return devel.root


def get_devel_root(*, force_initialize: bool = False) -> Path:
    """Return the root of the devel tree like `ensure`, under a stable name for other projects.

    `force_initialize` is `thorough`.
    """
    return ensure(thorough=force_initialize)


def _explain(error: OSError, installed: Installed) -> str:
    message = f"cannot expand {installed.package.distribution} in {installed.site}: {error}"
    if error.errno in _READ_ONLY:
        message += f"; run `{COMMAND} init` once as a user with write access"
        if sys.platform == "win32":  # the same error
            message += ", and first end the programs that use these files"
    elif error.errno == errno.ENOENT:
        from ._health._finding import reinstall

        message += f"; reinstall it: {reinstall(installed)}"
    elif error.errno in _FULL:
        message += f"; the written files are removed: free space and repeat `{COMMAND} init`"
    return message


class Devel(DevelTree):
    """Installed devel package with the changes of its tree."""

    def check_versions(self) -> None:
        """Raise DevelError unless core and devel are of the selector's set, in one directory."""
        core = require("core")
        for installed in (core, self.installed):
            if not installed.is_in_set:
                expected = version_of(installed.package.distribution)
                same = expected == DIST["version"]
                reason = f"is {expected}" if same else f"{DIST['version']} needs {expected}"
                wanted = "the same version" if same else "it"
                raise DevelError(
                    f"{installed.package.distribution} {installed.version} is installed, but "
                    f"{DIST['distribution']} {reason}: to install {wanted}: "
                    f'pip install "{describe("devel").requirement}=={DIST["version"]}"'
                )
        if core.site != self.installed.site:
            devel = self.installed.package.distribution
            raise DevelError(
                f"{core.package.distribution} is in {core.site}, but "
                f"{devel} is in {self.installed.site}: install both in one environment"
            )

    def is_current(self, *, thorough: bool = False) -> bool:
        """Return whether the tree is up to date, without a lock or a write."""
        state = self.state()
        if state is None or self.workspace.exists():
            return False
        if self.waiting(state) or self.broken(state) or _device.unlinked(self):
            return False
        if not self.has_kind(state):
            return False
        return not thorough or not (
            self.damaged() or self.separated(state) or self.workspace.name in self.record.rows()
        )

    def has_kind(self, state: dict[str, Any]) -> bool:
        """Return whether the tree has the requested kind of links."""
        return self.symlinks in (None, bool(state.get("symlinks")))

    def update(self, *, thorough: bool = False) -> None:
        """Update the tree. The caller holds the lock."""
        if self.is_current(thorough=thorough):
            return  # done by another process while this one waited
        state = self.state()
        if self.symlinks is None:  # before the tree is removed
            self.symlinks = self.had_symlinks()
        if state is not None and not self.has_kind(state):
            state = None
        damaged = self.damaged() if thorough or (self.ships_files and state is None) else []
        if state is not None and damaged:
            log(f"{len(damaged)} files of {self.root} are missing or changed: {damaged[0]}, …")
            state = None
        self._check_shipped(damaged)
        if state is None:
            self._expand()
        else:
            self._complete(state)

    def _check_shipped(self, damaged: list[str]) -> None:
        """Raise DevelError if files of the wheel are damaged, because no archive can restore them."""
        files = lost(self, damaged)
        if files:
            from ._health._finding import reinstall

            name = self.installed.package.distribution
            raise DevelError(
                f"{len(files)} files of {name} are missing or changed, such as {files[0]}: reinstall"
                f" it: {reinstall(self.installed)}"
            )

    def _expand(self) -> None:
        if not self.quiet:
            action = "linking" if self.ships_files else "expanding"
            warn(f"{action} {self.installed.package.distribution} to {self.root}, once")
        progress = Progress("expanding", quiet=self.quiet)
        self._sweep()
        try:
            with self._working():
                _expand.forget_outer_links(self)
                state, summary = _expand.expand(self, progress.show)
                for installed, path in _device.unlinked(self):
                    _device.link(self, installed, path)
            self.write_marker(state)
        except BaseException:
            progress.clear()
            with suppress(OSError):
                self._sweep()
            raise
        progress.clear()
        if not self.quiet:
            warn(summary)

    def _complete(self, state: dict[str, Any]) -> None:
        """Make pending, removed and separated links of an existing tree."""
        waiting, broken = self.waiting(state), self.broken(state)
        pending = {k: v for k, v in state["pending"].items() if k not in waiting}
        with self._working():
            if waiting:
                self._fill({**state, "pending": pending}, waiting)
            if broken:
                _expand.make_outer_links(self, broken)
            self._unite(self.separated(state))
            for installed, path in _device.unlinked(self):
                _device.link(self, installed, path)

    def _fill(self, state: dict[str, Any], waiting: dict[str, str]) -> None:
        """Make the pending links `waiting`, and write the marker that lists them."""
        symbolic = {
            name: _expand.relative_link(name, source)
            for name, source in waiting.items()
            if self.symlinks and _expand.is_shared_library(name)
        }
        files = {name: source for name, source in waiting.items() if name not in symbolic}
        rows = {name: row_of_file(self.site / source) for name, source in files.items()}
        self.rewrite(add={**rows, **dict.fromkeys(symbolic, NO_ROW)})
        for name, source in files.items():
            (self.site / name).parent.mkdir(parents=True, exist_ok=True)
            place(str(self.site / source), str(self.site / name))
        _expand.make_outer_links(self, symbolic)
        shared = {
            name: source
            for name, source in files.items()
            if _expand.is_shared_library(name)
            and is_same_file(str(self.site / name), str(self.site / source))
        }
        state["links"] = {**state["links"], **symbolic}
        state["shared"] = {**state.get("shared", {}), **shared}
        self.rewrite(add=self.marker_row(state))
        self.write_marker(state)

    def _unite(self, separated: dict[str, str]) -> None:
        """Restore hard links, each atomically, because compilers may be reading the tree."""
        fresh = str(self.workspace / "link")
        ways: Counter[str] = Counter()
        if separated:
            # The other package can be newer than its rows.
            rows = {name: row_of_file(self.site / source) for name, source in separated.items()}
            self.rewrite(add=rows)
        for name, source in separated.items():
            ways[place(str(self.site / source), fresh)] += 1
            repeated(partial(os.replace, fresh, self.site / name))
        copies = ways.total() - ways[HARD_LINK]
        if copies:
            warn(
                f"{copies} files of {self.root} are copies: `{COMMAND} init --symlinks` links them"
            )

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Create the workspace, and remove it after success. RECORD lists it while it exists."""
        self.record.announce(self.workspace.name)
        self.workspace.mkdir(exist_ok=True)
        yield
        self.rewrite(drop_workspace=True)
        self.workspace.rmdir()

    def _sweep(self) -> None:
        """Remove the files and RECORD rows of an unfinished run, except those of the wheel."""
        rows = self.record.rows()
        left = {path for path in rows if self.is_ours(path)}
        if self.ships_files:
            left = shipped(self).made
            for path in left:
                (self.site / path).unlink(missing_ok=True)
        elif self.root.exists():
            shutil.rmtree(self.tree)
        if not (self.workspace.exists() or left or self.workspace.name in rows):
            return
        self.record.announce(self.workspace.name)
        if self.workspace.exists():
            shutil.rmtree(self.workspace)
        self.workspace.mkdir()
        left.add(self.workspace.name)
        self.record.rewrite(scratch=self.workspace, drop=left.__contains__)
        self.workspace.rmdir()
