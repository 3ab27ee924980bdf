//! A store that fails, or a program that ends, at each step.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::names::RelPath;
use index::store::{Body, Content, Created, ErrorKind, Headers, Object, Replaced, StoreError};

use super::*;

/// Store that does this many writes and then fails. Every second failing write takes effect, like a
/// lost answer.
#[derive(Debug)]
pub struct Failing {
    bucket: Directory,
    pub left: AtomicUsize,
    lost: bool,
    /// Requests as `verb key`.
    pub requests: Mutex<Vec<String>>,
}

impl Failing {
    pub fn new(bucket: Directory, left: usize, lost: bool) -> Self {
        Self { bucket, left: AtomicUsize::new(left), lost, requests: Mutex::default() }
    }

    fn request(&self, verb: &str, key: &RelPath) {
        self.requests.lock().unwrap().push(format!("{verb} {key}"));
    }

    fn write<T>(
        &self,
        key: &RelPath,
        act: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let failed = || StoreError::of_key(ErrorKind::Unavailable, "failing", "write", key, "503");
        let before =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match before {
            Ok(1) if self.lost => act().and(Err(failed())),
            Ok(_) => act(),
            Err(_) => Err(failed()),
        }
    }
}

impl Bucket for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn list(&self, directory: Option<&RelPath>) -> Result<Vec<Object>, StoreError> {
        self.bucket.list(directory)
    }

    fn head(&self, key: &RelPath) -> Result<Option<Object>, StoreError> {
        self.request("head", key);
        self.bucket.head(key)
    }

    fn get(&self, key: &RelPath, etag: Option<&str>) -> Result<Content, StoreError> {
        self.request("get", key);
        self.bucket.get(key, etag)
    }

    fn get_range(
        &self,
        key: &RelPath,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Vec<u8>, StoreError> {
        self.request("range", key);
        self.bucket.get_range(key, range, etag)
    }

    fn create(
        &self,
        key: &RelPath,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Created, StoreError> {
        self.request("create", key);
        self.write(key, || self.bucket.create(key, body, headers))
    }

    fn replace(
        &self,
        was: &Object,
        body: Body<'_>,
        headers: &Headers<'_>,
    ) -> Result<Replaced, StoreError> {
        self.request("replace", &was.key);
        self.write(&was.key, || self.bucket.replace(was, body, headers))
    }

    fn put(&self, key: &RelPath, body: Body<'_>, headers: &Headers<'_>) -> Result<(), StoreError> {
        self.request("put", key);
        self.write(key, || self.bucket.put(key, body, headers))
    }

    fn delete(&self, key: &RelPath) -> Result<(), StoreError> {
        self.request("delete", key);
        self.write(key, || self.bucket.delete(key))
    }
}

/// Returns whether a selector on the pages has all its parts there.
fn complete(names: &BTreeSet<String>, version: &str) -> bool {
    let has = |name: &str| names.contains(&format!("{name}-{version}-py3-none-any.whl"));
    !has("a_selector") || has("b_part") && has("c_part")
}

#[test]
fn at_each_step_the_index_is_whole_and_the_next_run_finishes() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (small_set(dir.path(), "1.0"), small_set(dir.path(), "2.0"));
    for form in BOTH {
        let place = |name: String| dir.path().join(format!("{form:?}")).join(name);
        let options = options(form);
        let done = Directory::new(&place("done".into()));
        published(&first, &done, &options);
        published(&second, &done, &options);
        let expected = contents(&place("done".into()));

        let mut steps = 0;
        for lost in [false, true] {
            for count in 0.. {
                let root = place(format!("{lost}-{count}"));
                published(&first, &Directory::new(&root), &options);
                let bucket = Directory::new(&root);
                let failing = Failing::new(bucket, count, lost);
                let result = publish(&second, &failing, &options, &|_| ());
                let names = whole(&root, form);
                assert!(complete(&names, "2.0") && complete(&names, "1.0"), "{count}: {names:?}");
                assert!(names.contains("b_part-1.0-py3-none-any.whl"));
                published(&second, &Directory::new(&root), &options);
                assert_eq!(contents(&root), expected, "{form:?} {count}");
                if result.is_ok() {
                    break;
                }
                steps += 1;
            }
        }
        // At least 4 packages and 3 times metadata, and the pages.
        assert!(steps >= 2 * (4 + 3 + 2), "{form:?}: {steps}");
    }
}

#[test]
fn a_program_that_is_killed_leaves_a_whole_index() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (small_set(dir.path(), "1.0"), small_set(dir.path(), "2.0"));
    let options = options(Form::Projects);
    let mut unfinished = 0;
    for round in 0..12 {
        let root = dir.path().join(format!("killed-{round}"));
        published(&first, &Directory::new(&root), &options);
        let mut program = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["index", "publish", "--jobs", "1"])
            .args([&second, &root])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2 * round));
        program.kill().unwrap();
        unfinished += usize::from(!program.wait().unwrap().success());
        assert!(complete(&whole(&root, Form::Projects), "2.0"));
        published(&second, &Directory::new(&root), &options);
        assert_eq!(whole(&root, Form::Projects).len(), 8);
    }
    assert!(unfinished > 0, "nobody was killed in time");
}
