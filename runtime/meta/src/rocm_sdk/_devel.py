"""The devel tree: what compilers and CMake need, expanded beside the other packages.

The devel wheel holds an archive that is expanded once. While that goes on, nothing
stands in the tree's place, and RECORD already lists what is made: a run that is killed
leaves nothing that an uninstaller does not know, and the next run starts anew.

1. RECORD gets a row for a directory beside the tree's place, the workspace. Installers
   remove a directory that is listed with all that is in it.
2. The tree is put together in the workspace, hashed while it is written.
3. RECORD lists the tree's files; the tree is renamed to its place.
4. The workspace goes, with its row. A marker file in the tree says that it is whole.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from . import _device, _expand
from ._devel_tree import DevelTree
from ._errors import DevelError
from ._lock import exclusive
from ._log import Progress, log, warn
from ._packages import COMMAND, DIST, Installed, describe, require
from ._place import place
from ._record import row_of_file

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def ensure(*, quiet: bool = True, thorough: bool = False) -> Path:
    """Return the root of the devel tree; expand and complete it first where necessary.

    Device packages that were installed since are linked into it. Any number of processes
    may call this at once; one works, the others wait. `quiet` silences progress and
    summary. `thorough` compares the tree with RECORD first and makes it anew when a file
    is gone or has another size; without it, only links into other packages are looked at.

    Raises ModuleNotFoundError when the devel package is not installed, and DevelError
    when its version differs from this one's or the tree cannot be written.
    """
    devel = Devel(require("devel"), quiet=quiet)
    devel.check_versions()
    try:
        if not devel.is_current(thorough=thorough):
            with exclusive(devel.installed.module_dir):
                devel.update(thorough=thorough)
    except OSError as error:
        raise DevelError(_explain(error, devel.installed)) from error
    return devel.root


def get_devel_root(*, force_initialize: bool = False) -> Path:
    """Return the root of the devel tree, as `ensure` does; the name that other projects import.

    `force_initialize` compares the tree with RECORD first.
    """
    return ensure(thorough=force_initialize)


def _explain(error: OSError, installed: Installed) -> str:
    message = f"cannot expand {installed.package.distribution} in {installed.site}: {error}"
    if error.errno in _READ_ONLY:
        message += f"; run `{COMMAND} init` once as a user who may write there"
    elif error.errno in _FULL:
        message += f"; what was written is removed again: make room and repeat `{COMMAND} init`"
    return message


class Devel(DevelTree):
    """The devel package where it is installed, and the changes of its tree."""

    def check_versions(self) -> None:
        """Raise DevelError unless rocm, core and devel are of one version, in one place."""
        core = require("core")
        for installed in (core, self.installed):
            if installed.version != DIST["version"]:
                raise DevelError(
                    f"{installed.package.distribution} {installed.version} is installed, but "
                    f"{DIST['distribution']} is {DIST['version']}: to install the same version: "
                    f'pip install "{describe("devel").requirement}=={DIST["version"]}"'
                )
        if core.site != self.installed.site:
            raise DevelError(
                f"{core.package.distribution} is in {core.site}, but "
                f"{self.installed.package.distribution} is in {self.installed.site}: install both together"
            )

    def is_current(self, *, thorough: bool = False) -> bool:
        """Tell whether nothing is to be done; takes no lock and writes nothing."""
        state = self.state()
        if state is None or self.workspace.exists():
            return False
        if self.waiting(state) or self.broken(state) or _device.unlinked(self):
            return False
        return not thorough or not (self.damaged() or self.workspace.name in self.record.rows())

    def update(self, *, thorough: bool = False) -> None:
        """Bring the tree up to date. The caller holds the lock."""
        if self.is_current(thorough=thorough):
            return  # another process has done it, while this one waited
        state = self.state()
        if state is not None and thorough and (damaged := self.damaged()):
            log(f"{len(damaged)} files of {self.root} are gone or changed, as {damaged[0]}")
            state = None
        if state is None:
            self._expand()
        else:
            self._complete(state)

    def _expand(self) -> None:
        if not self.quiet:
            warn(f"expanding {self.installed.package.distribution} to {self.root}, once")
        progress = Progress("expanding", quiet=self.quiet)
        self._sweep()
        try:
            with self._working():
                state, summary = _expand.expand(self, progress.show)
                for path in _device.unlinked(self):
                    _device.link(self, path)
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
        """Make the links whose files have come, or come back, since the tree was made."""
        waiting, broken = self.waiting(state), self.broken(state)
        pending = {k: v for k, v in state["pending"].items() if k not in waiting}
        with self._working():
            if waiting:
                rows = {name: row_of_file(self.site / source) for name, source in waiting.items()}
                self.rewrite(add={**rows, **self.marker_row({**state, "pending": pending})})
                for name, source in waiting.items():
                    (self.site / name).parent.mkdir(parents=True, exist_ok=True)
                    place(str(self.site / source), str(self.site / name))
                self.write_marker({**state, "pending": pending})
            if broken:
                _expand.make_outer_links(self, broken)
            for path in _device.unlinked(self):
                _device.link(self, path)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Have the workspace, which RECORD lists for as long as it is there."""
        self.record.announce(self.workspace.name)
        self.workspace.mkdir(exist_ok=True)
        yield
        self.rewrite(drop_workspace=True)
        self.workspace.rmdir()

    def _sweep(self) -> None:
        """Remove what an unfinished run left, from the disk and from RECORD."""
        if self.root.exists():
            shutil.rmtree(self.tree)
        rows = self.record.rows()
        if not self.workspace.exists() and not any(self._is_left(path) for path in rows):
            return
        self.record.announce(self.workspace.name)
        if self.workspace.exists():
            shutil.rmtree(self.workspace)
        self.workspace.mkdir()
        self.record.rewrite(scratch=self.workspace, drop=self._is_left)
        self.workspace.rmdir()

    def _is_left(self, path: str) -> bool:
        return self.is_ours(path) or path == self.workspace.name
