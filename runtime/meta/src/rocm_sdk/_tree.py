"""Names of a devel archive, as a tree in which links can be followed.

All names are relative to site-packages: `_rocm_sdk_devel/lib/libx.so` is in the tree,
`_rocm_sdk_core/lib/libx.so.1` is a file of another package.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ._errors import DevelError

_MAXIMUM_HOPS = 40  # limit of Linux


@dataclass
class Tree:
    """Names of an archive; `root` is their first part.

    `files` has the RECORD row of each file, empty until the file is written; `links` has the text
    of each link.
    """

    root: str
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)

    def check_name(self, name: str) -> str:
        """Return a member's name; raises DevelError if it is not below the root."""
        parts = name.rstrip("/").split("/")
        if parts[0] != self.root or any(part in ("", ".", "..") for part in parts):
            raise DevelError(f"the devel archive has a member outside {self.root}: {name!r}")
        if len(name.splitlines()) != 1:
            raise DevelError(f"the devel archive has a name with a line break: {name!r}")
        return "/".join(parts)

    def add_file(self, name: str) -> None:
        """Add a regular file."""
        self._check_new(name)
        self.files[name] = ("", "")
        self._add_parents(name)

    def add_link(self, name: str, target: str) -> None:
        """Add a symbolic link with a target relative to its directory."""
        self._check_new(name)
        self.links[name] = target
        self._add_parents(name)

    def add_directory(self, name: str) -> None:
        """Add a directory, possibly again."""
        if name in self.files or name in self.links:
            raise DevelError(f"the devel archive has a name twice: {name!r}")
        self.directories.add(name)
        self._add_parents(name)

    def _check_new(self, name: str) -> None:
        if name in self.files or name in self.links or name in self.directories:
            raise DevelError(f"the devel archive has a name twice: {name!r}")

    def _add_parents(self, name: str) -> None:
        parent, slash, _ = name.rpartition("/")
        while slash and parent not in self.directories:
            if parent in self.files or parent in self.links:
                raise DevelError(f"the devel archive has a member below a file or link: {name!r}")
            self.directories.add(parent)
            parent, slash, _ = parent.rpartition("/")

    def empty_directories(self) -> list[str]:
        """Return the empty directories."""
        names = [*self.files, *self.links, *self.directories]
        occupied = {name.rpartition("/")[0] for name in names}
        return sorted(self.directories - occupied)

    def follow(self, name: str) -> str:
        """Return the name at the end of the links, which may be absent.

        Raises DevelError for a circle of links or a link out of site-packages.
        """
        todo = deque(name.split("/"))
        done: list[str] = []
        hops = 0
        while todo:
            part = todo.popleft()
            if part == "..":
                if not done:
                    raise DevelError(f"the devel archive has a link out of site-packages: {name!r}")
                done.pop()
            elif part not in ("", "."):
                done.append(part)
                target = self.links.get("/".join(done))
                if target is not None:
                    hops += 1
                    self._check_hop(name, target, hops)
                    done.pop()
                    todo.extendleft(reversed(target.split("/")))
        return "/".join(done)

    @staticmethod
    def _check_hop(name: str, target: str, hops: int) -> None:
        if target.startswith("/"):
            raise DevelError(f"the devel archive has an absolute link: {name!r} -> {target!r}")
        if hops > _MAXIMUM_HOPS:
            raise DevelError(f"the devel archive has a circle of links at {name!r}")
