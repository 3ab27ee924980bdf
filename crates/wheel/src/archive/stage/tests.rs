use std::io::Write;

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::disk::faults::{Fault, calls, inject};
use super::*;

fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

fn tree(root: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(root)
        .min_depth(1)
        .sort_by_file_name()
        .into_iter()
        .map(Result::unwrap);
    let name = |entry: walkdir::DirEntry| {
        let below = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if entry.file_type().is_dir() { below + "/" } else { below }
    };
    entries.map(name).collect()
}

fn put(stage: &Stage, name: &str, content: &str) {
    stage.create(&path(name)).unwrap().write_all(content.as_bytes()).unwrap();
}

#[test]
fn outputs_appear_on_commit() {
    let dir = tempfile::tempdir().unwrap();
    let dest = dir.path().join("new/out");
    let stage = Stage::open(&dest).unwrap();
    put(&stage, "dist/a.whl", "a");
    put(&stage, "dist/family/b.whl", "b");
    assert!(!dest.join("dist").exists());
    stage.commit(&[path("dist/a.whl"), path("dist/family/b.whl")], &[]).unwrap();
    assert_eq!(tree(&dest), ["dist/", "dist/a.whl", "dist/family/", "dist/family/b.whl"]);
    let mode = fs::metadata(dest.join("dist/a.whl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn dropped_without_commit_leaves_everything_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let stage = Stage::open(&dir.path().join("new/out")).unwrap();
    put(&stage, "dist/a.whl", "a");
    drop(stage);
    assert!(tree(dir.path()).is_empty(), "{:?}", tree(dir.path()));

    fs::write(dir.path().join("mine"), "").unwrap();
    let stage = Stage::open(dir.path()).unwrap();
    put(&stage, "dist/a.whl", "a");
    drop(stage);
    assert_eq!(tree(dir.path()), ["mine"]);
}

#[test]
fn one_build_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = Stage::open(dir.path()).unwrap();
    put(&first, "dist/a.whl", "a");
    let second = Stage::open(dir.path()).unwrap_err();
    assert!(second.to_string().starts_with("another build is writing to `"), "{second}");
    first.commit(&[path("dist/a.whl")], &[]).unwrap();
    drop(Stage::open(dir.path()).unwrap());
    assert_eq!(tree(dir.path()), ["dist/", "dist/a.whl"]);
}

#[test]
fn what_a_killed_build_left_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let left = dir.path().join(PARTIAL).join("outputs/dist");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("a.whl"), "half").unwrap();
    fs::write(dir.path().join(PARTIAL).join("lock"), "").unwrap();
    let stage = Stage::open(dir.path()).unwrap();
    put(&stage, "dist/a.whl", "whole");
    stage.commit(&[path("dist/a.whl")], &[]).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("dist/a.whl")).unwrap(), "whole");
    assert_eq!(tree(dir.path()), ["dist/", "dist/a.whl"]);
}

#[test]
fn what_is_to_go_goes_with_the_directories_that_it_leaves_empty() {
    let dir = tempfile::tempdir().unwrap();
    let files = [
        "dist/keep.txt",
        "dist/old.whl",
        "dist/gone/old.whl",
        "dist/kept/old.whl",
        "dist/kept/note",
    ];
    for name in files {
        write(dir.path(), name, "old");
    }
    let stage = Stage::open(dir.path()).unwrap();
    put(&stage, "dist/new.whl", "new");
    let gone = ["dist/gone/old.whl", "dist/kept/old.whl", "dist/old.whl"].map(path);
    stage.commit(&[path("dist/new.whl")], &gone).unwrap();
    assert_eq!(
        tree(dir.path()),
        ["dist/", "dist/keep.txt", "dist/kept/", "dist/kept/note", "dist/new.whl"]
    );
}

fn write(root: &Path, name: &str, content: &str) {
    let place = root.join(name);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, content).unwrap();
}

fn texts(root: &Path) -> Vec<(String, String)> {
    let files = |name: &String| !name.starts_with(PARTIAL) && !name.ends_with('/');
    let text = |name: String| (fs::read_to_string(root.join(&name)).unwrap(), name);
    tree(root).into_iter().filter(files).map(text).collect()
}

const OLD: [(&str, &str); 5] = [
    ("dist/SHA256SUMS", "old a, old b"),
    ("dist/a.whl", "old a"),
    ("dist/family/b.whl", "old b"),
    ("dist/notes.txt", "of somebody else"),
    ("dist/other/page.html", "of somebody else"),
];
const NEW: [(&str, &str); 4] = [
    ("dist/a.whl", "new a"),
    ("dist/c.whl", "new c"),
    ("dist/far/away/d.whl", "new d"),
    ("dist/SHA256SUMS", "new a, new c, new d"),
];

fn change(dest: &Path, fault: Option<Fault>) -> (Result<(), StageError>, usize) {
    let stage = Stage::open(dest).unwrap();
    for (name, text) in NEW {
        put(&stage, name, text);
    }
    inject(fault);
    let result = stage.commit(&NEW.map(|(name, _)| path(name)), &[path("dist/family/b.whl")]);
    let calls = calls();
    inject(None);
    (result, calls)
}

fn before() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in OLD {
        write(dir.path(), name, text);
    }
    dir
}

