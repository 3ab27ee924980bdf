use std::io;

use base::hash::{Sha256, Sha256Hasher};
use binary::ReadAt;
use binary::elf::{EditPlan, Edited};
use cache::Fingerprinter;
use catalog::SourceFile;
use plan::Rendered;

mod tar_image;

pub(super) use tar_image::TarImage;

#[derive(Debug)]
pub(super) enum Bytes {
    Memory(Vec<u8>),
    Text(Rendered),
    File(Box<dyn SourceFile>),
    Edited { file: Box<dyn SourceFile>, plan: EditPlan },
    Tar(TarImage),
}

impl Bytes {
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::Text(text) => text.len() as u64,
            Self::File(file) => file.len(),
            Self::Edited { plan, .. } => plan.new_len(),
            Self::Tar(image) => image.len(),
        }
    }

    pub fn sha256(&self) -> io::Result<Sha256> {
        let mut hasher = Sha256Hasher::default();
        hasher.update_from(0..self.len(), |offset, out| self.read_exact_at(offset, out))?;
        Ok(hasher.finish().sha256)
    }

    /// Adds all data that determines the bytes; the identity of files is from preparation.
    pub fn identify(&self, fingerprint: &mut Fingerprinter) {
        match self {
            Self::Memory(bytes) => fingerprint.bytes(bytes),
            Self::Text(text) => fingerprint.bytes(text.text().as_bytes()),
            Self::File(file) => fingerprint.identity(file.identity()),
            Self::Edited { file, plan } => {
                fingerprint.identity(file.identity());
                fingerprint.bytes(&plan.new_len().to_le_bytes());
                for overlay in plan.overlay() {
                    fingerprint.bytes(&overlay.offset.to_le_bytes());
                    fingerprint.bytes(&overlay.bytes);
                }
            }
            Self::Tar(image) => image.identify(fingerprint),
        }
    }

    /// Errors appear at the real read.
    pub fn read_ahead(&self, offset: u64, len: u64) {
        match self {
            Self::Memory(_) | Self::Text(_) => {}
            // An edit appends new bytes and keeps the offsets of the others.
            Self::File(file) | Self::Edited { file, .. } => file.read_ahead(offset, len),
            Self::Tar(image) => image.read_ahead(offset, len),
        }
    }

    pub(crate) fn give_up_before(&self, end: u64) {
        match self {
            Self::Memory(_) | Self::Text(_) => {}
            Self::File(file) | Self::Edited { file, .. } => {
                if end >= self.len() {
                    file.give_up();
                }
            }
            Self::Tar(image) => image.give_up_before(end),
        }
    }

    pub fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Memory(bytes) => ReadAt::read_exact_at(bytes.as_slice(), offset, buffer),
            Self::Text(text) => read_text(text, offset, buffer),
            Self::File(file) => {
                let file = file.open()?;
                file.read_exact_at(offset, buffer)?;
                file.check_unchanged()
            }
            Self::Edited { file, plan } => {
                let file = file.open()?;
                Edited::new(&*file, plan).read_exact_at(offset, buffer)?;
                file.check_unchanged()
            }
            Self::Tar(image) => image.read_exact_at(offset, buffer),
        }
    }
}

fn read_text(text: &Rendered, offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
    let mut before = usize::try_from(offset).map_err(io::Error::other)?;
    for piece in text.pieces() {
        let rest = piece.as_bytes().get(before..).unwrap_or_default();
        before = before.saturating_sub(piece.len());
        let (filled, open) = buffer.split_at_mut(rest.len().min(buffer.len()));
        filled.copy_from_slice(&rest[..filled.len()]);
        buffer = open;
    }
    if buffer.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_text_in_pieces_at_each_offset() {
        let text = Rendered::new(["ab", "", "cde", "f"].map(std::sync::Arc::from));
        for start in 0..=6 {
            for end in start..=6 {
                let mut read = vec![0; end - start];
                read_text(&text, start as u64, &mut read).unwrap();
                assert_eq!(read, b"abcdef"[start..end], "{start} {end}");
            }
        }
        assert!(read_text(&text, 5, &mut [0; 2]).is_err());
        assert!(read_text(&text, 9, &mut [0; 1]).is_err());
    }
}
