//! Files of artifacts that contain the version, in wheels and in the archive of the devel package.

use std::path::Path;

use fs_err as fs;

use super::{build, equals_new, promote, scratch};
use crate::program::Run;

/// Writes these files as a build of this version would.
fn write(dir: &Path, version: &str) {
    let lib = dir.join("artifacts/base_lib_generic/stage");
    fs::write(lib.join(".info/version"), format!("{version}\n")).unwrap();
    let text = format!(
        "{{\n  \"flags\": {{\"KPACK_SPLIT_ARTIFACTS\": true}},\n  \"rocm_package_version\": \"{version}\",\n  \"of\": {{\"rocm_package_version\": \"7.10.0rc1\"}}\n}}\n"
    );
    fs::write(lib.join("share/therock/therock_manifest.json"), text).unwrap();
    let dev = dir.join("artifacts/blas_dev_generic/stage/share/own");
    fs::create_dir_all(&dev).unwrap();
    fs::write(dev.join("release"), version).unwrap();
    // One more letter takes another block of the tar archive.
    let fill = "#".repeat(512 - "V = ''\n#7.10.0".len());
    fs::write(dev.join("release.py"), format!("V = '{version}'\n#{fill}")).unwrap();
    // The version inside a longer text is not replaced.
    fs::write(dev.join("notes"), "of 7.10.0rc1").unwrap();
}

/// Writes the manifest with a line of its own for devel, in place of the one for packages of
/// another tool.
fn manifest(dir: &Path) {
    let rule = "promote \"rocm-sdk-devel\" {\n    version-file \"share/own/{release,release.py,notes}\"\n}\n";
    crate::repository::copy(dir, rule);
    let file = dir.join("manifest/promotion.kdl");
    let (lines, devel) = (fs::read_to_string(&file).unwrap(), " \"rocm-sdk-devel\"");
    assert_eq!(lines.matches(devel).count(), 1);
    fs::write(&file, lines.replace(devel, "")).unwrap();
}

#[test]
fn files_that_hold_the_version_are_as_the_other_build_writes_them() {
    let dir = scratch(true);
    let dir = dir.path();
    manifest(dir);
    for more in
        [&[][..], &["--compression", "store"], &["--compression", "fast"], &["--xz-preset", "1"]]
    {
        // The statement names other artifacts, so it is not compared.
        write(dir, "7.10.0");
        build(dir, "new", "7.10.0", more);
        write(dir, "7.10.0rc1");
        build(dir, "old", "7.10.0rc1", more);
        let text = promote(dir, "old", "7.10.0").arg("--dry-run").succeed();
        for line in [
            "rocm_package_version: 7.10.0rc1 → 7.10.0",
            "share/own/release.py\n    V: 7.10.0rc1 → 7.10.0",
            ".info/version\n    text: 7.10.0rc1 → 7.10.0",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        promote(dir, "old", "7.10.0").succeed();
        equals_new(dir, &format!("{more:?}"));
    }
}

#[test]
fn a_version_other_than_the_packages_version_stays() {
    let dir = scratch(true);
    let dir = dir.path();
    manifest(dir);
    write(dir, "7.2.4");
    for (dest, version) in [("old", "7.10.0rc1"), ("new", "7.10.0")] {
        build(dir, dest, version, &[]);
    }
    promote(dir, "old", "7.10.0").succeed();
    equals_new(dir, "whole");
}
