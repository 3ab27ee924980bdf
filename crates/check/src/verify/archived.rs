use std::io::{self, Read};

use super::Finding;
use super::code::Targets;
use super::elf::{FileRole, archive, binary};
use super::reading::{Tee, fault};
use ::binary::device_code::{self, Code};
use ::binary::dlls::Dll;
use wheel::package::{self, Fault, FaultKind, FileContent, devel_archive};

#[derive(Debug)]
pub(crate) struct Archived {
    pub(super) path: String,
    pub(super) code: Code,
    pub(super) dll: Option<Dll>,
    pub(super) stack: Option<Finding>,
}

#[derive(Debug, Default)]
pub(super) struct Devel {
    pub(super) fault: Option<String>,
    pub(super) faults: Vec<Fault>,
    pub(super) members: Vec<Archived>,
}

pub(super) fn read(name: &str, bytes: impl Read, targets: Option<&Targets>) -> io::Result<Devel> {
    let mut bytes = Noted { inner: bytes, error: None };
    let mut members = Vec::new();
    let read = devel_archive::faults(name, &mut bytes, |member, content| -> io::Result<()> {
        let targets = targets.filter(|_| member.is_file());
        let found = targets.map(|targets| file(&member.path, member.size, content, targets));
        members.extend(found.transpose()?);
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

fn file(path: &str, size: u64, bytes: &mut dyn Read, targets: &Targets) -> io::Result<Archived> {
    let content = FileContent::new(bytes)?;
    let kind = content.kind();
    let path = path.to_owned();
    if matches!(kind, package::ContentKind::Elf | package::ContentKind::Pe) {
        let kept = content.keep(size)?;
        let code = device_code::of_binary(&kept)?;
        let role = binary(&path, &kept);
        let dll = role.dll(&path);
        let stack = if let FileRole::Elf(binary) = role { binary.stack } else { None };
        return Ok(Archived { path, code, dll, stack });
    }
    let mut sink = targets.reading.sink(targets.names_one(&path));
    let mut tee = Tee::new(kind, size, Some(&mut sink));
    content.copy_to(&mut tee)?;
    let dll = tee.kept.and_then(|bytes| archive(&bytes).dll(&path));
    Ok(Archived { path, code: sink.finish(), dll, stack: None })
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
