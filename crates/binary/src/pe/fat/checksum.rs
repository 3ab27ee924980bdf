//! `CheckSum` of the optional header, which Windows compares for drivers, and linkers such as GNU's write.

use crate::ReadAt;
use crate::fat::{CHUNK, FatError};

const FIELD: usize = 4;

/// Sum of all 16-bit words without the field at offset `field`, with carries added, and the length.
pub(super) fn of(file: &impl ReadAt, field: usize) -> Result<u32, FatError> {
    let len = file.len().map_err(FatError::Read)?;
    let (mut bytes, mut offset, mut sum) = (vec![0; CHUNK], 0, 0_u64);
    while offset < len {
        let size = usize::try_from(len - offset).unwrap_or(CHUNK).min(CHUNK);
        let chunk = &mut bytes[..size];
        file.read_exact_at(offset, chunk).map_err(FatError::Read)?;
        // The headers are smaller than a chunk.
        if offset == 0 {
            chunk[field..field + FIELD].fill(0);
        }
        for word in chunk.chunks(2) {
            sum += u64::from(u16::from_le_bytes([word[0], word.get(1).copied().unwrap_or(0)]));
        }
        offset += size as u64;
    }
    while sum > u64::from(u16::MAX) {
        sum = (sum & u64::from(u16::MAX)) + (sum >> 16);
    }
    // A PE file has less than 4 GiB: its offsets have 32 bits.
    Ok(u32::try_from(sum + len).unwrap_or(u32::MAX))
}
