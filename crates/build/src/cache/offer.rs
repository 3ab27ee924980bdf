//! What archives offer to be kept.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::key::{Content, Fingerprint, Key};
use super::recipe::Recipe;
use super::table::Row;
use wheel::archive::checksum::Digest;
use wheel::archive::deflate::Method;

/// The keys that some archive of a build offers: each is kept once.
#[derive(Debug, Clone, Default)]
pub struct Claims(Arc<Mutex<HashSet<Key>>>);

impl Claims {
    /// What one more archive offers: nothing so far.
    pub fn offer(&self) -> Offer {
        Offer { claims: self.clone(), rows: Vec::new(), recipes: Vec::new(), memos: Vec::new() }
    }

    /// Whether nobody had offered the stream of this key.
    fn claim(&self, key: Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }
}

/// The streams of one archive: where they lie in it, and what its files came to. One for each
/// archive that is written; archives may be written at the same time.
///
/// Nothing is kept before [`super::Store::finish`], which is told where the finished archive is.
#[derive(Debug)]
pub struct Offer {
    claims: Claims,
    pub(super) rows: Vec<Row>,
    /// How to make the streams, with the places of their rows.
    recipes: Vec<(usize, Recipe)>,
    pub(super) memos: Vec<(Fingerprint, Content)>,
}

/// Where packed bytes lie in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Their first byte, from the archive's start.
    pub offset: u64,
    /// How many they are.
    pub len: u64,
    /// Their CRC-32.
    pub crc: u32,
    /// How they are packed.
    pub method: Method,
}

/// An archive that is finished.
#[derive(Debug)]
pub struct Archive {
    /// Where it is now.
    pub path: PathBuf,
    /// What it offers.
    pub offer: Offer,
}

impl Row {
    fn stretch(&self) -> Stretch {
        let Self { packed_len: len, packed_crc: crc, method, offset, .. } = *self;
        Stretch { offset, len, crc, method }
    }
}

impl Offer {
    /// Offers the stream of `key`, which is `content` packed, unless another archive of this build
    /// does. A stored one has to be as long as its content.
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

    /// Offers the stream that `recipe` makes, as [`Offer::stream`] does, and says how it was made: other machines
    /// can find it by that.
    pub fn made(&mut self, recipe: Recipe, content: &Digest, packed: Stretch) {
        let rows = self.rows.len();
        self.stream(recipe.key(), content, packed);
        if self.rows.len() > rows {
            self.recipes.push((rows, recipe));
        }
    }

    /// The streams of [`Offer::made`]: how each was made, and where its packed bytes lie in the archive.
    pub fn recipes(&self) -> impl Iterator<Item = (&Recipe, Stretch)> {
        self.recipes.iter().map(|(row, recipe)| (recipe, self.rows[*row].stretch()))
    }

    /// Remembers what the files of a fingerprint come to, so that the next build need not read them.
    pub fn memo(&mut self, fingerprint: Fingerprint, content: Content) {
        self.memos.push((fingerprint, content));
    }
    /// The streams: key, content, and where the packed bytes lie in the archive.
    pub fn streams(&self) -> impl Iterator<Item = (&Key, &Digest, Stretch)> {
        self.rows.iter().map(|row| (&row.key, &row.digest, row.stretch()))
    }

    /// What the files of fingerprints come to.
    pub fn memos(&self) -> &[(Fingerprint, Content)] {
        &self.memos
    }
}
