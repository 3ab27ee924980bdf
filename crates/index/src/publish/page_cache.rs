//! Pages of earlier runs on this machine, with the entity tags of their servers.

use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::page::{LONGEST_PAGE, Page};
use crate::store::Object;
use base::hash::Sha256;
use base::names::RelPath;
use base::{directory, regular};

/// The number is the version of the format.
const NAME: &str = "rockpack-pages-1";

/// Age at which an unused page is removed.
const OLD: Duration = Duration::from_hours(30 * 24);

/// Directory with pages. Every failure means that a page is transferred again.
#[derive(Debug, Clone)]
pub struct PageCache {
    dir: PathBuf,
}

/// First line of a file, before the page.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    store: String,
    key: RelPath,
    etag: Option<String>,
    #[serde(default)]
    version: Option<String>,
    modified: Option<SystemTime>,
    sha256: String,
}

impl PageCache {
    /// Opens the cache below `dir`, and removes old pages.
    pub fn below(dir: &Path) -> Self {
        let dir = dir.join(NAME);
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        for entry in directory::entries(&dir).unwrap_or_default() {
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| used.elapsed().is_ok_and(|age| age > OLD)) {
                let _ = fs_err::remove_file(entry.path());
            }
        }
        Self { dir }
    }

    /// Removes the cache below `dir`; returns its bytes.
    pub fn remove(dir: &Path) -> io::Result<u64> {
        let dir = dir.join(NAME);
        let Ok(entries) = directory::entries(&dir) else { return Ok(0) };
        let sizes = entries.iter().filter_map(|entry| Some(entry.metadata().ok()?.len()));
        let bytes = sizes.sum();
        fs_err::remove_dir_all(dir)?;
        Ok(bytes)
    }

    fn file(&self, store: &str, key: &RelPath) -> PathBuf {
        self.dir.join(Sha256::of(format!("{store}\n{key}").as_bytes()).to_string())
    }

    pub(super) fn page(&self, store: &str, key: &RelPath) -> Option<Page> {
        let path = self.file(store, key);
        let mut bytes = regular::read_unlinked(&path, LONGEST_PAGE + 4096).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
        bytes.drain(..=end);
        let is_whole = Sha256::of(&bytes).to_string() == head.sha256;
        if !is_whole || head.store != store || head.key != *key {
            return None;
        }
        // Otherwise it is removed early.
        let _ = fs_err::File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        let Head { key, etag, version, modified, .. } = head;
        let (size, sha256) = (bytes.len() as u64, None);
        Some(Page { object: Object { key, size, etag, version, sha256, modified }, bytes })
    }

    pub(super) fn keep(&self, store: &str, page: &Page) {
        let Object { key, etag, version, modified, .. } = &page.object;
        if etag.is_none() && modified.is_none() {
            return;
        }
        let head = Head {
            store: store.to_owned(),
            key: key.clone(),
            etag: etag.clone(),
            version: version.clone(),
            modified: *modified,
            sha256: Sha256::of(&page.bytes).to_string(),
        };
        let Ok(mut text) = serde_json::to_vec(&head) else { return };
        text.push(b'\n');
        let Ok(mut file) = tempfile::NamedTempFile::new_in(&self.dir) else { return };
        if file.write_all(&text).and_then(|()| file.write_all(&page.bytes)).is_ok() {
            let _ = file.persist(self.file(store, key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_only_whole_pages_of_the_same_store() {
        let dir = tempfile::tempdir().unwrap();
        let cache = PageCache::below(dir.path());
        let key: RelPath = "a/index.json".parse().unwrap();
        let etag = Some("\"e\"".to_owned());
        let (version, sha256, modified) = (Some("7".to_owned()), None, None);
        let object = Object { key: key.clone(), size: 4, etag, version, sha256, modified };
        let page = |etag: &Option<String>| Page {
            object: Object { etag: etag.clone(), ..object.clone() },
            bytes: b"page".to_vec(),
        };
        cache.keep("s3://untagged", &page(&None));
        cache.keep("s3://one", &page(&object.etag));
        let cached = cache.page("s3://one", &key).unwrap();
        assert_eq!((&cached.object, &*cached.bytes), (&object, &b"page"[..]));
        assert!(cache.page("s3://other", &key).is_none());
        assert!(cache.page("s3://untagged", &key).is_none());
        let file = cache.file("s3://one", &key);
        let mut bytes = fs_err::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs_err::write(&file, bytes).unwrap();
        assert!(cache.page("s3://one", &key).is_none(), "damaged");
        let old = SystemTime::now() - 2 * OLD;
        fs_err::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        PageCache::below(dir.path());
        assert!(!file.exists());
        cache.keep("s3://one", &page(&object.etag));
        let bytes = fs_err::metadata(&file).unwrap().len();
        assert_eq!(PageCache::remove(dir.path()).unwrap(), bytes);
        assert_eq!(directory::names(dir.path()).unwrap(), [""; 0]);
        assert_eq!(PageCache::remove(dir.path()).unwrap(), 0);
    }
}
