//! Directory as a store.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fs_err::{self as fs, File};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use super::whole::{CompleteBody, ends_early};
use super::{
    Body, Bucket, ConditionalWrite, ErrorKind, Headers, Object, ObjectContent, StoreError, below,
};
use base::cleanup;
use base::directory;
use base::names::RelPath;
use base::partial::{self, PartialFile};
use base::regular;

const PARTIAL: &str = ".rockpack-object-";

/// Files below a directory, created with the first object. Only this program's writers lock it.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    name: String,
    /// Directories without partial files.
    swept: Mutex<BTreeSet<PathBuf>>,
}

impl Directory {
    /// Creates the store, but no file.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), name: path.display().to_string(), swept: Mutex::default() }
    }

    fn place(&self, key: &RelPath) -> PathBuf {
        self.path.join(key.as_str())
    }

    fn failed(&self, verb: &str, key: &RelPath) -> impl Fn(io::Error) -> StoreError {
        move |error| StoreError::of_io(&self.name, verb, key, &error)
    }

    fn open(&self, key: &RelPath, etag: Option<&str>) -> Result<(File, Object), StoreError> {
        let failed = self.failed("read", key);
        let file = regular::open(self.place(key)).map_err(&failed)?;
        let object = object(key, &file.metadata().map_err(&failed)?);
        if etag.is_some() && object.etag.as_deref() != etag {
            let text = "it has changed meanwhile";
            return Err(StoreError::of_key(ErrorKind::Changed, &self.name, "read", key, text));
        }
        Ok((file, object))
    }

    /// Writes `body` if `may` accepts the current object, with the lock held.
    fn write(
        &self,
        key: &RelPath,
        body: Body<'_>,
        may: impl Fn(Option<Object>) -> bool,
    ) -> Result<ConditionalWrite, StoreError> {
        let failed = self.failed("write", key);
        let place = self.place(key);
        let parent = place.parent().unwrap_or(&self.path);
        fs::create_dir_all(parent).map_err(&failed)?;
        self.sweep(parent);
        let partial = write_partial(parent, body).map_err(&failed)?;
        let _lock = self.lock().map_err(&failed)?;
        if !may(self.head(key)?) {
            return Ok(ConditionalWrite::Refused);
        }
        let whole = cleanup::undisturbed();
        let file = partial.persist_within(&place, &whole).map_err(&failed)?;
        File::open(parent).and_then(|directory| directory.sync_all()).map_err(&failed)?;
        Ok(ConditionalWrite::Done(object(key, &file.metadata().map_err(&failed)?)))
    }

    fn sweep(&self, directory: &Path) {
        let mut swept = self.swept.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.insert(directory.to_owned()) {
            partial::remove_abandoned(directory, PARTIAL);
        }
    }

    fn lock(&self) -> io::Result<rustix::fd::OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&self.path, flags, Mode::empty())?;
        flock(&directory, FlockOperation::LockExclusive)?;
        Ok(directory)
    }
}

impl Bucket for Directory {
    fn name(&self) -> &str {
        &self.name
    }

    /// Omits hidden files: partial objects and other state.
    fn list(&self, above: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        let root = above.map_or_else(|| self.path.clone(), |below| self.place(below));
        if !root.exists() {
            return Ok(Vec::new());
        }
        let failed = |error: io::Error| {
            StoreError::new(
                ErrorKind::of_io(&error),
                &self.name,
                &format!("cannot list it: {error}"),
            )
        };
        let mut objects = Vec::new();
        for entry in directory::walk_where(&root, |entry| !entry.is_hidden()) {
            let entry = entry.map_err(failed)?;
            let metadata = match fs::metadata(entry.path()) {
                Ok(metadata) if metadata.is_file() => metadata,
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => continue,
            };
            let key = entry.below().to_str();
            if let Some(Ok(key)) = key.map(|key| below(above, key).parse()) {
                objects.push(object(&key, &metadata));
            }
        }
        objects.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(objects)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        match fs::metadata(self.place(key)) {
            Ok(metadata) if metadata.is_file() => Ok(Some(object(key, &metadata))),
            Ok(_) => Ok(None),
            Err(e)
                if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&e.kind()) =>
            {
                Ok(None)
            }
            Err(error) => Err(self.failed("look at", key)(error)),
        }
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        let (file, object) = self.open(key, etag)?;
        let body = Box::new(CompleteBody::new(file, object.size));
        Ok(ObjectContent { object, body })
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        let failed = self.failed("read", key);
        let (mut file, _) = self.open(key, etag)?;
        let count = range.end.saturating_sub(range.start);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(range.start)).map_err(&failed)?;
        file.take(count).read_to_end(&mut bytes).map_err(&failed)?;
        if bytes.len() as u64 == count { Ok(bytes) } else { Err(failed(ends_early())) }
    }

    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        _headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        if self.head(key)?.is_some() {
            return Ok(ConditionalWrite::Refused);
        }
        self.write(key, body, |current| current.is_none())
    }

    fn replace(
        &self,
        expected: &Object,
        body: Body<'_>,
        _headers: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        let is_expected = |current: Option<Object>| {
            current.is_some_and(|current| current.etag.is_some() && current.etag == expected.etag)
        };
        self.write(&expected.key, body, is_expected)
    }

    fn put(&self, key: &RelPath, body: Body<'_>, _headers: &Headers<'_>) -> Result<(), StoreError> {
        self.write(key, body, |_| true).map(drop)
    }

    fn check_writes(&self) -> Result<(), StoreError> {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let existing = path.ancestors().find(|path| path.exists()).unwrap_or(&path);
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(existing, access).map_err(|error| {
            let error = io::Error::from(error);
            let text = format!("cannot write to {}: {error}", existing.display());
            StoreError::new(ErrorKind::of_io(&error), &self.name, &text)
        })
    }

    fn delete(&self, key: &RelPath) -> Result<(), StoreError> {
        let failed = self.failed("remove", key);
        if self.head(key)?.is_none() {
            return Ok(());
        }
        let _lock = self.lock().map_err(&failed)?;
        match fs::remove_file(self.place(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        self.sweep(self.place(key).parent().unwrap_or(&self.path));
        let above = std::iter::successors(key.parent(), RelPath::parent);
        let _ =
            above.map(|above| fs::remove_dir(self.place(&above))).take_while(Result::is_ok).count();
        Ok(())
    }
}

/// Entity tag of inode, mtime and size: valid only for files that are replaced, never edited in
/// place.
fn object(key: &RelPath, metadata: &Metadata) -> Object {
    let (inode, size) = (metadata.ino(), metadata.len());
    let time = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    let etag = Some(format!("\"{inode:x}-{time:x}-{size:x}\""));
    let modified = metadata.modified().ok();
    Object { key: key.clone(), size, etag, version: None, sha256: None, modified }
}

fn write_partial(directory: &Path, body: Body<'_>) -> io::Result<PartialFile> {
    let mut partial = PartialFile::locked(directory, PARTIAL, partial::ORDINARY)?;
    match body {
        Body::Bytes(bytes) => partial.write_all(bytes)?,
        Body::File(from) => {
            io::copy(&mut regular::open(from)?.into_parts().0, partial.as_file_mut())?;
        }
    }
    partial.sync()?;
    Ok(partial)
}
