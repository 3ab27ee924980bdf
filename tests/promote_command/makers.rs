//! Packages of the manifest's distributions that another tool made: they keep their form.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use fs_err as fs;

use super::{rockpack, scratch, stderr, succeed};
use crate::ledger::theirs;

/// Faults of the other tool's packages.
const ALLOWED: [&str; 2] = ["--allow", "two-owners"];

/// Returns the members of all packages, without RECORD, which follows from the others.
fn members(dist: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(dist).into_iter().map(Result::unwrap);
    let packages =
        files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    let mut members = BTreeMap::new();
    for package in packages {
        let name = package.strip_prefix(dist).unwrap().display().to_string();
        let mut add = |member: &str, bytes: &mut dyn Read| {
            let mut content = Vec::new();
            bytes.read_to_end(&mut content).unwrap();
            if !member.ends_with("/RECORD") {
                members.insert(format!("{name}!{member}"), content);
            }
        };
        match package.extension().and_then(|end| end.to_str()) {
            Some("whl") => {
                let mut zip = zip::ZipArchive::new(fs::File::open(&package).unwrap()).unwrap();
                for index in 0..zip.len() {
                    let mut file = zip.by_index(index).unwrap();
                    let member = file.name().to_owned();
                    add(&member, &mut file);
                }
            }
            Some("gz") => {
                let gzip = flate2::read::GzDecoder::new(fs::File::open(&package).unwrap());
                for entry in tar::Archive::new(gzip).entries().unwrap() {
                    let mut entry = entry.unwrap();
                    add(&entry.path().unwrap().display().to_string(), &mut entry);
                }
            }
            _ => {}
        }
    }
    members
}

fn promoted(dir: &Path, more: &[&str]) -> String {
    let args = ["wheel", "promote", "theirs", "--to", "7.10.0", "-o", "out"];
    succeed(dir, &[&args[..], &ALLOWED, more].concat())
}

#[test]
fn packages_of_another_tool_are_those_that_it_makes_of_the_new_version() {
    for kpack in [true, false] {
        let dir = scratch(kpack);
        let dir = dir.path();
        for (dest, version) in [("theirs", "7.10.0rc1"), ("expected", "7.10.0")] {
            theirs::make(&dir.join("artifacts"), &dir.join(dest).join("dist"), kpack, version);
        }
        promoted(dir, &[]);
        let (made, expected) =
            (members(&dir.join("out/dist")), members(&dir.join("expected/dist")));
        for (member, bytes) in &expected {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let new = made.get(member).unwrap_or_else(|| panic!("{member} is missing"));
            assert!(new == bytes, "{member}: {} instead of {}", text(new), text(bytes));
        }
        assert_eq!(made.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    }
}

#[test]
fn targets_that_are_not_kept_leave_modules_and_metadata_of_another_tool() {
    let dir = scratch(true);
    let dir = dir.path();
    theirs::make(&dir.join("artifacts"), &dir.join("theirs/dist"), true, "7.10.0rc1");
    promoted(dir, &["--keep-targets", "gfx942"]);
    let made = members(&dir.join("out/dist"));
    assert!(!made.keys().any(|member| member.starts_with("rocm_sdk_device_gfx1100")));
    let text = |member: &str| String::from_utf8(made[member].clone()).unwrap();
    let facts = "__version__ = '7.10.0'\nDEFAULT_TARGET_FAMILY = 'gfx942'\nAVAILABLE_TARGET_FAMILIES.append('gfx942')\n";
    assert_eq!(text("rocm-7.10.0.tar.gz!rocm-7.10.0/src/rocm_sdk/_dist_info.py"), facts);
    let info = text("rocm-7.10.0.tar.gz!rocm-7.10.0/PKG-INFO");
    assert!(!info.contains("gfx1100"), "{info}");
    assert!(info.contains("rocm-sdk-device-gfx942==7.10.0; extra == \"device\""), "{info}");
}

#[test]
fn versions_of_both_makers_are_one() {
    let dir = scratch(true);
    let dir = dir.path();
    super::build(dir, "theirs", "7.10.0rc2", &["--only", "core"]);
    theirs::make(&dir.join("artifacts"), &dir.join("more"), true, "7.10.0rc1");
    let libraries = "rocm_sdk_libraries-7.10.0rc1-py3-none-linux_x86_64.whl";
    fs::rename(dir.join("more").join(libraries), dir.join("theirs/dist").join(libraries)).unwrap();
    let args = ["wheel", "promote", "theirs", "--to", "7.10.0", "-o", "out"];
    let output = rockpack(dir, &args);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("7.10.0rc1") && stderr(&output).contains("7.10.0rc2"),
        "{}",
        stderr(&output)
    );
    assert!(!dir.join("out").exists());
}
