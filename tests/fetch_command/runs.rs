//! Builds from runs in stores, and the addresses of runs.

use super::*;

#[test]
fn store_and_directory_give_equal_packages() {
    let dir = scratch();
    let dir = dir.path();
    declare_store(dir);
    let expected = built(dir, "a", &["--artifact-dir", "artifacts"]);
    assert!(expected.len() > 5);
    assert_eq!(built(dir, "b", &["--artifact-dir", &address(dir)]), expected);
    assert_eq!(built(dir, "strict", &["--store", "strict", "--run", "17"]), expected);
    assert_eq!(built(dir, "c", &["--store", "here", "--run", "17"]), expected);
    succeed(dir, &["artifact", "fetch", "--store", "here", "--run", "17", "-o", "fetched"]);
    assert_eq!(built(dir, "d", &["--artifact-dir", "fetched"]), expected);
    // The run of another repository is in another directory.
    fs::create_dir(dir.join("store/a-b")).unwrap();
    fs::rename(dir.join("store/17-linux"), dir.join("store/a-b/18-linux")).unwrap();
    let fork = ["--store", "here", "--run", "18", "--external", "a-b"];
    assert_eq!(built(dir, "e", &fork), expected);
}

#[test]
fn takes_files_of_equal_archives_from_the_cache() {
    let dir = scratch();
    let dir = dir.path();
    let output_of = |args: &[&str]| {
        let mut command = uncached(dir, args);
        let output = command.env_remove("ROCKPACK_NO_CACHE").output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output)
    };
    let build = |dest: &str| {
        let args = ["build", "--artifact-dir", "store/17-linux", "-o", dest];
        output_of(&[&args[..], &["--cache", "cache"]].concat())
    };
    let numbers = |text: &str, label: &str| -> Vec<u64> {
        let line = text.lines().find(|line| line.contains(label)).unwrap();
        let words = line.split(label).next().unwrap().split(' ');
        words.filter_map(|word| word.parse().ok()).collect()
    };
    build("one");
    let stats = output_of(&["cache", "stats", "--cache", "cache"]);
    // Each build unpacks new files, so the cache finds them by the checksum of their archive.
    assert!(numbers(&stats, " files are known without a read")[0] > 40, "{stats}");
    let again = build("two");
    let [hits, all] = numbers(&again, " files were packed")[..] else { panic!("{again}") };
    assert!(hits == all && all > 100, "{again}");
    let sums = |dest: &str| fs::read(dir.join(dest).join("dist/SHA256SUMS")).unwrap();
    assert_eq!(sums("one"), sums("two"));
}

#[test]
fn reports_an_unusable_temporary_directory_once() {
    let dir = scratch();
    let mut command =
        uncached(dir.path(), &["artifact", "scan", "--artifact-dir", "store/17-linux"]);
    let output = command.env("TMPDIR", dir.path().join("none")).output().unwrap();
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{messages}");
    assert_eq!(messages.matches("cannot make a temporary file in").count(), 1, "{messages}");
    assert!(messages.contains("help: set TMPDIR to a directory"), "{messages}");
}

#[test]
fn store_and_directory_give_equal_catalogs() {
    let dir = scratch();
    let dir = dir.path();
    declare_store(dir);
    let (expected, _) = succeed(dir, &["artifact", "scan", "--artifact-dir", "artifacts"]);
    for place in [&["--artifact-dir", &*address(dir)][..], &["--store", "here", "--run", "17"]] {
        assert!(succeed(dir, &[&["artifact", "scan"], place].concat()).0 == expected, "{place:?}");
    }
}

#[test]
fn refuses_unknown_stores_missing_runs_and_wrong_options() {
    let dir = scratch();
    let dir = dir.path();
    declare_store(dir);
    let cases: [(i32, &[&str], &str); 7] = [
        (2, &["--store", "hare", "--run", "17"], "declares no store `hare`"),
        (2, &["--store", "here"], "--run"),
        (2, &["--store", "here", "--run", "../17"], "is not valid in the address of a run"),
        (1, &["--store", "here", "--run", "99"], "no archive of an artifact at file://"),
        (
            2,
            &["--artifact-dir", "ftp://example.org/17"],
            "write a directory or a URL that begins with",
        ),
        (
            2,
            &["--artifact-dir", "artifacts", "--store", "here", "--run", "17"],
            "cannot be used with",
        ),
        (1, &["--store", "here", "--run", "17", "--system", "windows"], "17-windows"),
    ];
    for (status, args, why) in cases {
        let text = refusal(dir, status, &[&["plan"], args].concat());
        assert!(text.contains(why), "{args:?}: {text}");
    }
    let text = refusal(dir, 2, &["artifact", "fetch", "artifacts", "-o", "fetched"]);
    assert!(text.contains("`artifacts` is not an address of a run"), "{text}");
}

#[test]
fn a_repeated_fetch_replaces_only_damaged_archives() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let fetch = ["artifact", "fetch", &*address, "-o", "fetched"];
    succeed(dir, &fetch);
    let whole = files(&dir.join("fetched"));
    let (text, _) = succeed(dir, &fetch);
    assert!(
        text.contains("0 archives of 0 B fetched") && text.contains(" were already complete"),
        "{text}"
    );
    // Changed and empty archives are fetched again, a missing sidecar is written, and a partial file
    // removed.
    let damaged = dir.join("fetched/base_lib_generic.tar.zst");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[100] ^= 1;
    fs::write(&damaged, &bytes).unwrap();
    fs::write(dir.join("fetched/base_run_generic.tar.zst"), "").unwrap();
    fs::write(dir.join("fetched/.rockpack-fetch-abc"), "half").unwrap();
    fs::remove_file(dir.join("fetched/prim_dev_generic.tar.zst.sha256sum")).unwrap();
    let (text, _) = succeed(dir, &fetch);
    assert!(text.contains("2 archives of"), "{text}");
    assert_eq!(files(&dir.join("fetched")), whole);
    // Without a checksum, an existing archive is always fetched again.
    fs::remove_file(sidecar(&dir.join("store/17-linux/base_lib_generic.tar.zst"))).unwrap();
    fs::write(&damaged, &bytes).unwrap();
    let (text, warning) = succeed(dir, &fetch);
    assert!(text.contains("1 archive of"), "{text}");
    assert!(warning.contains("`base_lib_generic.tar.zst` has no .sha256sum"), "{warning}");
    assert!(!sidecar(&damaged).exists(), "an old checksum would be of another archive");
    assert_eq!(sha256(&damaged).unwrap(), whole["base_lib_generic.tar.zst"]);
}

#[test]
fn a_directory_with_other_artifacts_is_refused() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    fs::create_dir_all(dir.join("fetched/other_lib_generic")).unwrap();
    let text = refusal(dir, 2, &["artifact", "fetch", &address, "-o", "fetched"]);
    assert!(text.contains("fetched has `other_lib_generic`"), "{text}");
    assert_eq!(fs::read_dir(dir.join("fetched")).unwrap().count(), 1);
}
