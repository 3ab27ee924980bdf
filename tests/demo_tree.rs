//! The demo's artifacts in a test's directory.

use binary::elf::stub::{StubMachine, exec_stub};
use tempfile::TempDir;

/// Makes a directory with the demo artifacts in `artifacts`, without a manifest.
pub fn scratch(kpack: bool) -> TempDir {
    let dir = TempDir::new().unwrap();
    // This program is the same on every machine.
    let program = exec_stub(StubMachine::X86_64, "../lib/none").unwrap();
    catalog::demo::make(&dir.path().join("artifacts"), kpack, &program).unwrap();
    dir
}
