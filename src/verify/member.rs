//! One member, read once from front to back.

use std::io::{self, Read};

use super::algorithm::Algorithm;
use super::elf::{Kind, binary};
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
}

/// Reads a member, which is hashed by `algorithm`.
///
/// # Errors
/// When the file cannot be read. Bytes that do not unpack are a fault of the member.
pub(super) fn read(zip: &ZipFile, entry: &Entry, algorithm: Algorithm) -> io::Result<Member> {
    let (mut hash, mut size) = (algorithm.hasher(), 0);
    let bytes = Shown::new(zip.unpacked(entry), |bytes: &[u8]| {
        hash.update(bytes);
        size += bytes.len() as u64;
    });
    let (fault, kind) = content(zip, entry, bytes)?;
    Ok(Member { digest: hash.finalize().into_vec(), size, fault, kind })
}

/// Reads all bytes: what is wrong with them, and what they are.
fn content(zip: &ZipFile, entry: &Entry, bytes: impl Read) -> io::Result<(Option<String>, Kind)> {
    let content = match Content::new(bytes) {
        Ok(content) => content,
        Err(error) => return Ok((fault(Err(error))?, Kind::Data)),
    };
    let kind = content.kind();
    if matches!(kind, package::Kind::Elf | package::Kind::Pe) && !entry.is_stored() {
        let mut kept = Kept::of_size(entry.size)?;
        let fault = fault(content.copy_to(&mut kept))?;
        return Ok((fault, binary(&kept)));
    }
    let fault = fault(content.copy_to(&mut io::sink()))?;
    let kind = match kind {
        package::Kind::Elf | package::Kind::Pe => binary(&zip.packed(entry)),
        package::Kind::Script => Kind::Script,
        package::Kind::Data => Kind::Data,
    };
    Ok((fault, kind))
}

/// Why bytes are not what the archive says; an error where the disk is at fault.
fn fault(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_broken(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
