"""Blocks that an edit may move to make room, and their invariants.

A grown program header table may push `.interp`, notes, hashes, the dynamic symbols and versions to
another place. Their bytes stay identical, and every pointer to them is updated.
"""

from dataclasses import dataclass

from elf import DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, DT_STRSZ, DT_STRTAB
from elf import Malformed, PT_DYNAMIC, PT_INTERP, PT_LOAD, file_offset, string_at, unpack

PT_NULL, PT_NOTE, PT_PHDR, PT_GNU_PROPERTY = 0, 4, 6, 0x6474E553
DT_HASH, DT_SYMTAB, DT_GNU_HASH, DT_RELACOUNT = 4, 6, 0x6FFFFEF5, 0x6FFFFFF9
DT_VERSYM, DT_VERDEF, DT_VERNEED = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFE
MOVABLE_TAGS = (DT_HASH, DT_GNU_HASH, DT_SYMTAB, DT_VERSYM, DT_VERDEF, DT_VERNEED)
MOVABLE_SEGMENTS = (PT_INTERP, PT_NOTE, PT_GNU_PROPERTY)
# Tags with variable values; DT_RELACOUNT is a hint, so an edit may reuse its slot.
FREE_TAGS = (*MOVABLE_TAGS, DT_STRTAB, DT_STRSZ, DT_RPATH, DT_RUNPATH, DT_RELACOUNT,
             DT_SONAME, DT_NEEDED)


@dataclass
class Block:
    """A range of the source and where it begins in the result (None: nowhere)."""

    label: str
    start: int
    size: int
    new_start: int | None
    padding: int = 0

    @property
    def moved(self):
        return self.start != self.new_start

    @property
    def freed(self):
        """Ranges that a move frees: the block with the zeros that align its successor."""
        return self.start, self.start + self.size + self.padding


def blocks(source, result, old, new):
    """Yields every movable block of the source. Sizes of tables come from its section headers."""
    for segment in old.segments:
        if segment.type in MOVABLE_SEGMENTS:
            yield segment_block(source, result, new, segment)
    new_tags = dict(new.tags)
    for tag, address in old.tags:
        size = old.section_sizes.get(address)
        if tag in MOVABLE_TAGS and size:
            start = file_offset(old, address)
            place = file_offset(new, new_tags[tag]) if tag in new_tags else None
            padding = zeros(source, start + size)
            yield Block(f"table of tag {tag:#x}", start, size, place, padding)


def zeros(source, at):
    """Returns the number of zero bytes at `at`, at most up to the next multiple of 8."""
    tail = source[at:at + -at % 8]
    return len(tail) - len(tail.lstrip(b"\0"))


def segment_block(source, result, new, segment):
    """Returns the block of a segment. Its new place is a segment with equal type and bytes; a
    segment that the edit removed from the table keeps its offset.
    """
    content = source[segment.offset:segment.offset + segment.filesz]
    places = [s.offset for s in new.segments if s.type == segment.type
              and result[s.offset:s.offset + s.filesz] == content]
    absent = None if segment.type == PT_INTERP else segment.offset
    place = segment.offset if segment.offset in places else next(iter(places), absent)
    padding = zeros(source, segment.offset + segment.filesz)
    return Block(f"segment of type {segment.type}", segment.offset, segment.filesz, place, padding)


def block_faults(source, result, moved):
    """Yields faults unless the bytes of each block are the same in its new place."""
    for block in moved:
        if block.new_start is None:
            yield f"{block.label} is gone"
        elif (source[block.start:block.start + block.size]
              != result[block.new_start:block.new_start + block.size]):
            yield f"{block.label} at {block.start:#x} has other bytes at {block.new_start:#x}"


def tag_faults(old, new):
    """Yields faults if another dynamic tag changes, or a new one is not DT_RPATH."""
    before = [pair for pair in old.tags if pair[0] not in FREE_TAGS]
    after = [pair for pair in new.tags if pair[0] not in FREE_TAGS]
    if before != after:
        yield f"other dynamic tags: {set(before) ^ set(after)}"


def segment_faults(old, new):
    """Yields faults unless segments without a reason to change (TLS, RELRO, stack, ...) are as before."""
    free = (PT_NULL, PT_LOAD, PT_DYNAMIC, PT_PHDR, *MOVABLE_SEGMENTS)
    before = [segment for segment in old.segments if segment.type not in free]
    after = [segment for segment in new.segments if segment.type not in free]
    if before != after:
        yield f"segments {before} became {after}"


def load_faults(old, new):
    """Yields faults unless each LOAD stays; only the last may grow, at the end of the file."""
    def key(load):
        return load.offset, load.vaddr, load.flags, load.align

    loads = [s for s in old.segments if s.type == PT_LOAD]
    after = {key(s): s.filesz for s in new.segments if s.type == PT_LOAD}
    for index, load in enumerate(loads):
        size = after.get(key(load))
        grown = size is not None and size > load.filesz and index == len(loads) - 1
        if size != load.filesz and not grown:
            yield f"LOAD at {load.offset:#x} of {load.filesz} bytes became {size}"


def symbol_faults(source, result, old, new):
    """Yields a fault unless every dynamic symbol keeps its name."""
    address = dict(old.tags).get(DT_SYMTAB)
    size = old.section_sizes.get(address, 0)
    if not size:
        return
    table = file_offset(old, address)
    for at in range(table, table + size - 23, 24):
        (name,) = unpack("<I", source, at)
        try:
            before = string_at(source, old.dynstr_range[0] + name)
            after = string_at(result, new.dynstr_range[0] + name)
        except Malformed as error:
            yield str(error)
            return
        if before != after:
            yield f"the dynamic symbol {before} is called {after}"
            return
