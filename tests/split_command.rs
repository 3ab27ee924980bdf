//! `rockpack wheel split`: a wheel becomes a host wheel and one for each target, without losing or
//! changing files.

use std::collections::BTreeMap;
use std::path::Path;

use binary::elf::stub::{StubMachine, exec_stub};
use fs_err as fs;
use tempfile::TempDir;

use crate::program::{rockpack, stderr, succeed};

#[path = "split_command/dlls.rs"]
mod dlls;
#[path = "split_command/fat.rs"]
mod fat;
#[path = "split_command/faults.rs"]
mod faults;
#[path = "split_command/sets.rs"]
mod sets;
#[path = "split_command/test_wheel.rs"]
mod test_wheel;

use test_wheel::{TestWheel, bundle, raw};
use workbench::code_object::object;

const FAMILIES: &str = r#"
isa "gpu90" "old-all" parent="gpu9" mach=0x21 product="Ninety"
isa "gpu91" "old-all" parent="gpu9" mach=0x22 product="Ninety-one"
isa "gpu91-strict" "old-all" package="gpu91" parent="gpu9" product="the same"
isa "gpu100" "new-all" parent="gpu10-0" mach=0x23 product="A hundred"
level "gpu9"
level "gpu10"
level "gpu10-0" parent="gpu10"
"#;

const PACKAGES: &str = r#"
common { author "A"; requires-python ">=3.10"; }
package "core" kind="runtime" {
    distribution "ex-core" module="ex_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
}
package "device" kind="runtime" {
    distribution "ex-device-{isa}" module="ex_device_{isa}" per="isa"
    summary "Device"; license "MIT"; template "runtime"
}
wheel "frame" {
    device-by "path" root="frame" distribution="frame-device-{isa}"
    files "lib/blas/**" "images/*/**"
    target-word "gpu9xx" is="gpu9"
    target-word "gpu10_0x" is="gpu10-0"
    host "share/gpu90.txt" reason="people read it" optional="not always there"
    requires-dist "ex-device-{isa}=={version}"
    host-requires-dist "detect>=1"
}
"#;

const METADATA: &str = "Metadata-Version: 2.4\nName: frame\nVersion: 2.1+ex7\nSummary: A framework\nLicense-Expression: MIT\nLicense-File: LICENSE\nRequires-Python: >=3.10\nRequires-Dist: ex-core==7.0\nRequires-Dist: numpy\nProvides-Extra: opt\nRequires-Dist: more; extra == \"opt\"\n\nAbout it.\n";

/// Makes a directory with a manifest.
fn place() -> TempDir {
    let dir = TempDir::new().unwrap();
    manifest(dir.path());
    fs::create_dir(dir.path().join("in")).unwrap();
    dir
}

/// Writes the manifest that splits [`frame`].
pub fn manifest(dir: &Path) {
    fs::write(dir.join("packages.kdl"), PACKAGES).unwrap();
    fs::write(dir.join("families.kdl"), FAMILIES).unwrap();
}

/// Makes a framework with code of three targets in separate files, and files of two levels.
pub fn frame() -> TestWheel {
    TestWheel::new("frame", "2.1+ex7", METADATA)
        .file("frame/__init__.py", b"import os\n")
        .file("frame/lib/libframe.so", &exec_stub(StubMachine::X86_64, "../lib/none").unwrap())
        .file("frame/lib/blas/generic.dat", &b"for all ".repeat(300))
        .file("frame/lib/blas/k_gpu90.co", &object(0x21))
        .file("frame/lib/blas/k_gpu90-x+.co", &object(0x21))
        .file("frame/lib/blas/gpu91/table.dat", &b"a table ".repeat(900))
        .file("frame/lib/blas/k_gpu91_strict.co", &bundle(&["gpu91-strict"]))
        .file("frame/lib/blas/k_gpu100.hsaco", &bundle(&["gpu100:x+"]))
        .file("frame/images/acme-gpu9xx/a.img", &b"image ".repeat(500))
        .file("frame/images/acme-gpu10_0x/b.img", b"image")
        .file("frame/share/gpu90.txt", b"notes")
        .info("licenses/LICENSE", b"You may.\n")
}

