//! Catalog of an artifact directory, and rejected directories.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use catalog::{self, Catalog, EntryKind};
use fs_err as fs;
use fs_err::os::unix::fs::symlink;
use tempfile::TempDir;

fn file(dir: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = dir.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn artifacts() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    file(dir.path(), "base_lib_generic/artifact_manifest.txt", "stage\n");
    file(dir.path(), "base_lib_generic/stage/share/a", "a");
    dir
}

fn scan(dir: &TempDir) -> Catalog {
    catalog::scan(dir.path())
        .unwrap_or_else(|problems| {
            panic!("{:?}", problems.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
        .0
}

fn problems(dir: &TempDir) -> Vec<String> {
    let problems = catalog::scan(dir.path()).unwrap_err();
    problems.iter().map(|p| p.to_string().replace(dir.path().to_str().unwrap(), "DIR")).collect()
}

fn entries(catalog: &Catalog) -> Vec<String> {
    let line = |e: &catalog::CatalogEntry| match &e.kind {
        EntryKind::Directory => format!("{}/", e.path),
        EntryKind::File { size, .. } => format!("{} {size}", e.path),
        EntryKind::Symlink { target } => format!("{} -> {target}", e.path),
    };
    catalog.artifacts.iter().flat_map(|a| &a.entries).map(line).collect()
}

#[test]
fn all_bases_are_one_tree_and_absent_ones_are_counted() {
    let dir = artifacts();
    file(
        dir.path(),
        "base_lib_generic/artifact_manifest.txt",
        "stage\nmath/blas/stage/\n\ngone/stage\n",
    );
    file(dir.path(), "base_lib_generic/math/blas/stage/lib/.hidden/b", "bb");
    fs::create_dir(dir.path().join("base_lib_generic/math/blas/stage/empty")).unwrap();
    symlink("share", dir.path().join("base_lib_generic/stage/link")).unwrap();
    file(dir.path(), "base_lib_generic/unlisted/c", "c");
    let catalog = scan(&dir);
    assert_eq!(
        entries(&catalog),
        [
            "empty/",
            "lib/",
            "lib/.hidden/",
            "lib/.hidden/b 2",
            "link -> share",
            "share/",
            "share/a 1"
        ]
    );
    assert_eq!(catalog.artifacts[0].absent_bases, ["gone/stage".parse().unwrap()]);
}

#[test]
fn other_entries_are_ignored_with_the_reason() {
    let dir = artifacts();
    file(dir.path(), "README.md", "hello");
    file(dir.path(), "base_all_generic/x", "x");
    symlink("nowhere", dir.path().join("gone_lib_generic")).unwrap();
    let ignored: Vec<String> =
        scan(&dir).ignored.iter().map(|i| format!("{}: {}", i.name, i.reason)).collect();
    assert_eq!(
        ignored,
        [
            "README.md: it is neither a directory nor a .tar.zst or .tar.xz archive",
            "base_all_generic: `all` is not a component: the components are lib, run, dev, dbg, doc and test",
            "gone_lib_generic: dangling link",
        ]
    );
}

#[test]
fn an_artifact_may_be_a_link_to_its_directory() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), artifacts());
    symlink(elsewhere.path().join("base_lib_generic"), dir.path().join("base_lib_generic"))
        .unwrap();
    assert_eq!(entries(&scan(&dir)), ["share/", "share/a 1"]);
}

#[test]
fn a_child_without_a_manifest_is_an_error() {
    let dir = artifacts();
    file(dir.path(), "blas_lib_generic/stage/b", "b");
    assert_eq!(problems(&dir), ["artifact `blas_lib_generic` has no artifact_manifest.txt"]);
}

#[test]
fn an_empty_manifest_is_an_error_unless_it_has_a_line() {
    let dir = artifacts();
    file(dir.path(), "blas_lib_generic/artifact_manifest.txt", "");
    assert_eq!(
        problems(&dir),
        ["blas_lib_generic/artifact_manifest.txt is empty, without a base directory"]
    );
    file(dir.path(), "blas_lib_generic/artifact_manifest.txt", "\n");
    assert_eq!(scan(&dir).artifacts.len(), 2);
}

#[test]
fn bases_that_lead_outside_are_refused() {
    for (base, reason) in [
        ("../other", "has `..`, which can lead outside"),
        ("/etc", "is absolute; write a relative path"),
    ] {
        let dir = artifacts();
        file(dir.path(), "base_lib_generic/artifact_manifest.txt", format!("stage\n{base}\n"));
        assert_eq!(problems(&dir), [format!("base directory `{base}` {reason}")]);
    }
}

#[test]
fn bases_behind_links_are_refused() {
    let (dir, outside) = (artifacts(), tempfile::tempdir().unwrap());
    file(outside.path(), "stage/secret", "s");
    symlink(outside.path(), dir.path().join("base_lib_generic/out")).unwrap();
    file(dir.path(), "base_lib_generic/artifact_manifest.txt", "stage\nout/stage\n");
    assert_eq!(
        problems(&dir),
        ["base directory `out/stage` of artifact `base_lib_generic` leads through the link `out`"]
    );
}

