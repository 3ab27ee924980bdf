//! Updates of an index: reads, writes, deletions and refusals.

use std::path::Path;
use std::time::{Duration, SystemTime};

use ::index::simple::{self, IndexError, Layout, Options};
use fs_err as fs;
use tempfile::TempDir;

use super::packages::{sdist, wheel, wheel_of};
use super::pages::page_texts;
use super::{copy, demo, rockpack, succeed, text};

fn write_simple(dir: &Path) -> simple::Summary {
    simple::write(dir, Layout::Simple, None).unwrap()
}

fn set_time(path: &Path, time: SystemTime) {
    fs::File::options().write(true).open(path).unwrap().into_parts().0.set_modified(time).unwrap();
}

/// Sets a file's time to an hour ago.
fn age(path: &Path) {
    set_time(path, SystemTime::now() - Duration::from_hours(1));
}

/// Overwrites a file with other bytes, keeping size and time.
fn overwrite(path: &Path) {
    let metadata = fs::metadata(path).unwrap();
    fs::write(path, vec![b'x'; usize::try_from(metadata.len()).unwrap()]).unwrap();
    set_time(path, metadata.modified().unwrap());
}

#[test]
fn reads_only_changed_packages() {
    let dir = TempDir::new().unwrap();
    let (old, tarball) = (wheel(dir.path(), "one", "1.0", &[]), sdist(dir.path(), "one", "1.0"));
    age(&old);
    age(&tarball);
    assert_eq!(write_simple(dir.path()).read, 2);
    let pages = page_texts(dir.path());
    // Reading these files again would fail.
    overwrite(&old);
    overwrite(&tarball);
    let summary = write_simple(dir.path());
    assert_eq!((summary.read, summary.pages, summary.packages), (0, 0, 2));
    assert_eq!(page_texts(dir.path()), pages);
    // A new package is read, and only the pages that name it are written: two of its project, and
    // the overview.
    wheel(dir.path(), "one", "1.1", &[]);
    let summary = write_simple(dir.path());
    assert_eq!((summary.read, summary.pages, summary.packages), (1, 3, 3));
    // A touched file counts as changed.
    set_time(&old, SystemTime::now());
    let error = simple::write(dir.path(), Layout::Simple, None).unwrap_err();
    assert_eq!(error.to_string(), "`one-1.0-py3-none-any.whl` is broken");
}

#[test]
fn touched_and_equal_packages_change_no_page() {
    let dir = TempDir::new().unwrap();
    let path = wheel(dir.path(), "one", "1.0", &[]);
    write_simple(dir.path());
    age(&path);
    let summary = write_simple(dir.path());
    assert_eq!((summary.read, summary.pages), (1, 0));
    assert_eq!(write_simple(dir.path()).read, 0, "the new time is remembered");
}

#[test]
fn reads_possibly_changed_packages_again() {
    let dir = TempDir::new().unwrap();
    let path = wheel(dir.path(), "one", "1.0", &[]);
    // As if written in the same clock step of the file system, or later.
    set_time(&path, SystemTime::now() + Duration::from_mins(1));
    assert_eq!((write_simple(dir.path()).read, write_simple(dir.path()).read), (1, 1));
}

#[test]
fn lost_metadata_and_lost_state_are_made_again() {
    let dir = TempDir::new().unwrap();
    let path = wheel(dir.path(), "one", "1.0", &[]);
    age(&path);
    write_simple(dir.path());
    let pages = page_texts(dir.path());
    for lost in ["one-1.0-py3-none-any.whl.metadata", simple::STATE, "simple/one/index.json"] {
        fs::remove_file(dir.path().join(lost)).unwrap();
        write_simple(dir.path());
        assert_eq!(page_texts(dir.path()), pages, "{lost}");
    }
    fs::write(dir.path().join("one-1.0-py3-none-any.whl.metadata"), "Name: other\n").unwrap();
    fs::write(dir.path().join(simple::STATE), "{\"format\":99}").unwrap();
    write_simple(dir.path());
    assert_eq!(page_texts(dir.path()), pages);
}

