//! Artifacts that come as one compressed tar archive.
//!
//! A tar archive cannot be read out of order, and wheels are written in another order than
//! archives; so an archive is unpacked once, into a file without a name.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use liblzma::stream::{CONCATENATED, Stream};
use tar::EntryType;

use super::layout::{MANIFEST, Storage};
use super::members::{Member, Members};
use super::scratch::{AppendError, ScratchFile};
use crate::names::{RelPath, oversize};
use crate::text::human_size;

/// How much memory a decoder may take: enough for what `xz -9` and `zstd --ultra` make.
pub(super) const MEMORY: u64 = 160 << 20;
/// How many bytes the headers of one member may have: its name, a link's target, and records.
const HEADERS: u64 = 1 << 20;
/// How many characters are shown of a path that is too long.
const SHOWN: usize = 60;
/// Contents are padded to a multiple of so many bytes.
const BLOCK: u64 = 512;
/// Into how many bytes one byte can be unpacked at most: zstd takes four for 128 KiB of the same, and xz more.
const DENSEST: u64 = 1 << 16;
/// How many zeros there may be behind the last member; writers fill blocks of some kilobytes.
const FILLING: u64 = 1 << 20;

/// Why an archive could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("cannot read archive {archive}")]
    Read { archive: String, source: io::Error },
    #[error("archive {archive} has a member whose path {reason}")]
    Path { archive: String, reason: crate::names::PathError },
    #[error("archive {archive} has a member whose path begins with `{start}`: {reason}")]
    TooLong { archive: String, start: String, reason: &'static str },
    #[error("archive {archive} has a member whose name is not UTF-8: {}", .name.escape_debug())]
    NotUtf8 { archive: String, name: String },
    #[error("archive {archive}: `{member}` links to `{target}`, which leads outside")]
    Outside { archive: String, member: RelPath, target: String },
    #[error(
        "archive {archive}: `{member}` is a device, socket or the like, which packages cannot hold"
    )]
    Special { archive: String, member: RelPath },
    #[error("the first member of archive {archive} is `{member}`; it has to be {MANIFEST}")]
    First { archive: String, member: String },
    #[error("archive {archive} has two members of the name `{member}`")]
    Twice { archive: String, member: RelPath },
    #[error("archive {archive}: `{member}` lies below `{above}`, which is a file or a link")]
    Behind { archive: String, member: RelPath, above: RelPath },
    #[error("archive {archive}: the text of the link `{member}` is not UTF-8")]
    LinkText { archive: String, member: RelPath },
    #[error("archive {archive}: the link `{member}` leads nowhere: its target is empty")]
    EmptyLink { archive: String, member: RelPath },
    #[error("archive {archive}: a header says that `{member}` has {} bytes", .size.escape_debug())]
    Size { archive: String, member: RelPath, size: String },
    #[error(
        "archive {archive}: a header says that `{member}` has {}, more than can be packed in {}",
        human_size(*.size), human_size(*.packed)
    )]
    Impossible { archive: String, member: RelPath, size: u64, packed: u64 },
    #[error(
        "there is no room to unpack archive {archive}: its next file, `{member}`, has {}, and {} are free",
        human_size(*.size), human_size(*.room)
    )]
    Room { archive: String, member: RelPath, size: u64, room: u64 },
    #[error("archive {archive} is cut off: the zeros are missing with which tar archives end")]
    CutOff { archive: String },
    #[error("archive {archive} has something behind its last member that is not part of it")]
    Stray { archive: String },
    #[error("archive {archive}: the hard link `{member}` does not name a file of the archive")]
    SecondName { archive: String, member: RelPath },
    #[error("archive {archive} has hard links to hard links to hard links: too many to follow")]
    Chain { archive: String },
    #[error("cannot read `{member}` of archive {archive}")]
    Content { archive: String, member: RelPath, source: io::Error },
    #[error("cannot unpack archive {archive} into the temporary directory {directory}")]
    Write { archive: String, directory: String, source: io::Error },
}

/// An archive that is unpacked.
pub(super) struct Unpacking<'u> {
    /// Its name.
    pub(super) name: &'u str,
    /// How many bytes it has, packed.
    pub(super) packed: u64,
    /// Where the bytes of its members go.
    pub(super) file: &'u mut ScratchFile,
    /// Its members, and where their bytes are.
    pub(super) members: &'u mut Members,
    /// The files that are wanted of it; all, and directories and links too, where it is not said.
    pub(super) wanted: Option<&'u BTreeSet<RelPath>>,
}

