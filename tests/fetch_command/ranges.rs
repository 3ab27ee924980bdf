//! Partial reads of archives from `rockpack artifact pack`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use base::identity::Identity;
use base::names::RelPath;
use base::source::Problems;
use catalog::{
    self, Catalog, Demands, Directory, Lock, Locked, Packed, Source, SourcePath, Wanted,
};
use index::fetch::{RemoteArchive, Selection};
use index::store::{
    self, Body, Bucket, ConditionalWrite, Headers, Object, ObjectContent, StoreError,
};

use super::*;

const KEY: &str = "blas_lib_generic.tar.zst";
/// Two and a half frames, incompressible.
const LARGE: u32 = 10 << 20;

/// Directory that counts bytes read from archives, and has a wrong bit at a given byte of them.
#[derive(Debug)]
struct Counting {
    store: store::Directory,
    wrong_at: Option<u64>,
    whole: Mutex<u64>,
    parts: Mutex<u64>,
}

impl Counting {
    fn new(run: &Path, wrong_at: Option<u64>) -> Arc<Self> {
        let (whole, parts) = (Mutex::new(0), Mutex::new(0));
        Arc::new(Self { store: store::Directory::new(run), wrong_at, whole, parts })
    }
}

impl Bucket for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        self.store.list(directory)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        self.store.head(key)
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<ObjectContent, StoreError> {
        let content = self.store.get(key, etag)?;
        if key.as_str() == KEY {
            *self.whole.lock().unwrap() += content.object.size;
        }
        Ok(content)
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: std::ops::Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        let mut bytes = self.store.get_range(key, range.clone(), etag)?;
        *self.parts.lock().unwrap() += bytes.len() as u64;
        if let Some(offset) = self.wrong_at.filter(|offset| range.contains(offset)) {
            bytes[usize::try_from(offset - range.start).unwrap()] ^= 1;
        }
        Ok(bytes)
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

/// Run with one archive: a large file between small ones.
struct Run {
    dir: TempDir,
    catalog: Catalog,
    size: u64,
}

impl Run {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let stage = dir.path().join("in/blas_lib_generic/math/stage/lib");
        fs::create_dir_all(&stage).unwrap();
        let list = dir.path().join("in/blas_lib_generic/artifact_manifest.txt");
        fs::write(list, "math/stage\n").unwrap();
        let mut random = 1_u32;
        let large = (0..LARGE).map(|_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random.to_be_bytes()[0]
        });
        fs::write(stage.join("large"), large.collect::<Vec<u8>>()).unwrap();
        fs::write(stage.join("before"), "small").unwrap();
        fs::write(stage.join("notes"), "as small").unwrap();
        let mut packed = uncached(dir.path(), &["artifact", "pack", "in", "-o", "run"]);
        let packed = packed.output().unwrap();
        assert!(packed.status.success(), "{}", stderr(&packed));
        let (catalog, _) = catalog::scan(&dir.path().join("in")).unwrap();
        let size = fs::metadata(dir.path().join("run").join(KEY)).unwrap().len();
        Self { dir, catalog, size }
    }

    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("run")
    }

    /// Unpacks these files. Returns the identity of each.
    fn take(
        &self,
        names: &[&str],
        bucket: &Arc<Counting>,
        demands: &Demands,
    ) -> Result<Vec<Identity>, Problems> {
        let origin = |name: &&str| SourcePath {
            artifact: self.catalog.artifacts[0].id.clone(),
            base: "math/stage".parse().unwrap(),
            path: format!("lib/{name}").parse().unwrap(),
        };
        let files: Vec<SourcePath> = names.iter().map(origin).collect();
        let needed = Wanted::with_sizes(&self.catalog, &files);
        let run: Arc<dyn Bucket> = bucket.clone();
        let archives = Selection::all(&*run).unwrap().archives(&run);
        let packed =
            archives.into_iter().map(|archive: RemoteArchive| Box::new(archive) as Box<dyn Packed>);
        let packed: Vec<_> = packed.collect();
        let directory = Directory::unpack(&packed, demands, Some(&needed))?;
        catalog::confirm(&directory, &self.catalog, &files)?;
        for (name, file) in names.iter().zip(&files) {
            let expected = self.dir.path().join("in/blas_lib_generic/math/stage/lib").join(name);
            let source = directory.find(file).unwrap();
            let mut bytes = vec![0; usize::try_from(source.len()).unwrap()];
            source.open().unwrap().read_exact_at(0, &mut bytes).unwrap();
            assert!(bytes == fs::read(expected).unwrap(), "{name}");
        }
        let sum = &directory.archives()[0].locked;
        assert_eq!(sum.sha256.to_string(), sha256(self.path().join(KEY)).unwrap());
        assert_eq!(sum.size, self.size);
        Ok(files.iter().map(|file| directory.find(file).unwrap().identity().clone()).collect())
    }

    /// Returns the number of bytes read, of the whole archive and in parts.
    fn read(&self, names: &[&str], demands: &Demands) -> [u64; 2] {
        let bucket = Counting::new(&self.path(), None);
        self.take(names, &bucket, demands).unwrap();
        [*bucket.whole.lock().unwrap(), *bucket.parts.lock().unwrap()]
    }
}