const INPUT: &str = "in/frame-2.1+ex7-cp312-cp312-linux_x86_64.whl";

/// Splits the wheel at [`INPUT`].
fn split(dir: &Path, more: &[&str]) -> String {
    succeed(dir, &[&["wheel", "split", INPUT, "--version", "7.0", "-o", "out"], more].concat())
}

fn text_of(wheel: &Path, member: &str) -> String {
    String::from_utf8(test_wheel::members(wheel)[member].clone()).unwrap()
}

fn output(dir: &Path, name: &str) -> std::path::PathBuf {
    dir.join(format!("out/dist/{name}-2.1+ex7-cp312-cp312-linux_x86_64.whl"))
}

#[test]
fn each_file_moves_by_its_path_and_keeps_its_stored_bytes() {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    split(dir, &[]);
    let before = raw(&dir.join(INPUT));
    let expected: [(&str, &[&str]); 6] = [
        (
            "frame",
            &[
                "frame/__init__.py",
                "frame/lib/blas/generic.dat",
                "frame/lib/libframe.so",
                "frame/share/gpu90.txt",
            ],
        ),
        ("frame_device_gpu90", &["frame/lib/blas/k_gpu90-x+.co", "frame/lib/blas/k_gpu90.co"]),
        (
            "frame_device_gpu91",
            &["frame/lib/blas/gpu91/table.dat", "frame/lib/blas/k_gpu91_strict.co"],
        ),
        ("frame_device_gpu100", &["frame/lib/blas/k_gpu100.hsaco"]),
        ("frame_device_gpu9", &["frame/images/acme-gpu9xx/a.img"]),
        ("frame_device_gpu10_0", &["frame/images/acme-gpu10_0x/b.img"]),
    ];
    let mut wheels: Vec<String> = fs::read_dir(dir.join("out/dist"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".whl"))
        .collect();
    wheels.sort();
    assert_eq!(wheels.len(), expected.len(), "{wheels:?}");
    let mut seen = BTreeMap::new();
    for (name, files) in expected {
        let after = raw(&output(dir, name));
        let info = format!("{name}-2.1+ex7.dist-info/");
        let payload: Vec<&str> =
            after.keys().map(String::as_str).filter(|member| !member.starts_with(&info)).collect();
        assert_eq!(payload, files, "{name}");
        seen.extend(after.into_iter().filter(|(member, _)| !member.starts_with(&info)));
        // Each wheel has the licence texts.
        let license = format!("{info}licenses/LICENSE");
        assert_eq!(text_of(&output(dir, name), &license), "You may.\n");
    }
    // Mode, time, method and packed bytes equal the old wheel's.
    let payload = before.into_iter().filter(|(member, _)| !member.starts_with("frame-2.1"));
    assert_eq!(seen, payload.collect());
    assert_eq!(
        succeed(dir, &["wheel", "verify", "out/dist"]).lines().last().unwrap(),
        "6 packages, 35 files: fine"
    );
}

