use std::ops::Range;

use super::FatError;
use crate::ReadAt;

/// Bytes read at a time.
pub(crate) const CHUNK: usize = 1 << 20;

/// Refuses bytes of the bundles' section that are in no bundle, since they would be lost. `bundles` and
/// `lengths` are by number.
pub(crate) fn check_rest(
    file: &impl ReadAt,
    section: Range<u64>,
    bundles: Vec<Range<u64>>,
    lengths: &[u64],
) -> Result<(), FatError> {
    let mut used: Vec<Range<u64>> = Vec::new();
    for (place, length) in bundles.into_iter().zip(lengths) {
        used.push(place.start..place.start.saturating_add(*length).min(place.end));
    }
    used.sort_by_key(|bundle| bundle.start);
    let ends = [section.start].into_iter().chain(used.iter().map(|bundle| bundle.end));
    let starts = used.iter().map(|bundle| bundle.start).chain([section.end]);
    for (from, to) in ends.zip(starts) {
        if let Some(at) = not_zero(file, from..to)? {
            return Err(FatError::Stray { at });
        }
    }
    Ok(())
}

/// Returns the offset of the first byte that is not zero.
pub(crate) fn not_zero(file: &impl ReadAt, place: Range<u64>) -> Result<Option<u64>, FatError> {
    let most = usize::try_from(place.end.saturating_sub(place.start)).unwrap_or(CHUNK).min(CHUNK);
    let (mut bytes, mut offset) = (vec![0; most], place.start);
    while offset < place.end {
        let size = usize::try_from(place.end - offset).unwrap_or(CHUNK).min(CHUNK);
        file.read_exact_at(offset, &mut bytes[..size]).map_err(FatError::Read)?;
        if let Some(inside) = bytes[..size].iter().position(|byte| *byte != 0) {
            return Ok(Some(offset + inside as u64));
        }
        offset += size as u64;
    }
    Ok(None)
}
