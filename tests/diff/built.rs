//! A plan and the packages built from it.

use std::path::Path;

use crate::demo_tree::built;
use crate::program::{rockpack, text};

/// Returns exit status and text of a comparison.
fn compared(dir: &Path, args: &[&str]) -> (i32, String) {
    let output =
        rockpack(dir, &[&["diff", "--exit-code", "--manifest", "built-in"], args].concat());
    let fails = text(&output.stderr).contains('×');
    assert!(!fails || output.status.code() == Some(1), "{}", text(&output.stderr));
    (output.status.code().unwrap(), text(&output.stdout))
}

#[test]
fn a_build_matches_its_plan() {
    for kpack in [true, false] {
        for options in [&[][..], &["--compression", "store", "--xz-preset", "6"]] {
            let dir = built(kpack, options, options);
            let same = (0, "no difference\n".to_owned());
            assert_eq!(
                compared(dir.path(), &["plan.json", "out/dist"]),
                same,
                "kpack {kpack} {options:?}"
            );
            assert_eq!(
                compared(dir.path(), &["out", "plan.json"]),
                same,
                "the other way round, found in its directory"
            );
            assert_eq!(compared(dir.path(), &["out", "out/dist"]), same, "with itself");
            assert_eq!(
                compared(
                    dir.path(),
                    &["--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64", "out"]
                ),
                if options.is_empty() {
                    same
                } else {
                    compared(
                        dir.path(),
                        &["out", "--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"],
                    )
                }
            );
        }
    }
}

/// A set of several platform tags has no common one.
#[test]
fn packages_with_two_tags_match_their_plan() {
    let dir = built(true, &[], &[]);
    let dist = dir.path().join("out/dist");
    let wheel = dist.join("rocm_profiler-7.2.0.dev0-py3-none-linux_x86_64.whl");
    let tag = "manylinux_2_34_x86_64";
    let retag = ["wheel", "retag", "--manifest", "built-in", "--platform-tag", tag];
    let done = rockpack(dir.path(), &[&retag[..], &[wheel.to_str().unwrap()]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    fs_err::remove_file(wheel).unwrap();
    let (status, text) = compared(dir.path(), &["plan.json", "out/dist"]);
    let field = "~ platform tag: linux_x86_64 → manylinux_2_34_x86_64";
    assert!(status == 1 && text.contains(field), "{text}");

    let plan = fs_err::read_to_string(dir.path().join("plan.json")).unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let all = plan["distributions"].as_array_mut().unwrap();
    let profiler = all.iter_mut().find(|d| d["name"] == "rocm-profiler").unwrap();
    profiler["platform_tag"] = tag.into();
    fs_err::write(dir.path().join("plan.json"), plan.to_string()).unwrap();
    let same = (0, "no difference\n".to_owned());
    assert_eq!(compared(dir.path(), &["plan.json", "out/dist"]), same);
    assert_eq!(compared(dir.path(), &["out/dist", "plan.json"]), same);
}

#[test]
fn a_build_of_another_version_differs_by_that_alone() {
    let dir = built(true, &[], &["--version", "7.3.0", "--version-suffix", "_b"]);
    let (status, text) = compared(dir.path(), &["plan.json", "out"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("version 7.2.0.dev0 → 7.3.0")
            && text.contains("_rocm_profiler → _rocm_profiler_b, and 3 more"),
        "{text}"
    );
    assert!(text.contains("= 8 packages") && !text.contains('~'), "{text}");
}

#[test]
fn reports_every_broken_promise() {
    let dir = built(true, &[], &[]);
    let mut plan: serde_json::Value =
        serde_json::from_slice(&fs_err::read(dir.path().join("plan.json")).unwrap()).unwrap();
    let core = plan["distributions"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|d| d["name"] == "rocm-sdk-core")
        .unwrap();
    core["metadata"]["requires_dist"] = serde_json::json!(["other==7.2.0"]);
    for member in core["members"].as_array_mut().unwrap() {
        match member["path"].as_str().unwrap() {
            "_rocm_sdk_core/lib/libhiprtc.so.7" => member["rpath"] = "$ORIGIN/nowhere".into(),
            "_rocm_sdk_core/bin/amd-smi" => member["target"] = "../libexec/other".into(),
            "_rocm_sdk_core/lib/libhiprtc.so" => member["needed"] = "libother.so".into(),
            "_rocm_sdk_core/include/hip/hip_runtime.h" => member["size"] = 14.into(),
            "rocm_sdk_core/__init__.py" => member["text"] = "import nothing\n".into(),
            "_rocm_sdk_core/lib/llvm/bin/offload-arch" => member["executable"] = false.into(),
            "_rocm_sdk_core/lib/libroctx64.so" => {
                member["path"] = "_rocm_sdk_core/lib/librenamed.so".into();
            }
            _ => {}
        }
    }
    let devel = plan["distributions"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|d| d["name"] == "rocm-sdk-devel")
        .unwrap();
    for member in devel["archive"]["members"].as_array_mut().unwrap() {
        if member["path"] == "_rocm_sdk_devel/lib/libhipblas.so.3" {
            member["target"] = "nowhere".into();
        }
    }
    fs_err::write(dir.path().join("other.json"), plan.to_string()).unwrap();
    let (status, text) = compared(dir.path(), &["other.json", "out"]);
    assert_eq!(status, 1);
    for line in [
        "  - requires: other==7.2.0",
        "lib/libhiprtc.so.7 ",
        "rpath -_rocm_sdk_core/lib/nowhere, +",
        "leads to libexec/other → libexec/amdsmi_cli/amdsmi_cli.py",
        "libhiprtc.so for libother.so → libhiprtc.so for libhiprtc.so.7",
        "size 14 B → 13 B",
        "~ rocm_sdk_core/__init__.py ",
        "executable now",
        "- lib/librenamed.so",
        "+ lib/libroctx64.so",
        "leads to lib/nowhere → _rocm_sdk_libraries/lib/libhipblas.so.3",
    ] {
        assert!(text.contains(line), "{line:?} is not in:\n{text}");
    }
}

#[test]
fn packages_that_cannot_be_read_are_named() {
    let dir = built(true, &[], &[]);
    let wheel = fs_err::read_dir(dir.path().join("out/dist"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.to_string_lossy().contains("core"))
        .unwrap();
    let bytes = fs_err::read(&wheel).unwrap();
    fs_err::write(&wheel, &bytes[..bytes.len() / 2]).unwrap();
    let output = rockpack(dir.path(), &["diff", "plan.json", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains(
            "rocm_sdk_core-7.2.0.dev0-py3-none-linux_x86_64.whl cannot be read as a wheel"
        ),
        "{}",
        text(&output.stderr)
    );
    fs_err::remove_file(&wheel).unwrap();
    let (status, text) = compared(dir.path(), &["plan.json", "out"]);
    assert_eq!(status, 1);
    assert!(text.contains("- rocm-sdk-core "), "{text}");
}
