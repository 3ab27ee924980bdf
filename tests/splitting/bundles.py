# SPDX-License-Identifier: MIT
"""Offload bundles, read by the format's specification, without rockpack's code."""

import struct

BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
# Fields for sizes in each version of compressed bundles, and the lengths of their headers.
COMPRESSED = {2: ("<2I", 24), 3: ("<2Q", 32)}


def bundle_of(content, at):
    """Yield the targets of the bundle at an offset, with their code."""
    start = at
    for version, (sizes, header) in COMPRESSED.items():
        if content.startswith(b"CCOB" + struct.pack("<2H", version, 1), at):
            import zstandard

            length, unpacked = struct.unpack_from(sizes, content, at + 8)
            stream = zstandard.ZstdDecompressor(max_window_size=2**31)
            content, start = stream.decompress(content[at + header : at + length], max_output_size=unpacked), 0
            break
    assert content.startswith(BUNDLE, start), "there is no bundle that this test reads"
    (count,) = struct.unpack_from("<Q", content, start + 24)
    place = start + 32
    for _ in range(count):
        offset, size, length = struct.unpack_from("<3Q", content, place)
        target = content[place + 24 : place + 24 + length].decode()
        place += 24 + length
        if size:
            yield target.split("amdhsa", 1)[1].lstrip("-"), content[start + offset : start + offset + size]
