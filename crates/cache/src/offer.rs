use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::key::{ContentDigest, Fingerprint, Key};
use super::recipe::Recipe;
use super::table::Row;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

/// Keys offered by the archives of a build: each is kept once.
#[derive(Debug, Clone, Default)]
pub struct Claims(Arc<Mutex<HashSet<Key>>>);

impl Claims {
    /// Empty offer for one more archive.
    pub fn offer(&self) -> Offer {
        Offer {
            claims: self.clone(),
            rows: Vec::new(),
            recipes: Vec::new(),
            memos: Vec::new(),
            is_kept: false,
        }
    }

    fn claim(&self, key: Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }
}

/// Streams and memo rows of one archive, kept by [`super::Store::finish`].
#[derive(Debug)]
pub struct Offer {
    claims: Claims,
    pub(super) rows: Vec<Row>,
    recipes: Vec<(usize, Recipe)>,
    pub(super) memos: Vec<(Fingerprint, ContentDigest)>,
    pub(super) is_kept: bool,
}

/// Packed bytes in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Offset in the archive.
    pub offset: u64,
    /// Size in bytes.
    pub len: u64,
    /// CRC-32 of the packed bytes.
    pub crc: u32,
    /// Compression method.
    pub method: Method,
}

/// Finished archive.
#[derive(Debug)]
pub struct Archive {
    /// Current path.
    pub path: PathBuf,
    /// Streams to keep.
    pub offer: Offer,
}

impl Row {
    fn stretch(&self) -> Stretch {
        let Self { packed_len: len, packed_crc: crc, method, offset, .. } = *self;
        Stretch { offset, len, crc, method }
    }
}

impl Offer {
    /// Offers a stream once per build. Skips a stored stream if its size differs from its content.
    pub fn stream(&mut self, key: Key, content: &Digest, packed: Stretch) {
        let Stretch { offset, len, crc, method } = packed;
        let torn = method == Method::Store && len != content.size;
        if !torn && self.claims.claim(key) {
            self.rows.push(Row {
                key,
                digest: *content,
                method,
                packed_len: len,
                packed_crc: crc,
                offset,
            });
        }
    }

    /// Offers the stream of `recipe`, by which other machines find it.
    pub fn stream_of(&mut self, recipe: Recipe, content: &Digest, packed: Stretch) {
        let rows = self.rows.len();
        self.stream(recipe.key(), content, packed);
        if self.rows.len() > rows {
            self.recipes.push((rows, recipe));
        }
    }

    /// Streams from [`Offer::made`].
    pub fn recipes(&self) -> impl Iterator<Item = (&Recipe, Stretch)> {
        self.recipes.iter().map(|(row, recipe)| (recipe, self.rows[*row].stretch()))
    }

    /// For the next build.
    pub fn memo(&mut self, fingerprint: Fingerprint, content: ContentDigest) {
        self.memos.push((fingerprint, content));
    }
    /// All offered streams.
    pub fn streams(&self) -> impl Iterator<Item = (&Key, &Digest, Stretch)> {
        self.rows.iter().map(|row| (&row.key, &row.digest, row.stretch()))
    }

    /// Remembered contents of fingerprints.
    pub fn memos(&self) -> &[(Fingerprint, ContentDigest)] {
        &self.memos
    }
}
