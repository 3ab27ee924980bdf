# SPDX-License-Identifier: MIT
"""Libraries with device code inside, a framework of them, and the archives that the code goes into.

All of it is read as the formats' specifications have it, by nothing of rockpack.
"""

import base64
import hashlib
import struct
import sys
import zipfile
from pathlib import Path

from fetch import fetcher, machine
from process import run
from report import NotRun, some

NAME, VERSION = "torch", "2.0+made"
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
# How versions of compressed bundles tell their sizes, and how long their headers are.
COMPRESSED = {2: ("<2I", 24), 3: ("<2Q", 32)}
HIPK = 0x4B504948
RELATIVE = 8  # R_X86_64_RELATIVE


class Library:
    """What an ELF file for x86-64 says, read as the format's specification has it."""

    def __init__(self, content):
        self.content = content
        (at,) = struct.unpack_from("<Q", content, 40)
        size, count, names = struct.unpack_from("<3H", content, 58)
        headers = [struct.unpack_from("<IIQQQQII", content, at + number * size) for number in range(count)]
        start = headers[names][4]
        self.sections = {self.text(start + header[0]): header for header in headers}

    def text(self, at):
        return self.content[at : self.content.index(b"\0", at)].decode()

    def records(self):
        """Yield where each record is in the file, and where the bundle that it leads to is."""
        _, _, _, address, offset, size, *_ = self.sections[".hipFatBinSegment"]
        _, _, _, code, code_at, *_ = self.sections[".hip_fatbin"]
        _, _, _, _, table, length, *_ = self.sections[".rela.dyn"]
        filled = {place: to for place, kind, to in struct.iter_unpack("<QQq", self.content[table : table + length]) if kind == RELATIVE}
        for inside in range(0, size, 24):
            yield offset + inside, filled[address + inside + 8] - code + code_at

    def bundle(self, at):
        """Yield the targets of a bundle, with their code."""
        content, start = self.content, at
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


def readers(work):
    """Put msgpack and zstandard from PyPI where this program finds them."""
    place = work / "readers"
    done = run([fetcher(work), "install", "--quiet", "--target", place, "msgpack", "zstandard"], work, machine())
    if done.status:
        raise NotRun(f"msgpack and zstandard cannot be had from PyPI: {done.problem}")
    sys.path.insert(1, str(place))


def framework(libraries, dest):
    """Write a wheel with these libraries."""
    info = f"{NAME}-{VERSION}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
    tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
    members = {f"torch/lib/{name}": file.read_bytes for name, file in libraries.items()}
    members |= {f"{info}/METADATA": metadata.encode, f"{info}/WHEEL": tags.encode}
    wheel = dest / f"{NAME}-{VERSION}-py3-none-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        rows = ""
        for name, content in members.items():
            content = content()
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows += f"{name},sha256={digest},{len(content)}\n"
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD"), f"{rows}{info}/RECORD,,\n")
    return wheel


def unpacked(dist, place):
    """Unpack all wheels of a directory into another one; return the archives there, by path and content."""
    for wheel in dist.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place)
    return {f"/{file.relative_to(place).as_posix()}": archived(file) for file in place.rglob(".kpack/*.kpack")}


def archived(path):
    """Return the code in an archive, by binary and target."""
    import msgpack
    import zstandard

    content = path.read_bytes()
    magic, version, at = struct.unpack_from("<4sIQ", content)
    assert (magic, version) == (b"KPAK", 1), "another header"
    table = msgpack.unpackb(content[at:])
    assert table["compression_scheme"] == "zstd-per-kernel", "another compression"
    place, frames = table["zstd_offset"] + 4, []
    for _ in range(struct.unpack_from("<I", content, table["zstd_offset"])[0]):
        (size,) = struct.unpack_from("<I", content, place)
        frames.append(content[place + 4 : place + 4 + size])
        place += 4 + size
    assert place == at == table["zstd_offset"] + table["zstd_size"], "the pieces end elsewhere"
    code = {}
    for binary, pieces in table["toc"].items():
        for target, piece in pieces.items():
            assert target in table["gfx_arches"], f"{target} is not listed"
            code[binary, target] = zstandard.ZstdDecompressor().decompress(frames[piece["ordinal"]])
            assert len(code[binary, target]) == piece["original_size"], "another size"
    return code


def compare(report, name, old, new, archives):
    """Follow the records of a library as the runtime does."""
    import msgpack

    library, expected, objects, wrong = Library(old), bytearray(old), 0, []
    _, _, _, _, start, size, *_ = library.sections[".hip_fatbin"]
    expected[start : start + size] = bytes(size)
    for number, (record, bundle) in enumerate(library.records()):
        struct.pack_into("<I", expected, record, HIPK)
        struct.pack_into("<Q", expected, record + 16, number)
        unpacker = msgpack.Unpacker()
        unpacker.feed(new[bundle : bundle + 4096])
        marker = unpacker.unpack()
        expected[bundle : bundle + unpacker.tell()] = new[bundle : bundle + unpacker.tell()]
        for target, code in library.bundle(bundle):
            objects += 1
            (path,) = marker["kpack_search_paths"]
            path = (Path("/torch/lib") / path.replace("@GFXARCH@", target.split(":")[0])).resolve().as_posix()
            if archives.get(path, {}).get((f"{marker['kernel_name']}#{number}", target)) != code:
                wrong.append(f"{target} of bundle {number} in {path}")
    report.check(f"{name}: each of {objects} code objects is where a record leads to", some(wrong))
    report.check(f"{name}: nothing else differs", None if bytes(expected) == new else "it does")
