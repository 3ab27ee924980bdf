use std::io;

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, MAGICNUMBER, get_error_name, get_frame_content_size,
};

/// Limit of each file in bytes: zstd indexes less than 3.5 GiB of both.
pub const LARGEST: u64 = 3 << 29;

/// Levels 2 to 8 split matches into small blocks.
const LEVEL: i32 = 1;
const FULL: usize = (ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall as usize).wrapping_neg();

/// Makes a patch; `None` if it does not save half of `new`, or above [`LARGEST`].
pub fn encode(old: &[u8], new: &[u8]) -> io::Result<Option<Vec<u8>>> {
    if old.len().max(new.len()) as u64 > LARGEST {
        return Ok(None);
    }
    let bytes = old.len() as u64 + new.len() as u64;
    let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
    for parameter in [
        CParameter::CompressionLevel(LEVEL),
        // The hash table for matches has a size for this window.
        CParameter::WindowLog(bytes.max(1).ilog2().saturating_add(1).clamp(10, 31)),
        CParameter::EnableLongDistanceMatching(true),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(true),
    ] {
        context.set_parameter(parameter).map_err(failed)?;
    }
    context.ref_prefix(old).map_err(failed)?;
    let mut patch = Vec::with_capacity(new.len() / 2);
    match context.compress2(&mut patch, new) {
        Ok(_) => Ok(Some(patch)),
        Err(FULL) => Ok(None),
        Err(code) => Err(failed(code)),
    }
}

/// Servers can answer with a page.
pub fn is_patch(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGICNUMBER.to_le_bytes())
}

/// Size of the patched file, from the first bytes of the patch.
pub fn size_after(patch: &[u8]) -> Option<u64> {
    get_frame_content_size(patch).ok().flatten()
}

/// Makes the new file. Allocates its size alone, whatever window the patch asks for. The caller
/// compares the hash.
pub fn apply(old: &[u8], patch: &[u8], size: Option<u64>) -> io::Result<Vec<u8>> {
    let wrong = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason.to_owned());
    let after = size_after(patch).ok_or_else(|| wrong("it is no patch with a size"))?;
    if after > LARGEST || size.is_some_and(|size| size != after) {
        return Err(wrong(&format!("it makes a file of {after} bytes")));
    }
    let size = usize::try_from(after).map_err(io::Error::other)?;
    let mut new = Vec::new();
    new.try_reserve_exact(size).map_err(io::Error::other)?;
    let mut context = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
    context.ref_prefix(old).map_err(failed)?;
    context.decompress(&mut new, patch).map_err(failed)?;
    if new.len() == size { Ok(new) } else { Err(wrong("it makes more than one file")) }
}

fn failed(code: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 300_000;

    fn noise(seed: u64, count: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..count).map(|_| next()).collect()
    }

    fn pair() -> (Vec<u8>, Vec<u8>) {
        let old = noise(1, SIZE);
        let mut new = old.clone();
        new.splice(100_000..100_010, noise(2, 3_000));
        new.rotate_left(50_000);
        (old, new)
    }

    fn frame(window: u8, size: Option<u32>, blocks: &[(u8, u32, &[u8])]) -> Vec<u8> {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, if size.is_some() { 0x80 } else { 0 }, window];
        frame.extend(size.iter().flat_map(|size| size.to_le_bytes()));
        for (number, (kind, count, bytes)) in blocks.iter().enumerate() {
            let last = u32::from(number + 1 == blocks.len());
            let header = count << 3 | u32::from(*kind) << 1 | last;
            frame.extend(&header.to_le_bytes()[..3]);
            frame.extend(*bytes);
        }
        frame
    }

    #[test]
    fn patches_are_small_and_reproducible() {
        let (old, new) = pair();
        let patch = encode(&old, &new).unwrap().unwrap();
        assert!((3_000..3_500).contains(&patch.len()), "{}", patch.len());
        assert_eq!(encode(&old, &new).unwrap().unwrap(), patch);
        assert_eq!(size_after(&patch[..18]), Some(new.len() as u64));
        for size in [None, Some(new.len() as u64)] {
            assert_eq!(apply(&old, &patch, size).unwrap(), new);
        }
        assert_eq!(
            encode(&noise(3, SIZE), &new).unwrap(),
            None,
            "it would be as large as the file"
        );
        let empty = encode(&old, b"").unwrap();
        assert!(empty.is_none_or(|patch| apply(&old, &patch, Some(0)).unwrap().is_empty()));
    }

    #[test]
    fn damaged_patches_and_other_files_are_errors() {
        let (old, new) = pair();
        let patch = encode(&old, &new).unwrap().unwrap();
        for offset in 0..patch.len() {
            let mut damaged = patch.clone();
            damaged[offset] ^= 0x10;
            let made = apply(&old, &damaged, Some(new.len() as u64));
            // Unused bit of the header.
            assert!(made.is_err() || offset == 4 && made.unwrap() == new, "byte {offset}");
        }
        assert!(apply(&old, &patch[..patch.len() - 1], None).is_err());
        assert!(apply(&old, &[&patch[..], b"x"].concat(), None).is_err());
        assert!(apply(&old, &[&patch[..], &patch].concat(), None).is_err());
        assert!(apply(&noise(3, SIZE), &patch, None).is_err(), "the checksum differs");
        assert!(apply(&old[1..], &patch, None).is_err());
        let size = apply(&old, &patch, Some(new.len() as u64 + 1)).unwrap_err().to_string();
        assert_eq!(size, "it makes a file of 302990 bytes");
    }

    #[test]
    fn hostile_patches_allocate_no_more_than_the_size() {
        // 2 GiB.
        let window = 21 << 3;
        let plain = frame(window, Some(3), &[(0, 3, b"abc")]);
        assert_eq!(apply(b"", &plain, Some(3)).unwrap(), b"abc");
        let endless: Vec<(u8, u32, &[u8])> = vec![(1, 1 << 17, b"a"); 1_000];
        for (patch, expected) in [
            (frame(window, None, &endless), "it is no patch with a size"),
            (frame(window, Some(u32::MAX), &endless), "it makes a file of 4294967295 bytes"),
            (frame(window, Some(1 << 20), &endless), "Destination buffer is too small"),
            (frame(window, Some(1 << 20), &[(0, 3, b"abc")]), "Data corruption detected"),
            (b"<html>not found</html>".to_vec(), "it is no patch with a size"),
            (Vec::new(), "it is no patch with a size"),
        ] {
            assert_eq!(apply(b"", &patch, None).unwrap_err().to_string(), expected);
        }
        let two = [frame(window, Some(3), &[(0, 3, b"abc")]), plain].concat();
        assert!(apply(b"", &two, Some(3)).is_err());
    }
}
