//! Foreign packages: with the version in their local part, and without.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use std::path::Path;

use fs_err as fs;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{build, contents, promote, rockpack, scratch, stderr, succeed};
use crate::program::Run;

/// Makes a wheel as other tools do: members in another order, another encoder, some stored.
fn wheel(dir: &Path, name: &str, version: &str, metadata: &str, files: &[(&str, &str)]) {
    let stem = format!("{}-{version}", name.replace('-', "_"));
    let info = format!("{stem}.dist-info");
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}\n\nAbout {version}.\n"
    );
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut record = String::new();
    let own = [
        (format!("{info}/METADATA"), metadata),
        (
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n"
                .to_owned(),
        ),
        (format!("{stem}.data/scripts/run"), "#!python\n".to_owned()),
    ];
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    for (index, (name, text)) in own.into_iter().chain(files).enumerate() {
        let method = [CompressionMethod::Deflated, CompressionMethod::Stored][index % 2];
        let options =
            SimpleFileOptions::default().compression_method(method).unix_permissions(0o755);
        zip.start_file(&*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
        let hash = base::hash::Sha256::of(text.as_bytes()).for_record();
        let size = text.len().to_string();
        record.extend([&*name, ",", &hash, ",", &size, "\n"]);
    }
    zip.start_file(format!("{info}/RECORD"), SimpleFileOptions::default()).unwrap();
    zip.write_all(format!("{record}{info}/RECORD,,\n").as_bytes()).unwrap();
    let file = format!("{stem}-cp312-cp312-linux_x86_64.whl");
    fs::write(dir.join(file), zip.finish().unwrap().into_inner()).unwrap();
}

/// Returns the members of a wheel.
fn members(path: &Path) -> BTreeMap<String, String> {
    let mut zip = ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap();
    let read = |index| {
        let (mut file, mut text) = (zip.by_index(index).unwrap(), String::new());
        file.read_to_string(&mut text).unwrap();
        (file.name().to_owned(), text)
    };
    (0..ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap().len()).map(read).collect()
}

const EXTRAS: &str = "\
Requires-Dist: rocm[libraries]==7.10.0rc1
Requires-Dist: rocm-sdk-core >=7.9, ==7.10.0rc1 ; sys_platform == \"linux\"
Requires-Dist: triton==3.5.0+rocm7.10.0rc1
Requires-Dist: numpy==7.10.0rc1
Requires-Dist: filelock
Provides-Extra: device
Provides-Extra: device-all
Provides-Extra: device-gfx942
Provides-Extra: device-gfx1100
Provides-Extra: device-gfx1201
Requires-Dist: amd-torch-device-gfx942==2.10.0+rocm7.10.0rc1; extra == \"device\"
Requires-Dist: amd-torch-device-gfx942==2.10.0+rocm7.10.0rc1; extra == \"device-all\"
Requires-Dist: amd-torch-device-gfx1100==2.10.0+rocm7.10.0rc1; extra == \"device-all\"
Requires-Dist: amd-torch-device-gfx1201==2.10.0+rocm7.10.0rc1; extra == \"device-all\"
Requires-Dist: amd-torch-device-gfx942==2.10.0+rocm7.10.0rc1; extra == \"device-gfx942\"
Requires-Dist: amd-torch-device-gfx1100==2.10.0+rocm7.10.0rc1; extra == \"device-gfx1100\"
Requires-Dist: amd-torch-device-gfx1201==2.10.0+rocm7.10.0rc1; extra == \"device-gfx1201\"";

const VERSION: &str = "from typing import Optional\n__version__ = '2.10.0+git1a2b.rocm7.10.0rc1'\nrocm: Optional[str] = \"7.10.0rc1\"  # not 7.10.0rc1.x\nhip = '7.10.0rc1.2'\n";
const INIT: &str =
    "def initialize():\n    start(check_version='7.10.0rc1', suffix=\"rocm7.10.0rc1\")\n";

