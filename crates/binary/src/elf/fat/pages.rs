use std::ops::Range;

use super::FatElf;
use crate::elf::builder::round_up;
use crate::elf::error::ElfError;
use crate::elf::header::Segment;
use crate::fat::FatError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pages {
    pub marker: Range<u64>,
    /// Memory without bytes in the file; empty if no page leaves it.
    pub hole: Range<u64>,
    pub gone: Range<u64>,
    pub load: usize,
    pub divides: bool,
}

impl Pages {
    /// Keeps room for `blocks` and `marker` bytes. Gone bytes are a multiple of all alignments.
    pub fn plan(fat: &FatElf, blocks: u64, marker: u64) -> Result<Self, FatError> {
        let (section, segments) = (fat.section(), &fat.info.segments);
        let holds = |load: &Segment| {
            load.is_load() && load.offset_of(section.address, section.size) == Some(section.offset)
        };
        let load = segments.iter().position(holds).ok_or(FatError::Shared)?;
        let (page, align) = (fat.info.machine.page(), alignment(segments)?);
        let retained = blocks.saturating_add(marker);
        let (end, divides) =
            (section.address + section.size, segments[load].file_end() > section.file_end());
        let start = round_up(section.address.saturating_add(retained), page)?;
        let align = align.max(page);
        // Pages of memory with bytes after the bundles are mapped from the file.
        let hole = start..if divides { end / page * page } else { end };
        let length = hole.end.saturating_sub(start) / align * align;
        if length == 0 {
            return Self::unchanged(fat, marker);
        }
        let from = section.offset + (start - section.address);
        let marker = start - marker..start;
        Ok(Self { marker, hole, gone: from..from + length, load, divides })
    }

    pub fn unchanged(fat: &FatElf, marker: u64) -> Result<Self, FatError> {
        let section = fat.section();
        if marker > section.size {
            return Err(FatError::Short { at: section.offset });
        }
        let marker = section.address..section.address + marker;
        let (hole, removed) = (marker.end..marker.end, section.offset..section.offset);
        Ok(Self { marker, hole, gone: removed, load: 0, divides: false })
    }

    pub fn moved(&self, offset: u64) -> u64 {
        if offset >= self.gone.end {
            offset - (self.gone.end - self.gone.start)
        } else {
            offset.min(self.gone.start)
        }
    }
}

fn alignment(segments: &[Segment]) -> Result<u64, ElfError> {
    let alignments =
        segments.iter().filter(|segment| segment.is_load()).map(|load| load.align.max(1));
    let odd = alignments.clone().find(|align| !align.is_power_of_two());
    match odd {
        Some(value) => Err(ElfError::Header { field: "p_align", value }),
        None => Ok(alignments.max().unwrap_or(1)),
    }
}
