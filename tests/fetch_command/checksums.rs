//! Archives must match their sidecar checksums, wherever they are.

use super::*;

/// Archive that the tests damage.
const KEY: &str = "base_lib_generic.tar.zst";

/// Returns the commands that read the archives of a run.
fn commands(address: &str) -> [Vec<&str>; 4] {
    [
        vec!["artifact", "scan", "--artifact-dir", "store/17-linux", "-o", "catalog.json"],
        vec!["plan", "--artifact-dir", address],
        vec!["build", "--artifact-dir", address, "-o", "out"],
        vec!["artifact", "fetch", address, "-o", "fetched"],
    ]
}

#[test]
fn every_command_refuses_a_wrong_checksum() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let archive = dir.join("store/17-linux").join(KEY);
    let actual = sha256(&archive).unwrap();
    let expected = "0f".repeat(32);
    fs::write(sidecar(&archive), format!("{expected}  {KEY}\n")).unwrap();
    for command in commands(&address) {
        let text = refusal(dir, 1, &command);
        assert!(text.contains(&format!("expected {expected}, found {actual}")), "{text}");
        assert!(text.contains(KEY), "{text}");
        assert!(!dir.join("out").exists() && !dir.join("catalog.json").exists(), "{command:?}");
        assert!(!dir.join("fetched").join(KEY).exists(), "{command:?} must not keep the archive");
    }
    // The lock file is not written either.
    refusal(dir, 1, &["artifact", "fetch", &address, "-o", "fetched", "--lock", "rockpack.lock"]);
    assert!(!dir.join("rockpack.lock").exists());
}

#[test]
fn a_truncated_archive_fails_its_checksum() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let archive = dir.join("store/17-linux").join(KEY);
    let bytes = fs::read(&archive).unwrap();
    fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    for command in commands(&address) {
        let text = refusal(dir, 1, &command);
        assert!(text.contains("does not match its .sha256sum file"), "{text}");
        assert!(!dir.join("out").exists() && !dir.join("fetched").join(KEY).exists());
    }
    // Without a sidecar, the decoder detects it.
    fs::remove_file(sidecar(&archive)).unwrap();
    let text = refusal(dir, 1, &["plan", "--artifact-dir", "store/17-linux"]);
    assert!(text.contains("cannot read archive base_lib_generic.tar.zst"), "{text}");
}

#[test]
fn a_missing_checksum_is_a_warning_unless_required() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    fs::remove_file(sidecar(&dir.join("store/17-linux").join(KEY))).unwrap();
    let warning = format!("`{KEY}` has no .sha256sum file");
    declare_store(dir);
    for command in commands(&address) {
        let (_, text) = succeed(dir, &command);
        assert!(text.contains(&warning), "{command:?}: {text}");
        fs::remove_dir_all(dir.join("out")).ok();
        fs::remove_dir_all(dir.join("fetched")).ok();
    }
    let store = ["--store", "strict", "--run", "17", "-o"];
    for (verb, dest) in [(&["build"][..], "out"), (&["artifact", "fetch"], "fetched")] {
        let command = [verb, &store, &[dest]].concat();
        let text = refusal(dir, 1, &command);
        let remedy = format!("`sha256sum {KEY} > {KEY}.sha256sum`");
        assert!(text.contains(&warning) && text.contains(&remedy), "{command:?}: {text}");
        assert!(!dir.join("out").exists() && !dir.join("fetched").exists(), "{command:?}");
    }
}

#[test]
fn an_invalid_checksum_is_an_error() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let sidecar_path = sidecar(&dir.join("store/17-linux").join(KEY));
    for (text, why) in [
        ("<Error>AccessDenied</Error>", "is not a SHA-256"),
        ("", "it is empty"),
        (&*format!("{}  other.tar.zst", "0f".repeat(32)), "it has no checksum of the archive"),
        (
            &*format!("{}  {KEY}\n{}  {KEY}", "0f".repeat(32), "f0".repeat(32)),
            "it has two checksums of the archive",
        ),
    ] {
        fs::write(&sidecar_path, text).unwrap();
        // plan and build read the checksum with the same code as scan.
        let [scan, _, _, fetch] = commands(&address);
        for command in [scan, fetch] {
            let text = refusal(dir, 1, &command);
            assert!(text.contains(why) && text.contains(KEY), "{text}");
        }
    }
}

#[test]
fn a_plan_lists_only_checksums_without_their_archive() {
    let dir = scratch();
    let dir = dir.path();
    let (plan, text) = succeed(dir, &["plan", "--artifact-dir", "store/17-linux"]);
    assert!(!plan.contains("sha256sum") && !text.contains("sha256sum"), "{plan}{text}");
    fs::write(dir.join("store/17-linux/gone_lib_generic.tar.zst.sha256sum"), "").unwrap();
    let (plan, _) = succeed(dir, &["plan", "--artifact-dir", "store/17-linux"]);
    assert!(plan.contains("checksum without its archive"), "{plan}");
}

#[test]
fn reports_a_checksum_whose_needed_archive_is_missing() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    fs::remove_file(dir.join("store/17-linux/blas_lib_gfx942.tar.zst")).unwrap();
    let fetch = ["artifact", "fetch", &*address, "--dry-run"];
    let messages = |more: &[&str]| stderr(&rockpack(dir, &[&fetch, more].concat()));
    let messages_of_success = |more: &[&str]| succeed(dir, &[&fetch, more].concat()).1;
    let warning = "`blas_lib_gfx942.tar.zst.sha256sum` has no archive help: its \
                   upload may have been interrupted";
    assert!(messages(&[]).contains(warning), "{}", messages(&[]));
    assert!(messages(&["--all"]).contains(warning), "{}", messages(&["--all"]));
    let other_family = messages_of_success(&["--linux-amdgpu-families", "gfx1100"]);
    assert!(!other_family.contains("blas_lib_gfx942"), "{other_family}");
    // An archive of the same artifact in `.tar.xz` counts.
    archive(
        &dir.join("artifacts/blas_lib_gfx942"),
        &dir.join("store/17-linux/blas_lib_gfx942.tar.xz"),
    );
    let in_other_form = messages_of_success(&[]);
    assert!(!in_other_form.contains("sha256sum` has no archive"), "{in_other_form}");
}
