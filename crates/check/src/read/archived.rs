use std::io::{self, Read, Write};

use super::binary::{archive, binary};
use super::reading::{Tee, fault, kept};
use crate::{File, Kind, Known, Scheme, Targets, Why};
use ::binary::device_code;
use wheel::package::{self, Fault, FaultKind, FileContent, devel_archive};
use wheel::unpacking::{MemberKind, TarMember};

#[derive(Debug, Default)]
pub(super) struct Devel {
    pub(super) fault: Option<String>,
    pub(super) faults: Vec<Fault>,
    pub(super) members: Vec<File<'static>>,
}

pub(super) fn read(name: &str, bytes: impl Read, targets: Option<&Targets>) -> io::Result<Devel> {
    let mut bytes = Noted { inner: bytes, error: None };
    let mut members = Vec::new();
    let read = devel_archive::faults(name, &mut bytes, |member, content| -> io::Result<()> {
        members.extend(file(member, content, targets)?);
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
            let what = "its devel archive cannot be read";
            vec![Fault::new(FaultKind::Broken, what).of(name).because(error.to_string())]
        }
    };
    Ok(Devel { fault, faults, members })
}

fn file(
    member: &TarMember,
    bytes: &mut dyn Read,
    targets: Option<&Targets>,
) -> io::Result<Option<File<'static>>> {
    let mode = member.mode().map_or(Known::Unknown(Why::Broken), |mode| Known::Is(mode & 0o7777));
    let of = |kind| File::below(Scheme::Devel, member.path.clone(), mode, kind);
    match &member.kind {
        MemberKind::File => {}
        MemberKind::Symlink(text) => {
            let mut link = of(Kind::Link(text.clone().into()));
            link.code = Known::Unknown(Why::NoFact);
            return Ok(Some(link));
        }
        MemberKind::Directory | MemberKind::HardLink(_) | MemberKind::Special => return Ok(None),
    }
    let content = FileContent::new(bytes)?;
    let kind = content.kind();
    if matches!(kind, package::ContentKind::Elf | package::ContentKind::Pe) {
        let bytes = content.keep(member.size)?;
        let mut file = of(binary(&member.path, &bytes));
        if targets.is_some() {
            file.code = kept(device_code::of_binary(&bytes)?);
        }
        return Ok(Some(file));
    }
    let mut sink = targets.map(|targets| targets.reading.sink(targets.names_one(&member.path)));
    let mut tee = Tee::new(kind, member.size, sink.as_mut().map(|sink| sink as &mut dyn Write));
    content.copy_to(&mut tee)?;
    let kind = match (kind, tee.kept) {
        (package::ContentKind::Script, _) => Kind::Script,
        (_, Some(bytes)) => archive(&bytes),
        _ => Kind::Data,
    };
    let mut file = of(kind);
    file.code = sink.map_or(Known::Is(None), |sink| kept(sink.finish()));
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
