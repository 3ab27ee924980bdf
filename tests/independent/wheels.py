"""Reads wheels: their members as files on disk, and their RECORD."""

import base64
import csv
import hashlib
import io
import mmap
import stat
import tempfile
import zipfile
from contextlib import contextmanager

CHUNK = 1 << 20


class Bytes:
    """A member's bytes, mapped from a temporary file so that its size does not matter."""

    def __init__(self, stream):
        self.file = tempfile.TemporaryFile()
        digest = hashlib.sha256()
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
            self.file.write(chunk)
        self.file.flush()
        self.size = self.file.tell()
        self.hash = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()

    @contextmanager
    def data(self):
        with mapped(self.file, self.size) as data:
            yield data

    def close(self):
        self.file.close()


@contextmanager
def mapped(stream, size):
    """The bytes of an open file; mmap refuses empty ones."""
    if size == 0:
        yield b""
        return
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def mode_of(info):
    return info.external_attr >> 16


def member_faults(info):
    """Runtime wheels hold no symlinks and no directories; every file is owner-writable."""
    mode = mode_of(info)
    if info.is_dir():
        yield "is a directory"
    if not stat.S_ISREG(mode):
        yield f"is no regular file (mode {mode:o})"
    elif not mode & 0o200:
        yield f"is not owner-writable (mode {mode:o})"


class Record:
    """RECORD: exactly the members of the archive, with right hashes and sizes."""

    def __init__(self, archive):
        names = [n for n in archive.namelist() if n.endswith(".dist-info/RECORD")]
        self.name = names[0] if names else None
        text = archive.read(self.name).decode("utf-8") if names else ""
        self.rows = list(csv.reader(io.StringIO(text, newline="")))
        self.by_path = {row[0]: row for row in self.rows if row}

    def faults(self, archive):
        if self.name is None:
            yield "", "has no RECORD"
        members = archive.namelist()
        if len(set(members)) != len(members):
            yield "", "has a member twice"
        if len(self.by_path) != len(self.rows):
            yield "", "RECORD has a path twice"
        for path in sorted(set(members) - self.by_path.keys()):
            yield path, "is not in RECORD"
        for path in sorted(self.by_path.keys() - set(members)):
            yield path, "is in RECORD, but not in the archive"

    def entry_faults(self, path, content):
        row = self.by_path.get(path)
        if row is None or path == self.name:
            return
        if row[1:] != [f"sha256={content.hash}", str(content.size)]:
            yield f"RECORD says {row[1:]}, it is sha256={content.hash}, {content.size}"


def open_members(archive):
    """Each member with its bytes, one at a time."""
    for info in archive.infolist():
        with archive.open(info) as stream:
            content = Bytes(stream)
        try:
            yield info, content
        finally:
            content.close()


def open_wheel(path):
    return zipfile.ZipFile(path)
