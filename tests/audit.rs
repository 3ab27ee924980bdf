//! `rockpack wheel audit` on packages of rockpack and of other tools: it agrees with the plan.

use std::path::{Path, PathBuf};

use ::check::audit::audit;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::StubMachine;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{rockpack, text};
use crate::verify::symbols;
use crate::verify::wheel::wheel;
use crate::verify::zip::Member;

/// Builds the demo's packages, and returns them with their plan. Programs are this machine's. (A
/// test program would work, but has a hundred megabytes.)
fn demo(kpack: bool) -> (TempDir, plan::Plan, Vec<PathBuf>) {
    let dir = TempDir::new().unwrap();
    let program = fs_err::read("/bin/true").unwrap();
    catalog::demo::make(&dir.path().join("artifacts"), kpack, &program).unwrap();
    let planned = rockpack(dir.path(), &["plan", "--artifact-dir", "artifacts", "--json"]);
    let plan: plan::Plan = serde_json::from_slice(&planned.stdout).unwrap();
    let built = rockpack(dir.path(), &["build", "--artifact-dir", "artifacts", "-o", "out"]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    let files = walkdir::WalkDir::new(dir.path().join("out"))
        .into_iter()
        .map(|entry| entry.unwrap().into_path());
    let mut wheels: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|e| e == "whl")).collect();
    wheels.sort();
    (dir, plan, wheels)
}

/// Each wheel has the tag of its own files; a wheel without binaries has the most common tag.
fn plan_and_audit_agree(kpack: bool) {
    let (dir, plan, wheels) = demo(kpack);
    let paths: Vec<&Path> = wheels.iter().map(PathBuf::as_path).collect();
    let planned: Vec<(String, &str)> = plan
        .distributions
        .iter()
        .map(|one| {
            let path = build::execute::output_path(&plan, one);
            (
                dir.path().join("out").join(path.as_str()).display().to_string(),
                plan.platform_tag_of(one),
            )
        })
        .collect();
    let audits = audit(&paths).unwrap();
    assert!(audits.iter().any(|audit| audit.tag != plan.platform_tag && audit.tag != "any"));
    for audit in audits {
        let path = wheels.iter().find(|path| path.ends_with(&audit.file)).unwrap();
        let (_, tag) = planned.iter().find(|(file, _)| Path::new(file) == path).unwrap();
        assert_eq!(audit.named, *tag, "{audit:#?}");
        assert!(audit.tag == *tag || audit.tag == "any" && *tag == plan.platform_tag, "{audit:#?}");
    }
}

#[test]
fn plan_and_audit_agree_on_the_demo() {
    plan_and_audit_agree(true);
}

#[test]
fn plan_and_audit_agree_on_the_demo_by_family() {
    plan_and_audit_agree(false);
}

#[test]
fn people_and_scripts_get_the_same_answer() {
    let (dir, planned, wheels) = demo(true);
    let mut args = vec!["wheel", "audit"];
    args.extend(wheels.iter().map(|wheel| wheel.to_str().unwrap()));
    let output = rockpack(dir.path(), &args);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    args.push("--json");
    let json: Value = serde_json::from_slice(&rockpack(dir.path(), &args).stdout).unwrap();
    let audits = json["wheels"].as_array().unwrap();
    assert_eq!(audits.len(), wheels.len());
    for audit in audits {
        let (file, tag) = (audit["file"].as_str().unwrap(), audit["tag"].as_str().unwrap());
        assert!(stdout.contains(&format!("{file}\n  {tag}")), "{file} {tag} in\n{stdout}");
    }
    let core = planned.distributions.iter().find(|one| one.module.as_str().ends_with("_core"));
    let tag = planned.platform_tag_of(core.unwrap());
    let forcing = audits.iter().find(|audit| audit["tag"] == tag).unwrap();
    let first = &forcing["forced_by"][0];
    let line = stdout.lines().find(|line| line.contains(first["needs"].as_str().unwrap())).unwrap();
    assert!(line.contains(first["file"].as_str().unwrap()), "{line}");
    assert!(first["symbol"].is_string(), "{first}");
}

#[test]
fn reports_a_wrong_name_and_fails() {
    let (dir, _, wheels) = demo(true);
    let wheel = wheels.iter().find(|wheel| wheel.to_str().unwrap().contains("sdk_core")).unwrap();
    let name = wheel.file_name().unwrap().to_str().unwrap();
    let (start, _) = name.rsplit_once('-').unwrap();
    let wrong = dir.path().join(format!("{start}-manylinux1_x86_64.whl"));
    fs_err::rename(wheel, &wrong).unwrap();
    let mut args = vec!["wheel", "audit", wrong.to_str().unwrap()];
    args.extend(wheels.iter().filter(|other| *other != wheel).map(|wheel| wheel.to_str().unwrap()));
    let output = rockpack(dir.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("\n  wrong name: `"), "{}", text(&output.stdout));
    assert!(output.stderr.is_empty());
}

#[test]
fn an_unauditable_file_has_a_reason() {
    let dir = TempDir::new().unwrap();
    fs_err::write(dir.path().join("x-1-py3-none-any.whl"), "no zip").unwrap();
    fs_err::write(dir.path().join("x.zip"), "no zip").unwrap();
    for (file, status, says) in [
        ("x-1-py3-none-any.whl", 1, "is not a zip archive"),
        ("x.zip", 1, "is not a wheel name"),
        ("y-1-py3-none-any.whl", 2, "failed to open"),
    ] {
        let output = rockpack(dir.path(), &["wheel", "audit", file]);
        assert_eq!(output.status.code(), Some(status), "{file}");
        let error = text(&output.stderr).replace("\n    ", " ");
        assert!(error.contains(says) && output.stdout.is_empty(), "{error}");
    }
}

