//! The demo's artifacts in a directory of a test's own.

use binary::elf::stub::{StubMachine, exec_stub};
use tempfile::TempDir;

/// A scratch directory with the demo artifacts in `artifacts`, and without a manifest.
pub fn scratch(kpack: bool) -> TempDir {
    let dir = TempDir::new().unwrap();
    // A program that is the same on every machine.
    let program = exec_stub(StubMachine::X86_64, "../lib/none").unwrap();
    plan::demo::make(&dir.path().join("artifacts"), kpack, &program).unwrap();
    dir
}