impl Unpacking<'_> {
    /// Unpacks an archive whose bytes come in order; one that has its artifacts elsewhere needs no file of them here.
    /// Gives wanted hard links to members that are not wanted, with these members: their bytes have gone by.
    pub(super) fn in_order(
        &mut self,
        packed: impl Read,
        storage: Storage,
    ) -> Result<BTreeSet<RelPath>, UnpackError> {
        let left = Rc::new(Cell::new(HEADERS));
        let bytes = decoder(packed, storage).map_err(|source| self.unread(source))?;
        let mut tar = tar::Archive::new(Limited::new(bytes, left.clone()));
        let missed = self.unpack(tar.entries().map_err(|source| self.unread(source))?, &left)?;
        tar.into_inner().ended(self.name)?;
        Ok(missed)
    }

    /// Unpacks an archive that can be read at any place: what is not wanted is not read. Gives the same as
    /// [`Unpacking::in_order`].
    pub(super) fn at_random(
        &mut self,
        bytes: impl Read + Seek,
    ) -> Result<BTreeSet<RelPath>, UnpackError> {
        let left = Rc::new(Cell::new(HEADERS));
        let mut tar = tar::Archive::new(Limited::new(bytes, left.clone()));
        let members = tar.entries_with_seek().map_err(|source| self.unread(source))?;
        let missed = self.unpack(members, &left)?;
        tar.into_inner().ended(self.name)?;
        Ok(missed)
    }

    fn unread(&self, source: io::Error) -> UnpackError {
        UnpackError::Read { archive: self.name.to_owned(), source }
    }

    fn unwritten(&self, source: io::Error) -> UnpackError {
        let directory = std::env::temp_dir().display().to_string();
        UnpackError::Write { archive: self.name.to_owned(), directory, source }
    }

    fn unpack<R: Read>(
        &mut self,
        members: tar::Entries<'_, R>,
        left: &Cell<u64>,
    ) -> Result<BTreeSet<RelPath>, UnpackError> {
        let mut seen: HashMap<RelPath, EntryType> = HashMap::new();
        let mut missed = BTreeSet::new();
        for member in members {
            let mut member = member.map_err(|source| self.unread(source))?;
            left.set(u64::MAX);
            let mut skipped = 0;
            if let Some(path) = checked(self.name, &mut member, &mut seen)? {
                if !self.takes(&path) {
                    skipped = padded(&member);
                } else if let Some(target) = self.not_unpacked(&member, &path, &missed)? {
                    missed.extend([path, target]);
                } else {
                    self.member(&mut member, path)?;
                }
            }
            left.set(HEADERS.saturating_add(skipped));
        }
        self.file.flush().map_err(|source| self.unwritten(source))?;
        Ok(missed)
    }

    /// Whether a member is unpacked. The list of base directories always is, once.
    fn takes(&self, path: &RelPath) -> bool {
        if path.as_str() == MANIFEST {
            return self.members.get(path).is_none();
        }
        self.wanted.is_none_or(|wanted| wanted.contains(path))
    }

    /// The member that a hard link leads to, where it was not unpacked; `missed` were not.
    fn not_unpacked<R: Read>(
        &self,
        member: &tar::Entry<'_, R>,
        path: &RelPath,
        missed: &BTreeSet<RelPath>,
    ) -> Result<Option<RelPath>, UnpackError> {
        if self.wanted.is_none() || member.header().entry_type() != EntryType::Link {
            return Ok(None);
        }
        let target = self.first_name(member, path)?;
        Ok((!self.takes(&target) || missed.contains(&target)).then_some(target))
    }

    /// The member that a hard link is another name of.
    fn first_name<R: Read>(
        &self,
        member: &tar::Entry<'_, R>,
        path: &RelPath,
    ) -> Result<RelPath, UnpackError> {
        let target = member.link_name_bytes().unwrap_or_default();
        let target = str::from_utf8(&target).unwrap_or_default().trim_start_matches("./").parse();
        target.map_err(|_| self.second_name(path))
    }

    fn second_name(&self, path: &RelPath) -> UnpackError {
        UnpackError::SecondName { archive: self.name.to_owned(), member: path.clone() }
    }

    fn member<R: Read>(
        &mut self,
        member: &mut tar::Entry<'_, R>,
        path: RelPath,
    ) -> Result<(), UnpackError> {
        let unpacked = match member.header().entry_type() {
            EntryType::Directory => Member::Directory,
            EntryType::Symlink => Member::Symlink(link_text(self.name, &path, member)?),
            EntryType::Link => {
                let target = self.first_name(member, &path)?;
                let found = self.members.get(&target);
                let found = found.filter(|found| !matches!(found, Member::Directory));
                found.cloned().ok_or_else(|| self.second_name(&path))?
            }
            _ => self.content(member, &path)?,
        };
        self.members.insert(path.clone(), unpacked).map_err(|above| {
            let archive = self.name.to_owned();
            if above == path {
                UnpackError::Twice { archive, member: path }
            } else {
                UnpackError::Behind { archive, member: path, above }
            }
        })
    }

    /// Checks that a member's size is a number that it can have, and that there is room for it.
    fn check_size<R: Read>(
        &self,
        member: &mut tar::Entry<'_, R>,
        path: &RelPath,
    ) -> Result<(), UnpackError> {
        let named = || (self.name.to_owned(), path.clone());
        let records = member.pax_extensions().map_err(|source| self.unread(source))?;
        for record in records.into_iter().flatten() {
            let record = record.map_err(|source| self.unread(source))?;
            let value = String::from_utf8_lossy(record.value_bytes()).into_owned();
            if record.key_bytes() == b"size" && value.parse::<u64>().is_err() {
                let (archive, member) = named();
                return Err(UnpackError::Size { archive, member, size: value });
            }
        }
        let (size, packed, room) = (member.size(), self.packed, self.file.room());
        let is_sparse = member.header().entry_type() == EntryType::GNUSparse;
        if !is_sparse && size > packed.saturating_mul(DENSEST) {
            let (archive, member) = named();
            return Err(UnpackError::Impossible { archive, member, size, packed });
        }
        if size > room {
            let (archive, member) = named();
            return Err(UnpackError::Room { archive, member, size, room });
        }
        Ok(())
    }

    /// Unpacks a regular file.
    fn content<R: Read>(
        &mut self,
        member: &mut tar::Entry<'_, R>,
        path: &RelPath,
    ) -> Result<Member, UnpackError> {
        self.check_size(member, path)?;
        let unread = |source| {
            let (archive, member) = (self.name.to_owned(), path.clone());
            UnpackError::Content { archive, member, source }
        };
        let executable = member.header().mode().map_err(unread)? & 0o111 != 0;
        let piece = match self.file.append(&mut *member) {
            Ok(piece) if piece.len() == member.size() => piece,
            Ok(_) => return Err(unread(io::ErrorKind::UnexpectedEof.into())),
            Err(AppendError::Read(source)) => return Err(unread(source)),
            Err(AppendError::Write(source)) => return Err(self.unwritten(source)),
        };
        Ok(Member::File { piece, executable })
    }
}

