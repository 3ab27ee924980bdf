use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err::File;
use rustix::fs::{FallocateFlags, fallocate};

use base::regular;

/// Bytes of one write: most members are small.
const PIECE: usize = 1 << 20;
/// Unit in which file systems free space.
const PAGE: u64 = 4096;
/// Less space is freed with the whole file, which saves a system call for each small member.
const WORTH_IT: u64 = 64 << 10;

/// Unnamed files in `TMPDIR`: inaccessible to other processes, and removed even if this one is
/// killed.
///
/// Each has many members: single files would be slow, and exceed the limit of open files.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    idle: Mutex<Vec<ScratchFile>>,
}

impl Scratch {
    pub fn take(&self) -> io::Result<ScratchFile> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(ScratchFile::new, Ok)
    }

    pub fn give_back(&self, file: ScratchFile) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }
}

pub(super) struct ScratchFile {
    file: Arc<File>,
    flushed: u64,
    pending: Box<[u8]>,
    filled: usize,
}

impl ScratchFile {
    fn new() -> io::Result<Self> {
        let dir = std::env::temp_dir();
        let file = tempfile::tempfile_in(&dir).map_err(|error| {
            let message = format!("cannot make a temporary file in {}: {error}", dir.display());
            io::Error::new(error.kind(), message)
        })?;
        let file = Arc::new(File::from_parts(file, dir));
        Ok(Self { file, flushed: 0, pending: vec![0; PIECE].into(), filled: 0 })
    }

    /// Free space; the maximum if unknown.
    pub fn room(&self) -> u64 {
        let stats = rustix::fs::fstatvfs(&*self.file);
        stats.map_or(u64::MAX, |stats| stats.f_bavail.saturating_mul(stats.f_frsize))
    }

    /// Appends `bytes`, to be read after [`Self::flush`].
    pub fn append(&mut self, mut bytes: impl Read) -> Result<Piece, AppendError> {
        let start = self.flushed + self.filled as u64;
        loop {
            if self.filled == self.pending.len() {
                self.flush().map_err(AppendError::Write)?;
            }
            match bytes.read(&mut self.pending[self.filled..]) {
                Ok(0) => break,
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(AppendError::Read(error)),
            }
        }
        let len = self.flushed + self.filled as u64 - start;
        Ok(Piece { file: self.file.clone(), start, len, uses: Arc::default() })
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.file().write_all_at(&self.pending[..self.filled], self.flushed)?;
        self.flushed += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

impl fmt::Debug for ScratchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchFile").field("written", &self.flushed).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub(super) enum AppendError {
    Read(io::Error),
    Write(io::Error),
}

#[derive(Debug, Clone)]
pub(super) struct Piece {
    file: Arc<File>,
    start: u64,
    len: u64,
    uses: Arc<Uses>,
}

#[derive(Debug, Default)]
struct Uses {
    /// Holders.
    count: AtomicUsize,
    given_up: AtomicBool,
}

impl Piece {
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Fails beyond the end, or after freeing.
    pub fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        if offset.checked_add(buf.len() as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.file().read_exact_at(buf, self.start + offset)?;
        // `given_up` is set before the space is freed.
        self.check_kept()
    }

    pub fn read_ahead(&self, offset: u64, len: u64) {
        let len = len.min(self.len.saturating_sub(offset));
        regular::read_ahead(&self.file, self.start.saturating_add(offset), len);
    }

    pub fn lease(&self) -> io::Result<LeasedPiece> {
        self.uses.count.fetch_add(1, Ordering::SeqCst);
        let piece = LeasedPiece { piece: self.clone(), given_up: AtomicBool::new(false) };
        self.check_kept().map(|()| piece)
    }

    fn check_kept(&self) -> io::Result<()> {
        if self.uses.given_up.load(Ordering::SeqCst) {
            return Err(io::Error::other(
                "its bytes were already released: all packages have them",
            ));
        }
        Ok(())
    }

