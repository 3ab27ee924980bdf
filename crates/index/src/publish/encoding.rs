//! gzip of pages.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// RFC 1952, 2.3.1. Neither HTML nor JSON begins with it.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Compresses a page; equal pages have equal bytes.
pub(super) fn encoded(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// Decodes a page that is compressed; servers decode for some clients.
///
/// # Errors
///
/// Fails if it is damaged, or has more than `most` bytes.
pub(super) fn decoded(stored: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    if !stored.starts_with(&MAGIC) {
        return Ok(stored);
    }
    let mut page = Vec::new();
    MultiGzDecoder::new(&*stored).take(most + 1).read_to_end(&mut page)?;
    if page.len() as u64 > most {
        let text = format!("it is larger than the limit of {most} bytes");
        return Err(io::Error::other(text));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_pages_decode_to_the_same_bytes() {
        let page = "<a href=x>x</a>".repeat(1000);
        let stored = encoded(&page).unwrap();
        assert!(stored.len() * 10 < page.len());
        assert_eq!(stored, encoded(&page).unwrap());
        assert_eq!(decoded(stored.clone(), page.len() as u64).unwrap(), page.as_bytes());
        assert_eq!(decoded(page.clone().into_bytes(), 1).unwrap(), page.as_bytes());
        assert!(decoded(stored.clone(), page.len() as u64 - 1).is_err(), "longer than allowed");
        assert!(decoded(stored[..stored.len() - 1].to_vec(), 1 << 20).is_err(), "cut");
        let mut damaged = stored;
        let middle = damaged.len() / 2;
        damaged[middle] ^= 1;
        assert!(decoded(damaged, 1 << 20).is_err(), "damaged");
    }
}
