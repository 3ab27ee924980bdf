"""A minimal reader of 64-bit little-endian ELF files, on nothing but `struct`.

It checks the packaging program independently, so it shares no code and no library with it. Layouts
follow the System V gABI.
"""

import struct
from dataclasses import dataclass, field

ET_EXEC, ET_DYN = 2, 3
EM_X86_64 = 62
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_STRSZ = 0, 1, 5, 10
DT_SONAME, DT_RPATH, DT_RUNPATH, DT_FLAGS_1 = 14, 15, 29, 0x6FFFFFFB
DF_1_PIE = 0x08000000

PLAIN, LIBRARY, PROGRAM, STATIC_PROGRAM = "plain", "library", "program", "static program"


class Malformed(Exception):
    """The file starts like an ELF file, but its structures do not hold."""


@dataclass
class Segment:
    type: int
    offset: int
    vaddr: int
    filesz: int
    memsz: int = 0
    align: int = 0
    flags: int = 0


@dataclass
class Elf:
    """The few facts of an ELF file that the packaging rules ask for."""

    type: int
    machine: int
    phdr_range: tuple = (0, 0)
    shdr_range: tuple = (0, 0)
    segments: list = field(default_factory=list)
    tags: list = field(default_factory=list)
    soname: str | None = None
    needed: list = field(default_factory=list)
    rpath: list = field(default_factory=list)
    runpath: list = field(default_factory=list)
    dynstr_range: tuple = (0, 0)
    section_sizes: dict = field(default_factory=dict)  # of loaded sections, by address

    def segment(self, kind):
        """The first segment of a type, or None."""
        return next((s for s in self.segments if s.type == kind), None)

    @property
    def flags_1(self):
        return next((value for tag, value in self.tags if tag == DT_FLAGS_1), 0)

    @property
    def dynamic_range(self):
        dynamic = self.segment(PT_DYNAMIC)
        return (dynamic.offset, dynamic.offset + dynamic.filesz) if dynamic else (0, 0)


def unpack(fmt, data, offset):
    """`struct.unpack_from` that calls reading past the end by its name."""
    try:
        return struct.unpack_from(fmt, data, offset)
    except struct.error as error:
        raise Malformed(f"{fmt} at {offset}: {error}") from error


def parse(data):
    """Reads `data` (bytes or mmap). None when it is no 64-bit little-endian ELF file."""
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
        return None
    etype, machine = unpack("<HH", data, 16)
    phoff, shoff = unpack("<QQ", data, 32)
    phentsize, phnum, shentsize, shnum = unpack("<HHHH", data, 54)
    elf = Elf(etype, machine)
    elf.phdr_range = (phoff, phoff + phentsize * phnum)
    elf.shdr_range = (shoff, shoff + shentsize * shnum)
    for index in range(phnum):
        elf.segments.append(read_segment(data, phoff + index * phentsize))
    for index in range(shnum):
        read_section(elf, data, shoff + index * shentsize)
    read_dynamic(elf, data)
    return elf


def read_segment(data, at):
    kind, flags, offset, vaddr, _paddr, filesz, memsz, align = unpack("<IIQQQQQQ", data, at)
    return Segment(kind, offset, vaddr, filesz, memsz, align, flags)


def read_section(elf, data, at):
    _name, _kind, _flags, address, _offset, size = unpack("<IIQQQQ", data, at)
    if address and size:
        elf.section_sizes.setdefault(address, size)


def read_dynamic(elf, data):
    """Fills tags and strings; they stay empty for a file with an empty PT_DYNAMIC."""
    start, end = elf.dynamic_range
    for at in range(start, min(end, len(data)) - 15, 16):
        tag, value = unpack("<qQ", data, at)
        if tag == DT_NULL:
            break
        elf.tags.append((tag, value))
    table = dict(elf.tags)
    if DT_STRTAB in table:
        read_strings(elf, data, table)


def read_strings(elf, data, table):
    start = file_offset(elf, table[DT_STRTAB])
    elf.dynstr_range = (start, start + table.get(DT_STRSZ, 0))
    for tag, value in elf.tags:
        if tag == DT_NEEDED:
            elf.needed.append(string_at(data, start + value))
        elif tag == DT_SONAME:
            elf.soname = string_at(data, start + value)
        elif tag == DT_RPATH:
            elf.rpath.append(string_at(data, start + value))
        elif tag == DT_RUNPATH:
            elf.runpath.append(string_at(data, start + value))


def file_offset(elf, vaddr):
    """Returns the file offset of an address of the loaded file."""
    for segment in elf.segments:
        if segment.type == PT_LOAD and segment.vaddr <= vaddr < segment.vaddr + segment.filesz:
            return vaddr - segment.vaddr + segment.offset
    raise Malformed(f"address {vaddr:#x} has no bytes in the file")


def string_at(data, at):
    end = data.find(b"\0", at)
    if end < 0:
        raise Malformed(f"string at {at} has no end")
    return data[at:end].decode("utf-8", "surrogateescape")


def kind_of(elf):
    """Returns the kind of a file under the packaging rules, from its bytes alone.

    Everything that is not an x86-64 program or shared library is plain data:
    other machines, code objects, relocatable objects, debug-only files.
    """
    if elf is None or elf.machine != EM_X86_64 or elf.type not in (ET_EXEC, ET_DYN):
        return PLAIN
    dynamic = elf.segment(PT_DYNAMIC)
    if dynamic is not None and not elf.tags:
        return PLAIN  # debug-only: the dynamic section was left behind
    has_interp = elf.segment(PT_INTERP) is not None
    if elf.type == ET_EXEC:
        return PROGRAM if dynamic and has_interp else STATIC_PROGRAM
    if dynamic is None:
        return PLAIN
    if elf.flags_1 & DF_1_PIE or (has_interp and elf.soname is None):
        return PROGRAM if has_interp else STATIC_PROGRAM
    return LIBRARY
