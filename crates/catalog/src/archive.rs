//! Unpacks each tar archive once, into an unnamed file: wheels need another order.

use std::collections::BTreeSet;
use std::io::{self, Read, Seek};

use liblzma::stream::{CONCATENATED, Stream};

use super::halt::Halt;
use super::layout::{MANIFEST, Storage};
use super::members::{Member, Members};
use super::scratch::{AppendError, ScratchFile};
use base::names::RelPath;
use base::text::human_size;
use wheel::unpacking::{MemberFault, MemberKind, Rules, TarEnd, TarMember, TarReader};

/// Memory limit of decoders, enough for `xz -9` and `zstd --ultra`.
pub(super) const MEMORY: u64 = 160 << 20;
/// zstd packs 128 KiB of equal bytes into four.
const DENSEST: u64 = 1 << 16;
/// Unpacked size that needs no comparison with the packed one.
const UNSUSPICIOUS: u64 = 1 << 30;
/// Archives of programs unpack to less than 50 times their size.
const MOST_RATIO: u64 = 1000;

#[derive(Debug, thiserror::Error)]
pub(super) enum UnpackError {
    #[error("cannot read archive {archive}")]
    Read { archive: String, source: io::Error },
    #[error("archive {archive}: {fault}")]
    Member { archive: String, fault: MemberFault },
    #[error("the first member of archive {archive} must be {MANIFEST}, not `{member}`")]
    First { archive: String, member: String },
    #[error(
        "archive {archive}: the recorded size of `{member}`, {}, is larger than can be packed in \
         {}",
        human_size(*.size), human_size(*.packed)
    )]
    Impossible { archive: String, member: RelPath, size: u64, packed: u64 },
    #[error(
        "archive {archive} unpacks to {} or more, over {MOST_RATIO} times its {}",
        human_size(*.size), human_size(*.packed)
    )]
    Dense { archive: String, size: u64, packed: u64 },
    #[error(
        "not enough disk space to unpack archive {archive}: its next file, `{member}`, has {}, \
         but only {} are free",
        human_size(*.size), human_size(*.room)
    )]
    Room { archive: String, member: RelPath, size: u64, room: u64 },
    #[error("archive {archive} is truncated: the zeros at the end of a tar archive are missing")]
    CutOff { archive: String },
    #[error("archive {archive} has data after its end")]
    Stray { archive: String },
    #[error("archive {archive} has a chain of hard links that is too long")]
    Chain { archive: String },
    #[error("cannot read `{member}` of archive {archive}")]
    Content { archive: String, member: RelPath, source: io::Error },
    #[error("cannot unpack archive {archive} into the temporary directory {directory}")]
    Write { archive: String, directory: String, source: io::Error },
}

impl From<UnpackError> for Halt<UnpackError> {
    fn from(error: UnpackError) -> Self {
        Self::Refused(error)
    }
}

pub(super) struct Unpacking<'u> {
    pub(super) name: &'u str,
    pub(super) packed: u64,
    /// Size of the files so far, also of unwanted ones.
    pub(super) unpacked: u64,
    pub(super) file: &'u mut ScratchFile,
    pub(super) members: &'u mut Members,
    /// `None` for everything, including directories and links.
    pub(super) wanted: Option<&'u BTreeSet<RelPath>>,
}

