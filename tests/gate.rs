//! The gate: packages that `rockpack wheel verify` rejects enter neither a directory of packages
//! nor a store.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ::check::read::{self, Wheel};
use ::check::{Set, judge};
use base::source::{Code, Severity};
use fs_err as fs;
use tempfile::TempDir;
use walkdir::WalkDir;

use crate::program::{self, stderr, text};
use crate::verify::cases;
use crate::verify::wheel::wheel;

const MANIFEST: &str = "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n";
const COMMIT: &str = "5a1c3b7e9d2f4a6c8e0b1d3f5a7c9e2b4d6f8a0c";

/// Makes a directory with a manifest that accepts no finding, and packages in `dist`.
fn place(make: &dyn Fn(&Path)) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("packages.kdl"), MANIFEST).unwrap();
    fs::write(dir.path().join("families.kdl"), include_str!("../families.kdl")).unwrap();
    fs::create_dir(dir.path().join("dist")).unwrap();
    make(&dir.path().join("dist"));
    dir
}

/// Returns the commands that place packages, each into `out`.
fn commands(dir: &Path) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut commands = vec![
        words(&format!("merge dist -o out --source-commit {COMMIT}")),
        words("index publish dist out --incomplete"),
    ];
    if packages(&dir.join("dist")).iter().any(|path| path.extension().unwrap() == "whl") {
        commands.push(words("wheel retag dist --force --platform-tag linux_x86_64 -o out"));
        commands.push(words("wheel repack dist --compression fast -o out"));
    }
    commands
}

fn run(dir: &Path, words: &[String], allowed: &[Code]) -> Output {
    command(dir, words, allowed).output().unwrap()
}

fn command(dir: &Path, words: &[String], allowed: &[Code]) -> Command {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    for code in allowed {
        words.extend(["--allow", code.as_str()]);
    }
    program::command(dir, &words)
}

fn packages(dir: &Path) -> Vec<PathBuf> {
    let files = WalkDir::new(dir).sort_by_file_name().into_iter().flatten();
    let is_package = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".whl") || name.ends_with(".tar.gz")
    };
    files.map(walkdir::DirEntry::into_path).filter(is_package).collect()
}

/// Returns the codes of errors in single packages, found by the library.
fn errors(dir: &Path) -> BTreeSet<Code> {
    let mut read = Vec::new();
    for path in packages(dir) {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let package = if path.extension().unwrap() == "whl" {
            let wheel = Wheel::open(&path, &file).unwrap();
            let members: Vec<_> =
                wheel.parts().into_iter().flat_map(|part| wheel.read(part).unwrap()).collect();
            wheel.into_package(members)
        } else {
            read::sdist(&path, &file).unwrap()
        };
        read.push(package);
    }
    let set = Set { packages: read, environment: &|_: &str| false, targets: None };
    let found = judge(&set, check::Command::Edit).into_iter();
    found.filter(|found| found.severity == Severity::Error).map(|found| found.code).collect()
}

