use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::bytes::Bytes;
use base::hash::Sha256;
use cache::{ContentDigest, Fingerprint, Fingerprinter, Store};

/// SHA-256 of files. A run computes each once, if the cache does not know it.
#[derive(Debug, Default)]
pub struct Digests {
    cache: Option<Box<dyn Store>>,
    computed: Mutex<HashMap<Fingerprint, ContentDigest>>,
}

impl Digests {
    /// Digests with those of a cache.
    pub fn new(cache: Option<Box<dyn Store>>) -> Self {
        Self { cache, computed: Mutex::default() }
    }

    /// Returns true with a cache.
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    pub(super) fn into_cache(self) -> Option<Box<dyn Store>> {
        self.cache
    }

    pub(super) fn cache(&self) -> Option<&dyn Store> {
        self.cache.as_deref()
    }

    pub(super) fn sha256(&self, bytes: &Bytes) -> io::Result<Sha256> {
        if matches!(bytes, Bytes::Memory(_) | Bytes::Text(_)) {
            return bytes.sha256();
        }
        let Some(fingerprint) = fingerprint(bytes) else { return bytes.sha256() };
        let of_cache = || self.cache.as_ref()?.content_of(&fingerprint);
        if let Some(content) = self.computed(&fingerprint).or_else(of_cache) {
            return Ok(content.0);
        }
        let sha256 = bytes.sha256()?;
        let mut computed = self.computed.lock().unwrap_or_else(PoisonError::into_inner);
        computed.insert(fingerprint, ContentDigest(sha256));
        Ok(sha256)
    }

    pub(super) fn computed(&self, fingerprint: &Fingerprint) -> Option<ContentDigest> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner).get(fingerprint).copied()
    }
}

pub(super) fn fingerprint(bytes: &Bytes) -> Option<Fingerprint> {
    let mut fingerprint = Fingerprinter::new();
    bytes.identify(&mut fingerprint);
    fingerprint.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use base::identity::Identity;
    use binary::ReadAt;
    use catalog::{OpenFile, SourceFile};

    #[derive(Debug)]
    struct Counted {
        identity: Identity,
        opened: Arc<AtomicU32>,
    }

    impl SourceFile for Counted {
        fn len(&self) -> u64 {
            3
        }

        fn identity(&self) -> &Identity {
            &self.identity
        }

        fn open(&self) -> io::Result<Box<dyn OpenFile>> {
            self.opened.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Open))
        }
    }

    struct Open;

    impl ReadAt for Open {
        fn len(&self) -> io::Result<u64> {
            Ok(3)
        }

        fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            ReadAt::read_exact_at(&b"abc"[..], offset, buffer)
        }
    }

    impl OpenFile for Open {
        fn is_executable(&self) -> bool {
            false
        }

        fn check_unchanged(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn reads_a_file_once() {
        let (digests, opened) = (Digests::default(), Arc::new(AtomicU32::new(0)));
        let file = |tag: &str| {
            let identity = Identity::Tag(tag.to_owned());
            Bytes::File(Box::new(Counted { identity, opened: Arc::clone(&opened) }))
        };
        for (tag, reads) in [("a", 1), ("a", 1), ("b", 2), ("a", 2)] {
            assert_eq!(digests.sha256(&file(tag)).unwrap(), Sha256::of(b"abc"));
            assert_eq!(opened.load(Ordering::Relaxed), reads);
        }
    }
}
