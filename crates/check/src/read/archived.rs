use std::io::{self, Read};

use super::content::FactRequest;
use super::depth::Depth;
use super::reading::{fault, nonempty};
use crate::{File, Kind, Known, Scheme, Why};
use wheel::package::{Fault, FaultKind, devel_archive};
use wheel::unpacking::{MemberKind, TarMember};

#[derive(Debug, Default)]
pub(super) struct Devel {
    pub(super) fault: Option<String>,
    pub(super) faults: Vec<Fault>,
    pub(super) members: Vec<File<'static>>,
}

pub(super) fn read(name: &str, bytes: impl Read, request: &FactRequest<'_>) -> io::Result<Devel> {
    let mut bytes = Noted { inner: bytes, error: None };
    let mut members = Vec::new();
    let read = devel_archive::faults(name, &mut bytes, |member, content| -> io::Result<()> {
        members.extend(file(member, content, Scheme::Devel, request)?);
        Ok(())
    });
    // More bytes may follow the end of the tar archive.
    let rest = match bytes.error.take() {
        Some(error) => Err(error),
        None => io::copy(&mut bytes.inner, &mut io::sink()).map(drop),
    };
    let fault = fault(rest)?;
    let faults = match read {
        Ok(faults) => faults,
        // Damaged bytes are reported for the member.
        Err(_) if fault.is_some() => Vec::new(),
        Err(error) => {
            let message = "its devel archive cannot be read";
            vec![Fault::new(FaultKind::Broken, message).of(name).because(error.to_string())]
        }
    };
    Ok(Devel { fault, faults, members })
}

/// `None` for a member that no comparison and no rule sees.
pub(super) fn file(
    member: &TarMember,
    bytes: &mut dyn Read,
    scheme: Scheme,
    request: &FactRequest<'_>,
) -> io::Result<Option<File<'static>>> {
    let mode = member.mode().map_or(Known::Unknown(Why::Broken), |mode| Known::Is(mode & 0o7777));
    let member_file = |kind| File::below(scheme, member.path.clone(), mode, kind);
    let without_bytes = match (&member.kind, scheme) {
        (MemberKind::File, _) => None,
        (MemberKind::Symlink(text), _) | (MemberKind::HardLink(text), Scheme::Source) => {
            Some(Kind::Link(text.clone().into()))
        }
        // Rules ask for no directory, and an sdist needs none.
        (MemberKind::Directory, Scheme::Devel) if request.depth == Depth::Comparison => {
            Some(Kind::Directory)
        }
        _ => return Ok(None),
    };
    if let Some(kind) = without_bytes {
        let mut file = member_file(kind);
        file.code = Known::Unknown(Why::NoFact);
        return Ok(Some(file));
    }
    let (content, of_bytes) = request.summed(&member.path, member.size, bytes)?;
    if let Some(fault) = content.fault {
        return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
    }
    let mut file = member_file(content.kind);
    file.code = nonempty(content.code);
    file.bytes = of_bytes;
    Ok(Some(file))
}

/// Reader that keeps its error even if its user replaces it.
struct Noted<R> {
    inner: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|error| {
            let shown = io::Error::new(error.kind(), error.to_string());
            if error.kind() != io::ErrorKind::Interrupted {
                self.error = Some(error);
            }
            shown
        })
    }
}
