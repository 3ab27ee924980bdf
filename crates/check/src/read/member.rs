use std::io;

use super::algorithm::Algorithm;
use super::archived::{self, Devel};
use super::content::{Content, FactRequest};
use super::depth::{Depth, is_outlined};
use crate::{Bytes, File, Known, Why};
use wheel::package::Fault;
use wheel::package::ZipFile;
use wheel::package::content::ObservedReader;
use wheel::package::devel_archive::is_devel_archive;
use wheel::package::directory::DirectoryEntry;

/// Properties of a member's content.
#[derive(Debug)]
pub struct Member {
    pub(super) digest: Vec<u8>,
    pub(super) size: u64,
    pub(super) content: Content,
    pub(super) bytes: Option<Box<Bytes>>,
    pub(super) archived: Vec<File<'static>>,
    pub(super) archive_faults: Vec<Fault>,
}

pub(super) fn read(
    zip: &ZipFile,
    entry: &DirectoryEntry,
    algorithm: Option<Algorithm>,
    request: &FactRequest<'_>,
) -> io::Result<Member> {
    let (mut hash, mut size) = (algorithm.map(Algorithm::hasher), 0);
    let (hashed, counted) = (&mut hash, &mut size);
    let open = move || {
        ObservedReader::new(zip.unpacked(entry), move |bytes: &[u8]| {
            if let Some(hash) = hashed.as_mut() {
                hash.update(bytes);
            }
            *counted += bytes.len() as u64;
        })
    };
    let mut devel = Devel::default();
    let is_unread = request.depth == Depth::Outline && !is_outlined(&entry.name);
    let is_archive = !is_unread && is_devel_archive(&entry.name);
    let mut content = if is_unread {
        Content::default()
    } else if is_archive {
        devel = archived::read(&entry.name, open(), request)?;
        Content { fault: devel.fault.take(), ..Content::default() }
    } else {
        let file = zip.packed(entry);
        request.content(&entry.name, entry.size, open(), entry.is_stored().then_some(&file))?
    };
    // A comparison does not read all.
    let size = if request.depth == Depth::Rules { size } else { entry.size };
    let digest = hash.map(|hash| hash.finalize().into_vec()).unwrap_or_default();
    // For comparisons, the files of an archive replace it.
    let bytes = if is_archive || request.depth == Depth::Rules {
        None
    } else {
        let sha256 = <[u8; 32]>::try_from(&*digest);
        let sha256 = sha256.map_or(Known::Unknown(Why::NoBytes), |it| Known::Is(it.into()));
        Some(Box::new(content.bytes(entry.size, entry.crc32, sha256)))
    };
    let Devel { members: archived, faults: archive_faults, .. } = devel;
    Ok(Member { digest, size, content, bytes, archived, archive_faults })
}
