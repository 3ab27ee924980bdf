//! `rockpack build` without the feature `remote`: its options explain how to get a program with it.

use super::{demo_tree, program};

#[test]
fn options_of_a_server_say_that_this_program_asks_none() {
    let dir = demo_tree::scratch(true);
    let farm = ["--remote-executor", "grpc://127.0.0.1:1"];
    for args in [
        vec!["--cache", "own", "--remote-cache", "grpc://127.0.0.1:1"],
        [&farm[..], &["--cache", "own"]].concat(),
        // With the feature, this works without a cache too.
        [&farm[..], &["--no-cache", "--artifacts-digest", "checksums"]].concat(),
        vec!["--no-cache", "--remote-download-outputs", "minimal"],
    ] {
        let build = ["build", "--artifact-dir", "artifacts", "-o", "never"];
        let build = [&build[..], &["--manifest", "built-in"], &args].concat();
        let output = program::rockpack(dir.path(), &build);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("without the feature `remote`"), "{args:?}: {said}");
        assert!(!dir.path().join("never").exists());
    }
}
