//! `rockpack build` without the feature `remote`: its options explain how to get a program with it.

use super::{demo_tree, program};

#[test]
fn options_of_a_server_report_a_program_without_servers() {
    let dir = demo_tree::scratch(true);
    fs_err::create_dir(dir.path().join("own")).unwrap();
    let include = "include \"built-in\"\n";
    let remotes = "remote \"farm\" executor=\"grpc://127.0.0.1:1\" download=\"minimal\"\n";
    fs_err::write(dir.path().join("own/packages.kdl"), format!("{include}{remotes}")).unwrap();
    fs_err::write(dir.path().join("own/families.kdl"), include).unwrap();
    let farm = ["--remote", "farm"];
    for (args, cache) in [
        (vec!["--cache", "own-cache"], "grpc://127.0.0.1:1"),
        ([&farm[..], &["--cache", "own-cache"]].concat(), ""),
        // With the feature, this works without a cache too.
        ([&farm[..], &["--no-cache", "--artifacts-digest", "checksums"]].concat(), ""),
        ([&farm[..], &["--no-cache"]].concat(), ""),
    ] {
        let build = ["build", "--artifact-dir", "artifacts", "-o", "never"];
        let build = [&build[..], &["--manifest", "own"], &args].concat();
        let mut command = program::command(dir.path(), &build);
        let output = command.env("ROCKPACK_REMOTE_CACHE", cache).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains("without the feature `remote`"), "{args:?}: {stderr}");
        assert!(!dir.path().join("never").exists());
    }
}
