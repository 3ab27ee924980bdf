//! The members of a tar archive, read from front to back.

use std::io::Read;

use super::member::Unread;
use super::{Kind, Member, PackageError};

/// Every member of `archive`, with the texts of those that `text` asks for.
pub(super) fn members(archive: impl Read, text: impl Fn(&str) -> bool) -> Result<Vec<Member>, PackageError> {
    let mut members = Vec::new();
    let mut archive = tar::Archive::new(archive);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).trim_end_matches('/').to_owned();
        let (header, size) = (entry.header(), entry.size());
        let executable = header.mode()? & 0o111 != 0;
        let kind = match header.entry_type() {
            tar::EntryType::Directory => Kind::Directory,
            tar::EntryType::Symlink => {
                Kind::Link(entry.link_name_bytes().map_or_else(String::new, |name| String::from_utf8_lossy(&name).into_owned()))
            }
            _ => {
                let unread = Unread { size, crc32: None, text: text(&path), reader: &mut entry };
                unread.read().map_err(|source| PackageError::Member { name: path.clone(), source })?
            }
        };
        let link = matches!(kind, Kind::Link(_));
        members.push(Member { path, license: false, size, executable: executable && !link, kind });
    }
    Ok(members)
}
