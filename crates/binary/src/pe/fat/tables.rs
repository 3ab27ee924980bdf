//! Tables that refer to addresses and offsets.

use std::ops::Range;

use object::endian::LittleEndian as LE;
use object::pe::{self, ImageDebugDirectory};

use crate::ReadAt;
use crate::fat::FatError;
use crate::pe::image::Image;
use crate::pe::symbols::exports;

/// Linkers write up to ten.
const MOST_DEBUG: u64 = 1024;

/// Field of the debug directory with an offset in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DebugData {
    pub at: u64,
    pub points_to: u32,
}

/// Refuses a table of the header in `ranges`, and an export in the first of them, the bundles.
pub(super) fn check<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    ranges: [&Range<u64>; 2],
) -> Result<(), FatError> {
    for index in 0..pe::IMAGE_NUMBEROF_DIRECTORY_ENTRIES {
        let Some((address, from)) = image.directory(index) else { continue };
        if index == pe::IMAGE_DIRECTORY_ENTRY_SECURITY {
            return Err(FatError::Signed);
        }
        let start = u64::from(address);
        let end = start + u64::from(image.directory_size(from)?).max(1);
        if ranges.iter().any(|range| start < range.end && range.start < end) {
            return Err(FatError::Shared);
        }
    }
    let exports = exports(image)?;
    if exports.addresses().any(|address| ranges[0].contains(&u64::from(address))) {
        return Err(FatError::Named);
    }
    Ok(())
}

/// Offsets in the debug directory; none may be of bytes in `gone`.
pub(super) fn debug_data<R: ReadAt + ?Sized>(
    image: &Image<'_, R>,
    gone: &Range<u64>,
) -> Result<Vec<DebugData>, FatError> {
    let Some((address, from)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_DEBUG) else {
        return Ok(Vec::new());
    };
    let (part, entry) = ("the debug directory", size_of::<ImageDebugDirectory>() as u64);
    let count = u64::from(image.directory_size(from)?) / entry;
    let (start, end) = image.place(address, part, from)?;
    if count > MOST_DEBUG || start + count * entry > end {
        return Err(FatError::Unreadable);
    }
    let mut all = Vec::new();
    for offset in (0..count).map(|index| start + index * entry) {
        let debug: ImageDebugDirectory = image.record(offset, part)?;
        let points_to = debug.pointer_to_raw_data.get(LE);
        let data =
            u64::from(points_to)..u64::from(points_to) + u64::from(debug.size_of_data.get(LE));
        if data.start < gone.end && gone.start < data.end {
            return Err(FatError::Shared);
        }
        if points_to != 0 {
            let field = std::mem::offset_of!(ImageDebugDirectory, pointer_to_raw_data);
            all.push(DebugData { at: offset + field as u64, points_to });
        }
    }
    Ok(all)
}