#[test]
fn removes_the_companions_of_deleted_packages() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "kept", "1.0", &[]);
    write_simple(dir.path());
    let pages = page_texts(dir.path());
    let path = wheel(&dir.path().join("sub"), "gone", "1.0", &[]);
    write_simple(dir.path());
    assert_ne!(page_texts(dir.path()), pages);
    fs::remove_file(&path).unwrap();
    let summary = write_simple(dir.path());
    assert_eq!(summary.removed, ["sub/gone-1.0-py3-none-any.whl.metadata".parse().unwrap()]);
    assert_eq!((summary.pages_removed, page_texts(dir.path())), (2, pages));
    assert!(!dir.path().join("simple/gone").exists() && !dir.path().join("sub").exists());
}

#[test]
fn a_package_can_be_removed_by_name() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "kept", "1.0", &[]);
    write_simple(dir.path());
    let pages = page_texts(dir.path());
    let path = wheel(dir.path(), "gone", "1.0", &[]);
    for companion in ["yanked", "from-0123456789abcdef.patch"] {
        fs::write(format!("{}.{companion}", path.display()), "bad").unwrap();
    }
    write_simple(dir.path());
    let elsewhere = TempDir::new().unwrap();
    let other = wheel(elsewhere.path(), "gone", "1.0", &[]);
    let refused =
        rockpack(dir.path(), &["index", "write", ".", "--remove", other.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(path.exists() && text(&refused.stderr).contains("give the file name of a package"));
    let stdout = succeed(dir.path(), &["index", "write", ".", "--remove", path.to_str().unwrap()]);
    assert!(stdout.contains("removed gone-1.0-py3-none-any.whl\n") && !path.exists(), "{stdout}");
    assert_eq!(page_texts(dir.path()), pages);
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        5,
        "two files of the package, two of the index, and simple"
    );
    let refused =
        rockpack(dir.path(), &["index", "write", ".", "--remove", "gone-1.0-py3-none-any.whl"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
}

#[test]
fn checksums_and_provenance_do_not_name_a_removed_package() {
    for below in ["", "run/dist"] {
        let dir = TempDir::new().unwrap();
        let dist = dir.path().join(below);
        copy(&demo("linux_x86_64"), &dist);
        let mentions = |file: &str| -> Vec<bool> {
            let text = fs::read_to_string(dist.join(file)).unwrap();
            ["rocm_sdk_devel", "rocm_sdk_core"].map(|name| text.contains(name)).into()
        };
        let records = ["SHA256SUMS", "provenance.intoto.json"];
        assert_eq!(records.map(mentions), [[true, true], [true, true]]);
        let wheels = fs::read_dir(&dist).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names = wheels.map(|name| name.into_string().unwrap());
        let devel = names.find(|name| name.starts_with("rocm_sdk_devel")).unwrap();
        succeed(dir.path(), &["index", "write", ".", "--remove", &devel]);
        assert_eq!(records.map(mentions), [[false, true], [false, true]], "in `{below}`");
        let verified = succeed(dir.path(), &["wheel", "verify", dist.to_str().unwrap()]);
        assert!(!verified.contains("SHA256SUMS"), "{verified}");
    }
}

#[test]
fn one_name_is_one_package() {
    let dir = TempDir::new().unwrap();
    let first = wheel(&dir.path().join("a"), "one", "1.0", &[]);
    wheel(&dir.path().join("b"), "one", "1.0", &[]);
    write_simple(dir.path());
    let page = fs::read_to_string(dir.path().join("simple/one/index.html")).unwrap();
    assert!(
        page.contains("../../a/one-1.0") && !page.contains("../../b/one-1.0"),
        "equal ones are one: {page}"
    );
    let pages = page_texts(dir.path());
    wheel(&dir.path().join("a"), "one", "1.0", &["other"]);
    let error = simple::write(dir.path(), Layout::Simple, None).unwrap_err();
    assert!(
        matches!(&error, IndexError::Clash { first, second } if first.as_str() < second.as_str()),
        "{error}"
    );
    assert_eq!(page_texts(dir.path()), pages, "the index is as it was");
    fs::remove_file(first).unwrap();
    write_simple(dir.path());
}

#[test]
fn broken_packages_are_named() {
    let dir = TempDir::new().unwrap();
    let broken = "two-1.0-py3-none-any.whl";
    wheel(dir.path(), "one", "1.0", &[]);
    let cases: [(&str, Vec<u8>, &str); 4] = [
        (broken, b"no zip".to_vec(), "is not a zip archive"),
        (
            broken,
            fs::read(dir.path().join("one-1.0-py3-none-any.whl")).unwrap(),
            "its metadata is of one 1.0",
        ),
        ("notes.whl", Vec::new(), "is not a wheel name"),
        ("log.tar.gz", Vec::new(), ""),
    ];
    for (name, bytes, reason) in cases {
        fs::write(dir.path().join(name), bytes).unwrap();
        let refused = rockpack(dir.path(), &["index", "write", ".", "--message-format", "json"]);
        let stderr = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(1)
                && stderr.contains(name)
                && stderr.contains(reason)
                && stderr.contains("index-refused"),
            "{stderr}"
        );
        let skipped = rockpack(dir.path(), &["index", "write", ".", "--skip-broken"]);
        assert!(
            skipped.status.success() && text(&skipped.stderr).contains(name),
            "{}",
            text(&skipped.stderr)
        );
        assert!(!page_texts(dir.path()).contains(name));
        fs::remove_file(dir.path().join(name)).unwrap();
    }
}

#[test]
fn refuses_to_write_pages_of_packages_that_verify_refuses() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "one", "1.0", &[]);
    wheel_of(dir.path(), "two", "1.0", &[], "\u{7f}ELF".repeat(20));
    let write = ["index", "write", ".", "--message-format", "json"];
    let refused = rockpack(dir.path(), &write);
    let stderr = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains("two-1.0-py3-none-any.whl") && stderr.contains("broken-elf"),
        "{stderr}"
    );
    assert!(!dir.path().join("simple").exists());
    let allowed = rockpack(dir.path(), &[&write[..], &["--allow", "broken-elf"]].concat());
    let stderr = text(&allowed.stderr);
    assert!(allowed.status.success() && stderr.contains("broken-elf"), "{stderr}");
    // Packages of the pages are not judged again.
    assert!(rockpack(dir.path(), &write).status.success());
}

