use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::hash::Sha256;
use base::hash::Sha256Hasher;
use base::identity::{FileState, Identity};

/// SHA-256 of a member's edited bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentDigest(pub Sha256);

/// Key of a packed stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// Key of `content` packed with `settings`, which must name everything that affects the packed
    /// bytes, encoder and version included.
    pub fn new(content: ContentDigest, settings: &str) -> Self {
        let mut hasher = Sha256Hasher::default();
        hasher.update(b"rockpack key 1\n");
        hasher.update(content.0.as_bytes());
        hasher.update(settings);
        Self(*hasher.finish().sha256.as_bytes())
    }

    /// Bytes of the digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Key {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Hash of source files and edits, without reading; see [`Fingerprinter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

/// Map that hashes SHA-256 keys by their first bytes: opening a cache inserts tens of thousands.
pub(super) type ByHash<K, V> = HashMap<K, V, BuildHasherDefault<FirstBytes>>;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |number, byte| number.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(first_bytes(&self.0));
    }
}

impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(first_bytes(&self.0));
    }
}

fn first_bytes(hash: &[u8; 32]) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Minimum age of a file's last change for a fingerprint. Within a file system's clock tick (4 ms;
/// on some, 1 or 2 s), a file can change again without new times.
const SETTLED: Duration = Duration::from_secs(2);

/// Maker of a [`Fingerprint`].
///
/// Callers must stat files before reading: the next build then notices a change in between.
#[derive(Debug, Clone, Default)]
pub struct Fingerprinter {
    hasher: Sha256Hasher,
    newest: Option<SystemTime>,
    timeless: bool,
}

impl Fingerprinter {
    /// Starts without input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the identity of a file.
    pub fn identity(&mut self, identity: &Identity) {
        match identity {
            Identity::File(file) => self.file(file),
            Identity::Tag(tag) => {
                self.hasher.update(b"tag");
                self.bytes(tag.as_bytes());
            }
        }
    }

    fn file(&mut self, file: &FileState) {
        let (modified, changed) = (file.modified, file.changed);
        self.hasher.update(b"file");
        for number in [file.device, file.inode, file.size] {
            self.hasher.update(number.to_le_bytes());
        }
        for time in [modified.0, modified.1, changed.0, changed.1] {
            self.hasher.update(time.to_le_bytes());
        }
        self.see(modified);
        self.see(changed);
    }

    /// Adds other data, such as edits.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.hasher.update(b"byte");
        self.hasher.update((bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }

    /// Fingerprint; `None` for times before 1970 or within two seconds.
    pub fn finish(self) -> Option<Fingerprint> {
        self.finish_at(SystemTime::now())
    }

    fn finish_at(self, now: SystemTime) -> Option<Fingerprint> {
        let is_stable = self
            .newest
            .is_none_or(|newest| now.duration_since(newest).is_ok_and(|age| age > SETTLED));
        (is_stable && !self.timeless).then(|| Fingerprint(*self.hasher.finish().sha256.as_bytes()))
    }

    /// Rules out a fingerprint before 1970.
    fn see(&mut self, (seconds, nanoseconds): (i64, i64)) {
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds))
        else {
            self.timeless = true;
            return;
        };
        match UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds)) {
            Some(time) => self.newest = self.newest.max(Some(time)),
            None => self.timeless = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn fingerprint_at(path: &Path, now: SystemTime) -> Option<Fingerprint> {
        let mut fingerprinter = Fingerprinter::new();
        let state = FileState::new(&fs_err::metadata(path).unwrap());
        fingerprinter.identity(&Identity::File(state));
        fingerprinter.finish_at(now)
    }

    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_mins(1)
    }

    #[test]
    fn keys_differ_by_content_and_by_settings() {
        let content = |text: &[u8]| ContentDigest(Sha256::of(text));
        let key = Key::new(content(b"a"), "deflate 6");
        assert_eq!(key, Key::new(content(b"a"), "deflate 6"));
        assert_ne!(key, Key::new(content(b"b"), "deflate 6"));
        assert_ne!(key, Key::new(content(b"a"), "deflate 61"));
    }

    #[test]
    fn changes_the_fingerprint_of_an_overwritten_or_replaced_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs_err::write(&path, "one").unwrap();
        let before = fingerprint_at(&path, later()).unwrap();
        assert_eq!(before, fingerprint_at(&path, later()).unwrap());
        let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(Duration::from_millis(20));
        fs_err::write(&path, "two").unwrap();
        fs_err::OpenOptions::new().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        assert_eq!(fs_err::metadata(&path).unwrap().modified().unwrap(), modified);
        let after = fingerprint_at(&path, later()).unwrap();
        assert_ne!(before, after);
        fs_err::copy(&path, dir.path().join("g")).unwrap();
        fs_err::rename(dir.path().join("g"), &path).unwrap();
        assert_ne!(after, fingerprint_at(&path, later()).unwrap());
    }

    #[test]
    fn makes_no_fingerprint_of_a_recent_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs_err::write(&path, "one").unwrap();
        let changed = fs_err::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(fingerprint_at(&path, changed + Duration::from_secs(1)), None);
        assert_eq!(
            fingerprint_at(&path, changed - Duration::from_secs(10)),
            None,
            "a time to come is no age"
        );
        assert!(fingerprint_at(&path, later()).is_some());
    }

    #[test]
    fn separates_parts_of_a_fingerprint() {
        let fingerprint_of = |parts: &[&[u8]]| {
            let mut fingerprinter = Fingerprinter::new();
            for part in parts {
                fingerprinter.bytes(part);
            }
            fingerprinter.finish().unwrap()
        };
        assert_ne!(fingerprint_of(&[b"ab", b"c"]), fingerprint_of(&[b"a", b"bc"]));
        assert_ne!(fingerprint_of(&[b"ab"]), fingerprint_of(&[b"ab", b""]));
    }
}
