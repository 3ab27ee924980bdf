//! The members of a tar archive, read from front to back.

use std::io::Read;

use super::member::{Texts, Unread};
use super::{Kind, Member, PackageError};
use crate::archive::TarStream;

/// No devel archive and no sdist has more members.
const MOST_MEMBERS: usize = 1 << 19;

/// Every member of `archive`, with the texts of those that `text` asks for.
pub(super) fn members(
    archive: impl Read,
    text: impl Fn(&str) -> bool,
) -> Result<Vec<Member>, PackageError> {
    let (mut members, mut texts) = (Vec::new(), Texts::default());
    let mut archive = tar::Archive::new(TarStream::new(archive, MOST_MEMBERS));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).trim_end_matches('/').to_owned();
        let (header, size) = (entry.header(), entry.size());
        let executable = header.mode()? & 0o111 != 0;
        let kind = match header.entry_type() {
            tar::EntryType::Directory => Kind::Directory,
            tar::EntryType::Symlink => Kind::Link(
                entry
                    .link_name_bytes()
                    .map_or_else(String::new, |name| String::from_utf8_lossy(&name).into_owned()),
            ),
            _ => {
                let text = text(&path) && texts.take(size);
                let unread = Unread { size, crc32: None, text, reader: &mut entry };
                unread
                    .read()
                    .map_err(|source| PackageError::Member { name: path.clone(), source })?
            }
        };
        let link = matches!(kind, Kind::Link(_));
        members.push(Member { path, license: false, size, executable: executable && !link, kind });
    }
    Ok(members)
}
