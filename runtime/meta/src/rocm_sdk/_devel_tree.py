"""State of the devel tree: places, marker and RECORD."""

from __future__ import annotations

import json
import os
from typing import Any

from ._packages import Installed, every_installed, is_overlay
from ._paths import unlimited
from ._place import is_same_file
from ._record import Row, row_of_bytes

MARKER = ".rocm-sdk.json"
PACKAGES = ".packages"
"""Metadata directories of the packages that the tree was expanded with."""


class DevelTree:
    """Installed devel package with its tree."""

    def __init__(
        self, installed: Installed, *, quiet: bool = True, symlinks: bool | None = None
    ) -> None:
        self.installed = installed
        self.name = installed.package.platform_dir
        self.root = installed.root  # for output
        self.site = unlimited(installed.site)  # for file access
        self.tree = self.site / self.name
        self.info = installed.info
        self.archive = installed.module_dir / self.info["archive"]
        self.ships_files = self.info.get("layout") == "files"
        self.workspace = self.site / installed.package.workspace
        self.record = installed.record
        self.quiet = quiet
        self.symlinks = symlinks  # None keeps the links of an existing tree

    def state(self) -> dict[str, Any] | None:
        """Return the state in the marker, or None if the tree is incomplete or of another archive.

        `links` maps symbolic links into other packages to their texts, `pending` absent names to
        their files in packages that are not installed, `shared` libraries to the files of other
        packages that they are hard links of. `symlinks` is true if libraries are symbolic links.
        Markers of older versions have only the first two.
        """
        state = self._marker()
        if state and state.get("archive") == self._archive_identity():
            return state if self._has_packages() else None
        return None

    def _has_packages(self) -> bool:
        """Return whether the packages that the tree was expanded with are still installed."""
        try:
            names = (self.root / PACKAGES).read_text("utf-8").split()
        except OSError:
            return True  # trees of older versions
        return all((self.site / name).is_dir() for name in names)

    def _packages_text(self) -> bytes:
        # Device packages remove their own links from the tree.
        linked = [one for one in every_installed() if not is_overlay(one.package.logical)]
        names = sorted(one.record.path.parent.name for one in linked)
        # Of packages in another site-packages, the site of this one knows nothing.
        names = [name for name in names if (self.site / name).is_dir()]
        return "".join(f"{name}\n" for name in names).encode()

    def is_outdated(self) -> bool:
        """Return whether a complete tree of another archive exists."""
        return "archive" in self._marker()

    def _archive_identity(self) -> list[Any]:
        try:
            return [self.installed.version, self.archive.stat().st_size]
        except FileNotFoundError:
            return self._recorded_identity()

    def _recorded_identity(self) -> list[Any]:
        """Return the archive that the marker names: without an archive, a tree remains usable."""
        archive = self._marker().get("archive")
        return archive if isinstance(archive, list) else []

    def _marker(self) -> dict[str, Any]:
        """Return the content of the marker, also of an outdated one; empty if it is unreadable."""
        try:
            content = json.loads((self.root / MARKER).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def had_symlinks(self) -> bool:
        """Return whether libraries of the tree are symbolic links, also of an outdated tree."""
        return bool(self._marker().get("symlinks"))

    def waiting(self, state: dict[str, Any]) -> dict[str, str]:
        """Return the pending links with files that are now installed."""
        pending: dict[str, str] = state["pending"]
        tops = {source.partition("/")[0] for source in pending.values()}
        present = {top for top in tops if (self.site / top).is_dir()}
        return {
            name: source
            for name, source in pending.items()
            if source.partition("/")[0] in present and (self.site / source).is_file()
        }

    def broken(self, state: dict[str, Any]) -> dict[str, str]:
        """Return the links into other packages that a reinstallation of these removed."""
        links: dict[str, str] = state["links"]
        return {name: text for name, text in links.items() if not os.path.lexists(self.site / name)}

    def separated(self, state: dict[str, Any]) -> dict[str, str]:
        """Return the hard links of other packages' files that became copies."""
        shared: dict[str, str] = state.get("shared", {})
        return {
            name: source
            for name, source in shared.items()
            if not is_same_file(str(self.site / name), str(self.site / source))
            and (self.site / source).is_file()
        }

    def damaged(self) -> list[str]:
        """Return the recorded files of the tree that are missing or have another size."""
        found: list[str] = []
        for path, (_, size) in self.record.rows().items():
            if self.is_ours(path):
                try:
                    state = os.lstat(self.site / path)
                except (FileNotFoundError, NotADirectoryError):
                    found.append(path)
                    continue
                if size and state.st_size != int(size):
                    found.append(path)
        return found

    def is_ours(self, path: str) -> bool:
        """Return whether a path relative to site-packages is in the tree."""
        return path.startswith(f"{self.name}/")

    def rewrite(self, *, add: dict[str, Row] | None = None, drop_workspace: bool = False) -> None:
        """Add rows to RECORD, or remove the row of the workspace."""
        name = self.workspace.name
        self.record.rewrite(
            scratch=self.workspace, add=add, drop=lambda path: drop_workspace and path == name
        )

    def marker_row(self, state: dict[str, Any]) -> dict[str, Row]:
        """Return the RECORD row of a marker with this state."""
        return {
            f"{self.name}/{PACKAGES}": row_of_bytes(self._packages_text()),
            f"{self.name}/{MARKER}": row_of_bytes(self._marker_text(state)),
        }

    def _marker_text(self, state: dict[str, Any]) -> bytes:
        content = {**state, "archive": self._archive_identity()}
        return json.dumps(content, indent=1, sort_keys=True).encode()

    def write_marker(self, state: dict[str, Any]) -> None:
        """Write the marker, which makes the tree complete."""
        (self.root / PACKAGES).write_bytes(self._packages_text())
        # One write: a killed process leaves an empty marker, which means no tree.
        (self.root / MARKER).write_bytes(self._marker_text(state))
