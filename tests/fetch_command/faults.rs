//! Failing stores: incomplete data is never used, and the error names the key.

use std::io::{self, Read};
use std::sync::Arc;

use base::names::RelPath;
use base::source::Problems;
use catalog::{Demands, Directory, Packed};
use index::fetch::{self, RemoteArchive, Selection};
use index::store::{
    self, Body, Bucket, ConditionalWrite, ErrorKind, Headers, Object, ObjectContent, StoreError,
};

use super::*;

#[cfg(feature = "stores")]
#[path = "web.rs"]
mod web;

const KEY: &str = "base_lib_generic.tar.zst";

/// Fault in delivering [`KEY`].
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The store does not answer any try.
    Unavailable,
    /// The connection breaks in the middle in every try.
    Reset,
    /// The body ends early, as if complete.
    Short,
    /// The body is longer than the object.
    Long,
    /// One bit is flipped.
    Flipped,
    /// The object was replaced after listing.
    Changed,
    /// The object was removed after listing.
    Removed,
    /// A directory is listed as an object without its last `/`.
    Directory,
}

/// Directory with one fault.
#[derive(Debug)]
struct Faulty {
    store: store::Directory,
    fault: Fault,
}

/// Returns bytes, then an error.
struct Broken(io::Cursor<Vec<u8>>);

impl Read for Broken {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "the connection broke")),
            read => Ok(read),
        }
    }
}

impl Faulty {
    fn spoilt(
        &self,
        key: &RelPath,
        mut content: ObjectContent,
    ) -> Result<ObjectContent, StoreError> {
        let mut bytes = Vec::new();
        content.body.read_to_end(&mut bytes).unwrap();
        let half = bytes.len() / 2;
        let failed = |kind, text| Err(StoreError::of_key(kind, self.name(), "read", key, text));
        let bytes = match self.fault {
            Fault::Unavailable => return failed(ErrorKind::Unavailable, "503"),
            Fault::Changed => return failed(ErrorKind::Changed, "it has changed"),
            Fault::Directory => bytes,
            Fault::Removed => return failed(ErrorKind::NotFound, "there is nothing"),
            Fault::Reset => {
                let body = Box::new(Broken(io::Cursor::new(bytes[..half].to_vec())));
                return Ok(ObjectContent { body, ..content });
            }
            Fault::Short => bytes[..half].to_vec(),
            Fault::Long => [bytes, b"more".to_vec()].concat(),
            Fault::Flipped => {
                bytes[half] ^= 1;
                bytes
            }
        };
        Ok(ObjectContent { body: Box::new(io::Cursor::new(bytes)), ..content })
    }
}

impl Bucket for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        let mut objects = self.store.list(directory)?;
        if matches!(self.fault, Fault::Directory) {
            let key = "a_lib_generic.tar.zst".parse().unwrap();
            objects.push(Object { key, size: 0, ..objects[0].clone() });
        }
        Ok(objects)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        self.store.head(key)
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        let content = self.store.get(key, etag)?;
        if key.as_str() == KEY { self.spoilt(key, content) } else { Ok(content) }
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: std::ops::Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        self.store.get_range(key, range, etag)
    }

    fn create(
        &self,
        _: &RelPath,
        _: Body<'_>,
        _: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        panic!("a fetch writes nothing")
    }

    fn replace(
        &self,
        _: &Object,
        _: Body<'_>,
        _: &Headers<'_>,
    ) -> Result<ConditionalWrite, StoreError> {
        panic!("a fetch writes nothing")
    }

    fn put(&self, _: &RelPath, _: Body<'_>, _: &Headers<'_>) -> Result<(), StoreError> {
        panic!("a fetch writes nothing")
    }

    fn delete(&self, _: &RelPath) -> Result<(), StoreError> {
        panic!("a fetch writes nothing")
    }
}

fn single_message(problems: &Problems) -> String {
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages.into_iter().next().unwrap()
}

fn archives(bucket: &Arc<dyn Bucket>) -> Vec<RemoteArchive> {
    let selection = Selection::all(&**bucket).unwrap();
    let archives = selection.archives(bucket);
    archives.into_iter().filter(|archive| archive.key().starts_with("base")).collect()
}

/// Returns the messages of a download into `to`, and of unpacking.
fn tried(bucket: &Arc<dyn Bucket>, dest: &Path) -> [String; 2] {
    let archives = archives(bucket);
    let demands = Demands::default();
    fs::create_dir_all(dest).unwrap();
    let fetched = fetch::download(&archives, dest, &demands).unwrap_err();
    let packed = archives.into_iter().map(|archive| Box::new(archive) as Box<dyn Packed>);
    let unpacked = Directory::unpack(&packed.collect::<Vec<_>>(), &demands, None).unwrap_err();
    [single_message(&fetched), single_message(&unpacked)]
}

#[test]
fn nothing_of_a_faulty_archive_is_used_and_the_error_names_it() {
    let scratch = scratch();
    let run = scratch.path().join("store/17-linux");
    for (fault, why) in [
        (Fault::Unavailable, "503"),
        (Fault::Reset, "the connection broke"),
        (Fault::Short, "its size is not"),
        (Fault::Long, "its size is not"),
        (Fault::Flipped, "does not match its .sha256sum file: expected"),
        (Fault::Changed, "it has changed"),
        (Fault::Removed, "there is nothing"),
    ] {
        let bucket: Arc<dyn Bucket> =
            Arc::new(Faulty { store: store::Directory::new(&run), fault });
        let dest = scratch.path().join("fetched");
        for text in tried(&bucket, &dest) {
            assert!(text.contains(KEY) && text.contains(why), "{fault:?}: {text}");
        }
        // The others are complete, and no other file exists.
        let names: Vec<String> = files(&dest).into_keys().collect();
        assert_eq!(
            names,
            ["base_run_generic.tar.zst", "base_run_generic.tar.zst.sha256sum"],
            "{fault:?}"
        );
        fs::remove_dir_all(&dest).unwrap();
    }
}

#[test]
fn an_object_that_is_replaced_after_the_list_is_refused() {
    let scratch = scratch();
    let run = scratch.path().join("store/17-linux");
    let bucket: Arc<dyn Bucket> = Arc::new(store::Directory::new(&run));
    let archives = archives(&bucket);
    // Its sidecar matches, so only the list shows it.
    fs::write(scratch.path().join("artifacts/base_lib_generic/artifact_manifest.txt"), "x\n")
        .unwrap();
    archive(&scratch.path().join("artifacts/base_lib_generic"), &run.join(KEY));
    let dest = scratch.path().join("fetched");
    fs::create_dir(&dest).unwrap();
    let text = single_message(&fetch::download(&archives, &dest, &Demands::default()).unwrap_err());
    assert!(text.contains(KEY) && text.contains("changed"), "{text}");
    assert!(!dest.join(KEY).exists());
}

#[test]
fn a_directory_marker_is_no_archive() {
    let scratch = scratch();
    let run = scratch.path().join("store/17-linux");
    let keys = |fault| {
        let bucket = Faulty { store: store::Directory::new(&run), fault };
        Selection::all(&bucket).unwrap().keys().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys(Fault::Directory), keys(Fault::Removed));
    // An archive without bytes is an incomplete one.
    fs::write(run.join("a_lib_generic.tar.zst"), "").unwrap();
    assert_eq!(keys(Fault::Removed).len(), keys(Fault::Directory).len());
    assert!(keys(Fault::Removed).contains(&"a_lib_generic.tar.zst".to_owned()));
}
