use std::collections::BTreeMap;

use super::rules::Owner;
use super::{PackageContent, Rules, installed_path};
use base::hash::Sha256;
use wheel::package::record::Rows;
use wheel::package::{OpenError, Wheel};

/// Reason for an unknown content.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// Unreadable wheel.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// RECORD without the hash of a member.
    #[error("RECORD of {wheel} has no SHA-256 of `{member}`")]
    NoHash {
        /// File name.
        wheel: String,
        /// Member.
        member: String,
    },
    /// Unlistable member name.
    #[error("{wheel} has a member with a line break in its name")]
    Name {
        /// File name.
        wheel: String,
    },
}

/// Content of a finished wheel, by the hashes of its RECORD.
pub fn content(wheel: &Wheel, rules: &Rules) -> Result<PackageContent, ContentError> {
    let (name, dist_info) = (wheel.name().dist.normalized(), wheel.dist_info());
    let owner = Owner { name: &name, version: &wheel.name().version, dist_info };
    let record = wheel.info("RECORD")?;
    let rows = Rows::new(record.as_bytes()).filter_map(Result::ok);
    let hashes: BTreeMap<String, String> = rows.map(|[path, hash, _]| (path, hash)).collect();
    let file = || wheel.name().to_string();
    let mut content = PackageContent::default();
    for entry in wheel.entries() {
        let path = installed_path(&entry.name, dist_info);
        if Rules::ignores(&path) {
            continue;
        }
        if path.contains(['\n', '\r']) {
            return Err(ContentError::Name { wheel: file() });
        }
        let executable = entry.mode & 0o111 != 0;
        if rules.has_version(owner, &path) {
            let bytes = text(wheel, entry)?;
            let bytes = rules.without_version(owner, &path, &bytes);
            content.add(path, executable, &Sha256::of(&bytes));
            continue;
        }
        let hash = hashes.get(&entry.name).filter(|hash| hash.starts_with("sha256="));
        let no_hash = || ContentError::NoHash { wheel: file(), member: entry.name.clone() };
        content.add_row(path, executable, hash.ok_or_else(no_hash)?.clone());
    }
    content.pins = rules.pins(&wheel.info("METADATA")?);
    Ok(content)
}

/// A bill or a list of links has a line for each file.
const LONGEST: u64 = 64 << 20;

fn text(
    wheel: &Wheel,
    entry: &wheel::package::directory::DirectoryEntry,
) -> Result<Vec<u8>, OpenError> {
    wheel.zip().bytes(entry, LONGEST).map_err(|source| wheel.unread(&entry.name, source))
}
