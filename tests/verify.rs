//! `rockpack wheel verify`: built packages have no findings, and each code has a package with this fault.
//!
//! `./tasks accept verify` rewrites `tests/verify/messages.txt`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use ::check::read::Wheel;
use ::check::{Set, judge};
use base::source::Code;
use binary::elf::stub::StubMachine;
use serde_json::Value;
use tempfile::TempDir;

use crate::demo_tree::built;
use crate::program::{rockpack, text};

#[path = "verify/cases.rs"]
pub mod cases;
#[path = "verify/device_code.rs"]
mod device_code;
#[path = "verify/symbols.rs"]
pub mod symbols;
#[path = "verify/trial.rs"]
mod trial;
#[path = "verify/wheel.rs"]
pub mod wheel;
#[path = "verify/zip.rs"]
pub mod zip;

const FAMILIES: &str = include_str!("../families.kdl");
const PROJECT: &str = "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n";
const PACKAGE: &str = "package \"demo\" kind=\"runtime\" {\n    distribution \"demo\" module=\"demo\" per=\"none\"\n    summary \"S\"\n    license \"MIT\"\n    template \"runtime\"\n}\n";

/// Makes a directory with a manifest, and the packages of `make` in `dist`.
fn make_dist(manifest: &str, make: &dyn Fn(&Path)) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs_err::write(dir.path().join("packages.kdl"), manifest).unwrap();
    fs_err::write(dir.path().join("families.kdl"), FAMILIES).unwrap();
    fs_err::create_dir(dir.path().join("dist")).unwrap();
    make(&dir.path().join("dist"));
    dir
}

/// Returns the findings as JSON.
fn verify_json(dir: &Path) -> (i32, Value) {
    let output = rockpack(dir, &["wheel", "verify", "dist", "--json"]);
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr))),
    )
}

fn codes(found: &Value) -> BTreeSet<&str> {
    found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect()
}

#[test]
fn built_packages_are_sound_and_as_planned() {
    for kpack in [true, false] {
        let dir = built(kpack, &[], &[]);
        let output = rockpack(dir.path(), &["wheel", "verify", "out", "--plan", "plan.json"]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!((output.status.code(), &*err), (Some(0), ""), "kpack {kpack}: {err}{out}");
        let last = out.lines().last().unwrap();
        assert!(last.ends_with(" files: fine") || last.contains(" files: fine ("), "{out}");
    }
}

#[test]
fn compares_a_plan_with_the_packages() {
    let dir = built(true, &[], &[]);
    let dist = dir.path().join("out/dist");
    let profiler = fs_err::read_dir(&dist)
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.to_string_lossy().contains("profiler"))
        .unwrap();
    fs_err::remove_file(profiler).unwrap();
    wheel::wheel("demo", "any").write(&dist);
    let plan = fs_err::read_to_string(dir.path().join("plan.json")).unwrap();
    let changed = plan.replacen(
        "_rocm_sdk_core/lib/libhiprtc.so.7\"",
        "_rocm_sdk_core/lib/libother.so.7\"",
        1,
    );
    assert_ne!(plan, changed);
    fs_err::write(dir.path().join("plan.json"), changed).unwrap();
    let output = rockpack(dir.path(), &["wheel", "verify", "out", "--plan", "plan.json", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        codes(&found)
            .is_superset(&["package-missing", "package-unplanned", "not-as-planned"].into()),
        "{found:#}"
    );
    let stderr = text(&output.stderr);
    for needle in [
        "plan.json: planned package is missing: rocm-profiler",
        "demo-1.0-py3-none-any.whl: it is not in the plan",
        "libother.so.7",
    ] {
        assert!(stderr.contains(needle), "{needle:?} is not in\n{stderr}");
    }
}

/// The platform tag is part of the plan, for one wheel and for all.
#[test]
fn compares_the_platform_tag_with_the_plan() {
    let dir = built(true, &[], &[]);
    let verify = |dist: &str| {
        let output = rockpack(dir.path(), &["wheel", "verify", dist, "--plan", "plan.json"]);
        (output.status.code().unwrap(), text(&output.stderr))
    };
    let dist = dir.path().join("out/dist");
    let mut wheels = fs_err::read_dir(&dist).unwrap().map(|entry| entry.unwrap().path());
    let wheel = wheels.find(|path| path.to_string_lossy().contains("sdk_core")).unwrap();
    let retag = |wheels: &Path, into: &str| {
        let tag = ["--platform-tag", "manylinux_2_39_x86_64", "--force", "--output", into];
        let args = [&["wheel", "retag", wheels.to_str().unwrap()], &tag[..]].concat();
        let done = rockpack(dir.path(), &args);
        assert!(done.status.success(), "{}", text(&done.stderr));
    };
    fs_err::create_dir(dir.path().join("retagged")).unwrap();
    retag(&dist, "retagged");
    for entry in fs_err::read_dir(&dist).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            fs_err::copy(&path, dir.path().join("retagged").join(path.file_name().unwrap()))
                .unwrap();
        }
    }
    let (code, err) = verify("retagged");
    let whole = "plan.json: the plan has the platform tag linux_x86_64, the packages have manylinux_2_39_x86_64";
    assert!(code == 1 && said_in(&err, whole), "{err}");
    assert!(
        said_in(
            &err,
            "after `rockpack wheel retag` or `rockpack wheel promote`, compare with a plan"
        ),
        "{err}"
    );
    retag(&wheel, dist.to_str().unwrap());
    fs_err::remove_file(&wheel).unwrap();
    let (code, err) = verify("out");
    assert!(code == 1 && said_in(&err, "rocm_sdk_core-"), "{err}");
    assert!(said_in(&err, "~ platform tag linux_x86_64 → manylinux_2_39_x86_64"), "{err}");
    assert!(!said_in(&err, "rocm_sdk_libraries-"), "{err}");
}

