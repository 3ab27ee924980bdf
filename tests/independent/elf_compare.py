"""Faults of edited ELF files against their source, and of forwarding libraries against their alias."""

import rpath
from elf import DT_RPATH, DT_RUNPATH
from elf_blocks import (block_faults, blocks, load_faults, segment_faults, symbol_faults,
                        tag_faults)

# Bytes compared at once: a slice of a mapped file is a copy, so whole files would need memory twice.
CHUNK = 1 << 20

# Fields of the ELF header that an edit may change: e_phoff and e_shoff, e_phnum, e_shnum and e_shstrndx. All others,
# such as e_type, e_machine and e_entry, must stay.
FREE_HEADER = [(32, 48), (56, 58), (60, 64)]


def edit_faults(source, result, old, new, folder, entries):
    """Yields the faults of `result`, an edit of `source`.

    `old` and `new` are the two as parsed by elf.py, `folder` the file's directory, and `entries` the directories that
    its rpath must have.
    """
    yield from rpath_faults(old, new, rpath.expected(old, folder, entries), folder)
    yield from name_faults(old, new)
    moved = list(blocks(source, result, old, new))
    yield from block_faults(source, result, moved)
    yield from byte_faults(source, result, unchanged_ranges(old, new, moved, len(source)))
    yield from tag_faults(old, new)
    yield from load_faults(old, new)
    yield from segment_faults(old, new)
    yield from symbol_faults(source, result, old, new)


def rpath_faults(old, new, expected, folder):
    """Yields faults unless DT_RPATH has the expected entries, in this order, and DT_RUNPATH is absent."""
    if new.runpath:
        yield f"has DT_RUNPATH {new.runpath}"
    if len(new.rpath) > 1:
        yield f"has {len(new.rpath)} DT_RPATH tags"
    actual = [rpath.meaning(entry, folder) for entry in rpath.entries_of(new.rpath)]
    if actual != expected:
        yield f"DT_RPATH {new.rpath} means {actual}, expected {expected} (source: DT_RPATH {old.rpath}, DT_RUNPATH {old.runpath})"


def name_faults(old, new):
    for label in ("soname", "needed"):
        if getattr(old, label) != getattr(new, label):
            yield f"{label} {getattr(old, label)} became {getattr(new, label)}"


def unchanged_ranges(old, new, all_blocks, source_size):
    """Yields the ranges of the source that an edit leaves alone.

    Free to change: positions and counts in the ELF header, program header table (old place and
    new), section header table, dynamic section and its strings, the old place of a block that
    moved.
    """
    free = [*FREE_HEADER, old.phdr_range, new.phdr_range, old.shdr_range,
            old.dynamic_range, old.dynstr_range]
    free += [block.freed for block in all_blocks if block.moved]
    at = 0
    for start, end in sorted(free):
        if start > at:
            yield at, min(start, source_size)
        at = max(at, end)
    if at < source_size:
        yield at, source_size


def byte_faults(source, result, ranges):
    if len(result) < len(source):
        yield f"shrank from {len(source)} to {len(result)} bytes"
    for start, end in ranges:
        for at in range(start, end, CHUNK):
            stop = min(at + CHUNK, end)
            if source[at:stop] != result[at:stop]:
                first = first_difference(source[at:stop], result[at:stop])
                yield f"first difference at byte {at + first:#x}, in a range that must not change"
                return


def copy_faults(source, result):
    """Yields a fault unless the result has the bytes of the source."""
    if len(source) != len(result):
        yield f"{len(source)} bytes became {len(result)}"
    else:
        yield from byte_faults(source, result, [(0, len(source))])


def first_difference(one, other):
    pairs = enumerate(zip(one, other))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def forwarding_faults(new, alias, target):
    """Yields faults unless SONAME is the alias, NEEDED only the target's SONAME, and DT_RPATH `$ORIGIN`."""
    if new.soname != alias:
        yield f"SONAME {new.soname}, expected {alias}"
    if new.needed != [target]:
        yield f"NEEDED {new.needed}, expected [{target}]"
    if new.rpath != ["$ORIGIN"] or new.runpath:
        yield f"DT_RPATH {new.rpath}, DT_RUNPATH {new.runpath}, expected $ORIGIN"


def devel_faults(source, result, old, new):
    """Yields the faults of an ELF file in devel, which only changes RUNPATH to RPATH, in place."""
    if new.runpath or new.rpath != (old.runpath or old.rpath):
        yield f"RPATH {new.rpath} RUNPATH {new.runpath}, source {old.rpath} {old.runpath}"
    # The comparison of bytes leaves out the dynamic section, but not the strings that it names.
    other_tags = [[pair for pair in image.tags if pair[0] not in (DT_RPATH, DT_RUNPATH)] for image in (old, new)]
    if other_tags[0] != other_tags[1]:
        yield f"other dynamic tags: {set(other_tags[0]) ^ set(other_tags[1])}"
    if len(source) != len(result):
        yield f"length {len(source)} became {len(result)}"
        return
    start, end = old.dynamic_range
    yield from byte_faults(source, result, [(0, start), (end, len(source))])