#[test]
fn keeps_pages_of_other_programs() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "one", "1.0", &[]);
    fs::write(dir.path().join("index.html"), "<h1>My own page</h1>").unwrap();
    let refused = rockpack(dir.path(), &["index", "write", "."]);
    assert!(
        refused.status.code() == Some(1) && text(&refused.stderr).contains("--overwrite"),
        "{}",
        text(&refused.stderr)
    );
    assert!(!dir.path().join("simple").exists());
    succeed(dir.path(), &["index", "write", ".", "--overwrite"]);
    assert!(
        fs::read_to_string(dir.path().join("index.html")).unwrap().contains("<h1>Packages</h1>")
    );
    // The state of another index below is unchanged.
    succeed(dir.path(), &["index", "write", ".", "--layout", "flat"]);
    let below = dir.path().join("below");
    wheel(&below, "two", "1.0", &[]);
    write_simple(&below);
    succeed(dir.path(), &["index", "write", ".", "--layout", "flat"]);
    assert!(below.join("simple/two/index.html").is_file());
}

#[test]
fn upload_times_are_of_the_packages_or_the_option() {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "one", "1.0", &[]);
    let time = |time: Option<&str>| {
        let time = time.map(|time| time.parse().unwrap());
        simple::write(dir.path(), Layout::Simple, time).unwrap();
        let page: serde_json::Value =
            serde_json::from_slice(&fs::read(dir.path().join("simple/one/index.json")).unwrap())
                .unwrap();
        page["files"][0]["upload-time"].as_str().unwrap().to_owned()
    };
    assert_eq!(time(None), "2024-02-29T12:00:00Z");
    assert_eq!(time(Some("1700000000")), "2023-11-14T22:13:20Z");
    assert_eq!(time(None), "2024-02-29T12:00:00Z");
}

