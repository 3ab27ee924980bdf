"""The devel tree: what compilers and CMake need, expanded beside the other packages.

The devel wheel holds an archive that is expanded once. While that goes on, nothing
stands in the tree's place, and RECORD already lists every file that is made: a run that
is killed leaves nothing that an uninstaller does not know, and the next run starts anew.

1. Files are unpacked to numbered names in a staging directory of the import package.
2. When all names are known, RECORD lists them; the tree is put together in the staging
   directory and renamed to its place.
3. RECORD drops the staged names. A marker file in the tree says that it is whole.
"""

from __future__ import annotations

import errno
import json
import os
import posixpath
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from . import _archive
from ._errors import DevelError
from ._lock import exclusive
from ._log import log, warn
from ._packages import DIST, Installed, describe, every_installed, find, require
from ._record import Record
from ._tree import Tree

MARKER = ".rocm-sdk.json"
_STAGING = ".expanding"
_PLACEHOLDER = ".keep"
_DEVICE_LINKS = ".devel_links"
_FIRST_BATCH = 1024
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def ensure(*, quiet: bool = True) -> Path:
    """Return the root of the devel tree; expand and complete it first where necessary.

    Device packages that were installed since are linked into it. Any number of processes
    may call this at once; one works, the others wait. `quiet` silences the progress.

    Raises ModuleNotFoundError when the devel package is not installed, and DevelError
    when its version differs from this one's or the tree cannot be written.
    """
    devel = Devel(require("devel"), quiet=quiet)
    devel.check_versions()
    try:
        if not devel.is_current():
            with exclusive(devel.installed.module_dir):
                devel.update()
    except OSError as error:
        raise DevelError(_explain(error, devel.installed)) from error
    return devel.root


def _explain(error: OSError, installed: Installed) -> str:
    message = f"cannot expand {installed.package.distribution} in {installed.site}: {error}"
    if error.errno in _READ_ONLY:
        message += "; run `rocm-sdk init` once as a user who may write there"
    return message