impl Unpacking<'_> {
    /// Unpacks a stream from begin to end. Returns wanted hard links with skipped targets, and these
    /// targets.
    pub(super) fn unpack_stream(
        &mut self,
        packed: impl Read,
        storage: Storage,
    ) -> Result<BTreeSet<RelPath>, UnpackError> {
        let bytes = decoder(packed, storage).map_err(|source| self.unread(source))?;
        let (mut missed, mut is_first) = (BTreeSet::new(), true);
        let read = TarReader::new(bytes, Rules::ARTIFACT)
            .visit(|member, bytes| self.take(member, bytes, &mut missed, &mut is_first));
        self.end(read).map(|()| missed)
    }

    /// Unpacks like [`Self::unpack_stream`], but seeks past unwanted members.
    pub(super) fn unpack_seekable(
        &mut self,
        bytes: impl Read + Seek,
    ) -> Result<BTreeSet<RelPath>, UnpackError> {
        let (mut missed, mut is_first) = (BTreeSet::new(), true);
        let read = TarReader::new(bytes, Rules::ARTIFACT)
            .visit_seeking(|member, bytes| self.take(member, bytes, &mut missed, &mut is_first));
        self.end(read).map(|()| missed)
    }

    fn unread(&self, source: io::Error) -> UnpackError {
        UnpackError::Read { archive: self.name.to_owned(), source }
    }

    fn unwritten(&self, source: io::Error) -> UnpackError {
        let directory = std::env::temp_dir().display().to_string();
        UnpackError::Write { archive: self.name.to_owned(), directory, source }
    }

    fn end<R: Read>(
        &mut self,
        read: Result<TarEnd<R>, Halt<UnpackError>>,
    ) -> Result<(), UnpackError> {
        let archive = self.name.to_owned();
        let mut end = read.map_err(|halt| match halt {
            Halt::Unread(source) => self.unread(source),
            Halt::Refused(error) => error,
        })?;
        self.file.flush().map_err(|source| self.unwritten(source))?;
        if let Some(fault) = end.faults.pop() {
            return Err(UnpackError::Member { archive, fault });
        }
        if !end.has_end_block {
            return Err(UnpackError::CutOff { archive });
        }
        let padding_len = end.padding_len().map_err(|source| self.unread(source))?;
        if padding_len.is_some() { Ok(()) } else { Err(UnpackError::Stray { archive }) }
    }

    fn take(
        &mut self,
        member: &TarMember,
        bytes: &mut dyn Read,
        missed: &mut BTreeSet<RelPath>,
        is_first: &mut bool,
    ) -> Result<(), Halt<UnpackError>> {
        if let Some(fault) = member.faults.first().cloned() {
            return Err(UnpackError::Member { archive: self.name.to_owned(), fault }.into());
        }
        if std::mem::take(is_first) && member.path != MANIFEST {
            let (archive, member) = (self.name.to_owned(), member.path.clone());
            return Err(UnpackError::First { archive, member }.into());
        }
        let path: RelPath = member.path.parse().map_err(io::Error::other)?;
        self.check_ratio(member, &path)?;
        if !self.takes(&path) {
            return Ok(());
        }
        let unpacked = match &member.kind {
            MemberKind::Directory => Member::Directory,
            MemberKind::Symlink(text) => Member::Symlink(text.clone()),
            MemberKind::HardLink(target) => {
                let target = target.parse().map_err(io::Error::other)?;
                let is_here = |target| self.takes(target) && !missed.contains(target);
                match self.members.get(&target) {
                    Some(target_member) if self.wanted.is_none() || is_here(&target) => {
                        target_member.clone()
                    }
                    _ => {
                        missed.extend([path, target]);
                        return Ok(());
                    }
                }
            }
            MemberKind::File | MemberKind::Special => self.content(member, bytes, &path)?,
        };
        self.members.insert(path, unpacked);
        Ok(())
    }

    fn takes(&self, path: &RelPath) -> bool {
        if path.as_str() == MANIFEST {
            return self.members.get(path).is_none();
        }
        self.wanted.is_none_or(|wanted| wanted.contains(path))
    }

    fn check_ratio(&mut self, member: &TarMember, path: &RelPath) -> Result<(), UnpackError> {
        let (is_sparse, size, packed) = (member.is_sparse, member.size, self.packed);
        let archive = self.name.to_owned();
        if !is_sparse && size > packed.saturating_mul(DENSEST) {
            return Err(UnpackError::Impossible { archive, member: path.clone(), size, packed });
        }
        self.unpacked = self.unpacked.saturating_add(size);
        let size = self.unpacked;
        if size > UNSUSPICIOUS.max(packed.saturating_mul(MOST_RATIO)) {
            return Err(UnpackError::Dense { archive, size, packed });
        }
        Ok(())
    }

    fn check_room(&self, size: u64, path: &RelPath) -> Result<(), UnpackError> {
        let (archive, member, room) = (self.name.to_owned(), path.clone(), self.file.room());
        if size > room {
            return Err(UnpackError::Room { archive, member, size, room });
        }
        Ok(())
    }

    fn content(
        &mut self,
        member: &TarMember,
        bytes: &mut dyn Read,
        path: &RelPath,
    ) -> Result<Member, UnpackError> {
        self.check_room(member.size, path)?;
        let unread = |source| {
            let (archive, member) = (self.name.to_owned(), path.clone());
            UnpackError::Content { archive, member, source }
        };
        let executable = member.mode().map_err(unread)? & 0o111 != 0;
        let piece = match self.file.append(bytes) {
            Ok(piece) if piece.len() == member.size => piece,
            Ok(_) => return Err(unread(io::ErrorKind::UnexpectedEof.into())),
            Err(AppendError::Read(source)) => return Err(unread(source)),
            Err(AppendError::Write(source)) => return Err(self.unwritten(source)),
        };
        Ok(Member::File { piece, executable })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn reports_missing_disk_space_with_units() {
        let mut header = tar::Header::new_gnu();
        header.set_path(MANIFEST).unwrap();
        header.set_size(5_000_000_000_000_000_000);
        header.set_mode(0o644);
        header.set_cksum();
        let (mut file, mut members) = (Scratch::default().take().unwrap(), Members::default());
        let mut unpacking = Unpacking {
            name: "a.tar.zst",
            packed: u64::MAX,
            unpacked: 0,
            file: &mut file,
            members: &mut members,
            wanted: None,
        };
        let error =
            unpacking.unpack_stream(&header.as_bytes()[..], Storage::Directory).unwrap_err();
        let text = error.to_string();
        let start = "not enough disk space to unpack archive a.tar.zst: its next file, \
                     `artifact_manifest.txt`, has 5000000 TB, but only ";
        assert!(text.starts_with(start) && text.ends_with("B are free"), "{text}");
    }

    #[test]
    fn refuses_an_archive_bomb_by_its_headers() {
        let unpack = |packed: u64, sizes: &[u64]| {
            let header = |name: &str, size: u64| {
                let mut header = tar::Header::new_gnu();
                header.set_path(name).unwrap();
                header.set_size(size);
                header.set_mode(0o644);
                header.set_cksum();
                header.as_bytes().to_vec()
            };
            let mut bytes = header(MANIFEST, 0);
            for (number, size) in sizes.iter().enumerate() {
                bytes.extend(header(&format!("stage/{number}"), *size));
                // Only the last one has no content.
                bytes.resize(bytes.len() + size.next_multiple_of(512).min(1 << 20) as usize, 0);
            }
            let (mut file, mut members) = (Scratch::default().take().unwrap(), Members::default());
            let mut unpacking = Unpacking {
                name: "a_lib_generic.tar.zst",
                packed,
                unpacked: 0,
                file: &mut file,
                members: &mut members,
                wanted: Some(&BTreeSet::new()),
            };
            unpacking.unpack_stream(&bytes[..], Storage::Directory).unwrap_err().to_string()
        };
        let refused = "archive a_lib_generic.tar.zst unpacks to 8.58 GB or more, over 1000 times \
                       its 262 kB";
        assert_eq!(unpack(262_000, &[8 << 30]), refused);
        assert_eq!(unpack(262_000, &[1 << 20, (8 << 30) - (1 << 20)]), refused);
        // A packed gigabyte is no reason, and a small archive can be dense.
        for (packed, size) in [(8 << 20, 8_000 << 20), (1, 1 << 30)] {
            let error = unpack(packed, &[size]);
            assert!(!error.contains("1000 times"), "{error}");
        }
    }
}
