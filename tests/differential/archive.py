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


def extra(kind, data, told=None):
    """Return an extra field; `told` is a false length for its header."""
    return struct.pack("<HH", kind, len(data) if told is None else told) + data


@dataclass
class Member:
    """A file with its local and central headers. None means: derived from the data."""

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
    wide: bool = False

    @property
    def text(self):
        """Return the name as text."""
        return self.name.decode("utf-8", "surrogateescape")

    def stored(self):
        """Return the bytes of the archive."""
        if self.packed is not None:
            return self.packed
        return deflated(self.data) if self.method == 8 else self.data

    def numbers(self):
        """Return CRC-32, packed and unpacked size."""
        crc = zlib.crc32(self.data) if self.crc is None else self.crc
        return crc, len(self.stored()), len(self.data) if self.size is None else self.size

    def _header(self):
        """Return the part of the local header between its signature and its name, and its extra fields."""
        crc, packed, size = (0, 0, 0) if self.descriptor else self.numbers()
        name, more = self.local.get("name", self.name), self.local.get("extra", self.extra)
        if self.wide and not self.descriptor:
            more = extra(1, struct.pack("<QQ", size, packed)) + more
            packed = size = FULL
        crc, packed, size = (self.local.get(key, value) for key, value in (("crc", crc), ("packed", packed), ("size", size)))
        flags = self.local.get("flags", self.flags | (DESCRIBED if self.descriptor else 0))
        fixed = struct.pack(
            "<HHHHHIIIHH", self.local.get("needed", self.needed), flags, self.local.get("method", self.method),
            *self.local.get("time", self.time), crc, packed, size, len(name), len(more))
        return fixed + name + more

    def in_place(self):
        """Return local header, data and descriptor."""
        after = b""
        if self.descriptor:
            crc, packed, size = self.numbers()
            sizes = struct.pack("<QQ" if "wide" in self.descriptor else "<II", packed, size)
            after = (DESCRIPTOR if "signed" in self.descriptor else b"") + struct.pack("<I", crc) + sizes
        return LOCAL + self._header() + self.stored() + after + self.gap

    def listing(self, offset):
        """Return the entry of the central directory."""
        crc, packed, size = self.numbers()
        more = self.extra
        if self.wide:
            more = extra(1, struct.pack("<QQ", size, packed)) + more
            packed = size = FULL
        flags = self.flags | (DESCRIBED if self.descriptor else 0)
        return CENTRAL + struct.pack(
            "<BBHHHHHIIIHHHHHII", 20, self.system, self.needed, flags, self.method, *self.time, crc, packed, size,
            len(self.name), len(more), len(self.comment), 0, 0, self.mode << 16 | self.attributes, offset,
        ) + self.name + more + self.comment


@dataclass
class End:
    """The records behind the central directory, by their differences from the true values."""

    comment: bytes = b""
    entries: int = 0
    size: int = 0
    offset: int = 0
    disk: int = 0
    start_disk: int | None = None
    here: int = 0
    wide: bool = False
    needless: bool = False
    wide_extra: bytes = b""
    wide_told: int | None = None
    wide_disks: tuple = (0, 0)
    wide_here: int = 0
    wide_needed: int = 45
    locator: int = 0
    locator_disk: int = 0
    locator_disks: int = 1
    between: bytes = b""


def written(members, end, directory_order=None):
    """Return the archive."""
    out, listings = b"", []
    for member in members:
        listings.append(member.listing(len(out)) if member.listed else b"")
        out += member.in_place()
    start = len(out)
    for index in directory_order or range(len(members)):
        out += listings[index]
    size = len(out) - start
    count = sum(1 for index in directory_order or range(len(members)) if members[index].listed)
    values = count + end.entries, size + end.size, start + end.offset
    out += end.between
    if end.wide:
        place = len(out)
        length = 44 + len(end.wide_extra) if end.wide_told is None else end.wide_told
        here = values[0] + end.wide_here
        out += END64 + struct.pack("<QHHIIQQQQ", length, 45, end.wide_needed, *end.wide_disks, here, *values) + end.wide_extra
        out += LOCATOR64 + struct.pack("<IQI", end.locator_disk, place + end.locator, end.locator_disks)
        if not end.needless:
            values = 0xFFFF, FULL, FULL
    entries, size, start = values[0] & 0xFFFF, values[1] & FULL, values[2] & FULL
    disks = end.disk, end.disk if end.start_disk is None else end.start_disk
    return out + END + struct.pack("<HHHHIIH", *disks, entries + end.here, entries, size, start, len(end.comment)) + end.comment
