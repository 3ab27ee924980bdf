//! Defaults of commands: missing options, empty values, the wrong directory, quiet.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use crate::demo_tree::scratch;
use crate::program::{Run, command, rockpack, stderr, succeed, text};

/// Returns the messages of a command that fails with this status.
fn fails(dir: &Path, args: &[&str], status: i32) -> String {
    command(dir, args).fail(status)
}

const BUILD: [&str; 8] = [
    "build",
    "--artifact-dir",
    "artifacts",
    "--dest-dir",
    "out",
    "--platform-tag",
    "linux_x86_64",
    "--no-cache",
];
const PLAN: [&str; 5] = ["plan", "--json", "--quiet", "--artifact-dir", "artifacts"];

fn plan(dir: &Path, more: &[&str]) -> Value {
    serde_json::from_str(&succeed(dir, &[&PLAN, more].concat())).unwrap()
}

/// Returns the names of the plan's distributions.
fn names(plan: &Value) -> BTreeSet<String> {
    let all = plan["distributions"].as_array().unwrap().iter();
    all.map(|d| d["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the files in a build's `dist`.
fn built(dir: &Path) -> BTreeSet<String> {
    let files = fs::read_dir(dir.join("out/dist")).unwrap();
    files.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the preset of the devel archive in a plan, if compressed.
fn preset(plan: &Value) -> Option<u64> {
    let all = plan["distributions"].as_array().unwrap();
    let devel = all.iter().find(|d| d["name"] == "rocm-sdk-devel").unwrap();
    let (path, xz) = (devel["archive"]["path"].as_str().unwrap(), devel["archive"]["xz"].as_u64());
    assert_eq!(path.ends_with("_devel.tar.xz"), xz.is_some(), "{path}");
    xz
}

#[test]
fn the_version_is_a_development_version_and_the_devel_archive_plain() {
    let dir = scratch(true);
    let (yes, no) = ("--devel-tarball-compression", "--no-devel-tarball-compression");
    let default = plan(dir.path(), &[]);
    assert_eq!((default["version"].as_str(), preset(&default)), (Some("7.2.0.dev0"), None));
    assert_eq!(preset(&plan(dir.path(), &[yes])), Some(6));
    assert_eq!(preset(&plan(dir.path(), &[yes, "--xz-preset", "1"])), Some(1));
    assert_eq!(preset(&plan(dir.path(), &[yes, no])), None);
    assert_eq!(plan(dir.path(), &["--version", "7.2"])["version"], "7.2");
    assert_eq!(preset(&plan(dir.path(), &["--xz-preset", "1"])), Some(1));
    let both = ["plan", "--catalog", "c", no, "--xz-preset", "1"];
    assert!(fails(dir.path(), &both, 2).contains(no));
}

/// Spellings of `TheRock`'s script.
#[test]
fn accepts_options_of_todays_script_without_showing_them() {
    let dir = scratch(true);
    let plain =
        ["--version", "7.2", "--platform-tag", "linux_x86_64", "--artifact-dir", "artifacts"];
    let files = |dest: &str, options: &[&str]| {
        succeed(dir.path(), &[&["build"], &plain[..], options].concat());
        fs::read_to_string(dir.path().join(dest).join("dist/SHA256SUMS")).unwrap()
    };
    let ours = files("ours", &["-o", "ours", "--compression", "store", "--xz-preset", "6"]);
    let theirs = ["--dest-dir", "theirs", "--no-build-packages", "--build-packages"];
    let packing = ["--wheel-compression", "--no-wheel-compression"];
    let archive = ["--no-devel-tarball-compression", "--devel-tarball-compression"];
    assert_eq!(files("theirs", &[&theirs[..], &packing, &archive].concat()), ours);
    let help = succeed(dir.path(), &["build", "--help"]);
    for word in [&theirs[..], &packing, &archive].concat() {
        assert!(word == "theirs" || !help.contains(word), "{word}");
    }
}

#[test]
fn an_empty_value_counts_as_not_given() {
    let dir = scratch(true);
    let default = succeed(dir.path(), &PLAN);
    let options = [
        "version",
        "version-suffix",
        "linux-amdgpu-families",
        "windows-amdgpu-families",
        "platform-tag",
        "mode",
        "compression",
        "sources",
        "manifest",
        "jobs",
    ];
    for option in options.map(|name| format!("--{name}")) {
        assert_eq!(succeed(dir.path(), &[&PLAN[..], &[&option, ""]].concat()), default, "{option}");
        let joined = format!("{option}=");
        assert_eq!(succeed(dir.path(), &[&PLAN[..], &[&joined]].concat()), default, "{joined}");
    }
    let mut empty = command(dir.path(), &PLAN);
    for name in ["MANIFEST", "SOURCES", "JOBS", "MESSAGE_FORMAT"] {
        empty.env(format!("ROCKPACK_{name}"), "");
    }
    assert_eq!(empty.output().unwrap().stdout, default.as_bytes());
    let messages = fails(dir.path(), &[&PLAN[..], &["--only", ""]].concat(), 2);
    assert!(
        messages.contains("'--only <NAME>'"),
        "an empty value of a matrix builds nothing: {messages}"
    );
    let promotion = ["wheel", "promote", "out", "--to", "7.2", "--dry-run", "--keep-targets"];
    for list in ["", ";"] {
        let messages = fails(dir.path(), &[&promotion[..], &[list]].concat(), 2);
        assert!(messages.contains("--keep-targets names no target"), "{list}: {messages}");
    }
    let mirror = ["index", "mirror", "a", "b", "--public", "https://example.com/"];
    let messages = fails(dir.path(), &[&mirror[..], &["--project", ""]].concat(), 2);
    assert!(messages.contains("--project must be the name of a project"), "{messages}");
    let messages = fails(dir.path(), &[&PLAN[..], &["--contract", ""]].concat(), 2);
    assert!(messages.contains("'--contract [<FILE>]'"), "{messages}");
    let messages = fails(dir.path(), &[&PLAN[..], &["--allow", "unowned-file"]].concat(), 2);
    assert!(messages.contains("did you mean unowned-files?"), "{messages}");
    let messages = fails(dir.path(), &["plan", "--artifact-dir", ""], 2);
    assert!(messages.contains("--artifact-dir <DIR_OR_URL>"), "{messages}");
}

#[test]
fn a_version_is_refused_before_anything_is_read() {
    let dir = TempDir::new().unwrap();
    let args = ["build", "--artifact-dir", "none", "--dest-dir", "out", "--version", "7.x"];
    let messages = fails(dir.path(), &args, 2);
    assert!(messages.contains("'--version <V>'") && messages.contains("PEP 440"), "{messages}");
    assert!(!messages.contains("does not exist") && !dir.path().join("out").exists(), "{messages}");
}

#[test]
fn packages_that_are_not_to_be_built_are_checked_and_not_written() {
    let dir = scratch(true);
    let args = [&BUILD[..], &["--dry-run"]].concat();
    let stdout = succeed(dir.path(), &args);
    assert!(stdout.contains("rocm-sdk-core") && stdout.contains("nothing written"), "{stdout}");
    assert!(!dir.path().join("out").exists());
    succeed(dir.path(), &[&args[..], &["--build-packages", "--only", "core"]].concat());
    assert_eq!(built(dir.path()).len(), 3, "a wheel, checksums and provenance");
    let library = "artifacts/blas_lib_generic/stage/lib/libhipblas.so.3.2";
    let whole = fs::read(dir.path().join(library)).unwrap();
    fs::write(dir.path().join(library), &whole[..100]).unwrap();
    assert!(fails(dir.path(), &args, 1).contains("libhipblas.so.3.2"));
}

#[test]
fn names_the_directory_without_a_manifest() {
    let dir = scratch(true);
    let (here, files) = (dir.path(), ["--artifact-dir", "artifacts"]);
    let error = fails(here, &["check"], 2);
    assert!(error.contains("no packages.kdl in /") && error.contains("built-in"), "{error}");
    let explain = ["explain", "lib/libhiprtc.so"];
    for args in [&["plan"][..], &explain, &BUILD[..1]] {
        let more = if args[0] == "build" { &["--dest-dir", "out"][..] } else { &[] };
        let output = rockpack(here, &[args, &files, more].concat());
        assert!(output.status.success(), "{args:?}");
        let messages = stderr(&output);
        assert!(messages.contains("no packages.kdl in /"), "{args:?}: {messages}");
        assert!(messages.contains("manifest: <built in>/packages.kdl"), "{args:?}: {messages}");
        let asked = rockpack(here, &[args, &files, more, &["--manifest", "built-in"]].concat());
        let messages = stderr(&asked);
        assert!(
            !messages.contains("no packages.kdl") && messages.contains("<built in>"),
            "{args:?}: {messages}"
        );
    }
    assert!(
        succeed(here, &["check", "--manifest", "built-in"]).starts_with("<built in>/packages.kdl")
    );
    let listed = succeed(here, &[&["plan", "--format", "files"], &files[..]].concat());
    assert!(listed.contains(" <built in>/packages.kdl:"), "{listed}");

    crate::repository::copy(here, "");
    let output = rockpack(here, &[&["plan"], &files[..]].concat());
    assert!(stderr(&output).starts_with("manifest: packages.kdl"), "{}", stderr(&output));
    let mut elsewhere = command(here, &["check"]);
    let output = elsewhere.env("ROCKPACK_MANIFEST", "built-in").output().unwrap();
    assert!(output.stdout.starts_with(b"<built in>"), "{}", text(&output.stdout));
}

#[test]
fn suggests_the_path_for_a_typo() {
    let dir = scratch(true);
    let messages = fails(dir.path(), &["plan", "--artifact-dir", "artefacts"], 2);
    assert!(messages.contains("did you mean `artifacts`?"), "{messages}");
    fs::create_dir(dir.path().join("packaging")).unwrap();
    let messages = fails(dir.path(), &["check", "--manifest", "packagin"], 2);
    assert!(messages.contains("did you mean `packaging`?"), "{messages}");
}

#[test]
fn only_accepts_packages_distributions_and_patterns() {
    let dir = scratch(true);
    let only = |words: &[&str]| {
        let options: Vec<&str> = words.iter().flat_map(|name| ["--only", name]).collect();
        names(&plan(dir.path(), &options)).into_iter().collect::<Vec<_>>()
    };
    let (one, other) = ("rocm-sdk-device-gfx942", "rocm-sdk-device-gfx1100");
    assert_eq!(only(&["device"]), [other, one]);
    assert_eq!(only(&[one]), [one]);
    assert_eq!(only(&["rocm-sdk-device-*"]), [other, one]);
    assert_eq!(only(&["core,rocm_profiler", "rocm"]), ["rocm", "rocm-profiler", "rocm-sdk-core"]);
    for name in names(&plan(dir.path(), &[])) {
        assert_eq!(only(&[&name]), [name.as_str()], "what a plan calls it can be asked for");
    }
    let messages =
        fails(dir.path(), &[&PLAN[..], &["--only", "rocm-sdk-device-gfx943"]].concat(), 2);
    assert!(
        messages.contains("did you mean") && messages.contains("`rocm-sdk-device-gfx942`"),
        "{messages}"
    );
    let messages = fails(dir.path(), &[&PLAN[..], &["--only", "librarys"]].concat(), 2);
    assert!(
        messages.contains("`libraries`") && messages.contains("rocm-sdk-libraries"),
        "{messages}"
    );
    assert!(fails(dir.path(), &[&PLAN[..], &["--only", "a/b"]].concat(), 2).contains("--only"));
}

/// Jobs of a matrix write to one directory, one ISA each.
#[test]
fn building_the_wheel_of_one_isa_keeps_other_wheels() {
    let dir = scratch(true);
    for isa in ["gfx942", "gfx1100"] {
        let only = format!("rocm-sdk-device-{isa}");
        succeed(dir.path(), &[&BUILD[..], &["--only", &only]].concat());
    }
    let there = built(dir.path());
    assert_eq!(there.iter().filter(|name| name.contains("_device_")).count(), 2, "{there:?}");
}

#[test]
fn refuses_less_memory_than_a_block_needs() {
    let dir = scratch(true);
    let build = |memory: &str, more: &[&str]| {
        let mut command = command(dir.path(), &[&BUILD[..], more].concat());
        command.env("ROCKPACK_MEMORY", memory).output().unwrap()
    };
    for (least, more) in [("5MB", &[][..]), ("150MB", &["--devel-tarball-compression"])] {
        let small = build("1MB", more);
        let messages = stderr(&small);
        assert_eq!(small.status.code(), Some(2), "{messages}");
        let asked = messages.split("give at least ").nth(1);
        let asked = asked.unwrap_or_else(|| panic!("{messages}")).to_owned();
        assert!(asked.len() <= least.len() + 1, "about {least}: {asked}");
        let enough = build(&asked, more);
        assert!(enough.status.success(), "{asked}: {}", stderr(&enough));
    }
    let messages = stderr(&build("0", &[]));
    assert!(
        messages.contains("ROCKPACK_MEMORY") && messages.contains("needs a unit"),
        "{messages}"
    );
    let messages = fails(dir.path(), &["cache", "prune", "--to", "1"], 2);
    assert!(messages.contains("1GB"), "{messages}");
}

#[test]
fn each_event_of_a_trace_names_its_package_and_file() {
    let dir = scratch(true);
    succeed(dir.path(), &[&BUILD[..], &["--events", "t.trace.json"]].concat());
    let trace: Value =
        serde_json::from_slice(&fs::read(dir.path().join("t.trace.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter().filter(|e| e["ph"] == "X");
    let subjects: Vec<(&str, &str)> = events
        .map(|e| (e["args"]["package"].as_str().unwrap(), e["args"]["file"].as_str().unwrap()))
        .collect();
    assert!(subjects.iter().all(|(package, file)| !package.is_empty() && !file.is_empty()));
    let core = "dist/rocm_sdk_core-7.2.0.dev0-py3-none-linux_x86_64.whl";
    assert!(subjects.contains(&(core, "_rocm_sdk_core/lib/libhiprtc.so.7")), "{subjects:?}");
    assert!(subjects.contains(&(core, core)), "the hash over the whole wheel");
}

#[test]
fn quiet_commands_print_only_results_and_errors() {
    let dir = scratch(true);
    let loud = rockpack(dir.path(), &BUILD);
    assert!(stderr(&loud).contains("writing 8 packages"), "{}", stderr(&loud));
    for format in ["human", "json", "github"] {
        let more = ["-q", "--message-format", format];
        let quiet = rockpack(dir.path(), &[&BUILD[..], &more].concat());
        assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", stderr(&quiet));
        assert!(quiet.stdout.starts_with(b"package "), "{}", text(&quiet.stdout));
    }
    assert!(fails(dir.path(), &["--quiet", "plan", "--artifact-dir", "none"], 2).contains("none"));
    assert!(fails(dir.path(), &["plan", "-qv", "--artifact-dir", "none"], 2).contains("--verbose"));
}

#[test]
fn the_version_of_a_released_program_names_the_commit() {
    let dir = TempDir::new().unwrap();
    let version = succeed(dir.path(), &["--version"]);
    let number = concat!("rockpack ", env!("CARGO_PKG_VERSION"));
    if cfg!(debug_assertions) {
        assert_eq!(version.trim(), number);
        return;
    }
    let commit = version.trim().strip_prefix(number).unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["rev-parse", "--show-toplevel"]);
    let known = git.output().is_ok_and(|o| {
        let top = String::from_utf8_lossy(&o.stdout).trim().to_owned();
        o.status.success() && Path::new(&top) == root.canonicalize().unwrap()
    });
    let told = commit.starts_with(" (") && commit.ends_with(')') && commit.len() > 9;
    assert!(told || commit.is_empty() && !known, "{version}");
}