/// The text of a symbolic link.
fn link_text<R: Read>(
    archive: &str,
    path: &RelPath,
    member: &tar::Entry<'_, R>,
) -> Result<String, UnpackError> {
    let text = member.link_name_bytes().unwrap_or_default().into_owned();
    let (archive, member) = (archive.to_owned(), path.clone());
    if text.is_empty() {
        return Err(UnpackError::EmptyLink { archive, member });
    }
    String::from_utf8(text).map_err(|_| UnpackError::LinkText { archive, member })
}

/// How many bytes a member's content takes in the archive at most.
fn padded<R: Read>(member: &tar::Entry<'_, R>) -> u64 {
    let stored = member.header().entry_size().unwrap_or_default();
    member.size().max(stored).saturating_add(BLOCK)
}

/// The path of a member that can be unpacked; nothing for one that needs not be.
fn checked<R: Read>(
    archive: &str,
    member: &mut tar::Entry<'_, R>,
    seen: &mut HashMap<RelPath, EntryType>,
) -> Result<Option<RelPath>, UnpackError> {
    let Some(path) = checked_path(archive, member)? else { return Ok(None) };
    if seen.is_empty() && path.as_str() != MANIFEST {
        let (archive, member) = (archive.to_owned(), path.to_string());
        return Err(UnpackError::First { archive, member });
    }
    check_kind(archive, &path, member)?;
    let kind = member.header().entry_type();
    let both_directories = |other| kind == EntryType::Directory && other == EntryType::Directory;
    if seen.insert(path.clone(), kind).is_some_and(|other| !both_directories(other)) {
        return Err(UnpackError::Twice { archive: archive.to_owned(), member: path });
    }
    Ok(Some(path))
}

/// What is in the archive's compressed stream.
fn decoder<'r>(packed: impl Read + 'r, storage: Storage) -> io::Result<Box<dyn Read + 'r>> {
    Ok(match storage {
        Storage::Zstd => Box::new(zstd::Decoder::new(packed)?),
        Storage::Xz => {
            let stream = Stream::new_stream_decoder(MEMORY, CONCATENATED)?;
            Box::new(liblzma::read::XzDecoder::new_stream(packed, stream))
        }
        Storage::Directory => Box::new(packed),
    })
}

/// Bytes of which only so many can be read before somebody allows more.
struct Limited<R> {
    bytes: R,
    left: Rc<Cell<u64>>,
    /// Whether there were no more: a header of zeros stands before that in a whole archive, and nobody reads on.
    out_of_bytes: bool,
}

impl<R> Limited<R> {
    fn new(bytes: R, left: Rc<Cell<u64>>) -> Self {
        Self { bytes, left, out_of_bytes: false }
    }
}

