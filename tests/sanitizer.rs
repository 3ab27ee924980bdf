//! The manifest of a release with a sanitizer, from `docs/ci.md`.

use std::path::Path;

use binary::elf::forward::forwarding_library;
use binary::elf::stub::StubMachine;
use fs_err as fs;

use crate::demo_tree::scratch;
use crate::program::{self, stderr};

const RUNTIME: &str = "libclang_rt.asan-x86_64.so";
const VERSION: &str = "7.14.0+asan.20260807";

/// Makes libraries of `core`, `libraries` and a device package need the runtime, which the compiler
/// has.
fn instrument(artifacts: &Path) {
    let library = |path: &str, soname: &str, needed: &str| {
        let place = artifacts.join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let bytes = forwarding_library(StubMachine::X86_64, soname, needed, "$ORIGIN").unwrap();
        fs::write(place, bytes).unwrap();
    };
    let directory = "amd-llvm_lib_generic/stage/lib/llvm/lib/clang/22/lib/linux";
    library(&format!("{directory}/{RUNTIME}"), RUNTIME, "libc.so.6");
    library("core-hip_lib_generic/stage/lib/libamdhip64.so.7.2", "libamdhip64.so.7", RUNTIME);
    library("blas_lib_generic/stage/lib/libhipblas.so.3.2", "libhipblas.so.3", RUNTIME);
    let plugin = "libMIOpenPlugin_gfx942.so";
    library(&format!("miopen_lib_gfx942/stage/lib/{plugin}"), plugin, RUNTIME);
}

/// Manifest of the page.
fn documented() -> String {
    let page = crate::repository::text("docs/ci.md");
    let block = page.split("```kdl\n").nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

fn build(dir: &Path, packages: &str) -> std::process::Output {
    fs::create_dir_all(dir.join("asan")).unwrap();
    fs::write(dir.join("asan/packages.kdl"), packages).unwrap();
    fs::write(dir.join("asan/families.kdl"), "include \"built-in\"\n").unwrap();
    let args = ["build", "--manifest", "asan", "--artifact-dir", "artifacts", "-o", "out"];
    program::uncached(dir, &[&args[..], &["--version", VERSION]].concat()).output().unwrap()
}

#[test]
fn instrumented_files_find_their_runtime() {
    let dir = scratch(true);
    let dir = dir.path();
    instrument(&dir.join("artifacts"));
    let output = build(dir, "include \"built-in\"\n");
    assert_eq!(output.status.code(), Some(1));
    let missing = format!("`lib/libhipblas.so.3` of rocm-sdk-libraries does not find `{RUNTIME}`");
    assert!(stderr(&output).contains(&missing), "{}", stderr(&output));
    let output = build(dir, &documented());
    assert!(output.status.success(), "{}", stderr(&output));
    let selector = dir.join("out/dist").join(format!("rocm-{VERSION}.tar.gz"));
    assert!(selector.is_file(), "{}", stderr(&output));
    program::succeed(dir, &["wheel", "verify", "out/dist", "--manifest", "asan"]);
}