/// Runs every command on the packages of every case of `verify`: placed packages have no error, and
/// after a refusal nothing is placed.
#[test]
fn no_command_places_packages_that_verify_refuses() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for (_, title, make) in cases::cases() {
        let dir = place(&*make);
        let (dir, out) = (dir.path(), dir.path().join("out"));
        let errors = self::errors(&dir.join("dist"));
        for command in commands(dir) {
            let output = run(dir, &command, &[]);
            let stderr = format!("{title}: {}: {}", command[..2].join(" "), text(&output.stderr));
            if output.status.success() {
                let placed = self::errors(&out);
                // Retagging corrects faults of a wheel's tags.
                let is_edit = ["retag", "repack"].contains(&command[1].as_str());
                if !placed.is_empty() || (!is_edit && !errors.is_empty()) {
                    wrong.push(format!("placed {placed:?}, {stderr}"));
                }
                fs::remove_dir_all(&out).unwrap();
            } else {
                refused += 1;
                if out.exists() {
                    wrong.push(format!("left something: {stderr}"));
                    fs::remove_dir_all(&out).unwrap();
                }
                if output.status.code() != Some(1) {
                    wrong.push(stderr);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > 150, "only {refused} were refused");
}

/// A code accepts its findings, with a warning; findings of other codes stay errors.
#[test]
fn a_code_lets_its_findings_through() {
    let mut wrong = Vec::new();
    for (_, title, make) in cases::cases() {
        let dir = place(&*make);
        let (dir, out) = (dir.path(), dir.path().join("out"));
        let codes: Vec<Code> = self::errors(&dir.join("dist")).into_iter().collect();
        if codes.is_empty() {
            continue;
        }
        let assemble = &commands(dir)[0];
        if codes.len() > 1 && run(dir, assemble, &codes[1..]).status.success() {
            wrong.push(format!("{title}: {} was not allowed", codes[0]));
        }
        let output = run(dir, assemble, &codes);
        let messages = stderr(&output);
        let loud =
            codes.iter().all(|code| messages.contains(&format!("allowed by --allow {code}")));
        if !output.status.success() || !loud || packages(&out).is_empty() {
            wrong.push(format!("{title}: {codes:?}: {}", text(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn writable(dir: &Path) {
    let mut wheel = wheel("demo", "any");
    wheel.member("data.txt").mode = 0o100_666;
    wheel.write(dir);
}

#[test]
fn every_command_reports_findings_of_verify_and_allows_their_code() {
    let dir = place(&writable);
    let (dir, out) = (dir.path(), dir.path().join("out"));
    let verify: Vec<String> = ["wheel", "verify", "dist"].map(str::to_owned).into();
    let fault = "demo-1.0-py3-none-any.whl: writable for everyone: `demo/data.txt` (mode 0666)";
    for command in [vec![verify], commands(dir)].concat() {
        let refused = run(dir, &command, &[]);
        let messages = stderr(&refused).replace("linux_x86_64", "any");
        assert!(!refused.status.success() && messages.contains(fault), "{command:?}: {messages}");
        if command[1] != "verify" {
            assert!(
                messages.contains("`--allow member-mode` makes it a warning"),
                "{command:?}: {messages}"
            );
        }
        assert!(!out.exists(), "{command:?}");
        let taken = run(dir, &command, &[Code::MemberMode]);
        let messages = stderr(&taken).replace("linux_x86_64", "any");
        assert!(taken.status.success() && messages.contains(fault), "{command:?}: {messages}");
        assert!(messages.contains("allowed by --allow member-mode"), "{command:?}: {messages}");
        if command[1] != "verify" {
            assert_eq!(packages(&out).len(), 1, "{command:?}");
            fs::remove_dir_all(&out).unwrap();
        }
    }
}

#[test]
fn an_unknown_code_is_an_error_with_all_codes() {
    let dir = place(&writable);
    for command in commands(dir.path()) {
        let command = [command, vec!["--allow".to_owned(), "member-mod".to_owned()]].concat();
        let output = run(dir.path(), &command, &[]);
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        let messages = stderr(&output);
        assert!(messages.contains("no finding with this code"), "{messages}");
        for code in ["member-mode", "record-hash", "unsafe-name", "link-outside"] {
            assert!(messages.contains(code), "{code}: {messages}");
        }
        assert!(!dir.path().join("out").exists());
    }
}

/// A finding accepted by the manifest passes `verify` and the gate.
#[test]
fn a_line_of_the_manifest_accepts_a_finding() {
    let dir = place(&writable);
    let rule = "ignore \"member-mode\" reason=\"it is written to\"\n";
    fs::write(dir.path().join("packages.kdl"), [MANIFEST, rule].concat()).unwrap();
    for command in commands(dir.path()) {
        let output = run(dir.path(), &command, &[]);
        assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
        fs::remove_dir_all(dir.path().join("out")).unwrap();
    }
}

/// If one of several wheels is refused, none gets its new tag, and the directory is unchanged.
#[test]
fn wheels_are_retagged_together_or_not_at_all() {
    let dir = place(&|dist| {
        writable(dist);
        wheel("another", "any").write(dist);
    });
    let retag =
        ["wheel", "retag", "dist", "--force", "--platform-tag", "linux_x86_64"].map(str::to_owned);
    let before = program::text(&listing(&dir.path().join("dist")));
    let output = run(dir.path(), &retag, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(program::text(&listing(&dir.path().join("dist"))), before);
}

fn listing(dir: &Path) -> Vec<u8> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names.join("\n").into_bytes()
}

/// Promotion copies foreign packages unchanged.
#[test]
fn promoted_packages_pass_the_gate() {
    let dir = crate::demo_tree::scratch(true);
    let dir = dir.path();
    let build = ["build", "--artifact-dir", "artifacts", "-o", "old", "--only", "core"];
    let more = ["--platform-tag", "linux_x86_64", "--version", "7.2.0rc1"];
    program::succeed(dir, &[&build[..], &more].concat());
    fs::remove_file(dir.join("old/dist/SHA256SUMS")).unwrap();
    writable(&dir.join("old/dist"));
    let promote = ["wheel", "promote", "old", "--to", "7.2.0", "-o", "new"].map(str::to_owned);
    let output = run(dir, &promote, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(stderr(&output).contains("writable for everyone: `demo/data.txt`"));
    assert!(!dir.join("new").exists());
    let output = run(dir, &promote, &[Code::MemberMode]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stderr(&output).contains("allowed by --allow member-mode"));
    assert_eq!(packages(&dir.join("new")).len(), 2);
}

/// Python that answers rockpack's questions about building.
const PYTHON: &str = "#!/bin/sh\necho \"$0\"; echo True; echo 26.0\n";

/// A finished wheel of the sources is placed in `dist` only if it has no error.
#[test]
fn wheels_of_the_sources_pass_the_gate() {
    let dir = crate::demo_tree::scratch(true);
    let dir = dir.path();
    fs::create_dir_all(dir.join("src")).unwrap();
    let line = "\nwheel \"demo\" path=\"demo-1.0-py3-none-any.whl\"\n";
    crate::repository::copy(&dir.join("manifest"), line);
    fs::write(dir.join("python"), PYTHON).unwrap();
    fs::set_permissions(dir.join("python"), PermissionsExt::from_mode(0o755)).unwrap();
    let build = ["build", "--artifact-dir", "artifacts", "-o", "out", "--only", "demo"];
    let more = ["--platform-tag", "linux_x86_64", "--version", "7.2.0", "--sources", "src"];
    let last = ["--manifest", "manifest"];
    let run = |dir: &Path, words: &[String], allowed: &[Code]| {
        command(dir, words, allowed).env("ROCKPACK_PYTHON", dir.join("python")).output().unwrap()
    };
    let build: Vec<String> =
        [&build[..], &more, &last].concat().into_iter().map(str::to_owned).collect();
    let kept = dir.join("out/dist/demo-1.0-py3-none-any.whl");
    wheel("demo", "any").write(&dir.join("src"));
    let output = run(dir, &build, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let sound = fs::read(&kept).unwrap();
    writable(&dir.join("src"));
    let output = run(dir, &build, &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let messages = stderr(&output);
    assert!(messages.contains("writable for everyone: `demo/data.txt` (mode 0666)"), "{messages}");
    assert!(messages.contains("`--allow member-mode` makes it a warning"), "{messages}");
    assert_eq!(fs::read(&kept).ok(), Some(sound.clone()), "the last good wheel has to stay");
    assert_eq!(self::packages(&dir.join("out")), std::slice::from_ref(&kept));
    let log = fs::read_to_string(dir.join("out/logs/demo.log")).unwrap();
    assert!(log.contains("writable for everyone: `demo/data.txt` (mode 0666)"), "{log}");
    let output = run(dir, &build, &[Code::MemberMode]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stderr(&output).contains("allowed by --allow member-mode"), "{}", stderr(&output));
    assert_ne!(fs::read(&kept).unwrap(), sound);
}

#[test]
fn no_command_places_variants_with_a_file_that_contradicts_them() {
    let contradicts = "other data or none for its variant";
    for (title, expected, code) in [
        ("a variant with different properties in two files", contradicts, Code::VariantsDisagree),
        ("an index of variants with a duplicate label", "`gpu9` occurs twice", Code::VariantForm),
    ] {
        let (_, _, make) = cases::cases().into_iter().find(|(_, it, _)| *it == title).unwrap();
        let dir = place(&*make);
        for command in &commands(dir.path())[..2] {
            let output = run(dir.path(), command, &[]);
            assert_eq!(output.status.code(), Some(1), "{command:?}: {}", text(&output.stdout));
            assert!(stderr(&output).contains(expected), "{command:?}: {}", stderr(&output));
            assert!(!dir.path().join("out").exists());
        }
        let output = run(dir.path(), &commands(dir.path())[0], &[code]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
