//! `rockpack.lock`: the exact archives of packages.
//!
//! JSON with one sorted line per archive, for `diff`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use base::hash::Sha256;
use base::partial::{self, PartialFile};
use base::regular;

/// Format number of the lock file.
pub const LOCK_FORMAT: u32 = 1;
/// Limit of a lock file in bytes, because it is read into memory.
const LONGEST_LOCK: u64 = 16 << 20;

/// Content of a lock file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SavedLock {
    /// Format number, [`LOCK_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = LOCK_FORMAT)))]
    pub format: u32,
    /// Archives, sorted by key.
    pub archives: Vec<LockedArchive>,
}

/// One archive with size and checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LockedArchive {
    /// File name of the archive, or its key below the run's address: `{name}_{component}_{family}.tar.zst`.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 of the archive.
    #[serde(deserialize_with = "sha256_in_any_case")]
    pub sha256: Sha256,
}

/// Accepts upper-case digits, which sidecars can have.
fn sha256_in_any_case<'de, D: Deserializer<'de>>(from: D) -> Result<Sha256, D::Error> {
    String::deserialize(from)?.to_ascii_lowercase().parse().map_err(D::Error::custom)
}

/// A read archive with the checksum of its bytes.
#[derive(Debug)]
pub struct ReadArchive {
    /// Key, size and checksum.
    pub locked: LockedArchive,
    /// True if a sidecar or lock file declared the checksum, so that the bytes were compared with it.
    pub is_verified: bool,
}

/// Archives by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, LockedArchive>);

impl Lock {
    /// Archive with this key.
    pub fn get(&self, key: &str) -> Option<&LockedArchive> {
        self.0.get(key)
    }

    /// Sorted keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Archives, sorted by key.
    pub fn archives(&self) -> impl Iterator<Item = &LockedArchive> {
        self.0.values()
    }

    /// Reads a lock file.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if it is missing, [`io::ErrorKind::InvalidData`] for malformed content, another
    /// format or a duplicate key. Errors name the file.
    pub fn load(file: &Path) -> io::Result<Self> {
        let text = regular::read_to_string(file, LONGEST_LOCK)?;
        let wrong = |reason: String| {
            let message = format!("{} is not a lock file of artifacts: {reason}", file.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        if !text.trim_start().starts_with('{') {
            return Err(wrong("it is not an object with `format` and `archives`".to_owned()));
        }
        let saved: SavedLock = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        if saved.format != LOCK_FORMAT {
            let (format, supported) = (saved.format, LOCK_FORMAT);
            return Err(wrong(format!(
                "it has format {format}, but this program reads format \
                {supported}"
            )));
        }
        let mut lock = Self::default();
        for archive in saved.archives {
            let key = archive.key.clone();
            if lock.0.insert(key.clone(), archive).is_some() {
                return Err(wrong(format!("it has the key `{key}` twice")));
            }
        }
        Ok(lock)
    }

    /// Replaces the lock file atomically.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        let mut text = format!("{{\"format\":{LOCK_FORMAT},\n\"archives\":[").into_bytes();
        for (index, archive) in self.0.values().enumerate() {
            text.extend(if index == 0 { &b"\n"[..] } else { b",\n" });
            serde_json::to_writer(&mut text, archive)?;
        }
        text.extend(b"\n]}\n");
        // Links stay: others read the file that they lead to.
        let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let mut partial = PartialFile::beside(&place, partial::ORDINARY)?;
        partial.write_all(&text)?;
        partial.sync()?;
        partial.persist(&place)?;
        Ok(())
    }
}

impl FromIterator<LockedArchive> for Lock {
    fn from_iter<I: IntoIterator<Item = LockedArchive>>(archives: I) -> Self {
        Self(archives.into_iter().map(|archive| (archive.key.clone(), archive)).collect())
    }
}

impl Extend<LockedArchive> for Lock {
    fn extend<I: IntoIterator<Item = LockedArchive>>(&mut self, archives: I) {
        self.0.extend(archives.into_iter().map(|archive| (archive.key.clone(), archive)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(key: &str) -> LockedArchive {
        let sha256 = "0f".repeat(32).try_into().unwrap();
        LockedArchive { key: key.to_owned(), size: 7, sha256 }
    }

    #[test]
    fn saves_sorted_archives_and_reads_them_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("rockpack.lock");
        let lock: Lock =
            ["b_lib_generic.tar.xz", "a_lib_generic.tar.zst"].map(archive).into_iter().collect();
        lock.save(&file).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let digest = "0f".repeat(32);
        assert_eq!(
            text,
            format!(
                "{{\"format\":1,\n\"archives\":[\n\
                 {{\"key\":\"a_lib_generic.tar.zst\",\"size\":7,\"sha256\":\"{digest}\"}},\n\
                 {{\"key\":\"b_lib_generic.tar.xz\",\"size\":7,\"sha256\":\"{digest}\"}}\n]}}\n"
            )
        );
        assert_eq!(Lock::load(&file).unwrap(), lock);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn saves_to_the_file_that_a_link_leads_to() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("shared.lock"), dir.path().join("rockpack.lock"));
        Lock::default().save(&file).unwrap();
        std::os::unix::fs::symlink("shared.lock", &link).unwrap();
        let lock = Lock::from_iter([archive("a_lib_generic.tar.zst")]);
        lock.save(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Lock::load(&file).unwrap(), lock);
    }

    #[test]
    fn accepts_digests_in_capitals() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let digest = "0F".repeat(32);
        let row = format!("{{\"key\":\"a\",\"size\":7,\"sha256\":\"{digest}\"}}");
        fs::write(&file, format!("{{\"format\":1,\"archives\":[{row}]}}")).unwrap();
        assert_eq!(Lock::load(file.path()).unwrap(), [archive("a")].into_iter().collect());
    }

    #[test]
    fn refuses_invalid_lock_files() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("rockpack.lock");
        let digest = "0f".repeat(32);
        let row = format!("{{\"key\":\"a\",\"size\":7,\"sha256\":\"{digest}\"}}");
        for (text, reason) in [
            ("{", "EOF"),
            ("[]", "it is not an object with `format` and `archives`"),
            ("[1, []]", "it is not an object with `format` and `archives`"),
            ("{\"format\":2,\"archives\":[]}", "it has format 2, but this program reads format 1"),
            (&*format!("{{\"format\":1,\"archives\":[{row},{row}]}}"), "it has the key `a` twice"),
            (
                "{\"format\":1,\"archives\":[{\"key\":\"a\",\"size\":7,\"sha256\":\"x\"}]}",
                "`x` is not a SHA-256",
            ),
        ] {
            fs::write(&file, text).unwrap();
            let error = Lock::load(&file).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            // The caller adds the remedy.
            assert!(
                error.to_string().contains(reason) && !error.to_string().contains("--lock"),
                "{error}"
            );
            assert!(error.to_string().contains("rockpack.lock is not a lock file"), "{error}");
        }
    }
}
