//! Offload bundles, plain and compressed (documentation of clang-offload-bundler): a table of
//! target IDs, then the code.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};

use flate2::read::ZlibDecoder;

pub(super) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
pub(super) const COMPRESSED: &[u8; 4] = b"CCOB";
/// Part that cannot be read.
pub(super) const UNREAD: &str = "the table of an offload bundle";
/// Largest window of zstd, which long-distance matching can use; the decoder's default is 27.
const WINDOW_LOG: u32 = 31;
const MOST_ENTRIES: u64 = 4096;
const LONGEST_ID: u64 = 1024;
/// Triple of device code in an entry's ID. Entries without it are for the host.
const TRIPLE: &str = "amdgcn-amd-amdhsa";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub offset: u64,
    pub size: u64,
    /// Entry ID, such as `hipv4-amdgcn-amd-amdhsa--gfx942`.
    pub id: String,
}

/// Requires the first 24 bytes.
pub(super) fn is_one(start: &[u8]) -> bool {
    start.starts_with(MAGIC) || is_compressed(start)
}

fn is_compressed(start: &[u8]) -> bool {
    start.starts_with(COMPRESSED)
        && matches!(start.get(4..8), Some([version, 0, method, 0])
            if (1..=3).contains(version) && *method <= 1)
}

/// Version of a compressed bundle; `None` for others.
pub(super) fn version(start: &[u8]) -> Option<u8> {
    is_compressed(start).then(|| start[4])
}

pub(super) fn targets(bundle: impl Read) -> Option<BTreeSet<String>> {
    table(plain(bundle).ok()?).ok()
}

/// Passes the first bytes of each piece of device code.
pub(super) fn each_start(
    bundle: impl Read,
    size: usize,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut bundle = OffsetReader { bytes: plain(bundle)?, at: 0 };
    let is_code = |entry: &Entry| entry.size >= size as u64 && target(&entry.id).is_some();
    let mut entries: Vec<Entry> = entries(&mut bundle)?.into_iter().filter(is_code).collect();
    entries.sort_by_key(|entry| entry.offset);
    let mut start = vec![0; size];
    for entry in entries {
        let Some(before) = entry.offset.checked_sub(bundle.at) else { continue };
        io::copy(&mut bundle.by_ref().take(before), &mut io::sink())?;
        bundle.read_exact(&mut start)?;
        take(&start);
    }
    Ok(())
}

/// Reader that knows its offset.
struct OffsetReader<R> {
    bytes: R,
    at: u64,
}

impl<R: Read> Read for OffsetReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(out)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Unpacks a compressed bundle.
fn plain<'b>(mut bundle: impl Read + 'b) -> io::Result<Box<dyn Read + 'b>> {
    let mut start = [0; 8];
    bundle.read_exact(&mut start)?;
    if !is_compressed(&start) {
        return Ok(Box::new(io::Cursor::new(start).chain(bundle)));
    }
    // The rest of the header: sizes and a hash, wider in later versions.
    let rest = match start[4] {
        1 => 12,
        2 => 16,
        _ => 24,
    };
    io::copy(&mut bundle.by_ref().take(rest), &mut io::sink())?;
    Ok(match start[6] {
        0 => Box::new(ZlibDecoder::new(bundle)),
        _ => Box::new(zstd_decoder(io::BufReader::new(bundle))?),
    })
}

/// Returns the decoder of a compressed bundle's content, for any window that encoders can use.
pub(super) fn zstd_decoder<'d, R: BufRead>(content: R) -> io::Result<zstd::Decoder<'d, R>> {
    let mut decoder = zstd::Decoder::with_buffer(content)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(decoder)
}

fn table(bundle: impl Read) -> io::Result<BTreeSet<String>> {
    let with_code = entries(bundle)?.into_iter().filter(|entry| entry.size > 0);
    Ok(with_code.filter_map(|entry| target(&entry.id).map(str::to_owned)).collect())
}

