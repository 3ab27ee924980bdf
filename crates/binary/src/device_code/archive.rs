//! Device code archives (RFC 0008 of `TheRock`): `KPAK`, version, offset of the table of contents,
//! compressed code, and the table (`MessagePack`), whose `toc` maps each binary to its targets.

use std::collections::BTreeSet;
use std::io;

use super::msgpack::Reader;
use crate::ReadAt;

pub(super) const MAGIC: &[u8; 4] = b"KPAK";
pub(super) const HEADER: usize = 16;
pub(super) const TABLE: &str = "toc";
/// Part that cannot be read.
pub(super) const UNREAD: &str = "the table of contents of an archive of code";
/// Tables are read into memory.
pub(super) const LARGEST_TABLE: usize = 64 << 20;

pub(super) fn table_offset(start: &[u8]) -> Option<u64> {
    let rest = start.get(..HEADER)?.strip_prefix(MAGIC)?;
    rest[4..].try_into().ok().map(u64::from_le_bytes)
}

/// Targets of an archive of `len` bytes with its table at `offset`.
pub(super) fn table_at(
    file: &(impl ReadAt + ?Sized),
    offset: u64,
    len: u64,
) -> io::Result<Option<BTreeSet<String>>> {
    let size = len.checked_sub(offset).and_then(|size| usize::try_from(size).ok());
    let Some(size) = size.filter(|size| *size <= LARGEST_TABLE) else { return Ok(None) };
    let mut table = vec![0; size];
    file.read_exact_at(offset, &mut table)?;
    Ok(targets(&table))
}

pub(super) fn targets(table: &[u8]) -> Option<BTreeSet<String>> {
    let mut reader = Reader::new(table);
    let mut targets = None;
    for _ in 0..reader.map()? {
        if reader.text()? == TABLE {
            targets.get_or_insert_with(BTreeSet::new).extend(binaries(&mut reader)?);
        } else {
            reader.skip()?;
        }
    }
    targets
}

fn binaries(reader: &mut Reader<'_>) -> Option<BTreeSet<String>> {
    let mut targets = BTreeSet::new();
    for _ in 0..reader.map()? {
        reader.text()?;
        for _ in 0..reader.map()? {
            targets.insert(reader.text()?.to_owned());
            reader.skip()?;
        }
    }
    Some(targets)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        [&[0xd9, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
    }

    fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut out = vec![0x80 | u8::try_from(entries.len()).unwrap()];
        for (key, value) in entries {
            out.extend([text(key), value.clone()].concat());
        }
        out
    }

    pub fn archive(targets: &[&str]) -> Vec<u8> {
        let kernel = map(&[("type", text("x")), ("ordinal", vec![0]), ("original_size", vec![9])]);
        let code: Vec<(&str, Vec<u8>)> = targets.iter().map(|t| (*t, kernel.clone())).collect();
        let table = map(&[
            ("compression_scheme", text("zstd-per-kernel")),
            ("format_version", vec![1]),
            ("toc", map(&[("lib/libx.so#0", map(&code))])),
        ]);
        let mut out = [&MAGIC[..], &1_u32.to_le_bytes(), &128_u64.to_le_bytes()].concat();
        out.resize(128, 0);
        out.extend(table);
        out
    }

    #[test]
    fn reads_targets_below_each_binary() {
        let archive = archive(&["gfx942:xnack+", "gfx1250-strict"]);
        assert_eq!(table_offset(&archive), Some(128));
        let expected = ["gfx1250-strict", "gfx942:xnack+"].map(str::to_owned).into();
        assert_eq!(targets(&archive[128..]), Some(expected));
        for length in 128..archive.len() {
            assert_eq!(targets(&archive[128..length]), None, "cut at {length}");
        }
        assert_eq!(targets(&map(&[("other", vec![1])])), None);
        assert_eq!(table_offset(b"KPAK"), None);
    }
}