#[test]
fn wheels_require_each_other_in_exactly_one_version() {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    split(dir, &[]);
    let host = text_of(&output(dir, "frame"), "frame-2.1+ex7.dist-info/METADATA");
    let (header, body) = METADATA.split_once("\n\n").unwrap();
    let added = "\
Requires-Dist: detect>=1
Provides-Extra: device-gpu100
Requires-Dist: frame-device-gpu100==2.1+ex7; extra == \"device-gpu100\"
Provides-Extra: device-gpu90
Requires-Dist: frame-device-gpu90==2.1+ex7; extra == \"device-gpu90\"
Provides-Extra: device-gpu91
Requires-Dist: frame-device-gpu91==2.1+ex7; extra == \"device-gpu91\"
Provides-Extra: device-all
Requires-Dist: frame-device-gpu100==2.1+ex7; extra == \"device-all\"
Requires-Dist: frame-device-gpu90==2.1+ex7; extra == \"device-all\"
Requires-Dist: frame-device-gpu91==2.1+ex7; extra == \"device-all\"
";
    assert_eq!(host, format!("{header}\n{added}\n{body}"));
    let device = |target: &str, requires: &[&str]| {
        let name = format!("frame_device_{}", target.replace('-', "_"));
        let text = text_of(&output(dir, &name), &format!("{name}-2.1+ex7.dist-info/METADATA"));
        let line = |requirement: &&str| format!("Requires-Dist: {requirement}\n");
        let requires: String = requires.iter().map(line).collect();
        assert_eq!(
            text,
            format!(
                "Metadata-Version: 2.4\nName: frame-device-{target}\nVersion: 2.1+ex7\nSummary: Device code of frame for {target}\nLicense-Expression: MIT\nRequires-Python: >=3.10\nLicense-File: LICENSE\n{requires}"
            )
        );
        text_of(&output(dir, &name), &format!("{name}-2.1+ex7.dist-info/WHEEL"))
    };
    device("gpu90", &["frame==2.1+ex7", "ex-device-gpu90==7.0", "frame-device-gpu9==2.1+ex7"]);
    device("gpu91", &["frame==2.1+ex7", "ex-device-gpu91==7.0", "frame-device-gpu9==2.1+ex7"]);
    device("gpu100", &["frame==2.1+ex7", "ex-device-gpu100==7.0", "frame-device-gpu10-0==2.1+ex7"]);
    device("gpu9", &["frame==2.1+ex7"]);
    let wheel = device("gpu10-0", &["frame==2.1+ex7"]);
    assert!(
        wheel.ends_with("\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n"),
        "{wheel}"
    );
}

/// Levels of the shipped families have `x` in their names, as directories of kernels do.
#[test]
fn kernels_of_a_shipped_level_get_a_wheel_that_the_isas_below_require() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let metadata = "Metadata-Version: 2.1\nName: torch\nVersion: 2.10.0\n";
    let images = ["gfx110x", "gfx115x", "gfx11xx", "gfx120x"];
    let isas = ["gfx1100", "gfx1151", "gfx1201"];
    let made = TestWheel::new("torch", "2.10.0", metadata).file("torch/__init__.py", b"");
    let made = images.iter().fold(made, |made, level| {
        made.file(&format!("torch/lib/aotriton.images/amd-{level}/flash/a.aks2"), b"image")
    });
    let made = isas.iter().fold(made, |made, isa| {
        made.file(&format!("torch/lib/rocblas/library/k_{isa}.dat"), b"kernel")
    });
    fs::create_dir(dir.join("in")).unwrap();
    let wheel = made.write(&dir.join("in"));
    let wheel = wheel.to_str().unwrap();
    let split = ["wheel", "split", wheel, "--version", "7.2.4", "--manifest", "built-in"];
    succeed(dir, &[&split[..], &["-o", "out"]].concat());
    let requirements = |target: &str| -> Vec<String> {
        let name = format!("amd_torch_device_{}", target.replace('-', "_"));
        let file = format!("out/dist/{name}-2.10.0-cp312-cp312-linux_x86_64.whl");
        let text = text_of(&dir.join(file), &format!("{name}-2.10.0.dist-info/METADATA"));
        let lines = text.lines().filter_map(|line| line.strip_prefix("Requires-Dist: "));
        lines.map(|line| line.replace("==2.10.0", "").replace("amd-torch-device-", "")).collect()
    };
    for (target, expected) in [
        ("gfx1100", &["torch", "rocm-sdk-device-gfx1100==7.2.4", "gfx110x", "gfx11"][..]),
        ("gfx1151", &["torch", "rocm-sdk-device-gfx1151==7.2.4", "gfx115x", "gfx11"]),
        ("gfx1201", &["torch", "rocm-sdk-device-gfx1201==7.2.4", "gfx12-0"]),
        ("gfx110x", &["torch", "gfx11"]),
        ("gfx115x", &["torch", "gfx11"]),
        ("gfx11", &["torch"]),
        ("gfx12-0", &["torch"]),
    ] {
        assert_eq!(requirements(target), expected, "{target}");
    }
    assert_eq!(fs::read_dir(dir.join("out/dist")).unwrap().count(), 8 + 2);
}

