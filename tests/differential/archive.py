# SPDX-License-Identifier: MIT
"""A writer of zips with arbitrary headers."""

import struct
import zlib
from dataclasses import dataclass, field

LOCAL, CENTRAL, END, DESCRIPTOR = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08"
END64, LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"
DESCRIBED, UTF8 = 1 << 3, 1 << 11
FULL = 0xFFFFFFFF


def deflated(data):
    """Return a raw deflate stream."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def extra(kind, data, declared_length=None):
    """Return an extra field; `declared_length` is a false length for its header."""
    return struct.pack("<HH", kind, len(data) if declared_length is None else declared_length) + data


@dataclass
class Member:
    """A file with its local and central headers. None means: derived from the data.

    `needed` is the version needed to extract. `packed` are other packed bytes. `local` has other values for the local
    header, by field. `gap` are bytes after the member. A member that is not `listed` is not in the central directory,
    and one that is not `recorded` not in RECORD. `zip64` moves the sizes to an extra field.
    """

    name: bytes
    data: bytes
    method: int = 8
    mode: int = 0o100644
    system: int = 3
    flags: int = 0
    time: tuple = (0, 33)
    needed: int = 20
    packed: bytes | None = None
    crc: int | None = None
    size: int | None = None
    extra: bytes = b""
    comment: bytes = b""
    attributes: int = 0
    local: dict = field(default_factory=dict)
    descriptor: str | None = None
    gap: bytes = b""
    listed: bool = True
    recorded: bool = True
    zip64: bool = False

    @property
    def text(self):
        """Return the name as text."""
        return self.name.decode("utf-8", "surrogateescape")

    def packed_data(self):
        """Return the data as in the archive: `packed`, or packed with the method."""
        if self.packed is not None:
            return self.packed
        return deflated(self.data) if self.method == 8 else self.data

    def numbers(self):
        """Return CRC-32, packed and unpacked size."""
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        return crc, len(self.packed_data()), len(self.data) if self.size is None else self.size

    def _header(self):
        """Return the part of the local header between its signature and its name, and its extra fields."""
        crc, packed, size = (0, 0, 0) if self.descriptor else self.numbers()
        name, more = self.local.get("name", self.name), self.local.get("extra", self.extra)
        if self.zip64 and not self.descriptor:
            more = extra(1, struct.pack("<QQ", size, packed)) + more
            packed = size = FULL
        crc, packed, size = (self.local.get(key, value) for key, value in (("crc", crc), ("packed", packed), ("size", size)))
        flags = self.local.get("flags", self.flags | (DESCRIBED if self.descriptor else 0))
        fixed = struct.pack(
            "<HHHHHIIIHH", self.local.get("needed", self.needed), flags, self.local.get("method", self.method),
            *self.local.get("time", self.time), crc, packed, size, len(name), len(more))
        return fixed + name + more

    def local_record(self):
        """Return local header, data and descriptor."""
        after = b""
        if self.descriptor:
            crc, packed, size = self.numbers()
            sizes = struct.pack("<QQ" if "zip64" in self.descriptor else "<II", packed, size)
            after = (DESCRIPTOR if "signed" in self.descriptor else b"") + struct.pack("<I", crc) + sizes
        return LOCAL + self._header() + self.packed_data() + after + self.gap

    def central_record(self, offset):
        """Return the entry of the central directory."""
        crc, packed, size = self.numbers()
        more = self.extra
        if self.zip64:
            more = extra(1, struct.pack("<QQ", size, packed)) + more
            packed = size = FULL
        flags = self.flags | (DESCRIBED if self.descriptor else 0)
        return CENTRAL + struct.pack(
            "<BBHHHHHIIIHHHHHII", 20, self.system, self.needed, flags, self.method, *self.time, crc, packed, size,
            len(self.name), len(more), len(self.comment), 0, 0, self.mode << 16 | self.attributes, offset,
        ) + self.name + more + self.comment


@dataclass
class End:
    """The records after the central directory.

    The numbers `entries`, `size`, `offset`, `entries_on_disk`, `zip64_entries_on_disk` and `locator` are added to the
    true values; all others replace them. With `zip64_unneeded`, the last record has the true values too.
    """

    comment: bytes = b""
    entries: int = 0
    size: int = 0
    offset: int = 0
    disk: int = 0
    start_disk: int | None = None
    entries_on_disk: int = 0
    zip64: bool = False
    zip64_unneeded: bool = False
    zip64_extra: bytes = b""
    zip64_length: int | None = None
    zip64_disks: tuple = (0, 0)
    zip64_entries_on_disk: int = 0
    zip64_needed: int = 45
    locator: int = 0
    locator_disk: int = 0
    locator_disks: int = 1
    between: bytes = b""


def to_bytes(members, end, directory_order=None):
    """Return the archive."""
    out, central_records = b"", []
    for member in members:
        central_records.append(member.central_record(len(out)) if member.listed else b"")
        out += member.local_record()
    start = len(out)
    for index in directory_order or range(len(members)):
        out += central_records[index]
    size = len(out) - start
    count = sum(1 for index in directory_order or range(len(members)) if members[index].listed)
    values = count + end.entries, size + end.size, start + end.offset
    out += end.between
    if end.zip64:
        place = len(out)
        length = 44 + len(end.zip64_extra) if end.zip64_length is None else end.zip64_length
        on_disk = values[0] + end.zip64_entries_on_disk
        out += END64 + struct.pack("<QHHIIQQQQ", length, 45, end.zip64_needed, *end.zip64_disks, on_disk, *values) + end.zip64_extra
        out += LOCATOR64 + struct.pack("<IQI", end.locator_disk, place + end.locator, end.locator_disks)
        if not end.zip64_unneeded:
            values = 0xFFFF, FULL, FULL
    entries, size, start = values[0] & 0xFFFF, values[1] & FULL, values[2] & FULL
    disks = end.disk, end.disk if end.start_disk is None else end.start_disk
    return out + END + struct.pack("<HHHHIIH", *disks, entries + end.entries_on_disk, entries, size, start, len(end.comment)) + end.comment
