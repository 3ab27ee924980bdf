//! Code of DLLs is moved into archives like that of libraries for Linux.

use std::path::Path;

use fs_err as fs;
use workbench::code_object::code;
use workbench::fat_dll::{Dll, OPTIONAL, memory, places};

use super::fat::{archived, bundles, value};
use super::test_wheel::{TestWheel, members};
use super::{METADATA, PACKAGES, manifest, rockpack, stderr, succeed};

const INPUT: &str = "in/frame-2.1+ex7-cp312-cp312-win_amd64.whl";
const MEMBER: &str = "frame/lib/fat.dll";
const COMMAND: [&str; 5] = ["wheel", "split", INPUT, "--version", "7.0"];

/// Returns the manifest with `bundle` and the names that the runtime has on Windows.
fn place() -> tempfile::TempDir {
    let dir = bundles();
    let packages = dir.path().join("packages.kdl");
    let text = fs::read_to_string(&packages).unwrap();
    let text = text.replace("\"librun.so.7\"", "\"run_7.dll\"");
    let text = text.replace("\"librun.so.[0-6]\"", "\"run_[0-6].dll\"");
    fs::write(packages, text + "system-library \"run_*.dll\"\n").unwrap();
    dir
}

fn frame(dll: &Dll) -> TestWheel {
    TestWheel::on("win_amd64", "frame", "2.1+ex7", METADATA)
        .file("frame/__init__.py", b"import os\n")
        .file(MEMBER, &dll.bytes())
        .file("frame/lib/blas/k_gpu90.dat", b"kernels")
        .file("frame/images/acme-gpu9xx/a.img", b"image")
        .info("licenses/LICENSE", b"You may.\n")
}

fn output(dir: &Path, name: &str) -> std::path::PathBuf {
    dir.join(format!("out/dist/{name}-2.1+ex7-cp312-cp312-win_amd64.whl"))
}

#[test]
fn code_moves_into_archives_named_by_the_dll() {
    let dir = place();
    let dir = dir.path();
    frame(&Dll::of_two_units()).write(&dir.join("in"));
    let planned = succeed(dir, &[&COMMAND[..], &["--dry-run"]].concat());
    let shown = succeed(dir, &[&COMMAND[..], &["-o", "out"]].concat());
    assert!(shown.starts_with(planned.rsplit_once("\n5 wheels").unwrap().0), "{shown}");
    for line in [
        "    frame/.kpack/frame_gpu90.kpack: 3 code objects, 4.50 kB\n",
        "    requires detect>=1, ex-core>=6.5\n",
        "note: the code of frame/lib/fat.dll for gpu100, gpu90, gpu91-strict moves into archives, from 2 offload bundles in it, which shrinks by 16.3 kB\n",
    ] {
        assert!(shown.contains(line), "{line:?} in\n{shown}");
    }
    let archive = &members(&output(dir, "frame_device_gpu100"))["frame/.kpack/frame_gpu100.kpack"];
    let key = ("lib/fat.dll#0".to_owned(), "gpu100".to_owned());
    assert_eq!(archived(archive), [(key, code(0x23, 5000))].into());
    let new = &members(&output(dir, "frame"))[MEMBER];
    let marker = memory(new, places(new).last().unwrap());
    let paths = ["../.kpack/frame_@GFXARCH@.kpack"];
    let leads = serde_json::json!({"kpack_search_paths": paths, "kernel_name": "lib/fat.dll"});
    assert_eq!(value(&mut &marker[..]), leads);
    let verified = rockpack(dir, &["wheel", "verify", "out/dist"]);
    assert_eq!(stderr(&verified), "");
    // An audit knows that older runtimes do not read this code.
    let wheel = "out/dist/frame-2.1+ex7-cp312-cp312-win_amd64.whl";
    for (wheel, form) in [(wheel, true), (INPUT, false)] {
        let audit = rockpack(dir, &["wheel", "audit", wheel, "--on", "rocm-7.2"]);
        let text = format!("{}{}", String::from_utf8_lossy(&audit.stdout), stderr(&audit));
        let reason = "`frame/lib/fat.dll` has code in archives: 7.13 is the first release with it";
        assert_eq!(text.contains(reason), form, "{text}");
    }
}

#[test]
fn a_plan_and_a_run_refuse_the_same_dlls() {
    let refuses = |dll: &Dll, expected: &str| {
        let dir = place();
        frame(dll).write(&dir.path().join("in"));
        let texts = [&["--dry-run"][..], &["-o", "out"]].map(|way| {
            let output = rockpack(dir.path(), &[&COMMAND[..], way].concat());
            assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
            stderr(&output)
        });
        let reason = format!(
            "1 file with device code that cannot be moved: `frame/lib/fat.dll` ({expected}"
        );
        assert!(texts[0].contains(&reason) && texts[0] == texts[1], "{reason} in {}", texts[0]);
        assert!(texts[0].contains("`host` line"), "{}", texts[0]);
        assert!(!dir.path().join("out").exists());
    };
    let two = Dll::of_two_units;
    let signature = [0x9000_u32, 16].map(u32::to_le_bytes).concat();
    refuses(&two().changed(OPTIONAL + 112 + 32, &signature), "its signature (Authenticode) would");
    refuses(&Dll { behind: b"PK".to_vec(), ..two() }, "it has 2 bytes behind its sections");
    let older = "it needs RUN_6.dll, of a runtime that does not read archives of code)";
    refuses(&Dll { needs: "RUN_6.dll", ..two() }, older);
    let none = "it needs no library of a runtime that reads archives of code: run_7.dll, ";
    refuses(&Dll { needs: "other.dll", ..two() }, none);
    refuses(
        &Dll::new(&[crate::split_command::test_wheel::bundle(&["gpu90"])]),
        "the offload bundle at",
    );
}

#[test]
fn host_lines_and_other_criteria_keep_dlls_whole() {
    let host = PACKAGES.replace(r#"host "share/gpu90.txt""#, r#"host "lib/fat.dll""#);
    for text in [host, PACKAGES.to_owned()] {
        let dir = place();
        let dir = dir.path();
        manifest(dir);
        fs::write(dir.join("packages.kdl"), text).unwrap();
        let dll = Dll::of_two_units();
        frame(&dll).write(&dir.join("in"));
        succeed(dir, &[&COMMAND[..], &["-o", "out", "--allow", "import-leads-nowhere"]].concat());
        assert!(members(&output(dir, "frame"))[MEMBER] == dll.bytes());
    }
}
