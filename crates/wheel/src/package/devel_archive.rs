//! Tar archive in the import package of a devel wheel, plain or xz-compressed.

use std::io::{self, Read};

use super::Fault;
use crate::package::xz_stream;
use crate::unpacking::{MemberFault, Rules, TarMember, TarReader};

const NAMES: [&str; 2] = ["_devel.tar", "_devel.tar.xz"];

/// Recognizes devel archives.
pub fn is_devel_archive(member: &str) -> bool {
    NAMES.contains(&member.rsplit('/').next().unwrap_or(member))
}

/// Calls `visit` for each member; `name` is the path of the archive.
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

/// Reads like [`each`], but returns faults; `visit` also receives faulty members.
pub fn faults<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<Fault>, E> {
    let mut faults = Vec::new();
    let late = members(name, archive, |member, bytes| {
        faults.extend(member.faults.iter().cloned());
        visit(member, bytes)
    })?;
    faults.extend(late);
    let within = |fault: MemberFault| {
        let member = format!("{name}!{}", fault.member);
        Fault::from(fault).of(member)
    };
    Ok(faults.into_iter().map(within).collect())
}

fn members<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<MemberFault>, E> {
    if name.ends_with(NAMES[1]) {
        // Archives compressed in parallel can be decompressed in parallel.
        let archive = xz_stream::decoder(archive)?;
        Ok(TarReader::new(archive, Rules::DEVEL).each(visit)?.faults)
    } else {
        Ok(TarReader::new(archive, Rules::DEVEL).each(visit)?.faults)
    }
}
