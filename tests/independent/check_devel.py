"""Compares the archive inside the devel wheel with the rules."""

import posixpath
import stat
import tarfile

import elf
import elf_compare
from check_runtime import source_bytes
from wheels import Bytes, Record, open_members, open_wheel

ARCHIVES = ("rocm_sdk_devel/_devel.tar", "rocm_sdk_devel/_devel.tar.xz")


class DevelCheck:
    def __init__(self, members, top, wheel):
        self.expected, self.top, self.wheel = members, top, wheel
        self.differences = []
        self.seen = {}

    def run(self):
        with open_wheel(self.wheel) as archive:
            record = Record(archive)
            self.differences += record.faults(archive)
            archives = [name for name in archive.namelist() if name in ARCHIVES]
            if len(archives) != 1:
                self.differences.append(("", f"has the archives {archives}, expected one"))
            for info, content in open_members(archive):
                for fault in record.entry_faults(info.filename, content):
                    self.differences.append((info.filename, fault))
                if info.filename in ARCHIVES:
                    self.archive(content)
        self.missing()
        return self.differences

    def archive(self, content):
        content.file.seek(0)
        with tarfile.open(fileobj=content.file, mode="r:*") as tar:
            for member in tar:
                self.member(tar, member)
        self.order_faults()

    def member(self, tar, member):
        top, _, path = member.name.partition("/")
        if top != self.top:
            self.note(member.name, f"is not below {self.top}/")
        elif path in self.seen:
            self.note(path, "is there twice")
        elif path == "__init__.py":
            self.seen[path] = member
            self.form_fault(path, member, "file")
        elif path:  # the top directory itself may be there or not
            self.seen[path] = member
            self.compare(tar, path, member)

    def note(self, path, fault):
        self.differences.append((path, fault))

    def form_fault(self, path, member, form):
        actual = form_of(member)
        if actual != form:
            self.note(path, f"is a {actual} ({member.linkname}), expected a {form}")
        return actual != form

    def compare(self, tar, path, member):
        form, detail = self.expected.get(path, (None, None))
        if form is None:
            self.note(path, f"unexpected ({form_of(member)} {member.linkname})")
        elif self.form_fault(path, member, form):
            return
        elif form == "link" and member.linkname != detail:
            self.note(path, f"links to {member.linkname}, expected {detail}")
        elif form == "file":
            self.file(path, detail, tar, member)

    def file(self, path, entry, tar, member):
        if bool(member.mode & 0o111) != bool(entry.mode & 0o111) or not member.mode & 0o200:
            self.note(path, f"mode {member.mode:o}, source {stat.S_IMODE(entry.mode):o}")
        content = Bytes(tar.extractfile(member))
        with content.data() as data, source_bytes(entry) as source:
            for fault in file_faults(entry, source, data):
                self.note(path, fault)
        content.close()

    def missing(self):
        for path in sorted(self.expected.keys() | {"__init__.py"}):
            if path not in self.seen:
                form, detail = self.expected.get(path, ("file", None))
                self.note(path, f"missing ({form} {detail if form == 'link' else ''})")

    def order_faults(self):
        """A link never precedes the file it needs."""
        position = {path: index for index, path in enumerate(self.seen)}
        for path, member in self.seen.items():
            if not member.issym():
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname))
            needed = self.seen.get(target)
            if needed is not None and not needed.isdir() and position[target] > position[path]:
                self.note(path, f"stands before {target}, which it needs")


def file_faults(entry, source, data):
    """Yields the faults of a file: ELF programs and libraries only change RUNPATH to RPATH, others nothing."""
    if entry.kind in (elf.LIBRARY, elf.PROGRAM):
        yield from elf_compare.devel_faults(source, data, entry.elf, elf.parse(data))
    else:
        yield from elf_compare.copy_faults(source, data)


def form_of(member):
    if member.isdir():
        return "dir"
    if member.issym():
        return "link"
    return "file" if member.isfile() else f"member of type {member.type}"