pub(super) fn entries(mut bundle: impl Read) -> io::Result<Vec<Entry>> {
    let mut magic = [0; 24];
    bundle.read_exact(&mut magic)?;
    let count = number(&mut bundle)?;
    if magic != *MAGIC || count > MOST_ENTRIES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut entries = Vec::new();
    for _ in 0..count {
        let (offset, size, length) =
            (number(&mut bundle)?, number(&mut bundle)?, number(&mut bundle)?);
        if length > LONGEST_ID {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut id = String::new();
        bundle.by_ref().take(length).read_to_string(&mut id)?;
        if id.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        entries.push(Entry { offset, size, id });
    }
    Ok(entries)
}

/// `TARGET` of `KIND-TRIPLE--TARGET`; `None` for the host.
pub(super) fn target(id: &str) -> Option<&str> {
    let (_, rest) = id.split_once(TRIPLE)?;
    let rest = rest.trim_start_matches('-');
    let target = rest.strip_prefix("unknown-").unwrap_or(rest);
    (!target.is_empty()).then_some(target)
}

fn number(bundle: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    bundle.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use super::*;

    pub fn bundle(ids: &[&str]) -> Vec<u8> {
        let mut bundle = [&MAGIC[..], &(ids.len() as u64).to_le_bytes()].concat();
        for id in ids {
            for n in [4096, 1, id.len()] {
                bundle.extend((n as u64).to_le_bytes());
            }
            bundle.extend(id.as_bytes());
        }
        bundle
    }

    /// Bundle of one piece of code.
    pub fn bundle_of(id: &str, code: &[u8]) -> Vec<u8> {
        let mut bundle = [&MAGIC[..], &1_u64.to_le_bytes()].concat();
        for n in [4096, code.len(), id.len()] {
            bundle.extend((n as u64).to_le_bytes());
        }
        bundle.extend(id.as_bytes());
        bundle.resize(4096, 0);
        bundle.extend(code);
        bundle
    }

    pub fn compressed(version: u8, method: u8, bundle: &[u8]) -> Vec<u8> {
        let mut out = [&COMPRESSED[..], &[version, 0, method, 0]].concat();
        out.extend(vec![0x55; [12, 16, 24][usize::from(version) - 1]]);
        if method == 1 {
            out.extend(zstd::encode_all(bundle, 1).unwrap());
        } else {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bundle).unwrap();
            out.extend(encoder.finish().unwrap());
        }
        out
    }

    const IDS: [&str; 4] = [
        "host-x86_64-unknown-linux-gnu-",
        "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+",
        "hip-amdgcn-amd-amdhsa-gfx906",
        "hipv4-amdgcn-amd-amdhsa-unknown-gfx1250-strict",
    ];

    #[test]
    fn reads_targets_of_plain_and_compressed_bundles() {
        let expected = ["gfx1250-strict", "gfx906", "gfx942:xnack+"].map(str::to_owned).into();
        let plain = bundle(&IDS);
        assert!(is_one(&plain[..24]));
        assert_eq!(targets(&plain[..]), Some(expected));
        for (version, method) in [(1, 0), (1, 1), (2, 1), (3, 0), (3, 1)] {
            let packed = compressed(version, method, &plain);
            assert!(is_one(&packed[..24]));
            assert_eq!(targets(&packed[..]), targets(&plain[..]), "{version} {method}");
        }
    }

    #[test]
    fn reads_bundles_with_a_window_beyond_the_decoders_default() {
        let plain = bundle(&IDS);
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(&plain).unwrap();
        let content = encoder.finish().unwrap();
        assert!(zstd::decode_all(&content[..]).is_err(), "the window is not beyond the default");
        let packed = [&compressed(3, 1, &[])[..32], &content].concat();
        assert_eq!(targets(&packed[..]), targets(&plain[..]));
    }

    #[test]
    fn rejects_truncated_and_absurd_bundles() {
        let plain = bundle(&IDS);
        for length in 0..plain.len() {
            assert_eq!(targets(&plain[..length]), None, "cut at {length}");
        }
        let mut many = plain.clone();
        many[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(targets(&many[..]), None);
        let mut long = plain;
        long[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(targets(&long[..]), None);
        assert!(!is_one(b"CCOB\x09\0\x01\0                "));
    }
}
