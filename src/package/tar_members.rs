//! The members of a tar archive, read from front to back.

use std::io::{self, Read};

use tar::{EntryType, Header};

use crate::package::tar_stream::TarStream;

/// A member of a tar archive.
#[derive(Debug)]
pub struct TarMember {
    /// Its path, without a `/` at the end; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// What it is.
    pub kind: EntryType,
    /// Where a link leads.
    pub target: Option<String>,
    /// How many bytes it has.
    pub size: u64,
    header: Header,
}

impl TarMember {
    /// Its permissions.
    ///
    /// # Errors
    /// When its header has no number there.
    pub fn mode(&self) -> io::Result<u32> {
        self.header.mode()
    }

    /// When it was changed, in seconds since 1970.
    ///
    /// # Errors
    /// When its header has no number there.
    pub fn time(&self) -> io::Result<u64> {
        self.header.mtime()
    }

    /// A member by what its header says; `target` is where a link leads.
    pub(super) fn new(path: String, target: Option<String>, size: u64, header: Header) -> Self {
        Self { path, kind: header.entry_type(), target, size, header }
    }
}

/// Shows each of at most `most` members with its bytes to `visit`; gives what follows the archive.
///
/// # Errors
/// When the archive cannot be read or has what no package has ([`TarStream`]), and those of `visit`.
pub(super) fn each<R: Read, E: From<io::Error>>(
    archive: R,
    most: usize,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<R, E> {
    let mut archive = tar::Archive::new(TarStream::new(archive, most));
    for entry in archive.entries()? {
        let mut entry = entry?;
        visit(&member(&entry), &mut entry)?;
    }
    Ok(archive.into_inner().into_inner())
}

fn member(entry: &tar::Entry<'_, impl Read>) -> TarMember {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let path = text(&entry.path_bytes()).trim_end_matches('/').to_owned();
    let target = entry.link_name_bytes().map(|target| text(&target));
    TarMember::new(path, target, entry.size(), entry.header().clone())
}
