//! Tar archive in the import package of a devel wheel, plain or xz-compressed.

use std::io::{self, Read};

use super::{Fault, FaultKind};
use crate::package::xz_stream;
use crate::unpacking::{MemberFault, Rules, TarEnd, TarMember, TarReader};

const NAMES: [&str; 2] = ["_devel.tar", "_devel.tar.xz"];

/// Recognizes devel archives.
pub fn is_devel_archive(member: &str) -> bool {
    NAMES.contains(&member.rsplit('/').next().unwrap_or(member))
}

/// Calls `visit` for each member; `name` is the path of the archive.
pub fn visit<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    let refused = |fault: Option<&MemberFault>| match fault {
        Some(fault) => Err(io::Error::new(io::ErrorKind::InvalidData, fault.clone())),
        None => Ok(()),
    };
    let end = members(name, archive, |member, bytes| {
        refused(member.faults.first())?;
        visit(member, bytes)
    })?;
    refused(end.link_faults.first())?;
    match end.fault {
        Some(message) => Err(io::Error::new(io::ErrorKind::InvalidData, message).into()),
        None => Ok(()),
    }
}

/// Reads like [`each`], but returns faults; `visit` also receives faulty members.
pub fn faults<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    mut visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<Vec<Fault>, E> {
    let mut faults = Vec::new();
    let end = members(name, archive, |member, bytes| {
        faults.extend(member.faults.iter().cloned());
        visit(member, bytes)
    })?;
    faults.extend(end.link_faults);
    let within = |fault: MemberFault| {
        let member = format!("{name}!{}", fault.member);
        Fault::from(fault).of(member)
    };
    let fault = end.fault.map(|message| Fault::new(FaultKind::Broken, message).of(name));
    Ok(faults.into_iter().map(within).chain(fault).collect())
}

struct End {
    link_faults: Vec<MemberFault>,
    /// Fault of the end: without a check, a cut archive would look like one with fewer members.
    fault: Option<&'static str>,
}

fn members<E: From<io::Error>>(
    name: &str,
    archive: impl Read,
    visit: impl FnMut(&TarMember, &mut dyn Read) -> Result<(), E>,
) -> Result<End, E> {
    if name.ends_with(NAMES[1]) {
        // Archives compressed in parallel can be decompressed in parallel.
        end(TarReader::new(xz_stream::decoder(archive)?, Rules::DEVEL).visit(visit)?)
    } else {
        end(TarReader::new(archive, Rules::DEVEL).visit(visit)?)
    }
}

fn end<R: Read, E: From<io::Error>>(mut end: TarEnd<R>) -> Result<End, E> {
    let fault = if !end.has_end_block {
        Some("its tar archive does not end with a zero block")
    } else if end.padding_len()?.is_none() {
        Some("bytes after the end of its tar archive")
    } else {
        None
    };
    Ok(End { link_faults: end.faults, fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        for name in ["a", "b"] {
            let mut header = tar::Header::new_ustar();
            header.set_size(1);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, &b"x"[..]).unwrap();
        }
        tar.into_inner().unwrap()
    }

    #[test]
    fn refuses_a_cut_archive_and_bytes_after_its_end() {
        let whole = archive();
        let cut = &whole[..2 * 512];
        let longer = [&whole[..], b"more"].concat();
        for (bytes, expected) in [
            (&whole[..], None),
            (cut, Some("its tar archive does not end with a zero block")),
            (&longer, Some("bytes after the end of its tar archive")),
        ] {
            let ignored = |_: &TarMember, _: &mut dyn Read| Ok::<_, io::Error>(());
            let faults = faults("x/_devel.tar", bytes, ignored).unwrap();
            let messages: Vec<&str> = faults.iter().map(|fault| &*fault.what).collect();
            assert_eq!(messages, Vec::from_iter(expected));
            let error = visit("x/_devel.tar", bytes, ignored).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), expected);
        }
    }
}