#[test]
fn refuses_unindexable_packages() {
    let dir = TempDir::new().unwrap();
    let error = simple::write(&dir.path().join("none"), Layout::Flat, None).unwrap_err();
    assert!(matches!(error, IndexError::NotADirectory { .. }), "{error}");
    wheel(&dir.path().join("dist"), "one", "1.0", &[]);
    let options = Options { layout: Layout::Run, ..Options::default() };
    let error = simple::write_with(dir.path(), &options, None).unwrap_err();
    assert!(matches!(error, IndexError::Misplaced { .. }), "{error}");
    let names: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["dist"], "nothing is left behind");
}

#[test]
fn pages_of_a_store_are_no_pages_of_a_directory() {
    for (layout, from) in [("per-package", "."), ("flat", "."), ("per-package", "simple")] {
        let dir = TempDir::new().unwrap();
        wheel(&dir.path().join("new"), "one", "1.0", &[]);
        let store = dir.path().join("store");
        let place = store.join(from);
        let place = place.to_str().unwrap();
        succeed(dir.path(), &["index", "publish", "new", place, "--layout", layout]);
        let pages = page_texts(&store);
        for form in ["simple", "flat"] {
            let output = rockpack(dir.path(), &["index", "write", "store", "--layout", form]);
            assert_eq!(output.status.code(), Some(1), "{layout}, {form}");
            let stderr = text(&output.stderr);
            assert!(stderr.contains("`rockpack index publish`"), "{stderr}");
            assert_eq!(page_texts(&store), pages);
        }
        succeed(dir.path(), &["index", "publish", "new", place, "--layout", layout]);
    }
    // The same for pages of a store below a directory with packages and known pages.
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "one", "1.0", &[]);
    write_simple(dir.path());
    let state = dir.path().join(".rockpack-index.json");
    fs::remove_file(&state).unwrap();
    write_simple(dir.path());
    succeed(dir.path(), &["index", "mirror", "simple", "pages", "--public", "https://h/x/simple/"]);
    let error = simple::write(dir.path(), Layout::Simple, None).unwrap_err();
    assert!(matches!(error, IndexError::Published { .. }), "{error}");
    succeed(dir.path(), &["index", "write", ".", "--overwrite"]);
    write_simple(dir.path());
}

#[test]
fn a_link_to_nothing_is_not_left_out() {
    for name in ["two-1.0-py3-none-any.whl", "one-1.0-py3-none-any.whl.yanked"] {
        let dir = TempDir::new().unwrap();
        let dist = dir.path().join("dist");
        let elsewhere = wheel(&dir.path().join("elsewhere"), "three", "1.0", &[]);
        wheel(&dist, "one", "1.0", &[]);
        let link = |target: &Path, name: &str| {
            std::os::unix::fs::symlink(target, dist.join(name)).unwrap();
        };
        link(&elsewhere, "three-1.0-py3-none-any.whl");
        assert_eq!(write_simple(&dist).packages, 2);
        link(Path::new("/none/x"), name);
        for args in [&["index", "write", "dist"][..], &["index", "publish", "dist", "store"]] {
            let output = rockpack(dir.path(), args);
            assert_eq!(output.status.code(), Some(2), "{name}");
            let messages = crate::program::stderr(&output);
            assert!(messages.contains("cannot read the packages in dist: "), "{messages}");
            assert!(messages.contains(&format!("dist/{name}")), "{messages}");
        }
        assert!(!dir.path().join("store").exists());
    }
}
