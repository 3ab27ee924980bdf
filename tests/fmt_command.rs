//! `rockpack fmt`: files, included ones, standard input. `crates/manifest/tests/layout.rs` tests the layout itself.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;
use tempfile::TempDir;

use crate::program::{rockpack, text};

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
