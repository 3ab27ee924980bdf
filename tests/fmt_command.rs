//! `rockpack fmt`: formatting keeps the meaning and all comments, and repeating it changes nothing.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base::source::Source;
use fs_err as fs;
use manifest::kdl::{self, Node};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::program::{rockpack, text};

/// Returns every KDL file of the repository.
fn all() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below =
        ["tests/fixtures", "crates", "src", "fuzz", "benches", "."].map(|dir| root.join(dir));
    let files = below.iter().enumerate().flat_map(|(at, dir)| {
        let depth = if at == 4 { 1 } else { usize::MAX };
        walkdir::WalkDir::new(dir).max_depth(depth).into_iter().filter_map(Result::ok)
    });
    let files = files.map(walkdir::DirEntry::into_path);
    files.filter(|path| path.extension().is_some_and(|e| e == "kdl")).collect()
}

/// Returns the content of nodes, without places.
fn said(nodes: &[Node]) -> String {
    let name = |name: &Option<kdl::Name>| name.as_ref().map(|name| name.text.clone());
    let one = |node: &Node| {
        let entries =
            node.entries.iter().map(|e| (name(&e.name), name(&e.annotation), e.value.clone()));
        let entries: Vec<_> = entries.collect();
        let block = node.block.as_deref().map(said);
        format!("{:?} {} {entries:?} {block:?}\n", name(&node.annotation), node.name.text)
    };
    nodes.iter().map(one).collect()
}

/// Returns the line comments of a text; no line has `//` in a string.
fn comments(text: &str) -> Vec<String> {
    let comment = |line: &str| line.split_once("// ").map(|(_, c)| c.trim_end().to_owned());
    text.lines().filter_map(comment).collect()
}

#[test]
fn formatting_is_idempotent_and_keeps_the_document() {
    let mut count = 0;
    for path in all() {
        let Ok(before) = fs::read_to_string(&path) else { continue };
        let source = Source::new("a.kdl", before.as_str());
        let Ok(nodes) = kdl::parse(&source) else {
            assert!(kdl::layout(&source).is_err(), "{}", path.display());
            continue;
        };
        // Also with bad formatting: no indentation, and repeated blanks.
        for rough in [before.clone(), roughened(&before)] {
            let rough = Source::new("a.kdl", rough);
            let after = kdl::layout(&rough).unwrap();
            let after = Source::new("a.kdl", after);
            assert_eq!(said(&kdl::parse(&after).unwrap()), said(&nodes), "{}", path.display());
            assert_eq!(comments(after.text()), comments(&before), "{}", path.display());
            assert_eq!(kdl::layout(&after).unwrap(), after.text(), "{}", path.display());
            assert!(!after.text().contains("\n\n\n") && !after.text().contains(" \n"));
        }
        count += 1;
    }
    assert!(count > 100, "{count} files");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Any valid text is formatted with the same meaning, and repeating it changes nothing.
    #[test]
    fn any_text_is_laid_out(pieces in proptest::collection::vec(prop::sample::select(vec![
        "a", "b", " ", " ", "  ", "\t", "\n", "\n", "\r\n", " { ", "{", "}", " }", ";", "; ", "=", "(t)", "\"x y\"", "1", "#true",
        "c=1", " d=\"e\"", "// c\n", "/* d\n */", "/-", " /- ", " \\\n", "\\ // e\n", "\"\"\"\n  f\n  \"\"\"", "#\"g\"#",
    ]), 0..14)) {
        let before = Source::new("a.kdl", pieces.concat());
        let Ok(nodes) = kdl::parse(&before) else { return Ok(()) };
        let after = kdl::layout(&before);
        prop_assert!(after.is_ok(), "{:?}: {:?}", before.text(), after);
        let after = Source::new("a.kdl", after.unwrap());
        prop_assert_eq!(said(&kdl::parse(&after).unwrap()), said(&nodes), "{:?}", before.text());
        prop_assert_eq!(kdl::layout(&after).unwrap(), after.text(), "{:?}", before.text());
        for comment in ["// c", "// e", "/* d\n */"] {
            let count = |text: &str| text.matches(comment).count();
            prop_assert_eq!(count(after.text()), count(before.text()), "{:?}", before.text());
        }
    }
}