#[test]
fn lists_undefined_symbols_and_fails() {
    let dir = TempDir::new().unwrap();
    let made = |name: &str, needed: &[&str], defined: &[&str], wanted: &[&str]| {
        let mut wheel = wheel(name, "linux_x86_64");
        let library = format!("lib{name}.so");
        let bytes = symbols::library(&library, needed, defined, wanted);
        wheel.add(Member::new(&format!("{name}/{library}"), bytes));
        wheel.write(dir.path());
    };
    made("user", &["libowner.so", "libc.so.6"], &[], &["one", "two", "PyList_New", "dlopen"]);
    made("owner", &["libc.so.6"], &["one"], &[]);
    let (user, owner) =
        ("user-1.0-py3-none-linux_x86_64.whl", "owner-1.0-py3-none-linux_x86_64.whl");
    let together = rockpack(dir.path(), &["wheel", "audit", user, owner]);
    let stdout = text(&together.stdout);
    assert_eq!(together.status.code(), Some(1), "{stdout}");
    let told =
        "  symbols that neither the wheels nor the system define:\n    user/libuser.so: two\n";
    assert!(stdout.contains(told), "{stdout}");
    let json = rockpack(dir.path(), &["wheel", "audit", "--json", user, owner]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let unresolved = &json["wheels"][0]["unresolved"];
    assert_eq!(*unresolved, serde_json::json!([{"file": "user/libuser.so", "symbols": ["two"]}]));
    let alone = rockpack(dir.path(), &["wheel", "audit", user]);
    assert!(
        alone.status.success(),
        "what an absent library has, nobody knows: {}",
        text(&alone.stdout)
    );
}

/// Makes a wheel with a library next to the file that needs it, with or without an rpath.
fn wheel_with_neighbour(dir: &Path, tag: &str, rpath: &str) -> String {
    let library = |soname: &str, needed: &str, rpath: &str| match rpath {
        "" => symbols::library(soname, &[needed], &[], &[]),
        rpath => forwarding_library(StubMachine::X86_64, soname, needed, rpath).unwrap(),
    };
    let mut wheel = wheel("demo", tag);
    let module = match rpath {
        "" => symbols::library("ext.so", &["libown.so"], &["PyInit_ext"], &[]),
        rpath => library("ext.so", "libown.so", rpath),
    };
    wheel.add(Member::new("demo/_C/ext.so", module));
    wheel.add(Member::new("demo/_C/libown.so", library("libown.so", "libc.so.6", "")));
    wheel.write(dir);
    format!("demo-1.0-py3-none-{tag}.whl")
}

#[test]
fn a_library_that_no_rpath_leads_to_is_not_shipped() {
    let dir = TempDir::new().unwrap();
    let file = wheel_with_neighbour(dir.path(), "manylinux_2_17_x86_64", "$ORIGIN");
    let found = rockpack(dir.path(), &["wheel", "audit", &file]);
    assert!(found.status.success(), "{}", text(&found.stdout));
    assert!(text(&found.stdout).contains("\n  manylinux_2_5_x86_64"), "{}", text(&found.stdout));
    wheel_with_neighbour(dir.path(), "manylinux_2_17_x86_64", "");
    let lost = rockpack(dir.path(), &["wheel", "audit", &file]);
    let stdout = text(&lost.stdout);
    assert_eq!(lost.status.code(), Some(1), "{stdout}");
    for line in [
        "\n  linux_x86_64, 2 binaries\n",
        "\n  wrong name: `demo/_C/ext.so` needs the library libown.so, beyond manylinux_2_17_x86_64\n",
        "\n  libraries of the wheel without an rpath to them:\n    demo/_C/ext.so: libown.so, which is demo/_C/libown.so\n",
    ] {
        assert!(stdout.contains(line), "{line:?} in\n{stdout}");
    }
    let json = rockpack(dir.path(), &["wheel", "audit", "--json", &file]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let unfound = serde_json::json!(
        [{"file": "demo/_C/ext.so", "library": "libown.so", "at": "demo/_C/libown.so", "certain": true}]
    );
    assert_eq!(json["wheels"][0]["unfound"], unfound);
}

/// Other packages in the directory complete the set, but are not audited.
#[test]
fn finds_libraries_in_companion_packages() {
    let dir = TempDir::new().unwrap();
    let library = |soname: &str, needed: &str| symbols::library(soname, &[needed], &[], &[]);
    let mut user = wheel("user", "linux_x86_64");
    user.add(Member::new("user/ext.so", library("ext.so", "libowner.so")));
    user.write(dir.path());
    fs_err::create_dir(dir.path().join("others")).unwrap();
    let mut owner = wheel("owner", "linux_x86_64");
    owner.add(Member::new("owner/libowner.so", library("libowner.so", "libc.so.6")));
    owner.write(&dir.path().join("others"));
    let audit = |more: &[&str]| {
        let output = rockpack(
            dir.path(),
            &[&["wheel", "audit", "user-1.0-py3-none-linux_x86_64.whl"], more].concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stdout));
        text(&output.stdout)
    };
    assert!(audit(&[]).contains("\n  linux_x86_64, 1 binary\n"));
    let together = audit(&["--with", "others"]);
    assert!(together.contains("\n  manylinux_2_5_x86_64"), "{together}");
    assert!(!together.contains("owner-1.0"), "{together}");
}