/// Makes the packages of a build, and frameworks built against them.
fn with_frameworks(dir: &Path) {
    build(dir, "old", "7.10.0rc1", &["--only", "meta,core,device"]);
    let dist = dir.join("old/dist");
    let files = [
        ("torch/version.py", VERSION),
        ("torch/_rocm_init.py", INIT),
        ("torch/data.txt", "2.10.0+git1a2b.rocm7.10.0rc1"),
    ];
    wheel(&dist, "torch", "2.10.0+git1a2b.rocm7.10.0rc1", EXTRAS, &files);
    wheel(&dist, "triton", "3.5.0+rocm7.10.0rc1", "Summary: for 7.10.0rc1", &[]);
    for target in ["gfx942", "gfx1100", "gfx1201"] {
        wheel(&dist, &format!("amd-torch-device-{target}"), "2.10.0+rocm7.10.0rc1", "", &[]);
    }
    wheel(
        &dist,
        "rocm-bootstrap",
        "0.3",
        "Requires-Dist: packaging",
        &[("rocm_bootstrap/__init__.py", "'7.10.0rc1'")],
    );
}

#[test]
fn faults_that_the_new_wheel_lacks_are_named() {
    let dir = scratch(true);
    let dir = dir.path();
    with_frameworks(dir);
    let torch =
        dir.join("old/dist/torch-2.10.0+git1a2b.rocm7.10.0rc1-cp312-cp312-linux_x86_64.whl");
    // A comment of the archive: its length is the end of the last record.
    let mut bytes = fs::read(&torch).unwrap();
    let end = bytes.len() - 2;
    bytes[end..].copy_from_slice(&2_u16.to_le_bytes());
    bytes.extend(b"hi");
    fs::write(&torch, bytes).unwrap();
    let promoted = rockpack(dir, &["wheel", "promote", "old", "--to", "7.10.0", "-o", "out"]);
    let said = stderr(&promoted);
    assert!(promoted.status.success(), "{said}");
    let name = torch.file_name().unwrap().to_str().unwrap();
    let note = format!("{name}: the archive has a comment; the new wheel is without this fault");
    assert!(said.contains(&note), "{said}");
    // All wheels of this maker have a file after the metadata; none has a comment.
    assert_eq!(said.matches("which should be last").count(), 5, "{said}");
    assert_eq!(said.matches("without this fault").count(), 6, "{said}");
}

#[test]
fn the_local_part_of_others_changes_and_nothing_else() {
    let dir = scratch(true);
    let dir = dir.path();
    with_frameworks(dir);
    promote(dir, "old", "7.10.0").succeed();
    let new =
        members(&dir.join("out/dist/torch-2.10.0+git1a2b.rocm7.10.0-cp312-cp312-linux_x86_64.whl"));
    let info = "torch-2.10.0+git1a2b.rocm7.10.0.dist-info";
    let old = members(
        &dir.join("old/dist/torch-2.10.0+git1a2b.rocm7.10.0rc1-cp312-cp312-linux_x86_64.whl"),
    );
    let names: Vec<String> =
        old.keys().map(|name| name.replace("rocm7.10.0rc1.", "rocm7.10.0.")).collect();
    assert_eq!(new.keys().cloned().collect::<Vec<_>>(), names);
    let expected = EXTRAS.replace("rc1", "").replace("numpy==7.10.0", "numpy==7.10.0rc1");
    let metadata = &new[&format!("{info}/METADATA")];
    assert_eq!(
        *metadata,
        format!(
            "Metadata-Version: 2.1\nName: torch\nVersion: 2.10.0+git1a2b.rocm7.10.0\n{expected}\n\nAbout 2.10.0+git1a2b.rocm7.10.0rc1.\n"
        )
    );
    let version =
        VERSION.replacen("7.10.0rc1'", "7.10.0'", 1).replacen("\"7.10.0rc1\"", "\"7.10.0\"", 1);
    assert_eq!(new["torch/version.py"], version);
    assert_eq!(new["torch/_rocm_init.py"], INIT.replace("rc1", ""));
    assert_eq!(new["torch/data.txt"], "2.10.0+git1a2b.rocm7.10.0rc1", "no rule names it");
    let copied = "rocm_bootstrap-0.3-cp312-cp312-linux_x86_64.whl";
    assert_eq!(
        fs::read(dir.join("out/dist").join(copied)).unwrap(),
        fs::read(dir.join("old/dist").join(copied)).unwrap()
    );
    // RECORD has every hash, and requirements are met.
    let output = rockpack(dir, &["wheel", "verify", "out/dist", "--message-format", "json"]);
    for fault in
        ["record-hash", "not-in-record", "only-in-record", "names-disagree", "unmet-requirement"]
    {
        assert!(!stderr(&output).contains(&format!("\"{fault}\"")), "{}", stderr(&output));
    }
    let summary = &members(
        &dir.join("out/dist/triton-3.5.0+rocm7.10.0-cp312-cp312-linux_x86_64.whl"),
    )["triton-3.5.0+rocm7.10.0.dist-info/METADATA"];
    assert!(summary.contains("\nSummary: for 7.10.0rc1\n"), "{summary}");
}

