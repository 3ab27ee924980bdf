//! Executable stacks that a line of the manifest clears in a build.

use std::path::Path;
use std::process::{Command, Output};

use binary::elf;
use fs_err as fs;
use tempfile::TempDir;

use crate::program::{self, rockpack, stderr, text};
use workbench::skips::has;

const PACKAGES: &str = r#"
common {
    author "A"
    requires-python ">=3.10"
}
package "core" kind="runtime" {
    distribution "x-core" module="x_core" per="none"
    summary "About core"
    license "MIT"
    artifact "base" "lib"
    clear-execstack "lib/libx.so.*" reason="plain C"
}
"#;
const PLAIN: &str = "int one(void) { return 1; }";
/// GCC writes a trampoline for `nested` to the stack.
const NESTED: &str = "int call(int (*f)(int), int x) { return f(x); }
int outer(int y) { int nested(int x) { return x + y; } return call(nested, 1); }";

/// Returns artifacts with a library that asks for an executable stack; `None` without a compiler.
fn scene(source: &str) -> Option<TempDir> {
    if !has("gcc", "executable stacks of a build") || !cfg!(target_arch = "x86_64") {
        return None;
    }
    let dir = TempDir::new().unwrap();
    let artifact = dir.path().join("artifacts/base_lib_generic");
    fs::create_dir_all(artifact.join("stage/lib")).unwrap();
    fs::write(artifact.join("artifact_manifest.txt"), "stage\n").unwrap();
    fs::write(dir.path().join("packages.kdl"), PACKAGES).unwrap();
    fs::write(dir.path().join("families.kdl"), "isa \"gfx942\" \"gfx94X-all\" product=\"B\"\n")
        .unwrap();
    fs::write(dir.path().join("x.c"), source).unwrap();
    let flags = ["-shared", "-fPIC", "-Wl,-z,execstack", "-Wl,-soname,libx.so.1", "x.c", "-o"];
    let library = artifact.join("stage/lib/libx.so.1");
    let made = Command::new("gcc").args(flags).arg(library).current_dir(dir.path()).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    Some(dir)
}

fn build(dir: &Path) -> Output {
    program::build(dir, "out").args(["--version", "1.0"]).output().unwrap()
}

#[test]
fn a_build_clears_the_stack_of_a_library_and_verify_accepts_it() {
    let Some(dir) = scene(PLAIN) else { return };
    let built = build(dir.path());
    assert!(built.status.success(), "{}", stderr(&built));
    let wheel = dir.path().join("out/dist/x_core-1.0-py3-none-linux_x86_64.whl");
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
    let mut library = Vec::new();
    std::io::copy(&mut archive.by_name("_x_core/lib/libx.so.1").unwrap(), &mut library).unwrap();
    let facts = elf::inspect(&library).unwrap().facts().unwrap();
    assert_eq!(facts.executable_stack, None);
    let verified = rockpack(dir.path(), &["wheel", "verify", "out/dist"]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}

#[test]
fn explain_names_the_line_that_clears_a_stack() {
    let Some(dir) = scene(PLAIN) else { return };
    let asked = ["--version", "1.0", "--artifact-dir", "artifacts"];
    let explained = rockpack(dir.path(), &[&["explain", "lib/libx.so.1"], &asked[..]].concat());
    let text = text(&explained.stdout);
    let line = r#"clear-execstack "lib/libx.so.*" reason="plain C"  clears its executable stack"#;
    assert!(text.contains(&format!("packages.kdl:11  {line}")), "{text}");
}

#[test]
fn a_build_refuses_to_clear_a_stack_with_a_trampoline() {
    let Some(dir) = scene(NESTED) else { return };
    let built = build(dir.path());
    assert_eq!(built.status.code(), Some(1), "{}", stderr(&built));
    assert!(stderr(&built).contains("trampoline"), "{}", stderr(&built));
    assert!(!dir.path().join("out").exists());
}
