//! The demo's artifacts in a test's directory, and packages of them.

use std::path::Path;

use binary::elf::stub::{StubMachine, exec_stub};
use tempfile::TempDir;

use crate::program::{self, Run};

/// Makes a directory with the demo artifacts in `artifacts`, without a manifest.
pub fn scratch(kpack: bool) -> TempDir {
    let dir = TempDir::new().unwrap();
    make(&dir.path().join("artifacts"), kpack);
    dir
}

/// Makes the demo artifacts.
pub fn make(artifacts: &Path, kpack: bool) {
    // This program is the same on every machine.
    let program = exec_stub(StubMachine::X86_64, "../lib/none").unwrap();
    catalog::demo::make(artifacts, kpack, &program).unwrap();
}

/// Makes the demo artifacts, and the repository's manifest in `m`.
pub fn with_manifest() -> TempDir {
    let dir = scratch(true);
    crate::repository::copy(&dir.path().join("m"), "");
    dir
}

/// Makes the demo artifacts, their plan in `plan.json` and packages in `out`, with these options.
pub fn built(kpack: bool, plan: &[&str], build: &[&str]) -> TempDir {
    let dir = scratch(kpack);
    let args = ["plan", "--json", "--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"];
    let planned = program::command(dir.path(), &args).args(plan).succeed();
    fs_err::write(dir.path().join("plan.json"), planned).unwrap();
    program::build(dir.path(), "out").args(build).succeed();
    dir
}