/// Returns whether a text has these words, regardless of line breaks.
fn said_in(text: &str, words: &str) -> bool {
    let plain =
        |text: &str| text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    plain(text).contains(&plain(words))
}

/// One of several jobs: its packages are compared with its part of the plan, and the others are not
/// missing.
#[test]
fn judges_a_part_together_with_the_rest() {
    let dir = built(true, &[], &[]);
    let dist = dir.path().join("out/dist");
    let part = dir.path().join("part");
    fs_err::create_dir(&part).unwrap();
    for entry in fs_err::read_dir(&dist).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("rocm_sdk_libraries") {
            fs_err::copy(&path, part.join(name)).unwrap();
        }
    }
    let verify = |args: &[&str]| {
        let output = rockpack(dir.path(), &[&["wheel", "verify", "part"], args].concat());
        (output.status.code().unwrap(), text(&output.stderr), text(&output.stdout))
    };
    let (code, err, _) = verify(&["--plan", "plan.json"]);
    assert!(code == 1 && err.contains("planned package is missing"), "{err}");
    for name in ["libraries", "rocm-sdk-libraries", "ROCm_SDK_lib*"] {
        let (code, err, out) = verify(&["--plan", "plan.json", "--only", name, "--with", "out"]);
        assert_eq!((code, &*err), (0, ""), "{name}: {out}");
        assert!(out.contains("1 package, "), "{out}");
    }
    let (code, err, _) = verify(&["--plan", "plan.json", "--only", "none"]);
    assert!(code == 2 && err.contains("no package of the plan has this name"), "{err}");
}

#[test]
fn sound_packages_have_no_findings() {
    for (_, title, make) in cases::fine() {
        let dir = make_dist(&[PROJECT, PACKAGE].concat(), &*make);
        let (status, found) = verify_json(dir.path());
        assert_eq!((status, codes(&found)), (0, BTreeSet::new()), "{title}: {found:#}");
    }
}