#[test]
fn development_versions_of_others_are_spelt_as_they_spell_them() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0.dev0+efa3d1", &["--only", "core"]);
    let files = [("torch/version.py", "__version__ = '2.1+devrocm7.10.0.dev0-efa3d1'\n")];
    wheel(&dir.join("old/dist"), "torch", "2.1+devrocm7.10.0.dev0.efa3d1", "", &files);
    promote(dir, "old", "7.10.0rc1").succeed();
    let new = members(&dir.join("out/dist/torch-2.1+rocm7.10.0rc1-cp312-cp312-linux_x86_64.whl"));
    assert_eq!(new["torch/version.py"], "__version__ = '2.1+rocm7.10.0rc1'\n");
}

#[test]
fn targets_of_others_go_too() {
    let dir = scratch(true);
    let dir = dir.path();
    with_frameworks(dir);
    succeed(
        dir,
        &[
            "wheel",
            "promote",
            "old",
            "--to",
            "7.10.0",
            "--keep-targets",
            "gfx1201,gfx1100",
            "-o",
            "out",
        ],
    );
    let files = contents(&dir.join("out"));
    assert!(files.keys().all(|file| !file.to_string_lossy().contains("gfx942")), "{files:?}");
    let new =
        members(&dir.join("out/dist/torch-2.10.0+git1a2b.rocm7.10.0-cp312-cp312-linux_x86_64.whl"));
    let metadata = &new["torch-2.10.0+git1a2b.rocm7.10.0.dist-info/METADATA"];
    let extras: Vec<&str> = metadata.lines().filter(|line| line.contains("xtra")).collect();
    assert_eq!(
        extras,
        [
            "Provides-Extra: device",
            "Provides-Extra: device-all",
            "Provides-Extra: device-gfx1100",
            "Provides-Extra: device-gfx1201",
            "Requires-Dist: amd-torch-device-gfx1100==2.10.0+rocm7.10.0; extra == \"device\"",
            "Requires-Dist: amd-torch-device-gfx1100==2.10.0+rocm7.10.0; extra == \"device-all\"",
            "Requires-Dist: amd-torch-device-gfx1201==2.10.0+rocm7.10.0; extra == \"device-all\"",
            "Requires-Dist: amd-torch-device-gfx1100==2.10.0+rocm7.10.0; extra == \"device-gfx1100\"",
            "Requires-Dist: amd-torch-device-gfx1201==2.10.0+rocm7.10.0; extra == \"device-gfx1201\"",
        ]
    );
}

#[test]
fn others_that_would_break_are_refused() {
    let dir = scratch(true);
    let dir = dir.path();
    build(dir, "old", "7.10.0rc1", &["--only", "core"]);
    let dist = dir.join("old/dist");
    let refused = |message: &str, help: &str| {
        let output = promote(dir, "old", "7.10.0").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(
            stderr(&output).contains(message) && stderr(&output).contains(help),
            "{}",
            stderr(&output)
        );
        assert!(!dir.join("out").exists());
        for file in fs::read_dir(&dist).unwrap().map(|e| e.unwrap().path()) {
            if file.to_string_lossy().contains("cp312") {
                fs::remove_file(file).unwrap();
            }
        }
    };
    wheel(&dist, "torch", "2.10.0+rocm7.10.0", "", &[("torch/version.py", VERSION)]);
    refused(
        "the version 2.10.0+rocm7.10.0 does not end with `rocm7.10.0rc1` in torch-2.10.0+rocm7.10.0-cp312",
        "remove the package",
    );
    wheel(
        &dist,
        "torch",
        "2.10.0+rocm7.10.0rc1",
        "",
        &[("torch/version.py", "__version__ = '2.10.0'\n")],
    );
    refused("no file `torch/version.py` has the version", "`version-file` line");
    wheel(&dist, "bindings", "1.0", "Requires-Dist: rocm-sdk-core==7.10.0rc1", &[]);
    refused(
        "the requirement `rocm-sdk-core==7.10.0rc1` has the old version",
        "build it against the new version",
    );
    wheel(&dist, "rocm-sdk-devel", "7.10.0rc1", "", &[]);
    refused(
        "no file `_dist_info.py` has the version in rocm_sdk_devel-7.10.0rc1-cp312",
        "`version-file` line",
    );
}
