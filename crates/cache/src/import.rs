use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use base::hash::{self, Sha256};
use base::partial::PartialFile;
use fs_err::File;

use super::awaited::Form;
use super::key::Key;
use super::read::PackedBytes;
use super::recipe::Recipe;
use super::table::{Row, Table};
use super::writer::Sealed;
use super::{Cache, CacheEntry, Damage};
use wheel::archive::checksum::{Checksum, Digest};
use wheel::archive::deflate::Method;
use wheel::archive::tarball::XzBlock;

#[derive(Debug, Default)]
pub(super) struct Imports {
    file: OnceLock<Growing>,
    index: Mutex<Index>,
}

/// Two handles of one file, which `temporary` removes when dropped.
#[derive(Debug)]
struct Growing {
    temporary: Mutex<Option<PartialFile>>,
    file: File,
}

#[derive(Debug, Default)]
struct Index {
    /// Includes rejected streams.
    length: u64,
    rows: Vec<Row>,
    keys: HashMap<[u8; 32], usize>,
}

/// Reserved range for one stream.
#[derive(Debug)]
pub struct Room<'c> {
    file: &'c File,
    offset: u64,
    len: u64,
}

impl Room<'_> {
    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True for an empty range.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The range without its first `bytes`.
    #[must_use]
    pub fn behind(&self, bytes: u64) -> Self {
        let bytes = bytes.min(self.len);
        Room { file: self.file, offset: self.offset + bytes, len: self.len - bytes }
    }

    /// SHA-256 of the written bytes.
    pub fn sha256(&self) -> io::Result<Sha256> {
        Ok(hash::of_reader(PackedBytes::new(self.file, self.offset, self.len))?.sha256)
    }

    /// Writes at `offset`, relative to the stream's start.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::FileTooLarge`] beyond the range.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let fits = offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.len);
        if !fits {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.file().write_all_at(bytes, self.offset + offset)
    }
}

impl Imports {
    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn find(&self, key: &Key) -> Option<CacheEntry> {
        let index = self.lock();
        let number = *index.keys.get(key.as_bytes())?;
        Some(index.rows[number].entry(number))
    }

    /// Forgets a stream; returns true if it was received in this build.
    pub fn reject(&self, entry: &CacheEntry) -> bool {
        let mut index = self.lock();
        let number = usize::MAX - entry.slot;
        let Some(key) = index.rows.get(number).map(|row| row.key) else { return false };
        index.keys.remove(key.as_bytes()).is_some()
    }

    /// File and offset of a received stream.
    ///
    /// # Panics
    /// Panics if the entry belongs to another store.
    pub fn place(&self, entry: &CacheEntry) -> (&File, u64) {
        let growing = self.file.get().expect("an entry of this store");
        (&growing.file, self.lock().rows[usize::MAX - entry.slot].offset)
    }

    pub fn take(&self) -> Option<Sealed> {
        let growing = self.file.get()?;
        let file = growing.temporary.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut index = self.lock();
        let (rows, keys) = (std::mem::take(&mut index.rows), std::mem::take(&mut index.keys));
        let whole = rows.into_iter().filter(|row| keys.contains_key(row.key.as_bytes()));
        let rows: Vec<Row> = whole.collect();
        // The last reserved range may be unwritten.
        let length = rows.iter().map(|row| row.offset + row.packed_len).max()?;
        file.as_file().set_len(length).ok()?;
        Some(Sealed { file, table: Table { length, rows, ..Table::default() } })
    }
}

impl Row {
    fn entry(&self, number: usize) -> CacheEntry {
        let Self { digest, method, packed_len, packed_crc, .. } = *self;
        CacheEntry { digest, method, packed_len, packed_crc, slot: usize::MAX - number }
    }
}

impl Cache {
    /// Reserves `len` bytes for a stream; `None` beyond the cache's limit.
    pub fn room(&self, len: u64) -> io::Result<Option<Room<'_>>> {
        let mut index = self.imports.lock();
        let Some(end) = index.length.checked_add(len).filter(|end| *end <= self.limit) else {
            return Ok(None);
        };
        if self.imports.file.get().is_none() {
            let temporary = self.directory.temporary()?;
            let file = fs_err::OpenOptions::new().read(true).write(true).open(temporary.path())?;
            let temporary = Mutex::new(Some(temporary));
            let _ = self.imports.file.set(Growing { temporary, file });
        }
        let Some(Growing { file, .. }) = self.imports.file.get() else { return Ok(None) };
        Ok(Some(Room { file, offset: std::mem::replace(&mut index.length, end), len }))
    }

    /// Accepts the stream in `room` if it unpacks to the size and hash of `recipe`.
    pub fn import(
        &self,
        recipe: &Recipe,
        form: Form,
        room: &Room<'_>,
    ) -> Result<CacheEntry, Damage> {
        let packed = || PackedBytes::new(room.file, room.offset, room.len);
        let (digest, method, packed_crc) = match form {
            Form::Deflate => {
                let (crc, content) = super::read::digest_deflated(packed(), recipe.size)?;
                let content = content.ok_or(Damage::Stream)?;
                check(&content, recipe)?;
                (content, Method::Deflate, crc)
            }
            Form::XzBlock => {
                let mut bytes = Vec::new();
                packed().read_to_end(&mut bytes).map_err(Damage::Read)?;
                let (digest, crc) = (Digest::of(&bytes), Checksum::of(&bytes).value());
                let block = XzBlock::from_bytes(bytes).ok_or(Damage::Stream)?;
                let content = block.digest(recipe.size).ok_or(Damage::Stream)?;
                check(&content, recipe)?;
                (digest, Method::Store, crc)
            }
        };
        let key = recipe.key();
        let (packed_len, offset) = (room.len, room.offset);
        let row = Row { key, digest, method, packed_len, packed_crc, offset };
        let mut index = self.imports.lock();
        let number = index.rows.len();
        let entry = row.entry(number);
        index.rows.push(row);
        index.keys.insert(*key.as_bytes(), number);
        Ok(entry)
    }
}

fn check(content: &Digest, recipe: &Recipe) -> Result<(), Damage> {
    let is_same = content.sha256 == recipe.content.0 && content.size == recipe.size;
    if is_same { Ok(()) } else { Err(Damage::Content) }
}