#[test]
fn a_change_happens_or_does_not_whichever_call_fails() {
    let old = texts(before().path());
    let whole = before();
    let (result, calls) = change(whole.path(), None);
    result.unwrap();
    let new = texts(whole.path());
    assert!(calls > 20 && new != old, "{calls}");
    for at in 0..calls {
        let dir = before();
        let (result, _) = change(dir.path(), Some(Fault::One(at)));
        assert_eq!(
            texts(dir.path()),
            if result.is_ok() { &new[..] } else { &old[..] },
            "call {at}"
        );
        drop(Stage::open(dir.path()).unwrap());
        assert!(!dir.path().join(PARTIAL).exists(), "call {at}");
    }
}

#[test]
fn a_change_happens_or_does_not_wherever_the_process_is_killed() {
    let old = texts(before().path());
    let whole = before();
    let (_, calls) = change(whole.path(), None);
    let new = texts(whole.path());
    let mut seen = [0, 0];
    for at in 0..calls {
        let dir = before();
        let (result, _) = change(dir.path(), Some(Fault::Rest(at)));
        for again in 0..3 {
            inject(Some(Fault::Rest(again)));
            let _ = repair(dir.path());
            inject(None);
        }
        let repaired = repair(dir.path()).unwrap();
        let found = texts(dir.path());
        assert!(found == old || found == new, "call {at}: {found:?}");
        assert!(result.is_err() || found == new, "call {at}: {repaired}");
        seen[usize::from(found == new)] += 1;
        change(dir.path(), None).0.unwrap();
        assert_eq!(texts(dir.path()), new, "call {at}");
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn a_journal_that_is_none_or_leads_outside_is_not_followed() {
    for text in ["", "{}{}", r#"{"made":[],"added":["../precious"],"kept":[]}"#] {
        let dir = before();
        write(dir.path(), "precious", "");
        write(dir.path(), &format!("{PARTIAL}/journal"), text);
        let error = repair(dir.path()).unwrap_err();
        assert!(error.to_string().contains("changes"), "{error}");
        assert!(dir.path().join("precious").exists());
    }
}

#[test]
fn what_cannot_be_committed_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("dist/b.whl")).unwrap();
    fs::write(dir.path().join("dist/old.whl"), "").unwrap();
    let commit = |outputs: &[RelPath]| {
        let stage = Stage::open(dir.path()).unwrap();
        put(&stage, "dist/a.whl", "a");
        put(&stage, "dist/b.whl", "b");
        stage.commit(outputs, &[]).unwrap_err()
    };
    assert_eq!(
        commit(&[path("dist/a.whl"), path("dist/c.whl")]).to_string(),
        "the output `dist/c.whl` was never made"
    );
    assert!(matches!(
        commit(&[path("dist/a.whl"), path("dist/b.whl")]),
        StageError::Occupied { .. }
    ));
    assert_eq!(tree(dir.path()), ["dist/", "dist/b.whl/", "dist/old.whl"]);
}

#[test]
fn an_output_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let stage = Stage::open(dir.path()).unwrap();
    put(&stage, "dist/a.whl", "a");
    let error = stage.create(&path("dist/a.whl")).unwrap_err();
    assert_eq!(error.to_string(), "the output `dist/a.whl` is made twice");
}

#[test]
fn a_file_is_no_destination() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for dest in [file.clone(), file.join("below")] {
        let error = Stage::open(&dest).unwrap_err();
        assert!(matches!(&error, StageError::NotADirectory { .. }), "{error}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"");
}

#[test]
fn places_where_no_directory_can_be_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link");
    fs_err::os::unix::fs::symlink("nowhere", &link).unwrap();
    for (dest, said) in [
        (Path::new(""), "the destination is an empty path"),
        (Path::new("/proc/x"), "cannot create a directory at `/proc/x`"),
        (Path::new("/proc/x/y/z"), "cannot create a directory at `/proc/x`"),
        (Path::new("/dev/null/x"), "`/dev/null` is not a directory"),
        (&link, "link` is a dangling link"),
        (&link.join("below"), "link` is a dangling link"),
    ] {
        let error = Stage::open(dest).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    assert_eq!(tree(dir.path()), ["link"]);
}

#[test]
fn a_symlink_in_place_of_the_hidden_directory_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let precious = dir.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file"), "").unwrap();
    let dest = dir.path().join("dest");
    fs::create_dir(&dest).unwrap();
    fs_err::os::unix::fs::symlink(&precious, dest.join(PARTIAL)).unwrap();
    assert!(matches!(Stage::open(&dest), Err(StageError::NotADirectory { .. })));
    assert!(precious.join("file").exists());
}

#[test]
fn a_destination_that_may_not_be_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let refused = || {
        give_up_writing_everywhere();
        for dest in [dir.path().to_owned(), dir.path().join("new")] {
            let error = Stage::open(&dest).unwrap_err();
            assert!(matches!(&error, StageError::NotWritable { .. }), "{error}");
        }
    };
    std::thread::scope(|scope| scope.spawn(refused).join().unwrap());
}

fn give_up_writing_everywhere() {
    let mut rights = capabilities(None).unwrap();
    rights.effective.remove(CapabilitySet::DAC_OVERRIDE);
    set_capabilities(None, rights).unwrap();
}
