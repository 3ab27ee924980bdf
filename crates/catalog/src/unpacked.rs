use std::io;

use super::lock::ReadArchive;
use super::members::{Member, Members};
use super::scratch::{LeasedPiece, Piece};
use super::source::{OpenFile, SourceFile};
use base::hash::Sha256;
use base::identity::Identity;
use base::names::RelPath;
use base::regular;
use binary::ReadAt;

#[derive(Debug)]
pub(super) struct UnpackedArchive {
    pub members: Members,
    pub archive: ReadArchive,
    pub proof: Proof,
}

/// Verified checksum over all bytes of the members, perhaps not of the whole archive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Proof {
    Whole(Sha256),
    /// The end has the checksum of each frame.
    End(Sha256),
}

impl Proof {
    fn identity(self, path: &RelPath) -> Identity {
        Identity::Tag(match self {
            Self::Whole(sha256) => format!("archive {sha256}: {path}"),
            Self::End(sha256) => format!("end of archive {sha256}: {path}"),
        })
    }
}

impl UnpackedArchive {
    pub fn text(&self, path: &RelPath, most: u64) -> io::Result<String> {
        let Some(Member::File { piece, .. }) = self.members.followed(path) else {
            return Err(self.fault(io::ErrorKind::NotFound, path, "is missing or not a file"));
        };
        let name = format!("{}/{path}", self.archive.locked.key);
        if piece.len() > most {
            return Err(regular::too_large(&name, most));
        }
        let mut bytes = vec![0; usize::try_from(piece.len()).map_err(io::Error::other)?];
        piece.read_exact_at(0, &mut bytes)?;
        regular::text(bytes, &name)
    }

    pub fn find(&self, path: &RelPath) -> io::Result<ArchivedFile> {
        let (kind, fault) = match self.members.get(path) {
            Some(Member::File { piece, executable }) => {
                let (piece, identity) = (piece.lease()?, self.proof.identity(path));
                return Ok(ArchivedFile { piece, executable: *executable, identity });
            }
            Some(Member::Directory) => (io::ErrorKind::IsADirectory, "is a directory, not a file"),
            Some(Member::Symlink(_)) => (io::ErrorKind::InvalidInput, "is a link, not a file"),
            None => (io::ErrorKind::NotFound, "is missing"),
        };
        Err(self.fault(kind, path, fault))
    }

    fn fault(&self, kind: io::ErrorKind, path: &RelPath, fault: &str) -> io::Error {
        io::Error::new(kind, format!("`{path}` of archive {} {fault}", self.archive.locked.key))
    }
}

/// Verified bytes that other processes cannot change.
#[derive(Debug)]
pub(super) struct ArchivedFile {
    piece: LeasedPiece,
    executable: bool,
    identity: Identity,
}

impl SourceFile for ArchivedFile {
    fn len(&self) -> u64 {
        self.piece.len()
    }

    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(&self) -> io::Result<Box<dyn OpenFile>> {
        Ok(Box::new(Opened { piece: self.piece.piece().clone(), executable: self.executable }))
    }

    fn read_ahead(&self, offset: u64, len: u64) {
        self.piece.piece().read_ahead(offset, len);
    }

    fn give_up(&self) {
        self.piece.give_up();
    }
}

/// Needs no file descriptor.
struct Opened {
    piece: Piece,
    executable: bool,
}

impl ReadAt for Opened {
    fn len(&self) -> io::Result<u64> {
        Ok(self.piece.len())
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        self.piece.read_exact_at(offset, buf)
    }
}

impl OpenFile for Opened {
    fn is_executable(&self) -> bool {
        self.executable
    }

    fn check_unchanged(&self) -> io::Result<()> {
        Ok(())
    }
}
