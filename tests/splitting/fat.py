# SPDX-License-Identifier: MIT
"""Libraries with device code inside, a framework of them, and the archives with the extracted code.

All of it is read by the formats' specifications, without rockpack's code.
"""

import base64
import hashlib
import re
import shutil
import struct
import sys
import zipfile
from pathlib import Path

from bundles import bundle_of
from dll import Dll
from fetch import fetcher, machine
from process import run
from report import NotRun, a_few

HERE = Path(__file__).resolve().parent
NAME, VERSION = "torch", "2.0+made"
HIPK = 0x4B504948
RELATIVE, SYMBOL = 8, 1  # R_X86_64_RELATIVE, R_X86_64_64


class Library:
    """An ELF file for x86-64, read by the format's specification."""

    def __init__(self, content):
        self.content = content
        (at,) = struct.unpack_from("<Q", content, 40)
        size, count, names = struct.unpack_from("<3H", content, 58)
        headers = [struct.unpack_from("<IIQQQQII", content, at + number * size) for number in range(count)]
        start = headers[names][4]
        self.sections = {self.text(start + header[0]): header for header in headers}
        (at,) = struct.unpack_from("<Q", content, 32)
        size, count = struct.unpack_from("<2H", content, 54)
        segments = [struct.unpack_from("<IIQQQQQQ", content, at + number * size) for number in range(count)]
        self.loads = [segment for segment in segments if segment[0] == 1]

    def memory(self):
        """Yield the parts of the memory that a loader fills from the file: their addresses and bytes."""
        for _, _, offset, address, _, size, _, _ in self.loads:
            yield address, self.content[offset : offset + size]

    def memory_at(self, address, size):
        """Return bytes of the memory."""
        for _, _, offset, start, _, in_file, in_memory, _ in self.loads:
            if start <= address < start + in_memory:
                place = offset + address - start
                return self.content[place : offset + min(in_file, address - start + size)].ljust(size, b"\0")
        raise ValueError(f"there is no memory at {address:#x}")

    def text(self, at):
        return self.content[at : self.content.index(b"\0", at)].decode()

    def records(self):
        """Yield the address of each record, and its target."""
        _, _, _, address, _, size, *_ = self.sections[".hipFatBinSegment"]
        _, _, _, _, table, length, *_ = self.sections[".rela.dyn"]
        symbols = self.sections[".dynsym"][4]
        filled = {}
        for place, kind, symbol, to in struct.iter_unpack("<QIIq", self.content[table : table + length]):
            if kind == RELATIVE:
                filled[place] = to
            elif kind == SYMBOL:
                filled[place] = struct.unpack_from("<Q", self.content, symbols + 24 * symbol + 8)[0] + to
        for inside in range(0, size, 24):
            yield address + inside, filled[address + inside + 8]

    def offset(self, address):
        """Return where the byte of an address in `.hip_fatbin` is in the file."""
        _, _, _, code, code_at, *_ = self.sections[".hip_fatbin"]
        return address - code + code_at

    def bundle(self, address):
        """Yield the targets of a bundle, with their code."""
        yield from bundle_of(self.content, self.offset(address))

    def marker(self):
        """Return the address of the marker, and its bytes."""
        _, _, _, address, at, size, *_ = self.sections[".rocm_kpack_ref"]
        return address, self.content[at : at + size]

    def is_empty(self):
        """True if the bundles have no bytes in the file."""
        return self.sections[".hip_fatbin"][1] == 8

    def differences(self, new):
        """Yield differences in memory outside of headers, records and references to bundles, which a split changes."""
        yield from differences(self, new)


def readers(work):
    """Put msgpack and zstandard from PyPI where this program finds them."""
    place = work / "readers"
    result = run([fetcher(work), "install", "--quiet", "--target", place, "msgpack", "zstandard"], work, machine())
    if result.status:
        raise NotRun(f"msgpack and zstandard are not available from PyPI: {result.problem}")
    sys.path.insert(1, str(place))


