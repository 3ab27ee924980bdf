//! The members of a devel archive, read as the archive goes by.

use std::io::{self, Read};

use super::code::Targets;
use super::elf::{archive, binary};
use super::reading::{Tee, fault};
use crate::package::{self, Content, Fault, FaultKind, devel_archive};
use ::binary::device_code::{self, Code};

/// A file in a devel archive.
#[derive(Debug)]
pub struct Archived {
    /// Where it is installed.
    pub(super) path: String,
    /// What it has code for.
    pub(super) code: Code,
    /// The DLLs that it imports, or that it leads a linker to.
    pub(super) imports: Vec<String>,
}

/// A devel archive that was read.
#[derive(Debug, Default)]
pub(super) struct Devel {
    /// The reason why its bytes are not those that the wheel says.
    pub(super) fault: Option<String>,
    /// Faults of the archive and its members.
    pub(super) faults: Vec<Fault>,
    pub(super) members: Vec<Archived>,
}

/// Reads a devel archive to its end; with `targets`, also the device code of its members.
///
/// # Errors
/// When the wheel cannot be read.
pub(super) fn read(name: &str, bytes: impl Read, targets: Option<&Targets>) -> io::Result<Devel> {
    let mut bytes = Noted { inner: bytes, error: None };
    let mut members = Vec::new();
    let read = devel_archive::faults(name, &mut bytes, |member, content| -> io::Result<()> {
        let targets = targets.filter(|_| member.is_file());
        let found = targets.map(|targets| file(&member.path, member.size, content, targets));
        members.extend(found.transpose()?);
        Ok(())
    });
    // Behind the end of a tar archive there may be more.
    let rest = match bytes.error.take() {
        Some(error) => Err(error),
        None => io::copy(&mut bytes.inner, &mut io::sink()).map(drop),
    };
    let fault = fault(rest)?;
    let faults = match read {
        Ok(faults) => faults,
        // Damaged bytes are a fault of the member.
        Err(_) if fault.is_some() => Vec::new(),
        Err(error) => {
            let what = "its devel archive cannot be read";
            vec![Fault::new(FaultKind::Broken, what).of(name).because(error.to_string())]
        }
    };
    Ok(Devel { fault, faults, members })
}

fn file(path: &str, size: u64, bytes: &mut dyn Read, targets: &Targets) -> io::Result<Archived> {
    let content = Content::new(bytes)?;
    let kind = content.kind();
    let path = path.to_owned();
    if matches!(kind, package::ContentKind::Elf | package::ContentKind::Pe) {
        let kept = content.keep(size)?;
        let code = device_code::of_binary(&kept)?;
        let is_pe = kind == package::ContentKind::Pe;
        let imports = if is_pe { binary(&path, &kept).imports() } else { Vec::new() };
        return Ok(Archived { path, code, imports });
    }
    let mut sink = targets.reading.sink(targets.names_one(&path));
    let mut tee = Tee::new(kind, size, Some(&mut sink));
    content.copy_to(&mut tee)?;
    let imports = tee.kept.map(|bytes| archive(&bytes).imports()).unwrap_or_default();
    Ok(Archived { path, code: sink.finish(), imports })
}

/// Keeps the error of what it reads, whatever others make of it.
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
