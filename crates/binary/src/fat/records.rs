use std::ops::Range;

use super::FatError;

/// Size in bytes: magic number, version, address, number of the bundle.
pub(crate) const RECORD_SIZE: usize = 24;
pub(crate) const ADDRESS_OFFSET: u64 = 8;
pub(crate) const NUMBER_OFFSET: usize = 16;
/// `HIPF`.
const OF_BUNDLE: u32 = 0x4849_5046;
/// `HIPK`.
const OF_MARKER: u32 = 0x4b50_4948;
const VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub address: u64,
    pub bundle: usize,
    /// Address of the addend of its relocation, which has the bundle's address too.
    pub addend: Option<u64>,
}

/// Records of bundles, which have the numbers of their first records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// Addresses.
    pub bundles: Vec<u64>,
    pub list: Vec<Record>,
}

impl Records {
    pub fn add(&mut self, address: u64, bundle: u64, addend: Option<u64>) {
        let number = self.bundles.iter().position(|other| *other == bundle);
        let bundle = number.unwrap_or_else(|| {
            self.bundles.push(bundle);
            self.bundles.len() - 1
        });
        self.list.push(Record { address, bundle, addend });
    }

    /// File range from each bundle to the next, or to `end`, by number.
    pub fn ranges(&self, offset: impl Fn(u64) -> u64, end: u64) -> Vec<Range<u64>> {
        let end_of = |start: u64| {
            let later = self.bundles.iter().filter(|at| **at > start);
            later.min().map_or(end, |at| offset(*at))
        };
        self.bundles.iter().map(|at| offset(*at)..end_of(*at)).collect()
    }

    /// Returns the bytes of a record that leads to the marker. `base` is the distance of addresses
    /// and stored pointers; a loader that fills in the whole pointer ignores the stored one.
    pub fn redirected(&self, record: &Record, old: &[u8], base: u64, marker: u64) -> Vec<u8> {
        let bundle = base.wrapping_add(self.bundles[record.bundle]).to_le_bytes();
        let mut new = old.to_vec();
        new[..4].copy_from_slice(&OF_MARKER.to_le_bytes());
        if new[8..NUMBER_OFFSET] == bundle {
            new[8..NUMBER_OFFSET].copy_from_slice(&base.wrapping_add(marker).to_le_bytes());
        }
        new[NUMBER_OFFSET..].copy_from_slice(&(record.bundle as u64).to_le_bytes());
        new
    }
}

/// Refuses a record of anything but a bundle.
pub(crate) fn check_record(bytes: &[u8], address: u64) -> Result<(), FatError> {
    let start = [OF_BUNDLE.to_le_bytes(), VERSION.to_le_bytes()].concat();
    if bytes[..start.len()] != start || bytes[NUMBER_OFFSET..] != [0; 8] {
        return Err(FatError::Record { address });
    }
    Ok(())
}
