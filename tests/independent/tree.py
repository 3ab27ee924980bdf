"""Artifact directories, and the tree that several of them make when installed together."""

import mmap
import os
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import elf

MAX_HOPS = 40  # as many links as Linux follows in one path


class Conflict(Exception):
    """Two artifacts supply one path with different contents."""


@dataclass
class Entry:
    """One installed path: a directory, a file or a link (`target` as it is written)."""

    path: str
    form: str
    source: Path
    target: str | None = None

    @property
    def name(self):
        return self.path.rpartition("/")[2]

    @property
    def folder(self):
        return self.path.rpartition("/")[0]

    @cached_property
    def mode(self):
        return self.source.lstat().st_mode

    @cached_property
    def head(self):
        with open(self.source, "rb") as stream:
            return stream.read(2)

    @cached_property
    def elf(self):
        return read_elf(self.source) if self.form == "file" else None

    @cached_property
    def kind(self):
        """Library, program, static program or plain: from the bytes, never the name."""
        return elf.kind_of(self.elf)

    @property
    def is_executable(self):
        """True if a link to this file is an exec stub: for a program or a script."""
        script = self.head == b"#!" and self.mode & 0o111 != 0
        return self.kind in (elf.PROGRAM, elf.STATIC_PROGRAM) or script


def read_elf(path):
    """The ELF facts of a file, or None; a broken ELF file counts as data."""
    if os.path.getsize(path) < 64:
        return None
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return elf.parse(data)
        except elf.Malformed:
            return None


@dataclass
class Artifact:
    """A child `{name}_{component}_{family}` of the artifact directory."""

    folder: Path
    name: str = ""
    component: str = ""
    family: str = ""
    entries: dict = field(default_factory=dict)

    @property
    def base_isa(self):
        """`gfx942:xnack+` belongs to `gfx942`: the part before `:` is the base ISA."""
        return self.family.partition(":")[0]

    @property
    def key(self):
        return (self.name, self.component)


def read_artifacts(folder):
    """Every artifact of a directory; children with other names are no artifacts."""
    artifacts = []
    for child in sorted(Path(folder).iterdir()):
        fields = child.name.split("_")
        if child.is_dir() and len(fields) == 3:
            artifact = Artifact(child, *fields)
            artifact.entries = read_entries(child)
            artifacts.append(artifact)
    return artifacts


def read_entries(folder):
    """Reads a base directory, with paths relative to it as installed paths."""
    entries = {}
    for line in (folder / "artifact_manifest.txt").read_text(encoding="utf-8").splitlines():
        base = folder / line.strip()
        if line.strip() and base.is_dir():  # an absent base directory is allowed
            for entry in walk(base, ""):
                add(entries, entry)
    return entries


def walk(folder, prefix):
    for item in sorted(os.scandir(folder), key=lambda item: item.name):
        path = prefix + item.name
        if item.is_symlink():
            yield Entry(path, "link", Path(item.path), os.readlink(item.path))
        elif item.is_dir():
            yield Entry(path, "dir", Path(item.path))
            yield from walk(item.path, path + "/")
        else:
            yield Entry(path, "file", Path(item.path))


def merge(artifacts):
    """One tree of several artifacts. The same bytes twice are one file, others a conflict."""
    tree = {}
    for artifact in artifacts:
        for entry in artifact.entries.values():
            add(tree, entry)
    return tree


def add(tree, entry):
    old = tree.setdefault(entry.path, entry)
    if old is not entry and not is_same(old, entry):
        raise Conflict(f"{entry.path}: {old.source} and {entry.source} differ")


def is_same(one, other):
    if one.form != other.form or one.target != other.target:
        return False
    return one.form != "file" or one.source.read_bytes() == other.source.read_bytes()


def resolve(view, path):
    """Follows links component by component; returns the entry at the end, or None.

    None means a link that dangles, turns in a circle or leaves the tree.
    """
    todo, parts, hops = deque(path.split("/")), [], 0
    entry = None
    while todo:
        part = todo.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            if not parts:
                return None
            parts.pop()
            continue
        entry = view.get("/".join([*parts, part]))
        if entry is None:
            return None
        if entry.form == "link":
            hops += 1
            if hops > MAX_HOPS or entry.target.startswith("/"):
                return None
            todo.extendleft(reversed(entry.target.split("/")))
        elif entry.form == "file" and todo:
            return None
        else:
            parts.append(part)
    return view.get("/".join(parts), Entry("", "dir", Path()))
