//! What is kept of the bytes of one member.

use std::io::{self, Read, Seek, SeekFrom, Write};

use super::Kind;
use crate::elf::forward::forwarding_library;
use crate::elf::stub::{StubMachine, stub_target};
use crate::elf::{self, ElfFacts, ReadAt};
use crate::plan::Step;
use crate::review::diff::{Bytes, Search};

/// ELF files up to this size are looked at in memory, larger ones in a file that has no name.
const IN_MEMORY: u64 = 16 << 20;

/// Texts up to this size are kept.
const LONGEST_TEXT: u64 = 1 << 20;

/// All texts of a package that are kept have no more bytes.
const ALL_TEXTS: u64 = 32 << 20;

/// Files that rockpack makes are smaller.
const LARGEST_MADE: u64 = 64 << 10;

/// How much of a package's texts may still be kept.
pub(super) struct Texts(u64);

impl Default for Texts {
    fn default() -> Self {
        Self(ALL_TEXTS)
    }
}

impl Texts {
    /// Whether a text of this size is kept.
    pub fn take(&mut self, size: u64) -> bool {
        let left = self.0.checked_sub(size).filter(|_| size <= LONGEST_TEXT);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// A member's bytes and what is known of them beforehand.
pub(super) struct Unread<R> {
    pub reader: R,
    pub size: u64,
    /// The CRC-32, where the archive says it: what is no ELF file need not be read then.
    pub crc32: Option<u32>,
    /// Whether a text is wanted.
    pub text: bool,
}

impl<R: Read> Unread<R> {
    /// Reads as much as has to be known.
    pub fn read(mut self) -> io::Result<Kind> {
        let mut head = Vec::with_capacity(4);
        self.reader.by_ref().take(4).read_to_end(&mut head)?;
        if head == b"\x7fELF" {
            return self.elf(&head);
        }
        let text = self.text;
        if let (Some(crc32), false) = (self.crc32, text) {
            return Ok(Kind::Bytes(Bytes { crc32, ..Bytes::default() }));
        }
        let mut bytes = Sum { hasher: crc32fast::Hasher::new(), kept: text.then(Vec::new) };
        bytes.write_all(&head)?;
        io::copy(&mut self.reader, &mut bytes)?;
        let text = bytes.kept.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(Kind::Bytes(Bytes { crc32: bytes.hasher.finalize(), text, ..Bytes::default() }))
    }

    fn elf(mut self, head: &[u8]) -> io::Result<Kind> {
        if self.size > IN_MEMORY {
            let mut file = tempfile::tempfile()?;
            file.write_all(head)?;
            let mut sum = Both { hasher: crc32fast::Hasher::new(), file: &mut file };
            sum.hasher.update(head);
            io::copy(&mut self.reader, &mut sum)?;
            let crc32 = sum.hasher.finalize();
            file.seek(SeekFrom::Start(0))?;
            return Ok(Kind::Bytes(Bytes {
                crc32,
                search: search(facts(&file).as_ref()),
                ..Bytes::default()
            }));
        }
        let mut bytes = head.to_vec();
        self.reader.read_to_end(&mut bytes)?;
        let facts = facts(&bytes);
        let made =
            if bytes.len() as u64 <= LARGEST_MADE { made(&bytes, facts.as_ref()) } else { None };
        Ok(Kind::Bytes(Bytes {
            crc32: crc32fast::hash(&bytes),
            text: None,
            search: search(facts.as_ref()),
            made,
        }))
    }
}

/// Sums up bytes, and keeps them on request.
struct Sum {
    hasher: crc32fast::Hasher,
    kept: Option<Vec<u8>>,
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sums up bytes on their way into a file.
struct Both<'f> {
    hasher: crc32fast::Hasher,
    file: &'f mut std::fs::File,
}

impl Write for Both<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The facts of an ELF file; a broken one is bytes like any other.
fn facts(file: &(impl ReadAt + ?Sized)) -> Option<ElfFacts> {
    elf::facts(file).ok().flatten()
}

/// Where a file that could be edited looks for libraries.
fn search(facts: Option<&ElfFacts>) -> Option<Search> {
    let facts = facts
        .filter(|facts| facts.kind.is_editable() && StubMachine::of(facts.machine).is_some())?;
    Some(Search { rpath: facts.rpath.clone(), runpath: facts.runpath.clone() })
}

/// The step that makes exactly these bytes, if they are rockpack's own.
fn made(bytes: &[u8], facts: Option<&ElfFacts>) -> Option<Step> {
    if let Some((machine, target)) = stub_target(bytes) {
        return Some(Step::Stub { target, machine });
    }
    let facts = facts?;
    let (Some(soname), [needed], Some(rpath), Some(machine)) =
        (&facts.soname, &facts.needed[..], &facts.rpath, StubMachine::of(facts.machine))
    else {
        return None;
    };
    let same = forwarding_library(machine, soname, needed, rpath).is_ok_and(|made| made == bytes);
    same.then(|| Step::Alias {
        soname: soname.clone(),
        needed: needed.clone(),
        rpath: rpath.clone(),
        machine,
    })
}