def manifest(dest):
    """Copy the built-in manifest, which requires a HIP that reads archives; Debian's, for these libraries, does not."""
    root = HERE.parents[1]
    for name in ("families.kdl", "packages.kdl"):
        shutil.copy(root / name, dest)
    for name in ("manifest", "runtime"):
        shutil.copytree(root / name, dest / name)
    splits = dest / "manifest" / "splits.kdl"
    text = re.sub(r"\n *older-runtime (?:.*\\\n)*.*", "", splits.read_text())
    splits.write_text(re.sub(r"\n *runtime (?:.*\\\n)*.*", '\n    runtime "libamdhip64.so.*" "amdhip64_*.dll" requires-dist="rocm-bootstrap"', text))


def framework(libraries, dest, platform="linux_x86_64"):
    """Write a wheel with these libraries."""
    info = f"{NAME}-{VERSION}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
    tags = f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
    members = {f"torch/lib/{name}": file.read_bytes for name, file in libraries.items()}
    members |= {f"{info}/METADATA": metadata.encode, f"{info}/WHEEL": tags.encode}
    wheel = dest / f"{NAME}-{VERSION}-py3-none-{platform}.whl"
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


def opened(content):
    """Return a library or a DLL."""
    return Library(content) if content.startswith(b"\x7fELF") else Dll(content)


def compare(report, name, old, new, archives):
    """Follow the records of a library as the runtime does, and compare the code in memory."""
    import msgpack

    library, after, objects, errors, numbers = opened(old), opened(new), 0, [], {}
    records, now = list(library.records()), dict(after.records())
    for record, bundle in records:
        number = numbers.setdefault(bundle, len(numbers))
        place, content = after.marker()
        marker = msgpack.unpackb(content)
        expected = struct.pack("<IIQ", HIPK, 1, number)
        fields = after.memory_at(record, 24)
        if now[record] != place or fields[:8] + fields[16:] != expected:
            errors.append(f"the record at {record:#x}")
        for target, code in library.bundle(bundle):
            objects += 1
            (path,) = marker["kpack_search_paths"]
            path = (Path("/torch/lib") / path.replace("@GFXARCH@", target.split(":")[0])).resolve().as_posix()
            if archives.get(path, {}).get((f"{marker['kernel_name']}#{number}", target)) != code:
                errors.append(f"{target} of bundle {number} in {path}")
    report.check(f"{name}: each of {objects} code objects is where a record leads to", a_few(errors))
    report.check(f"{name}: nothing else in memory differs", a_few(library.differences(after)))
    report.check(f"{name}: the bundles have no bytes", not after.is_empty() and "they have some")
    report.note(f"{name}: {len(old) / 1e6:.2f} MB became {len(new) / 1e6:.2f} MB")


def differences(old, new):
    """Yield differences in memory outside of headers, records and references to bundles, which a split changes."""
    free = [(0, 64 + 56 * (len(old.loads) + 12))]
    for section in (".hip_fatbin", ".hipFatBinSegment"):
        free.append((old.sections[section][3], old.sections[section][3] + old.sections[section][5]))
    place, size = old.sections[".rela.dyn"][3], old.sections[".rela.dyn"][5]
    targets = {bundle for _, bundle in old.records()}
    relocations = old.memory_at(place, size)
    for at in range(0, size, 24):
        if struct.unpack_from("<q", relocations, at + 16)[0] in targets:
            free.append((place + at + 16, place + at + 24))
    moved = {name: (old.sections[name][3], old.sections[name][5]) for name in old.sections if name in new.sections
             and old.sections[name][2] & 2 and old.sections[name][3] != new.sections[name][3]}
    free += [(start, start + length) for start, length in moved.values()]
    # The dynamic section has the new places of these.
    free += [(old.sections[name][3], old.sections[name][3] + old.sections[name][5]) for name in (".dynamic", ".dynsym")]
    for start, content in old.memory():
        at, ends = start, start + len(content)
        for begin, end in sorted(free):
            begin, end = max(begin, at), max(end, at)
            if at < min(begin, ends) and content[at - start : min(begin, ends) - start] != new.memory_at(at, min(begin, ends) - at):
                yield f"between {at:#x} and {min(begin, ends):#x}"
            at = min(max(at, end), ends)
        if at < ends and content[at - start :] != new.memory_at(at, ends - at):
            yield f"between {at:#x} and {ends:#x}"
    for name, (start, length) in moved.items():
        if name not in (".dynsym", ".hip_fatbin") and old.memory_at(start, length) != new.memory_at(new.sections[name][3], length):
            yield name
