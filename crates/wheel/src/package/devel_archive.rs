//! The archive in a devel wheel: a tar archive in its import package, which may be compressed.

use std::io::{self, Read};

use super::Fault;
use crate::package::xz_stream;
use crate::unpacking::{MemberFault, Rules, TarMember, TarReader};

/// What it is called, plain and compressed.
const NAMES: [&str; 2] = ["_devel.tar", "_devel.tar.xz"];

/// Whether a member of a wheel is a devel archive.
pub fn is_devel_archive(member: &str) -> bool {
    NAMES.contains(&member.rsplit('/').next().unwrap_or(member))
}

/// Shows each member of the archive `name`, whose bytes are `archive`, to `visit`.
///
/// # Errors
/// When it cannot be read or has a member that no reader may take, and those of `visit`.
pub fn each<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    let refused = |fault: Option<&MemberFault>| match fault {
        Some(fault) => Err(io::Error::new(io::ErrorKind::InvalidData, fault.clone())),
        None => Ok(()),
    };
    let faults = members(name, archive, |member, bytes| {
        refused(member.faults.first())?;
        visit(member, bytes)
    })?;
    Ok(refused(faults.first())?)
}

/// The same of an archive that nothing is made of: gives the faults of its members, which `visit` is shown too.
///
/// # Errors
/// When it cannot be read, and those of `visit`.
pub fn faults<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<Fault>, E> {
    let mut all = Vec::new();
    let late = members(name, archive, |member, bytes| {
        all.extend(member.faults.iter().cloned());
        visit(member, bytes)
    })?;
    all.extend(late);
    let within = |fault: MemberFault| {
        let member = format!("{name}!{}", fault.member);
        Fault::from(fault).of(member)
    };
    Ok(all.into_iter().map(within).collect())
}

/// Shows all members to `visit`; gives links that lead outside.
fn members<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<MemberFault>, E> {
    if name.ends_with(NAMES[1]) {
        // Blocks of an archive that was compressed in parallel can be decompressed so.
        let archive = xz_stream::decoder(archive)?;
        Ok(TarReader::new(archive, Rules::DEVEL).each(visit)?.faults)
    } else {
        Ok(TarReader::new(archive, Rules::DEVEL).each(visit)?.faults)
    }
}
