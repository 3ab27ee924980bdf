//! The archive in a devel wheel: a tar archive in its import package, which may be compressed.

use std::io::{self, Read};

use super::tar_members::{self, TarMember};
use crate::package::xz_stream;

/// What it is called, plain and compressed.
const NAMES: [&str; 2] = ["_devel.tar", "_devel.tar.xz"];
/// No devel archive has more members.
const MOST_MEMBERS: usize = 1 << 19;

/// Whether a member of a wheel is a devel archive.
pub fn is_devel_archive(member: &str) -> bool {
    NAMES.contains(&member.rsplit('/').next().unwrap_or(member))
}

/// Shows each member of the archive `name`, whose bytes are `archive`, to `visit`.
///
/// # Errors
/// When it cannot be read, and those of `visit`.
pub fn each<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    if name.ends_with(NAMES[1]) {
        // Blocks of an archive that was compressed in parallel can be decompressed so.
        tar_members::each(xz_stream::decoder(archive)?, MOST_MEMBERS, visit).map(drop)
    } else {
        tar_members::each(archive, MOST_MEMBERS, visit).map(drop)
    }
}
