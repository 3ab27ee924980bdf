//! Content of a file, read once.

use std::io::{self, Read, Write};

use super::binary::{archive, binary, elf_for_comparison, generated};
use super::depth::Depth;
use super::reading::{Tee, fault};
use crate::{Bytes, Kind, Known, Made, Targets, Why};
use ::binary::device_code::{self, Code, Sink};
use ::binary::elf::ReadAt;
use base::hash::{Sha256, Sha256Hasher};
use wheel::archive::checksum::Checksum;
use wheel::package::content::ObservedReader;
use wheel::package::{BufferedContent, ContentKind, FileContent};

/// Requested facts of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FactRequest<'a> {
    pub depth: Depth,
    /// True to keep its text.
    pub text: bool,
    /// Names of ISAs, to search device code; `None` to search none.
    pub targets: Option<&'a Targets>,
}

/// Facts of the content of a file.
#[derive(Debug)]
pub(super) struct Content {
    pub kind: Kind<'static>,
    pub code: Code,
    pub text: Known<String>,
    pub made: Option<Made>,
    /// Fault of the bytes of the archive.
    pub fault: Option<String>,
}

impl Default for Content {
    fn default() -> Self {
        let (kind, text) = (Kind::Data, Known::Unknown(Why::NoBytes));
        Self { kind, code: Code::default(), text, made: None, fault: None }
    }
}

impl Content {
    fn with_fault(fault: Option<String>) -> Self {
        Self { fault, ..Self::default() }
    }

    /// Facts for comparisons.
    pub fn bytes(&mut self, size: u64, crc32: u32, sha256: Known<Sha256>) -> Bytes {
        let text = std::mem::replace(&mut self.text, Known::Unknown(Why::NoBytes));
        Bytes { size, crc32, sha256, text, made: self.made.take() }
    }
}

impl FactRequest<'_> {
    /// Reads a member of a zip: only the beginning, if no fact needs the rest. `stored` is a member
    /// without compression.
    pub fn content(
        &self,
        name: &str,
        size: u64,
        bytes: impl Read,
        stored: Option<&dyn ReadAt>,
    ) -> io::Result<Content> {
        let content = match FileContent::new(bytes) {
            Ok(content) => content,
            Err(error) => return Ok(Content::with_fault(fault(Err(error))?)),
        };
        match (self.depth, content.kind()) {
            (Depth::Rules, ContentKind::Elf | ContentKind::Pe) => {
                let (fault, (kind, code)) = random(size, content, stored, |file| {
                    let code = self.targets.map(|_| device_code::of_binary(file)).transpose()?;
                    Ok((binary(name, file), code.unwrap_or_default()))
                })?;
                Ok(Content { kind, code, ..Content::with_fault(fault) })
            }
            (Depth::Rules, _) => self.data(name, size, content),
            (Depth::Comparison | Depth::Outline, ContentKind::Elf) => {
                let (fault, (kind, made)) = random(size, content, stored, |file| {
                    let kind = elf_for_comparison(file);
                    generated(file, &kind).map(|made| (kind, made))
                })?;
                Ok(Content { kind, made, ..Content::with_fault(fault) })
            }
            (Depth::Comparison | Depth::Outline, _) if self.text => {
                let mut text = Vec::new();
                let fault = fault(content.copy_to(&mut text))?;
                let text = String::from_utf8(text).map_or(Known::Unknown(Why::NoFact), Known::Is);
                Ok(Content { text, ..Content::with_fault(fault) })
            }
            (Depth::Comparison | Depth::Outline, _) => Ok(Content::default()),
            (Depth::Digests, _) => {
                Ok(Content::with_fault(fault(content.copy_to(&mut io::sink()))?))
            }
        }
    }

    /// Reads a member of a tar to its end, for its sums.
    pub fn summed(
        &self,
        name: &str,
        size: u64,
        bytes: &mut dyn Read,
    ) -> io::Result<(Content, Option<Box<Bytes>>)> {
        let (mut crc32, mut sha256) = (Checksum::default(), Sha256Hasher::default());
        let mut bytes = ObservedReader::new(bytes, |bytes: &[u8]| match self.depth {
            Depth::Rules => {}
            Depth::Digests => sha256.update(bytes),
            Depth::Comparison | Depth::Outline => crc32.update(bytes),
        });
        let mut content = self.content(name, size, &mut bytes, None)?;
        let rest = io::copy(&mut bytes, &mut io::sink()).map(drop);
        content.fault = content.fault.or(fault(rest)?);
        if self.depth == Depth::Rules {
            return Ok((content, None));
        }
        let is_hashed = self.depth == Depth::Digests;
        let sha256 = sha256.finish().sha256;
        let sha256 = if is_hashed { Known::Is(sha256) } else { Known::Unknown(Why::NoBytes) };
        let bytes = content.bytes(size, crc32.value(), sha256);
        Ok((content, Some(Box::new(bytes))))
    }

    fn data(&self, name: &str, size: u64, content: FileContent<impl Read>) -> io::Result<Content> {
        let kind = content.kind();
        let mut sink = self.targets.map(|targets| targets.reading.sink(targets.names_one(name)));
        let mut tee = Tee::new(kind, size, sink.as_mut().map(|sink| sink as &mut dyn Write));
        let fault = fault(content.copy_to(&mut tee))?;
        let kind = match (kind, tee.kept.filter(|_| fault.is_none())) {
            (ContentKind::Script, _) => Kind::Script,
            (_, Some(bytes)) => archive(&bytes),
            _ => Kind::Data,
        };
        // Code in damaged bytes is not reported separately.
        let code = sink.filter(|_| fault.is_none()).map(Sink::finish).unwrap_or_default();
        Ok(Content { kind, code, ..Content::with_fault(fault) })
    }
}

/// Reads all bytes, and calls `work` with random access to them.
fn random<T>(
    size: u64,
    content: FileContent<impl Read>,
    stored: Option<&dyn ReadAt>,
    work: impl FnOnce(&dyn ReadAt) -> io::Result<T>,
) -> io::Result<(Option<String>, T)> {
    if let Some(file) = stored {
        let fault = fault(content.copy_to(&mut io::sink()))?;
        return Ok((fault, work(file)?));
    }
    let mut copy = BufferedContent::of_size(size)?;
    let fault = fault(content.copy_to(&mut copy))?;
    Ok((fault, work(&copy)?))
}
