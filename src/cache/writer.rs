//! Packed streams on their way into new segments.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::fstatvfs;
use tempfile::NamedTempFile;

use super::directory::Directory;
use super::key::{Content, Fingerprint, Key};
use super::table::{Row, Table};
use crate::archive::checksum::{Checksum, Digest};
use crate::archive::deflate::Method;

/// Small streams are written together.
const BUFFER: usize = 256 << 10;
/// How many bytes are written between two looks at the room that is left on the disk.
const BETWEEN_LOOKS: u64 = 16 << 20;

/// What all writers of one build share.
#[derive(Debug)]
pub(super) struct Shared {
    pub directory: Directory,
    /// Where a segment ends: no stream begins behind it.
    pub cap: u64,
    /// Bytes that the build may add.
    pub budget: u64,
    /// Bytes that have to stay free on the disk.
    pub reserve: u64,
    /// Bytes that were added so far.
    written: AtomicU64,
    /// What some writer has.
    claimed: Mutex<HashSet<Key>>,
}

impl Shared {
    pub fn new(directory: Directory, cap: u64, budget: u64) -> Self {
        Self { directory, cap, budget, reserve: 0, written: AtomicU64::new(0), claimed: Mutex::default() }
    }

    fn claim(&self, key: Key) -> bool {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }
}

/// Takes streams one after the other, piece by piece. One for each archive that is written;
/// archives may be written at the same time.
///
/// Nothing it is given is visible before `Cache::finish`, and nothing of it stays when it is
/// dropped. It never fails: when the disk is full or the limit is reached, it takes no more,
/// and `Cache::finish` tells.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    growing: Option<Growing>,
    sealed: Vec<Sealed>,
    memos: Vec<(Fingerprint, Content)>,
    member: Option<Member>,
    /// Why it takes no more.
    stopped: Option<Stopped>,
}

/// Why a writer takes no more.
#[derive(Debug)]
enum Stopped {
    /// More would be over the limit.
    Full,
    Failed(io::Error),
}

/// The stream that was begun.
#[derive(Debug)]
struct Member {
    method: Method,
    offset: u64,
    crc: Checksum,
}

/// A segment with all its bytes.
#[derive(Debug)]
pub(super) struct Sealed {
    pub file: NamedTempFile,
    pub table: Table,
}