/// Checks the message of every case, and that nothing else is found.
#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "takes long: feature long-tests")]
fn reports_every_fault() {
    let (mut page, mut wrong) = (String::new(), Vec::new());
    for (expected, title, make) in cases::cases() {
        let dir = make_dist(&[PROJECT, PACKAGE].concat(), &*make);
        let (status, found) = verify_json(dir.path());
        let (is, meant): (BTreeSet<_>, BTreeSet<_>) =
            (codes(&found), expected.iter().map(|code| code.as_str()).collect());
        if is != meant {
            wrong.push(format!("{title}: {is:?} in place of {meant:?}"));
        }
        let errors = found["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["severity"] == "error");
        assert_eq!(status, i32::from(errors), "{title}");
        writeln!(
            page,
            "== {title}\n{}",
            text(&rockpack(dir.path(), &["wheel", "verify", "dist"]).stderr)
        )
        .unwrap();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    workbench::expected::compare("tests/verify/messages.txt", &page);
}

/// Codes of plans have a separate test.
#[test]
fn every_code_is_shown() {
    let shown: BTreeSet<Code> =
        cases::cases().iter().flat_map(|(codes, ..)| codes.iter().copied()).collect();
    let planned = [Code::PackageMissing, Code::PackageUnplanned, Code::NotAsPlanned];
    let missing: Vec<&Code> = Code::OF_PACKAGES
        .iter()
        .filter(|code| !shown.contains(code) && !planned.contains(code))
        .collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
    assert!(shown.iter().all(|code| Code::OF_PACKAGES.contains(code)));
}

#[test]
fn a_finding_is_ignored_with_a_reason() {
    let make = |dir: &Path| {
        let mut wheel = wheel::wheel("demo", "any");
        wheel.member("data.txt").mode = 0o100_666;
        wheel.write(dir);
    };
    let status = |rules: &str, args: &[&str]| {
        let dir = make_dist(&[PROJECT, PACKAGE, rules].concat(), &make);
        let output = rockpack(dir.path(), &[&["wheel", "verify", "dist"], args].concat());
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let meant =
        "ignore \"member-mode\" package=\"demo\" in=\"data.*\" reason=\"it is written to\"\n";
    let (code, out, err) = status(meant, &[]);
    assert_eq!((code, &*err), (0, ""));
    assert!(out.ends_with("1 package, 7 files: fine (1 ignored)\n"), "{out}");
    let (_, _, notes) = status(meant, &["-v"]);
    assert!(
        notes.starts_with("note: demo-1.0-py3-none-any.whl: writable for everyone: `demo/data.txt` (mode 0666); ignored: it is written to"),
        "{notes}"
    );
    assert_eq!(
        status(&meant.replace("data.*", "demo/data.txt"), &[]).0,
        0,
        "by its path in the wheel"
    );
    for other in [meant.replace("data.*", "lib/**"), meant.replace("member-mode", "member-time")] {
        let (code, out, err) = status(&other, &[]);
        assert_eq!(code, 1, "{out}");
        assert!(err.contains("matches no finding"), "{err}");
        assert!(
            !status(&other.replace('\n', " optional=\"who knows\"\n"), &[])
                .2
                .contains("matches no finding")
        );
    }
}

#[test]
fn an_rpath_is_ignored_by_where_it_leads() {
    let make = |dir: &Path| {
        let library = binary::elf::forward::forwarding_library(
            StubMachine::X86_64,
            "liba.so",
            "libb.so",
            "$ORIGIN/x/lib:$ORIGIN/y",
        )
        .unwrap();
        let mut wheel = wheel::wheel("demo", "linux_x86_64");
        wheel.add(zip::Member::new("demo/lib/liba.so", library));
        wheel.write(dir);
    };
    let rule = "ignore \"rpath-leads-nowhere\" to=\"**/x/lib\" reason=\"it is made by hand\"\n";
    let dir = make_dist(&[PROJECT, PACKAGE, rule].concat(), &make);
    let (status, found) = verify_json(dir.path());
    assert_eq!(status, 0, "it is doubtful, and no mistake");
    assert_eq!(
        (&found["ignored"][0]["to"], &found["findings"][0]["to"]),
        (&"demo/lib/x/lib".into(), &"demo/lib/y".into())
    );
    assert_eq!(
        (&found["ignored"][0]["reason"], &found["ignored"][0]["rule"]),
        (&"it is made by hand".into(), &"packages.kdl:11".into())
    );
}

#[test]
fn threads_and_the_order_of_arguments_change_nothing() {
    let dir = built(true, &[], &[]);
    let one =
        rockpack(dir.path(), &["wheel", "verify", "out/dist", "--json", "--jobs", "1"]).stdout;
    assert_eq!(
        rockpack(dir.path(), &["wheel", "verify", "out/dist", "--json", "--jobs", "3"]).stdout,
        one
    );
    assert_eq!(
        rockpack(dir.path(), &["wheel", "verify", "out", "out/dist", "--json"]).stdout,
        one,
        "each package once"
    );
}

#[test]
fn sums_that_fit_are_fine() {
    let dir = make_dist(&[PROJECT, PACKAGE].concat(), &|dir| {
        wheel::wheel("demo", "any").write(dir);
        let done = Command::new("sh")
            .args(["-c", "sha256sum *.whl > SHA256SUMS"])
            .current_dir(dir)
            .status()
            .unwrap();
        assert!(done.success());
        fs_err::write(dir.join("provenance.intoto.jsonl"), "{}\n").unwrap();
        fs_err::write(dir.join("sbom.json"), "{}\n").unwrap();
    });
    assert_eq!(verify_json(dir.path()).0, 0);
}

#[test]
fn unreadable_arguments_are_usage_errors() {
    let dir = make_dist(PROJECT, &|_| {});
    fs_err::write(dir.path().join("x.txt"), "x").unwrap();
    for (args, needle) in [
        (&["gone.whl"][..], "gone.whl does not exist"),
        (&["gone/dist"], "gone/dist does not exist"),
        (&["x.txt"], "x.txt is neither a wheel nor an sdist"),
        (&["dist"], "has no built packages"),
        (&[], "<PATH>"),
    ] {
        let output = rockpack(dir.path(), &[&["wheel", "verify"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(needle), "{args:?}: {}", text(&output.stderr));
    }
    let output = rockpack(dir.path(), &["wheel", "verify", "dist", "--plan", "x.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot read x.txt: this is not a plan"));
}

#[test]
fn findings_are_annotations_too() {
    let dir = make_dist(&[PROJECT, PACKAGE].concat(), &|dir| {
        let mut wheel = wheel::wheel("demo", "any");
        wheel.member("data.txt").mode = 0o100_666;
        wheel.write(dir);
    });
    let output = rockpack(dir.path(), &["wheel", "verify", "dist", "--message-format", "github"]);
    let expected = "::error title=rockpack%3A member-mode::demo-1.0-py3-none-any.whl: writable for everyone: `demo/data.txt` (mode 0666)\n";
    assert_eq!(text(&output.stderr), expected);
}

/// Returns the number of findings in one wheel, without running the program.
fn found_in(path: &Path) -> usize {
    let wheel = Wheel::open(path, "demo").unwrap();
    let members: Vec<_> =
        wheel.parts().into_iter().flat_map(|part| wheel.read(part).unwrap()).collect();
    let package = wheel.into_package(members);
    let set = Set { packages: vec![package], environment: &|_: &str| false, targets: None };
    judge(&set, check::Command::Verify).len()
}

/// Every changed byte of a wheel is found, except unused bytes of headers.
#[test]
fn every_byte_is_looked_at() {
    let dir = TempDir::new().unwrap();
    wheel::wheel("demo", "any").write(dir.path());
    let path = dir.path().join("demo-1.0-py3-none-any.whl");
    let bytes = fs_err::read(&path).unwrap();
    assert_eq!(found_in(&path), 0);
    let idle: BTreeSet<usize> = zip::idle(&bytes);
    let mut unnoticed = Vec::new();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0xff;
        fs_err::write(&path, changed).unwrap();
        if found_in(&path) == 0 && !idle.contains(&at) {
            unnoticed.push(at);
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} of {}", bytes.len());
}

/// A truncation at any byte is found, without a panic.
#[test]
fn a_wheel_that_is_cut_short_is_never_fine() {
    let dir = TempDir::new().unwrap();
    wheel::wheel("demo", "any").write(dir.path());
    let path = dir.path().join("demo-1.0-py3-none-any.whl");
    let bytes = fs_err::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs_err::write(&path, &bytes[..length]).unwrap();
        assert!(found_in(&path) > 0, "cut at {length}");
    }
}

#[test]
fn packages_can_be_more_than_the_open_files_of_a_shell() {
    let dir = TempDir::new().unwrap();
    for number in 0..80 {
        crate::index::packages::wheel(dir.path(), &format!("part-{number}"), "1.0", &[]);
    }
    let verify = "ulimit -Sn 64; exec \"$0\" wheel verify . --manifest built-in";
    let output = Command::new("sh")
        .args(["-c", verify, crate::program::PROGRAM])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", crate::program::stderr(&output));
}