#[test]
fn names_that_are_not_utf8_or_have_control_characters_are_named() {
    let dir = artifacts();
    fs::write(
        dir.path().join("base_lib_generic/stage").join(std::ffi::OsStr::from_bytes(b"caf\xe9")),
        "c",
    )
    .unwrap();
    file(dir.path(), "base_lib_generic/stage/new\nline", "n");
    file(dir.path(), "base_lib_generic/stage/fine, \"quoted\" ü", "n");
    let mut problems = problems(&dir);
    problems.sort();
    assert_eq!(
        problems,
        [
            "artifact `base_lib_generic` has a file whose name is not UTF-8: `caf\u{fffd}`",
            "artifact `base_lib_generic` has a file whose path `new\\nline` has a control character; installers reject it",
        ]
    );
}

#[test]
fn problems_are_sorted() {
    let dir = artifacts();
    for name in ["z\n", "a\n", "m\n"] {
        file(dir.path(), &format!("base_lib_generic/stage/{name}"), "x");
    }
    assert!(problems(&dir).is_sorted(), "{:?}", problems(&dir));
}

#[test]
fn pipes_are_refused() {
    let dir = artifacts();
    let pipe = dir.path().join("base_lib_generic/stage/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(
        problems(&dir),
        [
            "cannot read `pipe` of artifact `base_lib_generic`: it is a device, socket or pipe; packages cannot contain it"
        ]
    );
}

#[test]
fn files_that_two_artifacts_install_are_hashed_and_no_others() {
    let dir = artifacts();
    for (artifact, content) in
        [("blas_lib_generic", "a"), ("rand_lib_gfx942", "b"), ("rand_lib_gfx1100", "c")]
    {
        file(dir.path(), &format!("{artifact}/artifact_manifest.txt"), "stage");
        file(
            dir.path(),
            &format!(
                "{artifact}/stage/{}",
                if artifact.starts_with("rand") { "r" } else { "share/a" }
            ),
            content,
        );
    }
    let catalog = scan(&dir);
    let hashed: Vec<String> = catalog
        .artifacts
        .iter()
        .flat_map(|a| {
            a.entries
                .iter()
                .filter(|e| e.sha256.is_some())
                .map(move |e| format!("{} {}", a.id, e.path))
        })
        .collect();
    assert_eq!(
        hashed,
        ["base_lib_generic share/a", "blas_lib_generic share/a"],
        "no package installs the `r` of both ISAs"
    );
}

#[test]
fn facts_recorded_by_the_build_are_read() {
    let dir = artifacts();
    file(
        dir.path(),
        "base_lib_generic/stage/share/therock/therock_manifest.json",
        "{\"flags\": {\"KPACK_SPLIT_ARTIFACTS\": true}}",
    );
    file(
        dir.path(),
        "base_lib_generic/stage/share/therock/dist_info.json",
        "{\"dist_amdgpu_targets\": \"gfx942;gfx1100\"}",
    );
    file(dir.path(), "base_lib_generic/stage/.info/version", "7.2.0\n");
    let build = scan(&dir).build;
    assert!(build.kpack_split);
    assert_eq!(
        (build.targets, build.version),
        (vec!["gfx942".to_owned(), "gfx1100".to_owned()], Some("7.2.0".to_owned()))
    );
    file(dir.path(), "base_lib_generic/stage/share/therock/dist_info.json", "{");
    assert!(
        problems(&dir)[0].starts_with("share/therock/dist_info.json is not JSON: "),
        "{:?}",
        problems(&dir)
    );
}

#[test]
fn a_directory_without_artifacts_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(problems(&dir), ["no artifacts in DIR: it is empty"]);
    file(dir.path(), "x/y", "z");
    assert_eq!(problems(&dir), ["no artifacts in DIR: none of its 1 entries is an artifact"]);
}

#[test]
fn reads_run_and_sources_of_the_build_and_saves_them() {
    let dir = artifacts();
    let path = "base_lib_generic/stage/share/therock/therock_manifest.json";
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let text = format!(
        r#"{{"the_rock_commit": "{sha}", "github_run_id": "17", "rocm_package_version": "7.2.0rc1",
        "submodules": [{{"submodule_path": "base/half", "submodule_url": "https://example.org/h.git", "pin_sha": "{sha}", "patches": []}}],
        "flags": {{"KPACK_SPLIT_ARTIFACTS": true}}}}"#
    );
    file(dir.path(), path, text);
    let catalog = scan(&dir);
    let build = &catalog.build;
    assert!(build.kpack_split);
    assert_eq!(build.package_version.as_deref(), Some("7.2.0rc1"));
    assert_eq!((build.origin.run.as_deref(), build.origin.sources.len()), (Some("17"), 1));
    let saved = dir.path().join("saved.json");
    catalog.save(&saved).unwrap();
    assert_eq!(Catalog::load(&saved).unwrap().build.origin, build.origin);
    file(dir.path(), path, r#"{"the_rock_commit": "main"}"#);
    fs::remove_file(saved).unwrap();
    assert_eq!(
        problems(&dir),
        [
            "share/therock/therock_manifest.json: `main` is not a commit of the build's own repository"
        ]
    );
}