class Devel:
    """The devel package where it is installed, with its tree."""

    def __init__(self, installed: Installed, *, quiet: bool) -> None:
        self.installed = installed
        self.site = installed.site
        self.root = installed.root
        self.name = installed.package.platform_dir
        self.info = installed.info
        self.archive = installed.module_dir / self.info["archive"]
        self.record = _record_of(installed)
        self.quiet = quiet

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
        if core.site != self.site:
            raise DevelError(
                f"{core.package.distribution} is in {core.site}, but "
                f"{self.installed.package.distribution} is in {self.site}: install both together"
            )

    # ------------------------------------------------------------------ what is there

    def state(self) -> dict[str, Any] | None:
        """Return what the marker says, or None when the tree is not whole."""
        try:
            state = json.loads((self.root / MARKER).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        if isinstance(state, dict) and state.get("archive") == self._archive_identity():
            return state
        return None

    def _archive_identity(self) -> list[Any]:
        return [self.info["version"], self.archive.stat().st_size]

    def is_current(self) -> bool:
        """Tell whether nothing is to be done; takes no lock and writes nothing."""
        state = self.state()
        if state is None:
            return False
        return not self._waiting(state) and not self._broken(state) and not self._unlinked()

    def _waiting(self, state: dict[str, Any]) -> dict[str, str]:
        """Return the links whose files were not installed, but are now."""
        pending: dict[str, str] = state["pending"]
        tops = {source.partition("/")[0] for source in pending.values()}
        present = {top for top in tops if (self.site / top).is_dir()}
        return {
            name: source
            for name, source in pending.items()
            if source.partition("/")[0] in present and (self.site / source).is_file()
        }

    def _broken(self, state: dict[str, Any]) -> dict[str, str]:
        """Return the links into other packages that went when these were reinstalled."""
        links: dict[str, str] = state["links"]
        return {name: text for name, text in links.items() if not os.path.lexists(self.site / name)}

    def _unlinked(self) -> list[Path]:
        """Return the link lists of device packages that are not yet in the tree."""
        if "device" not in DIST["packages"]:
            return []
        directory = self.site / describe("device").platform_dir / _DEVICE_LINKS
        lists = sorted(directory.glob("*.json"))
        return [path for path in lists if not self._device_marker(path.stem).exists()]

    def _device_marker(self, isa: str) -> Path:
        # In the root of the tree on purpose: pip removes the directories that become
        # empty only below a directory in which it removes a file itself.
        return self.root / f".device-{isa}"

    # ------------------------------------------------------------------ what is done

    def update(self) -> None:
        """Bring the tree up to date. The caller holds the lock."""
        state = self.state()
        if state is None:
            self._expand()
        else:
            self._complete(state)
        for path in self._unlinked():
            self._link_device(path)

    def _expand(self) -> None:
        if not self.quiet:
            warn(f"expanding {self.installed.package.distribution} to {self.root}, once")
        self._sweep()
        try:
            staging = _Staging(self)
            tree = _archive.read(self.archive, self.name, staging.next, quiet=self.quiet)
            self._build(tree, staging)
        except BaseException:
            self._sweep()
            raise

    def _sweep(self) -> None:
        """Remove what an unfinished run left, from the disk and from RECORD."""
        staging = self.installed.module_dir / _STAGING
        for directory in (staging, self.root):
            if directory.exists():
                shutil.rmtree(directory)
        self.record.rewrite(drop=lambda path: self._is_staged(path) or self._is_ours(path))

    def _is_ours(self, path: str) -> bool:
        return path.startswith(f"{self.name}/")

    def _is_staged(self, path: str) -> bool:
        return path.startswith(f"{self.installed.package.module}/{_STAGING}/")

    def _build(self, tree: Tree, staging: _Staging) -> None:
        plan = _Plan(tree, self.site, keep=self.info.get("keep_links", []))
        marker = f"{self.name}/{MARKER}"
        names = [marker, *tree.files, *plan.copies, *plan.inner, *plan.outer, *plan.placeholders]
        inside = [f"{staging.prefix}/{name}" for name in names]
        self.record.rewrite(add=[*names, *inside])
        self._assemble(tree, plan, staging.directory)
        os.rename(staging.directory / self.name, self.root)
        staging.directory.rmdir()
        self._make_outer_links(plan.outer)
        self.record.rewrite(drop=self._is_staged)
        self._write_marker({"links": plan.outer, "pending": plan.pending})
        if plan.pending and not self.quiet:
            packages = sorted({source.partition("/")[0] for source in plan.pending.values()})
            warn(f"{len(plan.pending)} links wait for files of {', '.join(packages)}")

    def _assemble(self, tree: Tree, plan: _Plan, directory: Path) -> None:
        # A directory is made when there is a file for it: some uninstallers see no others.
        for name, staged in sorted(tree.files.items()):
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            os.rename(staged, directory / name)
        for name in plan.placeholders:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).touch()
        for name, source in plan.copies.items():
            top = directory if self._is_ours(source) else self.site
            place(top / source, directory / name)
        for name, text in plan.inner.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            os.symlink(text, directory / name, target_is_directory=True)

    def _make_outer_links(self, links: dict[str, str]) -> None:
        """Make the symbolic links into other packages.

        The other package's RECORD lists them too: pip does not see a link whose target is
        gone, and so would leave it behind where the other package was uninstalled first.
        """
        for installed in every_installed():
            prefix = f"{installed.package.platform_dir}/"
            if installed.package.kind != "devel" and installed.package.logical != "device":
                targets = (self._target(name, text) for name, text in links.items())
                own = [name for name, target in targets if target.startswith(prefix)]
                if own:
                    _record_of(installed).rewrite(add=own)
        for name, text in links.items():
            (self.site / name).parent.mkdir(parents=True, exist_ok=True)
            (self.site / name).unlink(missing_ok=True)
            os.symlink(text, self.site / name)

    @staticmethod
    def _target(name: str, text: str) -> tuple[str, str]:
        return name, posixpath.normpath(posixpath.join(posixpath.dirname(name), text))

    def _write_marker(self, state: dict[str, Any]) -> None:
        text = json.dumps({"archive": self._archive_identity(), **state}, indent=1, sort_keys=True)
        # One write: a killed process leaves an empty marker, which stands for no tree.
        (self.root / MARKER).write_bytes(text.encode())

    def _complete(self, state: dict[str, Any]) -> None:
        """Make the links whose files have come, or come back, since the tree was made."""
        waiting, broken = self._waiting(state), self._broken(state)
        if waiting:
            self.record.rewrite(add=waiting)
            for name, source in waiting.items():
                place(self.site / source, self.site / name)
            pending = {k: v for k, v in state["pending"].items() if k not in waiting}
            self._write_marker({**state, "pending": pending})
        if broken:
            self._make_outer_links(broken)

    # ------------------------------------------------------------------ device packages

    def _link_device(self, path: Path) -> None:
        """Link the files of one device package into the tree, as its list says."""
        isa = path.stem
        content = json.loads(path.read_text("utf-8"))
        installed = find("device", isa)
        if installed is None:
            log(f"{path} is left over from a package that is not installed")
            return
        if content["version"] != DIST["version"]:
            raise DevelError(
                f"{installed.package.distribution} {content['version']} is installed, but "
                f"{DIST['distribution']} is {DIST['version']}: install the same version of both"
            )
        marker = self._device_marker(isa)
        links = dict(self._device_links(content["links"]))
        names = [f"{self.name}/{name}" for name in (marker.name, *links)]
        _record_of(installed).rewrite(add=names)
        for name, source in links.items():
            place(source, self.root / name)
        marker.write_text(f"{content['version']}\n", "utf-8")
        log(f"linked {len(links)} files of {installed.package.distribution}")

    def _device_links(self, links: Iterable[dict[str, str]]) -> Iterator[tuple[str, Path]]:
        for link in links:
            name = Tree(self.name).check_name(f"{self.name}/{link['relpath']}")
            _, target = self._target(name, link["target"])
            if target.startswith(("../", "/")):
                raise DevelError(f"a device package links out of site-packages: {target!r}")
            yield name.partition("/")[2], self.site / target


