use std::io::{self, Read, Write};

use super::algorithm::Algorithm;
use super::archived::{self, Devel};
use super::binary::{archive, binary};
use super::reading::{Tee, fault, kept};
use crate::{File, Kind, Known, Targets};
use ::binary::device_code::{self, Code, Sink};
use ::binary::elf::ReadAt;
use wheel::package::ZipFile;
use wheel::package::content::Shown;
use wheel::package::devel_archive::is_devel_archive;
use wheel::package::directory::DirectoryEntry;
use wheel::package::{self, Fault, FileContent, Kept};

/// Properties of a member's content.
#[derive(Debug)]
pub struct Member {
    pub(super) digest: Vec<u8>,
    pub(super) size: u64,
    pub(super) fault: Option<String>,
    pub(super) kind: Kind<'static>,
    pub(super) code: Known<Option<Box<Code>>>,
    pub(super) archived: Vec<File<'static>>,
    pub(super) archive_faults: Vec<Fault>,
}

pub(super) fn read(
    zip: &ZipFile,
    entry: &DirectoryEntry,
    algorithm: Option<Algorithm>,
    targets: Option<&Targets>,
) -> io::Result<Member> {
    let (mut hash, mut size) = (algorithm.map(Algorithm::hasher), 0);
    let bytes = Shown::new(zip.unpacked(entry), |bytes: &[u8]| {
        if let Some(hash) = &mut hash {
            hash.update(bytes);
        }
        size += bytes.len() as u64;
    });
    let mut devel = Devel::default();
    let (fault, kind, code) = if is_devel_archive(&entry.name) {
        devel = archived::read(&entry.name, bytes, targets)?;
        (devel.fault.take(), Kind::Data, Code::default())
    } else {
        content(zip, entry, bytes, targets)?
    };
    let Devel { members: archived, faults: archive_faults, .. } = devel;
    let digest = hash.map(|hash| hash.finalize().into_vec()).unwrap_or_default();
    Ok(Member { digest, size, fault, kind, code: kept(code), archived, archive_faults })
}

fn content(
    zip: &ZipFile,
    entry: &DirectoryEntry,
    bytes: impl Read,
    targets: Option<&Targets>,
) -> io::Result<(Option<String>, Kind<'static>, Code)> {
    let content = match FileContent::new(bytes) {
        Ok(content) => content,
        Err(error) => return Ok((fault(Err(error))?, Kind::Data, Code::default())),
    };
    let kind = content.kind();
    if matches!(kind, package::ContentKind::Elf | package::ContentKind::Pe) && !entry.is_stored() {
        let mut kept = Kept::of_size(entry.size)?;
        let fault = fault(content.copy_to(&mut kept))?;
        let code = of_binary(&kept, targets)?;
        return Ok((fault, binary(&entry.name, &kept), code));
    }
    if matches!(kind, package::ContentKind::Elf | package::ContentKind::Pe) {
        let fault = fault(content.copy_to(&mut io::sink()))?;
        let file = zip.packed(entry);
        return Ok((fault, binary(&entry.name, &file), of_binary(&file, targets)?));
    }
    let mut sink = targets.map(|targets| targets.reading.sink(targets.names_one(&entry.name)));
    let mut tee = Tee::new(kind, entry.size, sink.as_mut().map(|sink| sink as &mut dyn Write));
    let fault = fault(content.copy_to(&mut tee))?;
    let kind = match (kind, tee.kept.filter(|_| fault.is_none())) {
        (package::ContentKind::Script, _) => Kind::Script,
        (_, Some(bytes)) => archive(&bytes),
        _ => Kind::Data,
    };
    // Code in damaged bytes is not reported separately.
    let code = sink.filter(|_| fault.is_none()).map(Sink::finish).unwrap_or_default();
    Ok((fault, kind, code))
}

fn of_binary(file: &(impl ReadAt + ?Sized), targets: Option<&Targets>) -> io::Result<Code> {
    targets.map_or_else(|| Ok(Code::default()), |_| device_code::of_binary(file))
}
