//! Lock files: later commands get the same bytes, or fail.

use super::*;

const KEY: &str = "base_lib_generic.tar.zst";

#[test]
fn fetch_plan_and_build_write_equal_locks() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    succeed(dir, &["artifact", "fetch", &address, "-o", "fetched", "--lock", "rockpack.lock"]);
    let text = fs::read_to_string(dir.join("rockpack.lock")).unwrap();
    let lock: Value = serde_json::from_str(&text).unwrap();
    let archives = lock["archives"].as_array().unwrap();
    // The format, the beginning and the end of the list, and a line for each archive.
    assert_eq!(text.lines().count(), archives.len() + 3, "{text}");
    for row in archives {
        let file = dir.join("fetched").join(row["key"].as_str().unwrap());
        assert_eq!(row["sha256"], sha256(&file).unwrap().as_str());
        assert_eq!(row["size"], fs::metadata(&file).unwrap().len());
    }
    // Artifacts from another place give the same lock, and the file is unchanged.
    for place in ["fetched", "store/17-linux", &address] {
        succeed(dir, &["plan", "--artifact-dir", place, "--locked"]);
        succeed(dir, &["plan", "--artifact-dir", place, "--lock", "rockpack.lock"]);
        assert_eq!(fs::read_to_string(dir.join("rockpack.lock")).unwrap(), text, "{place}");
    }
    // A build writes the same lock.
    built(dir, "out", &["--artifact-dir", &address, "--lock", "other.lock"]);
    assert_eq!(fs::read_to_string(dir.join("other.lock")).unwrap(), text);
}

#[test]
fn refuses_other_bytes_with_a_valid_sidecar() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    succeed(dir, &["artifact", "fetch", &address, "-o", "fetched", "--lock", "rockpack.lock"]);
    let lock = fs::read_to_string(dir.join("rockpack.lock")).unwrap();
    let archive_path = dir.join("store/17-linux").join(KEY);
    let old = sha256(&archive_path).unwrap();
    fs::write(dir.join("artifacts/base_lib_generic/artifact_manifest.txt"), "changed\n").unwrap();
    archive(&dir.join("artifacts/base_lib_generic"), &archive_path);
    for more in [&["--locked"][..], &["--lock", "rockpack.lock"]] {
        for way in [
            vec!["plan", "--artifact-dir", "store/17-linux"],
            vec!["build", "--artifact-dir", &*address, "-o", "out"],
            vec!["artifact", "fetch", &*address, "-o", "again"],
        ] {
            let text = refusal(dir, 1, &[&way[..], more].concat());
            assert!(text.contains(KEY) && text.contains("does not match rockpack.lock"), "{text}");
            assert!(text.contains(&format!("expected {old}")), "{text}");
            assert!(!dir.join("out").exists() && !dir.join("again").join(KEY).exists());
        }
        // The lock applies even without a sidecar.
        fs::remove_file(sidecar(&archive_path)).unwrap();
        let text =
            refusal(dir, 1, &[&["artifact", "fetch", &*address, "-o", "again"], more].concat());
        assert!(text.contains(KEY) && text.contains(&format!("expected {old}")), "{text}");
        assert!(!dir.join("again").join(KEY).exists());
        vouch(&archive_path);
    }
    assert_eq!(fs::read_to_string(dir.join("rockpack.lock")).unwrap(), lock);
}

#[test]
fn refuses_archives_in_only_one_of_lock_file_and_run() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let family = ["--linux-amdgpu-families", "gfx942"];
    succeed(
        dir,
        &[&["artifact", "fetch", &*address, "-o", "one", "--lock", "rockpack.lock"], &family[..]]
            .concat(),
    );
    let lock = fs::read_to_string(dir.join("rockpack.lock")).unwrap();
    let text = refusal(dir, 1, &["artifact", "fetch", &address, "-o", "all", "--locked"]);
    assert!(text.contains("is missing from rockpack.lock") && text.contains("gfx1100"), "{text}");
    // Without --locked, the missing archives are added; later commands use the entries that they need.
    succeed(dir, &["artifact", "fetch", &address, "-o", "all", "--lock", "rockpack.lock"]);
    let extended = fs::read_to_string(dir.join("rockpack.lock")).unwrap();
    assert!(
        extended.len() > lock.len()
            // The last row has no comma.
            && lock.lines().all(|line| extended.contains(line.trim_end_matches(',')))
    );
    succeed(
        dir,
        &[&["build", "--artifact-dir", &*address, "-o", "o", "--locked"], &family[..]].concat(),
    );
    // A plan for one family ignores entries of others, whose archives the directory lacks.
    succeed(dir, &[&["plan", "--artifact-dir", "one", "--locked"], &family[..]].concat());
    let text = refusal(dir, 1, &["plan", "--artifact-dir", "one", "--locked"]);
    assert!(text.contains("gfx1100") && text.contains("but the directory lacks"), "{text}");
    fs::remove_file(dir.join("store/17-linux").join(KEY)).unwrap();
    let text = refusal(dir, 1, &["artifact", "fetch", &address, "-o", "all", "--locked"]);
    assert!(text.contains(&format!("rockpack.lock lists `{KEY}`, but the run lacks it")), "{text}");
}

#[test]
fn refuses_missing_and_invalid_lock_files() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    let text = refusal(dir, 2, &["plan", "--artifact-dir", &address, "--locked"]);
    assert!(
        text.contains("rockpack.lock") && text.contains("rockpack artifact fetch --lock"),
        "{text}"
    );
    fs::write(dir.join("rockpack.lock"), "{\"format\":9,\"archives\":[]}").unwrap();
    let text = refusal(dir, 1, &["plan", "--artifact-dir", &address, "--locked"]);
    assert!(text.contains("it has format 9"), "{text}");
    fs::remove_file(dir.join("rockpack.lock")).unwrap();
    // Directories have no checksum.
    let (_, text) =
        succeed(dir, &["plan", "--artifact-dir", "artifacts", "--lock", "rockpack.lock"]);
    assert!(text.contains("is a directory, which rockpack.lock does not cover"), "{text}");
    let text = refusal(dir, 1, &["plan", "--artifact-dir", "artifacts", "--locked"]);
    assert!(text.contains("is a directory, which rockpack.lock does not cover"), "{text}");
}
