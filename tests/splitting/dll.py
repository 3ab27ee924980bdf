# SPDX-License-Identifier: MIT
"""DLLs with device code inside, read by the format's specification, without rockpack's code."""

import struct

from bundles import bundle_of

RECORD = 24
DIR64 = 10  # IMAGE_REL_BASED_DIR64
FIXED = 1  # IMAGE_FILE_RELOCS_STRIPPED


class Dll:
    """A PE file for x86-64."""

    def __init__(self, content):
        self.content = content
        (start,) = struct.unpack_from("<I", content, 0x3C)
        assert content[start : start + 4] == b"PE\0\0" and content[start + 24 : start + 26] == b"\x0b\x02"
        (count,) = struct.unpack_from("<H", content, start + 6)
        (optional,) = struct.unpack_from("<H", content, start + 20)
        (flags,) = struct.unpack_from("<H", content, start + 22)
        self.moves = not flags & FIXED
        (self.base,) = struct.unpack_from("<Q", content, start + 48)
        table = start + 24 + optional
        self.directories = list(struct.iter_unpack("<II", content[start + 136 : start + 136 + 128]))
        self.sections = {}
        for at in range(table, table + 40 * count, 40):
            name, size, address, in_file, place = struct.unpack_from("<8s4I", content, at)
            self.sections[name.rstrip(b"\0").decode()] = (address, size, place, in_file)

    def memory_at(self, address, size):
        """Return bytes of the memory."""
        for start, in_memory, place, in_file in self.sections.values():
            if start <= address < start + in_memory:
                inside = address - start
                return self.content[place + min(inside, in_file) : place + min(in_file, inside + size)].ljust(size, b"\0")
        raise ValueError(f"there is no memory at {address:#x}")

    def filled(self):
        """Yield the addresses of words that the loader changes by the distance from the preferred base."""
        address, size = self.directories[5]
        table, at = self.memory_at(address, size) if size else b"", 0
        while at < size:
            page, length = struct.unpack_from("<II", table, at)
            for (entry,) in struct.iter_unpack("<H", table[at + 8 : at + length]):
                if entry >> 12 == DIR64:
                    yield page + (entry & 0xFFF)
            at += length

    def records(self):
        """Yield the address of each record, and its target."""
        address, size, _, _ = self.sections[".hipFatB"]
        filled = set(self.filled())
        for record in range(address, address + size, RECORD):
            assert record + 8 in filled or not self.moves, "a pointer without a base relocation"
            yield record, struct.unpack("<Q", self.memory_at(record + 8, 8))[0] - self.base

    def bundle(self, address):
        """Yield the targets of a bundle, with their code."""
        start, _, place, _ = self.sections[".hip_fat"]
        yield from bundle_of(self.content, address - start + place)

    def marker(self):
        """Return the address of the marker, and its bytes."""
        address, size, _, _ = self.sections[".kpackrf"]
        return address, self.memory_at(address, size)

    def differences(self, new):
        """Yield differences in memory outside of records and of offsets in the debug directory, which a split changes."""
        yield from differences(self, new)

    def is_empty(self):
        """True if the bundles have memory, but no bytes in the file."""
        return self.sections[".hip_fat"][2:] == (0, 0) and self.sections[".hip_fat"][1] > 0


def differences(old, new):
    debug, size = old.directories[6]
    for name, (address, in_memory, _, _) in old.sections.items():
        if new.sections[name][:2] != (address, in_memory):
            yield f"{name} is elsewhere"
        elif name not in (".hip_fat", ".hipFatB"):
            before, after = bytearray(old.memory_at(address, in_memory)), bytearray(new.memory_at(address, in_memory))
            for entry in range(debug, debug + size, 28):
                if address <= entry < address + in_memory:
                    for memory in (before, after):
                        memory[entry - address + 24 : entry - address + 28] = bytes(4)
            if before != after:
                yield name
