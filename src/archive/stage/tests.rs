use std::io::Write;

use super::*;

fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

/// Every file and directory below `root`, sorted, directories with `/`.
fn tree(root: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter().map(Result::unwrap);
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
    let removed = stage.commit(&[path("dist/a.whl"), path("dist/family/b.whl")], |_| true).unwrap();
    assert!(removed.is_empty());
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
    first.commit(&[path("dist/a.whl")], |_| false).unwrap();
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
    stage.commit(&[path("dist/a.whl")], |_| false).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("dist/a.whl")).unwrap(), "whole");
    assert_eq!(tree(dir.path()), ["dist/", "dist/a.whl"]);
}

#[test]
fn only_our_own_stale_outputs_are_deleted() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "dist/keep.txt",
        "dist/old.whl",
        "dist/new.whl",
        "dist/gone/old.whl",
        "dist/kept/old.whl",
        "dist/kept/note",
        "dist/a/b/deep.whl",
        "other/old.whl",
    ] {
        let place = dir.path().join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, "old").unwrap();
    }
    let stage = Stage::open(dir.path()).unwrap();
    put(&stage, "dist/new.whl", "new");
    let removed = stage.commit(&[path("dist/new.whl")], |path| !["keep.txt", "note"].contains(&path.file_name())).unwrap();
    assert_eq!(removed, [path("dist/gone/old.whl"), path("dist/kept/old.whl"), path("dist/old.whl")]);
    let files: Vec<String> = tree(dir.path()).into_iter().filter(|name| !name.ends_with('/')).collect();
    assert_eq!(files, ["dist/a/b/deep.whl", "dist/keep.txt", "dist/kept/note", "dist/new.whl", "other/old.whl"]);
    assert!(!dir.path().join("dist/gone").exists());
    assert_eq!(fs::read_to_string(dir.path().join("dist/new.whl")).unwrap(), "new");
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
        stage.commit(outputs, |_| true).unwrap_err()
    };
    assert_eq!(commit(&[path("dist/a.whl"), path("dist/c.whl")]).to_string(), "the output `dist/c.whl` was never made");
    assert!(matches!(commit(&[path("dist/a.whl"), path("dist/b.whl")]), StageError::Occupied { .. }));
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
    if fs::create_dir(dir.path().join("probe")).is_ok() {
        eprintln!("SKIPPED: this user may write everywhere");
        return;
    }
    for dest in [dir.path().to_owned(), dir.path().join("new")] {
        let error = Stage::open(&dest).unwrap_err();
        assert!(matches!(&error, StageError::NotWritable { .. }), "{error}");
    }
}