/// What a writer has when all is done.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub sealed: Vec<Sealed>,
    pub memos: Vec<(Fingerprint, Content)>,
    pub trouble: Option<io::Error>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, growing: None, sealed: Vec::new(), memos: Vec::new(), member: None, stopped: None }
    }

    /// Begins a stream. Where no more is taken, calls that go on do nothing.
    ///
    /// What was begun before and not ended is discarded.
    pub fn begin(&mut self, method: Method) {
        self.discard();
        if self.stopped.is_some() {
            return;
        }
        match self.grow() {
            Ok(offset) => self.member = Some(Member { method, offset, crc: Checksum::default() }),
            Err(error) => self.stop(Stopped::Failed(error)),
        }
    }

    /// Goes on with the stream.
    pub fn append(&mut self, packed: &[u8]) {
        let (Some(member), Some(growing)) = (&mut self.member, &mut self.growing) else { return };
        let bytes = packed.len() as u64;
        if self.shared.written.fetch_add(bytes, Ordering::Relaxed) + bytes > self.shared.budget {
            return self.end_of_budget(bytes);
        }
        member.crc.update(packed);
        if let Err(error) = growing.append(packed, self.shared.reserve) {
            self.stop(Stopped::Failed(error));
        }
    }

    /// Ends the stream of `key`, which is `content` packed: only now is its hash known. It is discarded
    /// when another writer of this build has it, and when a stored one is not as long as its content.
    pub fn end(&mut self, key: Key, content: &Digest) {
        let (Some(member), Some(growing)) = (&self.member, &mut self.growing) else { return };
        let packed_len = growing.length() - member.offset;
        let torn = member.method == Method::Store && packed_len != content.size;
        if torn || !self.shared.claim(key) {
            return self.discard();
        }
        let Member { method, offset, crc } = member;
        growing.rows.push(Row { key, digest: *content, method: *method, packed_len, packed_crc: crc.value(), offset: *offset });
        self.member = None;
    }

    /// Remembers what the files of a fingerprint come to, so that the next build need not read them.
    pub fn memo(&mut self, fingerprint: Fingerprint, content: Content) {
        self.memos.push((fingerprint, content));
    }

    /// A segment to add to, and its length.
    fn grow(&mut self) -> io::Result<u64> {
        if self.growing.as_ref().is_some_and(|growing| growing.length() >= self.shared.cap) {
            self.seal()?;
        }
        if self.growing.is_none() {
            self.growing = Some(Growing::new(self.shared.directory.temporary()?));
        }
        Ok(self.growing.as_ref().map_or(0, Growing::length))
    }

    fn seal(&mut self) -> io::Result<()> {
        let sealed = self.growing.take().map(Growing::seal).transpose()?;
        self.sealed.extend(sealed.filter(|sealed| !sealed.table.rows.is_empty()));
        Ok(())
    }

    /// Takes back the stream that was not ended.
    fn discard(&mut self) {
        let (Some(member), Some(growing)) = (self.member.take(), &mut self.growing) else { return };
        self.shared.written.fetch_sub(growing.length() - member.offset, Ordering::Relaxed);
        if let Err(error) = growing.truncate(member.offset) {
            self.stop(Stopped::Failed(error));
        }
    }

    /// Takes no more, and keeps what is whole. A smaller stream may fit where this one did not, but
    /// then what is cached would depend on who comes first.
    fn end_of_budget(&mut self, bytes: u64) {
        self.shared.written.fetch_sub(bytes, Ordering::Relaxed);
        self.discard();
        self.stopped.get_or_insert(Stopped::Full);
    }

    /// Takes no more. After a failure nothing is kept either: what is being built needs the room.
    fn stop(&mut self, why: Stopped) {
        self.member = None;
        self.growing = None;
        self.sealed.clear();
        self.stopped.get_or_insert(why);
    }

    /// All that is whole.
    pub(super) fn into_written(mut self) -> Written {
        self.discard();
        if let Err(error) = self.seal() {
            self.stop(Stopped::Failed(error));
        }
        let trouble = match self.stopped {
            Some(Stopped::Failed(error)) => Some(error),
            Some(Stopped::Full) | None => None,
        };
        Written { sealed: self.sealed, memos: self.memos, trouble }
    }
}

/// A segment that is being written.
#[derive(Debug)]
struct Growing {
    file: NamedTempFile,
    rows: Vec<Row>,
    /// Bytes that are in the file.
    flushed: u64,
    /// Bytes that are not yet.
    buffer: Vec<u8>,
    /// How many were in the file when its disk was last looked at.
    looked: Option<u64>,
}

impl Growing {
    fn new(file: NamedTempFile) -> Self {
        Self { file, rows: Vec::new(), flushed: 0, buffer: Vec::new(), looked: None }
    }

