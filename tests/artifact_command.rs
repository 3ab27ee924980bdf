//! `rockpack artifact pack`: archives that whatever unpacks `.tar.zst` unpacks.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;
use tempfile::TempDir;

use crate::skips::has;

fn rockpack(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rockpack"))
        .args(args)
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An artifact with files of all kinds, one larger than a frame, and something that is not its own.
fn artifact(dir: &Path) {
    let stage = dir.join("in/blas_lib_generic/math/stage");
    fs::create_dir_all(stage.join("lib/empty")).unwrap();
    fs::create_dir_all(dir.join("in/blas_lib_generic/other")).unwrap();
    fs::write(dir.join("in/blas_lib_generic/artifact_manifest.txt"), "math/stage\nnone\n").unwrap();
    let large: Vec<u8> = (0..6_000_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(stage.join("lib/large"), large).unwrap();
    fs::write(stage.join("run"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(stage.join("run"), std::fs::Permissions::from_mode(0o700)).unwrap();
    symlink("large", stage.join("lib").join("l".repeat(120))).unwrap();
    fs::write(dir.join("in/blas_lib_generic/other/left-out"), "").unwrap();
}

#[test]
fn archives_are_what_builds_leave_and_the_same_each_time() {
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    let output = rockpack(dir.path(), &["artifact", "pack", "in", "-o", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(
        said.starts_with("blas_lib_generic.tar.zst  ") && said.contains("\n1 archive, "),
        "{said}"
    );
    let key = "out/blas_lib_generic.tar.zst";
    let bytes = fs::read(dir.path().join(key)).unwrap();
    let tar = zstd::decode_all(&bytes[..]).unwrap();
    let mut tar = tar::Archive::new(&tar[..]);
    let members: Vec<(String, u32, u64)> = tar
        .entries()
        .unwrap()
        .map(|member| {
            let member = member.unwrap();
            let header = member.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (0, 0));
            let path = String::from_utf8(member.path_bytes().into_owned()).unwrap();
            (path, header.mode().unwrap(), member.size())
        })
        .collect();
    let names: Vec<&str> = members.iter().map(|(name, ..)| name.trim_end_matches('/')).collect();
    let link = format!("math/stage/lib/{}", "l".repeat(120));
    assert_eq!(
        names,
        [
            "artifact_manifest.txt",
            "math/stage",
            "math/stage/lib",
            "math/stage/lib/empty",
            "math/stage/lib/large",
            &link,
            "math/stage/run"
        ]
    );
    assert_eq!(members.last().unwrap().1, 0o755);
    assert_eq!(members[4], ("math/stage/lib/large".into(), 0o644, 6_000_000));
    assert_eq!(bytes[bytes.len() - 4..], 0x8F92_EAB1_u32.to_le_bytes(), "a table is at the end");

    let sum = fs::read_to_string(dir.path().join(format!("{key}.sha256sum"))).unwrap();
    let expected = rockpack::archive::checksum::Sha256::of(&bytes);
    assert_eq!(sum, format!("{expected}  blas_lib_generic.tar.zst\n"));
    // One artifact by itself, with another number of threads, over what is there.
    let one = ["artifact", "pack", "in/blas_lib_generic", "-o", "out", "--jobs", "3"];
    assert!(rockpack(dir.path(), &one).status.success());
    assert!(fs::read(dir.path().join(key)).unwrap() == bytes);
    assert_eq!(fs::read_dir(dir.path().join("out")).unwrap().count(), 2);

    if has("zstd", "archives of `rockpack artifact pack` with the program zstd") {
        let tested = Command::new("zstd").args(["-t", "-q", key]).current_dir(dir.path()).status();
        assert!(tested.unwrap().success());
        let unpacked = dir.path().join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        let tar = Command::new("tar")
            .args(["--zstd", "-xf"])
            .arg(dir.path().join(key))
            .current_dir(&unpacked)
            .status();
        assert!(tar.unwrap().success());
        let large = "math/stage/lib/large";
        let packed = fs::read(dir.path().join("in/blas_lib_generic").join(large)).unwrap();
        assert!(fs::read(unpacked.join(large)).unwrap() == packed);
    }
}

#[test]
fn packages_of_packed_artifacts_are_those_of_directories() {
    let dir = TempDir::new().unwrap();
    let done = |args: &[&str]| {
        let output = rockpack(dir.path(), args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    done(&["demo", "in"]);
    done(&["artifact", "pack", "in", "-o", "out"]);
    let catalogs = ["in", "out"].map(|dir| done(&["scan", "--artifact-dir", dir]));
    assert!(catalogs[0] == catalogs[1]);
    let plan =
        |place: &str| done(&["plan", "--artifact-dir", place, "--require-checksums", "--files"]);
    assert_eq!(plan("out"), plan("out"));
}

#[test]
fn what_is_no_artifact_is_refused() {
    let dir = TempDir::new().unwrap();
    artifact(dir.path());
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::create_dir_all(dir.path().join("odd/blas_lib_generic")).unwrap();
    fs::create_dir_all(dir.path().join("name")).unwrap();
    fs::write(dir.path().join("name/artifact_manifest.txt"), "").unwrap();
    for (args, status, expected) in [
        (&["none"][..], 2, "there is no artifact directory none"),
        (&["empty"], 1, "no artifact in empty is a directory"),
        (&["odd"], 1, "cannot pack artifact `blas_lib_generic`"),
        (&["name"], 1, "name is not called {name}_{component}_{family}"),
        (&["in", "--family", "gfx942"], 2, "--family leaves no artifact to pack"),
    ] {
        let output = rockpack(dir.path(), &[&["artifact", "pack", "-o", "out"], args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{args:?}: {}", text(&output.stderr));
        let left = fs::read_dir(dir.path().join("out")).into_iter().flatten().count();
        assert_eq!(left, 0, "{args:?}");
    }
}
