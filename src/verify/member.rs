//! One member, read once from front to back.

use std::io::{self, Read};

use super::algorithm::Algorithm;
use super::code::Targets;
use super::elf::{Kind, binary};
use crate::device_code::{self, Code, Sink};
use crate::elf::ReadAt;
use crate::package::ZipFile;
use crate::package::content::Shown;
use crate::package::directory::Entry;
use crate::package::zip_file::is_broken;
use crate::package::{self, Content, Kept};

/// What is known of a member's bytes.
#[derive(Debug)]
pub struct Member {
    /// The hash that RECORD asks for.
    pub(super) digest: Vec<u8>,
    /// How many bytes there are.
    pub(super) size: u64,
    /// Why they are not what the archive says.
    pub(super) fault: Option<String>,
    pub(super) kind: Kind,
    /// What it has code for, if somebody wants to know.
    pub(super) code: Code,
}

/// Reads a member, which is hashed by `algorithm`; with `targets`, what it has code for as well.
///
/// # Errors
/// When the file cannot be read. Bytes that do not unpack are a fault of the member.
pub(super) fn read(
    zip: &ZipFile,
    entry: &Entry,
    algorithm: Algorithm,
    targets: Option<&Targets>,
) -> io::Result<Member> {
    let (mut hash, mut size) = (algorithm.hasher(), 0);
    let bytes = Shown::new(zip.unpacked(entry), |bytes: &[u8]| {
        hash.update(bytes);
        size += bytes.len() as u64;
    });
    let (fault, kind, code) = content(zip, entry, bytes, targets)?;
    Ok(Member { digest: hash.finalize().into_vec(), size, fault, kind, code })
}

/// Reads all bytes: what is wrong with them, what they are, and what they have code for.
fn content(
    zip: &ZipFile,
    entry: &Entry,
    bytes: impl Read,
    targets: Option<&Targets>,
) -> io::Result<(Option<String>, Kind, Code)> {
    let content = match Content::new(bytes) {
        Ok(content) => content,
        Err(error) => return Ok((fault(Err(error))?, Kind::Data, Code::default())),
    };
    let kind = content.kind();
    if matches!(kind, package::Kind::Elf | package::Kind::Pe) && !entry.is_stored() {
        let mut kept = Kept::of_size(entry.size)?;
        let fault = fault(content.copy_to(&mut kept))?;
        let code = of_binary(&kept, targets)?;
        return Ok((fault, binary(&kept), code));
    }
    if matches!(kind, package::Kind::Elf | package::Kind::Pe) {
        let fault = fault(content.copy_to(&mut io::sink()))?;
        let file = zip.packed(entry);
        return Ok((fault, binary(&file), of_binary(&file, targets)?));
    }
    let mut sink = targets.map(|targets| targets.reading.sink(targets.names_one(&entry.name)));
    let fault = fault(match &mut sink {
        Some(sink) => content.copy_to(sink),
        None => content.copy_to(&mut io::sink()),
    })?;
    let kind = if kind == package::Kind::Script { Kind::Script } else { Kind::Data };
    // What damaged bytes have code for is no fault of its own.
    let code = sink.filter(|_| fault.is_none()).map(Sink::finish).unwrap_or_default();
    Ok((fault, kind, code))
}

fn of_binary(file: &(impl ReadAt + ?Sized), targets: Option<&Targets>) -> io::Result<Code> {
    targets.map_or_else(|| Ok(Code::default()), |_| device_code::of_binary(file))
}

/// Why bytes are not what the archive says; an error where the disk is at fault.
fn fault(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_broken(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