/// Changes indentation and adds blank lines; multi-line strings stay.
fn roughened(text: &str) -> String {
    if text.contains("\"\"\"") || text.contains("\\\n") || text.contains("/*") {
        return text.to_owned();
    }
    let line = |(at, line): (usize, &str)| {
        format!("{}{}\r\n{}", " ".repeat(at % 7), line.trim(), "\n".repeat(at % 3))
    };
    text.lines().enumerate().map(line).collect()
}

#[test]
fn the_built_in_manifest_is_formatted() {
    let output = rockpack(Path::new(env!("CARGO_MANIFEST_DIR")), &["fmt", "--check"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn files_are_replaced_and_checked() {
    let dir = TempDir::new().unwrap();
    let (packages, families) = (dir.path().join("packages.kdl"), dir.path().join("real.kdl"));
    fs::write(&packages, "common {\n    author \"A\"\n}\n").unwrap();
    fs::write(&families, "// first\nisa   \"gfx1\" {\n family \"a\"\n}\n").unwrap();
    fs::set_permissions(&families, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.kdl", dir.path().join("families.kdl")).unwrap();
    let check = rockpack(dir.path(), &["fmt", "--check"]);
    let stderr = text(&check.stderr);
    assert_eq!(check.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("families.kdl:2:") && stderr.contains("is not formatted"), "{stderr}");
    assert!(!stderr.contains("packages.kdl"), "{stderr}");
    assert!(fs::read_to_string(&families).unwrap().contains("isa   "), "nothing is written");
    let done = rockpack(dir.path(), &["fmt"]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "families.kdl\n".to_owned()));
    let now = fs::read_to_string(&families).unwrap();
    assert_eq!(now, "// first\nisa \"gfx1\" {\n    family \"a\"\n}\n");
    assert!(fs::symlink_metadata(dir.path().join("families.kdl")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&families).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "nothing else is left");
    let again = rockpack(dir.path(), &["fmt"]);
    assert_eq!((again.status.code(), text(&again.stdout)), (Some(0), String::new()));
    assert!(rockpack(dir.path(), &["fmt", "--check"]).status.success());
}

#[test]
fn included_files_are_formatted_too() {
    let dir = TempDir::new().unwrap();
    let at = |path: &str| dir.path().join("m").join(path);
    fs::create_dir_all(at("more")).unwrap();
    let includes = "include \"built-in\"\ninclude \"more/a.kdl\"\n";
    fs::write(at("packages.kdl"), includes).unwrap();
    fs::write(at("families.kdl"), "include \"built-in\"\n").unwrap();
    fs::write(at("more/a.kdl"), "include \"more/b.kdl\"\n").unwrap();
    fs::write(at("more/b.kdl"), "a   b\n").unwrap();
    let check = rockpack(dir.path(), &["fmt", "--check", "--manifest", "m"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(text(&check.stderr).contains("m/more/b.kdl:1:"), "{}", text(&check.stderr));
    let done = rockpack(dir.path(), &["fmt", "--manifest", "m"]);
    assert_eq!((done.status.code(), text(&done.stdout)), (Some(0), "m/more/b.kdl\n".to_owned()));
    assert_eq!(fs::read_to_string(at("more/b.kdl")).unwrap(), "a b\n");
}

#[test]
fn a_file_with_a_mistake_is_not_touched_nor_is_another() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("packages.kdl"), "a {\n").unwrap();
    fs::write(dir.path().join("families.kdl"), "a   b\n").unwrap();
    let output = rockpack(dir.path(), &["fmt"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("packages.kdl:1:3"), "{}", text(&output.stderr));
    assert_eq!(fs::read(dir.path().join("families.kdl")).unwrap(), b"a   b\n");
    for gone in ["gone.kdl", "."] {
        assert_eq!(rockpack(dir.path(), &["fmt", gone]).status.code(), Some(2), "{gone}");
    }
}

#[test]
fn standard_input_is_laid_out_on_standard_output() {
    let run = |args: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        let piped =
            command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let output = run(&["fmt", "-"], "a   { b\n}");
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(0), "a {\n    b\n}\n".to_owned())
    );
    let output = run(&["fmt", "-"], "a {");
    assert!(output.status.code() == Some(1) && output.stdout.is_empty());
    let output = run(&["fmt", "--check", "-"], "a   b\n");
    assert!(output.status.code() == Some(1) && output.stdout.is_empty());
    assert!(text(&output.stderr).contains("expected: a b"), "{}", text(&output.stderr));
}