class _Staging:
    """Numbered files in the import package, all listed in RECORD before they exist."""

    def __init__(self, devel: Devel) -> None:
        self.directory = devel.installed.module_dir / _STAGING
        self.prefix = f"{devel.installed.package.module}/{_STAGING}"
        self._record = devel.record
        self._used = self._listed = 0

    def next(self) -> Path:
        """Return the path for one more file."""
        if self._used == self._listed:
            self._list_more()
        self.directory.mkdir(exist_ok=True)
        self._used += 1
        return self.directory / str(self._used - 1)

    def _list_more(self) -> None:
        # Four times as many each time: the number of files is known only in the end.
        end = self._listed * 4 or _FIRST_BATCH
        self._record.rewrite(add=(f"{self.prefix}/{n}" for n in range(self._listed, end)))
        self._listed = end


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
        elif not (site / target).exists():
            self.pending[name] = target
        elif is_kept or (site / target).is_dir():
            self.outer[name] = text
        else:
            self.copies[name] = target


def place(source: Path, name: Path) -> None:
    """Make `name` a hard link of the file `source`, or a copy where that cannot be.

    What has stood there goes first, and is never written to: its bytes can be shared.
    """
    name.parent.mkdir(parents=True, exist_ok=True)
    name.unlink(missing_ok=True)
    try:
        os.link(source, name)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without hard links
        shutil.copy2(source, name)


def _record_of(installed: Installed) -> Record:
    package = installed.package
    return Record.of(installed.site, package.distribution, installed.version)
