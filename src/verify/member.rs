//! One member, read once from front to back.

use std::io::{self, Read, Write};

use super::algorithm::Algorithm;
use super::code::{Targets, Told};
use super::elf::{Kind, archive, binary};
use crate::device_code::{self, Code, Sink};
use crate::elf::ReadAt;
use crate::package::ZipFile;
use crate::package::content::Shown;
use crate::package::devel_archive::{self, is_devel_archive};
use crate::package::directory::Entry;
use crate::package::zip_file::is_broken;
use crate::package::{self, Content, Kept};

/// Import libraries are smaller: they have names alone.
const LARGEST_ARCHIVE: u64 = 64 << 20;

/// What is known of a member's bytes.
#[derive(Debug)]
pub struct Member {
    /// The hash that RECORD asks for.
    pub(super) digest: Vec<u8>,
    /// How many bytes there are.
    pub(super) size: u64,
    /// Why they are not what the archive says.
    pub(super) fault: Option<String>,
    pub(super) kind: Kind,
    /// What it has code for, if somebody wants to know.
    pub(super) code: Code,
    /// And what the members of a devel archive have code for, by their installed paths.
    pub(super) archived: Vec<Told>,
}

/// Reads a member, which is hashed by `algorithm`; with `targets`, what it has code for as well.
///
/// # Errors
/// When the file cannot be read. Bytes that do not unpack are a fault of the member.
pub(super) fn read(
    zip: &ZipFile,
    entry: &Entry,
    algorithm: Algorithm,
    targets: Option<&Targets>,
) -> io::Result<Member> {
    let (mut hash, mut size) = (algorithm.hasher(), 0);
    let bytes = Shown::new(zip.unpacked(entry), |bytes: &[u8]| {
        hash.update(bytes);
        size += bytes.len() as u64;
    });
    let (fault, kind, code, archived) = match targets {
        Some(targets) if is_devel_archive(&entry.name) => {
            let (fault, code, archived) = devel_archive(&entry.name, bytes, targets)?;
            (fault, Kind::Data, code, archived)
        }
        _ => {
            let (fault, kind, code) = content(zip, entry, bytes, targets)?;
            (fault, kind, code, Vec::new())
        }
    };
    Ok(Member { digest: hash.finalize().into_vec(), size, fault, kind, code, archived })
}

/// Reads a devel archive to its end: what is wrong with its bytes, that it is no archive, and what its
/// members have code for.
fn devel_archive(
    name: &str,
    bytes: impl Read,
    targets: &Targets,
) -> io::Result<(Option<String>, Code, Vec<Told>)> {
    let mut bytes = Noted { inner: bytes, error: None };
    let mut told = Vec::new();
    let mut tell = |path: &str, code: Code| {
        if !code.is_empty() || targets.names_one(path) {
            told.push(Told { member: path.to_owned(), code });
        }
    };
    let read = devel_archive::each(name, &mut bytes, |member, content| -> io::Result<()> {
        if member.kind.is_file() {
            tell(&member.path, archived(&member.path, member.size, content, targets)?);
        }
        Ok(())
    });
    // Behind the end of a tar archive there may be more.
    let rest = match bytes.error.take() {
        Some(error) => Err(error),
        None => io::copy(&mut bytes.inner, &mut io::sink()).map(drop),
    };
    let mut code = Code::default();
    let fault = fault(rest)?;
    if read.is_err() && fault.is_none() {
        code.unread = Some("the devel archive");
    }
    Ok((fault, code, told))
}

/// What a member of a devel archive has code for.
fn archived(path: &str, size: u64, bytes: &mut dyn Read, targets: &Targets) -> io::Result<Code> {
    let content = Content::new(bytes)?;
    if matches!(content.kind(), package::Kind::Elf | package::Kind::Pe) {
        return device_code::of_binary(&content.keep(size)?);
    }
    let mut sink = targets.reading.sink(targets.names_one(path));
    content.copy_to(&mut sink)?;
    Ok(sink.finish())
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

/// Reads all bytes: what is wrong with them, what they are, and what they have code for.
fn content(
    zip: &ZipFile,
    entry: &Entry,
    bytes: impl Read,
    targets: Option<&Targets>,
) -> io::Result<(Option<String>, Kind, Code)> {
    let content = match Content::new(bytes) {
        Ok(content) => content,
        Err(error) => return Ok((fault(Err(error))?, Kind::Data, Code::default())),
    };
    let kind = content.kind();
    if matches!(kind, package::Kind::Elf | package::Kind::Pe) && !entry.is_stored() {
        let mut kept = Kept::of_size(entry.size)?;
        let fault = fault(content.copy_to(&mut kept))?;
        let code = of_binary(&kept, targets)?;
        return Ok((fault, binary(&entry.name, &kept), code));
    }
    if matches!(kind, package::Kind::Elf | package::Kind::Pe) {
        let fault = fault(content.copy_to(&mut io::sink()))?;
        let file = zip.packed(entry);
        return Ok((fault, binary(&entry.name, &file), of_binary(&file, targets)?));
    }
    let mut sink = targets.map(|targets| targets.reading.sink(targets.names_one(&entry.name)));
    let mut tee = Tee { sink: sink.as_mut().map(|sink| sink as &mut dyn Write), kept: None };
    tee.kept = (kind == package::Kind::Archive && entry.size <= LARGEST_ARCHIVE).then(Vec::new);
    let fault = fault(content.copy_to(&mut tee))?;
    let kind = match (kind, tee.kept.filter(|_| fault.is_none())) {
        (package::Kind::Script, _) => Kind::Script,
        (_, Some(bytes)) => archive(&bytes),
        _ => Kind::Data,
    };
    // What damaged bytes have code for is no fault of its own.
    let code = sink.filter(|_| fault.is_none()).map(Sink::finish).unwrap_or_default();
    Ok((fault, kind, code))
}

/// Gives bytes on, and keeps them.
struct Tee<'s> {
    sink: Option<&'s mut dyn Write>,
    kept: Option<Vec<u8>>,
}

impl Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(sink) = &mut self.sink {
            sink.write_all(bytes)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn of_binary(file: &(impl ReadAt + ?Sized), targets: Option<&Targets>) -> io::Result<Code> {
    targets.map_or_else(|| Ok(Code::default()), |_| device_code::of_binary(file))
}

/// Why bytes are not what the archive says; an error where the disk is at fault.
fn fault(read: io::Result<()>) -> io::Result<Option<String>> {
    match read {
        Ok(()) => Ok(None),
        Err(error) if is_broken(&error) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