impl<R: Read> Limited<R> {
    /// Reads what follows the last member, up to the end of the stream: zeros, and not many.
    fn ended(self, archive: &str) -> Result<(), UnpackError> {
        let archive = || archive.to_owned();
        if self.out_of_bytes {
            return Err(UnpackError::CutOff { archive: archive() });
        }
        let mut rest = Vec::new();
        let read = self.bytes.take(FILLING + 1).read_to_end(&mut rest);
        read.map_err(|source| UnpackError::Read { archive: archive(), source })?;
        if rest.len() as u64 > FILLING || rest.iter().any(|byte| *byte != 0) {
            return Err(UnpackError::Stray { archive: archive() });
        }
        Ok(())
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 && !out.is_empty() {
            let what = format!("the headers of a member have more than {HEADERS} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(out.len());
        let read = self.bytes.read(&mut out[..wanted])?;
        self.out_of_bytes |= read == 0 && wanted > 0;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for Limited<R> {
    /// What is sought past is no header, and was allowed as the content that it is.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let from = self.bytes.stream_position()?;
        let position = self.bytes.seek(to)?;
        self.left.set(self.left.get().saturating_sub(position.saturating_sub(from)));
        Ok(position)
    }
}

/// The member's path; `None` for the archive's own root and for headers that are no members.
fn checked_path<R: Read>(
    archive: &str,
    member: &tar::Entry<'_, R>,
) -> Result<Option<RelPath>, UnpackError> {
    if matches!(member.header().entry_type(), EntryType::XGlobalHeader | EntryType::XHeader) {
        return Ok(None);
    }
    let bytes = member.path_bytes();
    let text = std::str::from_utf8(&bytes).map_err(|_| UnpackError::NotUtf8 {
        archive: archive.to_owned(),
        name: String::from_utf8_lossy(&bytes).into_owned(),
    })?;
    let text = text.trim_start_matches("./").trim_end_matches('/');
    if text.is_empty() || text == "." {
        return Ok(None);
    }
    if let Some(reason) = oversize(text) {
        let (archive, start) = (archive.to_owned(), text.chars().take(SHOWN).collect());
        return Err(UnpackError::TooLong { archive, start, reason });
    }
    text.parse()
        .map(Some)
        .map_err(|reason| UnpackError::Path { archive: archive.to_owned(), reason })
}

fn check_kind<R: Read>(
    archive: &str,
    path: &RelPath,
    member: &tar::Entry<'_, R>,
) -> Result<(), UnpackError> {
    match member.header().entry_type() {
        EntryType::Regular
        | EntryType::Continuous
        | EntryType::Directory
        | EntryType::GNUSparse => Ok(()),
        kind @ (EntryType::Symlink | EntryType::Link) => {
            let target = member
                .link_name_bytes()
                .map(|t| String::from_utf8_lossy(&t).into_owned())
                .unwrap_or_default();
            // A hard link names a member of the archive, a symlink starts at its own directory.
            let start = if kind == EntryType::Link { 0 } else { path.depth() };
            if stays_below(start, &target) {
                Ok(())
            } else {
                Err(UnpackError::Outside {
                    archive: archive.to_owned(),
                    member: path.clone(),
                    target,
                })
            }
        }
        _ => Err(UnpackError::Special { archive: archive.to_owned(), member: path.clone() }),
    }
}

/// Whether `target`, followed from `depth` directories below a root, never leaves the root.
fn stays_below(depth: usize, target: &str) -> bool {
    let mut depth = depth;
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." if depth == 0 => return false,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    !target.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::scratch::Scratch;

    #[test]
    fn where_there_is_no_room_sizes_are_said_in_units() {
        let mut header = tar::Header::new_gnu();
        header.set_path(MANIFEST).unwrap();
        header.set_size(5_000_000_000_000_000_000);
        header.set_mode(0o644);
        header.set_cksum();
        let (mut file, mut members) = (Scratch::default().take().unwrap(), Members::default());
        let mut unpacking = Unpacking {
            name: "a.tar.zst",
            packed: u64::MAX,
            file: &mut file,
            members: &mut members,
            wanted: None,
        };
        let error = unpacking.in_order(&header.as_bytes()[..], Storage::Directory).unwrap_err();
        let text = error.to_string();
        let start = "there is no room to unpack archive a.tar.zst: its next file, \
                     `artifact_manifest.txt`, has 5000000 TB, and ";
        assert!(text.starts_with(start) && text.ends_with("B are free"), "{text}");
    }

    #[test]
    fn links_that_leave_are_told_apart() {
        assert!(stays_below(1, "../a"));
        assert!(!stays_below(1, "../../a"));
        assert!(!stays_below(3, "/a"));
        assert!(stays_below(0, "a/../b"));
        assert!(!stays_below(0, "a/../../b"));
    }
}
