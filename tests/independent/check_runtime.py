"""Compares one runtime wheel with the rules."""

import json
import posixpath
from contextlib import contextmanager

import elf
import elf_compare
import rpath
from rules import (COPY, DEVEL_LINKS, FORWARD, INIT, LINKED_ELF, STUB, devel_member,
                   link_up, marker, renamed_paths)
from wheels import Record, mapped, member_faults, mode_of, open_members, open_wheel

STUB_LIMIT = 8192


class RuntimeCheck:
    """Collects the differences of one package as (path, difference) pairs."""

    def __init__(self, plan, facts, package, wheel, closure):
        self.plan, self.package, self.wheel = plan, package, wheel
        self.closure = closure
        self.wanted = rpath.wanted_directories(facts, plan, package)
        self.differences = []
        self.seen = set()

    def run(self):
        with open_wheel(self.wheel) as archive:
            record = Record(archive)
            self.differences += record.faults(archive)
            for info, content in open_members(archive):
                self.note(info.filename, record.entry_faults(info.filename, content))
                self.note(info.filename, member_faults(info))
                self.member(info, content)
        for path in sorted(self.package.items.keys() - self.seen):
            self.differences.append((path, f"missing ({self.package.items[path].form})"))
        return self.differences

    def note(self, path, faults):
        self.differences += [(path, fault) for fault in faults]

    def member(self, info, content):
        """Compares only members of a platform directory."""
        top, _, path = info.filename.partition("/")
        if not top.startswith("_"):
            return
        item = self.package.items.get(path) if top == self.package.platform_dir else None
        if item is None:
            self.differences.append((info.filename, "unexpected"))
            return
        self.seen.add(path)
        self.note(path, self.mode_faults(item, mode_of(info)))
        self.note(path, self.faults(item, content))

    def mode_faults(self, item, mode):
        """Files keep their execute bits; a stub has to have them."""
        source = item.entry.mode if item.form in (COPY, LINKED_ELF) else None
        if item.form == STUB and not mode & 0o100:
            yield f"stub without execute bit (mode {mode:o})"
        if source is not None and bool(mode & 0o111) != bool(source & 0o111):
            yield f"mode {mode & 0o777:o}, source {source & 0o777:o}"

    def faults(self, item, content):
        with content.data() as data:
            self.closure.add(self.package, f"{self.package.platform_dir}/{item.path}", data)
            if item.form == COPY:
                yield from self.copy_faults(item, data)
            elif item.form == STUB:
                yield from self.stub_faults(item, data)
            elif item.form == FORWARD:
                name = posixpath.basename(item.path)
                yield from elf_compare.forwarding_faults(elf.parse(data), name, item.entry.elf.soname)
            elif item.form == LINKED_ELF:
                yield from self.elf_faults(item, data)
            elif item.form == DEVEL_LINKS:
                yield from self.devel_links_faults(json.loads(data[:]))
            else:
                assert item.form == INIT  # its text is free

    def copy_faults(self, item, data):
        with source_bytes(item.entry) as source:
            for fault in elf_compare.copy_faults(source, data):
                yield f"is no copy of {item.entry.path}: {fault}"

    def stub_faults(self, item, data):
        """A small program; it names its target relative to its own place."""
        kind = elf.kind_of(elf.parse(data))
        if kind not in (elf.PROGRAM, elf.STATIC_PROGRAM) or len(data) > STUB_LIMIT:
            yield f"is no exec stub for {item.entry.path} ({kind}, {len(data)} bytes)"
        elif posixpath.basename(item.entry.path).encode() not in data[:]:
            yield f"stub does not name {item.entry.path}"

    def elf_faults(self, item, data):
        new = elf.parse(data)
        if new is None:
            yield "is no ELF file"
            return
        name = posixpath.basename(item.path)
        if elf.kind_of(new) == elf.LIBRARY and new.soname not in (None, name) and not (
                item.renamed and item.path in self.package.own):
            yield f"has the SONAME {new.soname}"
        folder = posixpath.join(self.package.platform_dir, posixpath.dirname(item.path))
        with source_bytes(item.entry) as source:
            yield from elf_compare.edit_faults(source, data, item.entry.elf, new, folder, self.wanted)

    def devel_links_faults(self, document):
        """Compares `links` (`relpath` and `target`) with the device entries under devel's rules."""
        package = self.package
        owners = {path: package for path in package.items}
        renamed = renamed_paths(package.own, [package])
        expected = {}
        for path in set(package.own) | renamed:
            if path in renamed:
                expected[path] = "../" * len(path.split("/")) + f"{package.platform_dir}/{path}"
                continue
            form, target = devel_member(package.own, package.view, renamed, owners,
                                        package.own[path])
            if form == "link":
                expected[path] = target
        path = marker(package)
        expected[path] = link_up(path, f"{package.platform_dir}/{path}")
        actual = {link["relpath"]: link["target"] for link in document["links"]}
        if "version" not in document:
            yield "has no version"
        for path in sorted(expected.keys() | actual.keys()):
            if expected.get(path) != actual.get(path):
                yield f"links {path} to {actual.get(path)}, expected {expected.get(path)}"


@contextmanager
def source_bytes(entry):
    """The mapped bytes of a file of the artifact tree."""
    with open(entry.source, "rb") as stream:
        with mapped(stream, entry.source.stat().st_size) as data:
            yield data