#[test]
fn neighbouring_packages_decide_the_requirements() {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    fs::create_dir(dir.join("sdk")).unwrap();
    for target in ["gpu90", "gpu9"] {
        let name = format!("ex-device-{target}");
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 7.0\n");
        TestWheel::new(&name, "7.0", &metadata).write(&dir.join("sdk"));
    }
    let shown = split(dir, &["--beside", "sdk"]);
    let requires = |name: &str| {
        let text = text_of(&output(dir, name), &format!("{name}-2.1+ex7.dist-info/METADATA"));
        text.lines().filter(|line| line.contains("ex-device")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(requires("frame_device_gpu90"), "Requires-Dist: ex-device-gpu90==7.0");
    assert_eq!(requires("frame_device_gpu9"), "Requires-Dist: ex-device-gpu9==7.0");
    assert_eq!(requires("frame_device_gpu91"), "");
    let note = "note: not required, because --beside has no such package: ex-device-gpu10-0==7.0, ex-device-gpu100==7.0, ex-device-gpu91==7.0\n";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn the_plan_is_shown_before_anything_is_written() {
    let dir = place();
    let dir = dir.path();
    let whole = [&b"\x7fELF"[..], &[2; 4092], &bundle(&["gpu90", "gpu100"])].concat();
    frame().file("frame/lib/libkernels.so", &whole).write(&dir.join("in"));
    let dry = ["wheel", "split", INPUT, "--version", "7.0", "--dry-run", "--allow", "broken-elf"];
    let shown = succeed(dir, &dry);
    assert!(!dir.join("out").exists());
    for line in [
        "frame-2.1+ex7-cp312-cp312-linux_x86_64.whl\n→ frame-2.1+ex7-cp312-cp312-linux_x86_64.whl\n",
        "\n    offers device-gpu100, device-gpu90, device-gpu91, device-all\n",
        "\n    lib/blas/**: 2 files, 128 B\n    requires frame==2.1+ex7, ex-device-gpu90==7.0, frame-device-gpu9==2.1+ex7\n",
        "\n    images/*/**: 1 file, 3.00 kB\n    requires frame==2.1+ex7\n",
        "\nnote: frame/lib/libkernels.so has code for gpu100, gpu90 and stays in the host wheel (",
        "\n6 wheels of 1, if written\n",
    ] {
        assert!(shown.contains(line), "{line:?} in\n{shown}");
    }
    // The result equals the preview.
    let written = split(dir, &["--allow", "broken-elf"]);
    let listed = shown.rsplit_once("6 wheels").unwrap().0;
    assert!(written.starts_with(listed), "{written}");
}

#[test]
fn isas_with_code_in_whole_libraries_are_offered_the_levels_above() {
    let dir = place();
    let dir = dir.path();
    let whole = [&b"\x7fELF"[..], &[2; 4092], &bundle(&["gpu90", "gpu100"])].concat();
    TestWheel::new("frame", "2.1+ex7", METADATA)
        .file("frame/lib/libkernels.so", &whole)
        .file("frame/lib/blas/generic.dat", b"x")
        .file("frame/lib/blas/k_gpu91.dat", b"x")
        .file("frame/images/acme-gpu9xx/a.img", b"image")
        .write(&dir.join("in"));
    let shown = split(dir, &["--allow", "broken-elf", "--allow", "license-file"]);
    assert!(shown.contains("\n    offers device-gpu90, device-gpu91, device-all\n"), "{shown}");
    let host = text_of(&output(dir, "frame"), "frame-2.1+ex7.dist-info/METADATA");
    assert!(host.contains("frame-device-gpu9==2.1+ex7; extra == \"device-gpu90\""), "{host}");
}

/// Faults of a wheel are faults of its parts.
#[test]
fn wheels_that_verify_refuses_are_not_written() {
    let dir = place();
    let dir = dir.path();
    TestWheel::new("frame", "2.1+ex7", METADATA)
        .file("frame/lib/blas/generic.dat", b"x")
        .file("frame/lib/blas/k_gpu91.dat", b"x")
        .file("frame/images/acme-gpu9xx/a.img", b"image")
        .write(&dir.join("in"));
    let output =
        crate::program::rockpack(dir, &["wheel", "split", INPUT, "--version", "7.0", "-o", "out"]);
    let told = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("missing License-File: `LICENSE`"), "{told}");
    assert!(told.contains("`--allow license-file` makes it a warning"), "{told}");
    assert!(!dir.join("out").exists());
    split(dir, &["--allow", "license-file"]);
    assert!(output_exists(dir));
}

fn output_exists(dir: &Path) -> bool {
    output(dir, "frame").is_file() && output(dir, "frame_device_gpu91").is_file()
}

#[test]
fn equal_wheels_give_equal_bytes_and_a_statement_of_their_sources() {
    let dir = place();
    let dir = dir.path();
    frame().write(&dir.join("in"));
    split(dir, &["-j", "1"]);
    let sums = fs::read_to_string(dir.join("out/dist/SHA256SUMS")).unwrap();
    succeed(dir, &["wheel", "split", INPUT, "--version", "7.0", "-o", "again", "-j", "4"]);
    assert_eq!(fs::read_to_string(dir.join("again/dist/SHA256SUMS")).unwrap(), sums);
    assert_eq!(sums.lines().count(), 6);
    let text = fs::read_to_string(dir.join("out/dist/provenance.intoto.json")).unwrap();
    let statement: serde_json::Value = serde_json::from_str(&text).unwrap();
    let definition = &statement["predicate"]["buildDefinition"];
    assert_eq!(definition["buildType"], "urn:rockpack:split:1");
    assert_eq!(definition["externalParameters"], serde_json::json!({"version": "7.0"}));
    assert_eq!(
        definition["resolvedDependencies"],
        serde_json::json!([{
            "name": "from/frame-2.1+ex7-cp312-cp312-linux_x86_64.whl",
            "digest": {"sha256": base::regular::sha256(dir.join(INPUT)).unwrap()},
        }])
    );
}

/// External attributes of a regular file with a mode, in a central directory.
fn attributes(mode: u32) -> [u8; 4] {
    ((0o100_000 | mode) << 16).to_le_bytes()
}

#[test]
fn faults_of_the_old_wheel_are_mended_and_told_and_nothing_else_changes() {
    let dir = place();
    let dir = dir.path();
    let mut bytes = frame().bytes();
    let plain = attributes(0o644);
    let mut modes = [0o777, 0o664].into_iter();
    for at in 0..bytes.len() - 4 {
        if bytes[at..at + 4] == plain
            && let Some(mode) = modes.next()
        {
            bytes[at..at + 4].copy_from_slice(&attributes(mode));
        }
    }
    // A comment of the archive: its length is the end of the last record.
    let end = bytes.len() - 2;
    bytes[end..].copy_from_slice(&2_u16.to_le_bytes());
    bytes.extend(b"hi");
    fs::write(dir.join(INPUT), bytes).unwrap();
    let split = rockpack(dir, &["wheel", "split", INPUT, "--version", "7.0", "-o", "out"]);
    let told = stderr(&split);
    assert!(split.status.success(), "{told}");
    let printed = String::from_utf8_lossy(&split.stdout);
    assert!(
        printed.contains("note: 1 file lose permissions that `wheel verify` refuses"),
        "{printed}"
    );
    assert!(told.contains("the new wheels are without this fault"), "{told}");
    let after = raw(&output(dir, "frame"));
    assert_eq!(after["frame/__init__.py"].0.map(|mode| mode & 0o7777), Some(0o775));
    assert_eq!(after["frame/lib/blas/generic.dat"].0.map(|mode| mode & 0o7777), Some(0o664));
}