    fn punch(&self) {
        let from = self.start.next_multiple_of(PAGE);
        let end = (self.start + self.len) / PAGE * PAGE;
        if end.saturating_sub(from) >= WORTH_IT {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Otherwise the space is freed with the file.
            let _ = fallocate(self.file.file(), flags, from, end - from);
        }
    }
}

#[derive(Debug)]
pub(super) struct LeasedPiece {
    piece: Piece,
    given_up: AtomicBool,
}

impl LeasedPiece {
    pub fn piece(&self) -> &Piece {
        &self.piece
    }

    pub fn len(&self) -> u64 {
        self.piece.len
    }

    /// Ends this holder's use; the last one frees the space.
    pub fn give_up(&self) {
        let uses = &self.piece.uses;
        let is_first = !self.given_up.swap(true, Ordering::SeqCst);
        if is_first && uses.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            uses.given_up.store(true, Ordering::SeqCst);
            self.piece.punch();
        }
    }
}

impl Drop for LeasedPiece {
    /// Does not free the space: the holder did not give up.
    fn drop(&mut self) {
        if !*self.given_up.get_mut() {
            self.piece.uses.count.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_members_and_reads_them_within_their_bounds() {
        let scratch = Scratch::default();
        let mut file = scratch.take().unwrap();
        let large: Vec<u8> = (0..=250).cycle().take(PIECE + 100).collect();
        let first = file.append(&b"one"[..]).unwrap();
        let empty = file.append(io::empty()).unwrap();
        let second = file.append(&large[..]).unwrap();
        file.flush().unwrap();
        scratch.give_back(file);
        let mut reused = scratch.take().unwrap();
        let third = reused.append(&b"three"[..]).unwrap();
        reused.flush().unwrap();
        assert!(Arc::ptr_eq(&first.file, &third.file));
        for (piece, expected) in
            [(&first, &b"one"[..]), (&empty, b""), (&second, &large), (&third, b"three")]
        {
            let mut content = vec![0; expected.len()];
            piece.read_exact_at(0, &mut content).unwrap();
            assert!(content == expected);
            let error = piece.read_exact_at(1, &mut content).err().map(|e| e.kind());
            let past = (!expected.is_empty()).then_some(io::ErrorKind::UnexpectedEof);
            assert_eq!(error.filter(|_| !expected.is_empty()), past);
        }
        assert!(first.read_exact_at(u64::MAX, &mut [0]).is_err());
    }

    #[test]
    fn frees_released_pieces_and_refuses_to_read_them() {
        let mut file = ScratchFile::new().unwrap();
        let before = file.append(&[1; 100][..]).unwrap();
        let large = file.append(&vec![2; PIECE][..]).unwrap();
        let after = file.append(&[3; 100][..]).unwrap();
        file.flush().unwrap();
        let room = || rustix::fs::fstat(&*file.file).unwrap().st_blocks * 512;
        let (full, mut byte) = (room(), [0]);
        let (first, second) = (large.lease().unwrap(), large.lease().unwrap());
        drop(large.lease().unwrap());
        first.give_up();
        first.give_up();
        large.read_exact_at(7, &mut byte).unwrap();
        assert_eq!((byte, room()), ([2], full));
        drop(first);
        second.give_up();
        assert!(large.read_exact_at(7, &mut byte).is_err() && large.lease().is_err());
        let remaining = room();
        assert!(remaining <= full - i64::try_from(PIECE).unwrap() + 8192, "{remaining} of {full}");
        for (piece, expected) in [(&before, 1), (&after, 3)] {
            piece.read_exact_at(99, &mut byte).unwrap();
            assert_eq!(byte, [expected]);
        }
    }

    #[test]
    fn names_the_side_that_failed() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut file = ScratchFile::new().unwrap();
        assert!(matches!(file.append(Broken), Err(AppendError::Read(_))));
        let full = fs_err::OpenOptions::new().write(true).open("/dev/full").unwrap();
        file.file = Arc::new(full);
        let error = file.append(&vec![1; 2 * PIECE][..]);
        assert!(matches!(error, Err(AppendError::Write(_))));
    }
}
