use std::fmt;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fs_err::File;
use rustix::fs::{FallocateFlags, fallocate};

use base::regular;

const PIECE: usize = 1 << 20;
/// Unit in which file systems free space.
const PAGE: u64 = 4096;
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
    written: u64,
    pending: Box<[u8]>,
    filled: usize,
}

impl ScratchFile {
    fn new() -> io::Result<Self> {
        let dir = std::env::temp_dir();
        let file = tempfile::tempfile_in(&dir).map_err(|error| {
            let what = format!("cannot make a temporary file in {}: {error}", dir.display());
            io::Error::new(error.kind(), what)
        })?;
        let file = Arc::new(File::from_parts(file, dir));
        Ok(Self { file, written: 0, pending: vec![0; PIECE].into(), filled: 0 })
    }

    /// Free space; the maximum if unknown.
    pub fn room(&self) -> u64 {
        let found = rustix::fs::fstatvfs(&*self.file);
        found.map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Appends `bytes`, to be read after [`Self::flush`].
    pub fn append(&mut self, mut bytes: impl Read) -> Result<Piece, AppendError> {
        let start = self.written + self.filled as u64;
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
        let len = self.written + self.filled as u64 - start;
        Ok(Piece { file: self.file.clone(), start, len, uses: Arc::default() })
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.file().write_all_at(&self.pending[..self.filled], self.written)?;
        self.written += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

impl fmt::Debug for ScratchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchFile").field("written", &self.written).finish_non_exhaustive()
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

    pub fn found(&self) -> io::Result<FoundPiece> {
        self.uses.count.fetch_add(1, Ordering::SeqCst);
        let found = FoundPiece { piece: self.clone(), given_up: AtomicBool::new(false) };
        self.check_kept().map(|()| found)
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
pub(super) struct FoundPiece {
    piece: Piece,
    given_up: AtomicBool,
}

impl FoundPiece {
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

impl Drop for FoundPiece {
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
    fn members_lie_one_behind_the_other_and_are_read_inside_their_bounds() {
        let scratch = Scratch::default();
        let mut file = scratch.take().unwrap();
        let large: Vec<u8> = (0..=250).cycle().take(PIECE + 100).collect();
        let one = file.append(&b"one"[..]).unwrap();
        let none = file.append(io::empty()).unwrap();
        let two = file.append(&large[..]).unwrap();
        file.flush().unwrap();
        scratch.give_back(file);
        let mut again = scratch.take().unwrap();
        let three = again.append(&b"three"[..]).unwrap();
        again.flush().unwrap();
        assert!(Arc::ptr_eq(&one.file, &three.file));
        for (piece, expected) in
            [(&one, &b"one"[..]), (&none, b""), (&two, &large), (&three, b"three")]
        {
            let mut found = vec![0; expected.len()];
            piece.read_exact_at(0, &mut found).unwrap();
            assert!(found == expected);
            let error = piece.read_exact_at(1, &mut found).err().map(|e| e.kind());
            let past = (!expected.is_empty()).then_some(io::ErrorKind::UnexpectedEof);
            assert_eq!(error.filter(|_| !expected.is_empty()), past);
        }
        assert!(one.read_exact_at(u64::MAX, &mut [0]).is_err());
    }

    #[test]
    fn room_is_given_up_when_nobody_needs_it_and_what_is_gone_is_not_read() {
        let mut file = ScratchFile::new().unwrap();
        let before = file.append(&[1; 100][..]).unwrap();
        let large = file.append(&vec![2; PIECE][..]).unwrap();
        let behind = file.append(&[3; 100][..]).unwrap();
        file.flush().unwrap();
        let room = || rustix::fs::fstat(&*file.file).unwrap().st_blocks * 512;
        let (all, mut byte) = (room(), [0]);
        let (one, other) = (large.found().unwrap(), large.found().unwrap());
        drop(large.found().unwrap());
        one.give_up();
        one.give_up();
        large.read_exact_at(7, &mut byte).unwrap();
        assert_eq!((byte, room()), ([2], all));
        drop(one);
        other.give_up();
        assert!(large.read_exact_at(7, &mut byte).is_err() && large.found().is_err());
        let kept = room();
        assert!(kept <= all - i64::try_from(PIECE).unwrap() + 8192, "{kept} of {all}");
        for (piece, expected) in [(&before, 1), (&behind, 3)] {
            piece.read_exact_at(99, &mut byte).unwrap();
            assert_eq!(byte, [expected]);
        }
    }

    #[test]
    fn an_error_says_which_side_failed() {
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