    fn length(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn append(&mut self, bytes: &[u8], reserve: u64) -> io::Result<()> {
        self.look(reserve)?;
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() > BUFFER {
            self.file.write_all(bytes)?;
            self.flushed += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Now and then, checks that the disk has more room than others need.
    fn look(&mut self, reserve: u64) -> io::Result<()> {
        if reserve == 0 || self.looked.is_some_and(|looked| self.flushed < looked + BETWEEN_LOOKS) {
            return Ok(());
        }
        self.looked = Some(self.flushed);
        let found = fstatvfs(self.file.as_file())?;
        if found.f_bavail.saturating_mul(found.f_frsize) < reserve {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "its disk has no more room than the packages need"));
        }
        Ok(())
    }

    /// Makes it end at `length`.
    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if let Some(kept) = length.checked_sub(self.flushed) {
            self.buffer.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            return Ok(());
        }
        self.buffer.clear();
        self.flushed = length;
        self.file.as_file().set_len(length)?;
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(length)).map(|_| ())
    }

    fn seal(mut self) -> io::Result<Sealed> {
        self.flush()?;
        let table = Table { length: self.flushed, rows: self.rows, memos: Vec::new() };
        Ok(Sealed { file: self.file, table })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = 300;

    fn shared(cap: u64, budget: u64) -> (tempfile::TempDir, Arc<Shared>) {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::below(dir.path());
        directory.create().unwrap();
        (dir, Arc::new(Shared::new(directory, cap, budget)))
    }

    fn key(number: u8) -> Key {
        Key::from([number; 32])
    }

    /// `SIZE` times a number, as a stream of that key.
    fn put(writer: &mut Writer, number: u8) {
        let bytes = [number; SIZE];
        writer.begin(Method::Store);
        bytes.chunks(100).for_each(|piece| writer.append(piece));
        writer.end(key(number), &Digest::of(&bytes));
    }

    /// Keys and offsets of every segment, whose bytes have to be what their rows say.
    fn streams(writer: Writer) -> Vec<Vec<(Key, u64)>> {
        let written = writer.into_written();
        assert!(written.trouble.is_none(), "{:?}", written.trouble);
        let segment = |sealed: &Sealed| {
            let bytes = fs_err::read(sealed.file.path()).unwrap();
            assert_eq!(bytes.len() as u64, sealed.table.length);
            let row = |row: &Row| {
                let start = usize::try_from(row.offset).unwrap();
                let packed = &bytes[start..start + usize::try_from(row.packed_len).unwrap()];
                assert_eq!((Digest::of(packed), Checksum::of(packed).value()), (row.digest, row.packed_crc));
                (row.key, row.offset)
            };
            sealed.table.rows.iter().map(row).collect()
        };
        written.sealed.iter().map(segment).collect()
    }

    #[test]
    fn a_segment_ends_behind_its_cap() {
        let (_dir, shared) = shared(500, u64::MAX);
        let mut writer = Writer::new(shared);
        (1..=3).for_each(|number| put(&mut writer, number));
        assert_eq!(streams(writer), [vec![(key(1), 0), (key(2), 300)], vec![(key(3), 0)]]);
    }

    #[test]
    fn what_is_not_ended_leaves_no_trace() {
        let (_dir, shared) = shared(u64::MAX, u64::MAX);
        let mut writer = Writer::new(shared.clone());
        put(&mut writer, 1);
        writer.begin(Method::Deflate);
        writer.append(&vec![7; 2 * BUFFER]);
        writer.append(b"more");
        put(&mut writer, 3);
        writer.begin(Method::Deflate);
        writer.append(b"buffered");
        put(&mut writer, 2);
        writer.begin(Method::Store);
        writer.append(b"five");
        writer.end(key(5), &Digest::of(b"six"));
        writer.begin(Method::Deflate);
        assert_eq!(streams(writer), [vec![(key(1), 0), (key(3), 300), (key(2), 600)]]);
        assert_eq!(shared.written.load(Ordering::Relaxed), 900);
    }

    #[test]
    fn two_writers_do_not_write_one_stream() {
        let (_dir, shared) = shared(u64::MAX, u64::MAX);
        let (mut one, mut two) = (Writer::new(shared.clone()), Writer::new(shared));
        put(&mut one, 1);
        put(&mut two, 1);
        put(&mut two, 2);
        assert_eq!((streams(one), streams(two)), (vec![vec![(key(1), 0)]], vec![vec![(key(2), 0)]]));
    }

    #[test]
    fn no_more_is_written_than_the_limit_allows() {
        let (_dir, shared) = shared(u64::MAX, 1000);
        let (mut one, mut two) = (Writer::new(shared.clone()), Writer::new(shared));
        put(&mut one, 1);
        put(&mut two, 2);
        put(&mut two, 3);
        put(&mut one, 4);
        put(&mut one, 5);
        assert_eq!((streams(one), streams(two)), (vec![vec![(key(1), 0)]], vec![vec![(key(2), 0), (key(3), 300)]]));
    }

    #[test]
    fn others_get_the_room_that_they_need() {
        let (dir, shared) = shared(u64::MAX, u64::MAX);
        let shared = Shared { reserve: u64::MAX, ..Arc::into_inner(shared).unwrap() };
        let mut writer = Writer::new(Arc::new(shared));
        put(&mut writer, 1);
        let written = writer.into_written();
        assert_eq!(written.trouble.unwrap().kind(), io::ErrorKind::StorageFull);
        assert!(written.sealed.is_empty());
        assert_eq!(walkdir::WalkDir::new(dir.path().join("rockpack-cache-1/tmp")).into_iter().count(), 1, "nothing but the directory");
    }
}
