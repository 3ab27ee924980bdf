"""Makes small ELF images for the self-tests."""

import struct

import elf


def shared_object(soname=None, needed=(), rpath=None, runpath=None, tail=b"",
                  flags=0, interp=False, etype=3):
    """A small ELF image: one LOAD over everything, PT_DYNAMIC, strings after it."""
    strings, tags = b"\0", []
    wishes = [(14, soname), *((1, name) for name in needed), (15, rpath), (29, runpath)]
    for tag, text in wishes:
        if text is not None:
            tags.append((tag, len(strings)))
            strings += text.encode() + b"\0"
    if flags:
        tags.append((elf.DT_FLAGS_1, flags))
    count = 3 if interp else 2
    dynamic_at = 64 + 56 * count
    size = 16 * (len(tags) + 3)
    tags += [(5, dynamic_at + size), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    total = dynamic_at + size + len(strings) + len(tail)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", etype, 62, 1, 0, 64, 0, 0, 64, 56, count, 64, 0, 0)
    segments = [(1, 0, total), (2, dynamic_at, size), (3, total, 0)][:count]
    table = b"".join(struct.pack("<IIQQQQQQ", kind, 6, at, at, at, length, length, 8)
                     for kind, at, length in segments)
    return header + table + dynamic + strings + tail