#[test]
fn fetches_only_parts_of_an_archive_with_few_needed_files() {
    let run = Run::new();
    let no_demands = Demands::default();
    let [whole, parts] = run.read(&["before", "notes"], &no_demands);
    assert_eq!(whole, 0);
    // The first frame, the last, and the end; not the middle one.
    assert!(parts < run.size - (4 << 20) + (64 << 10), "{parts} of {}", run.size);
    assert_eq!(run.read(&["large"], &no_demands), [run.size, 0], "most of it is wanted");
    // A lock covers all of its bytes, so all are read.
    let mut lock = Lock::default();
    let bucket = store::Directory::new(&run.path());
    let object = bucket.head(&KEY.parse().unwrap()).unwrap().unwrap();
    lock.extend([catalog::LockedArchive {
        key: KEY.to_owned(),
        size: object.size,
        sha256: sha256(run.path().join(KEY)).unwrap().parse().unwrap(),
    }]);
    let lock = Locked { file: "lock".to_owned(), lock, exact: true, spare: BTreeSet::new() };
    let locked = Demands { lock: Some(lock), ..Demands::default() };
    assert_eq!(run.read(&["before"], &locked), [run.size, 0]);
    // A sidecar covers the whole archive, not parts.
    vouch(&run.path().join(KEY));
    assert_eq!(run.read(&["before"], &no_demands), [run.size, 0]);
}

/// A partial read was not compared with the whole archive's checksum, so a cache must not use that
/// checksum for it.
#[test]
fn a_partial_read_is_not_cached_by_the_checksum_of_the_whole() {
    let run = Run::new();
    let identities = || {
        let bucket = Counting::new(&run.path(), None);
        let identities = run.take(&["before"], &bucket, &Demands::default()).unwrap();
        let in_part = *bucket.whole.lock().unwrap() == 0;
        (in_part, identities)
    };
    let part = identities();
    assert!(part.0 && identities() == part);
    vouch(&run.path().join(KEY));
    let whole = identities();
    assert!(!whole.0 && identities() == whole);
    assert_ne!(part.1, whole.1);
}

#[test]
fn nothing_of_a_part_that_is_wrong_is_used() {
    let run = Run::new();
    let refusal = |wrong_at: u64| {
        let bucket = Counting::new(&run.path(), Some(wrong_at));
        let problems = run.take(&["before", "notes"], &bucket, &Demands::default()).unwrap_err();
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(messages.len() == 1 && messages[0].contains(KEY), "{messages:?}");
        messages[0].clone()
    };
    let frame = "does not match its .sha256sum file: a frame has another checksum";
    assert!(refusal(20).contains(frame));
    let end = "does not match its .sha256sum file: its end has another checksum";
    for before_end in [1, 9, 40, 100] {
        assert!(refusal(run.size - before_end).contains(end), "{before_end}");
    }
    // The part in between is not read.
    let bucket = Counting::new(&run.path(), Some(run.size / 2));
    run.take(&["before", "notes"], &bucket, &Demands::default()).unwrap();
    // The archive is not read if its sidecar belongs to another one.
    let text = fs::read_to_string(sidecar(&run.path().join(KEY))).unwrap();
    let (first, end) = text.split_once("# end ").unwrap();
    let wrong_end = format!("{first}# end {}\n", "0".repeat(end.trim().len()));
    fs::write(sidecar(&run.path().join(KEY)), wrong_end).unwrap();
    assert!(refusal(0).contains("its end has another checksum"));
    fs::write(sidecar(&run.path().join(KEY)), format!("{first}# end of it\n")).unwrap();
    assert!(refusal(0).contains("is malformed: `of it` is not a SHA-256"));
}
