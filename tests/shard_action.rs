//! Composite action for the jobs of a matrix: its command line makes the packages of the plan.

use std::path::Path;
use std::process::Command;

use fs_err as fs;

use crate::demo_tree::scratch;
use crate::program::{PROGRAM, succeed, text};
use workbench::skips::has;

/// Returns the command line of the action.
fn command_line() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/actions/shard/action.yml");
    let action = fs::read_to_string(path).unwrap();
    let line = action.lines().find_map(|line| line.trim().strip_prefix("run: "));
    line.unwrap().to_owned()
}

#[test]
fn jobs_of_a_matrix_build_the_plan() {
    if !has("bash", "the action of a matrix's jobs") {
        return;
    }
    let dir = scratch(true);
    let dir = dir.path();
    let built_in = ["--manifest", "built-in"];
    let with = |args: &[&str]| succeed(dir, &[args, &built_in[..]].concat());
    succeed(dir, &["artifact", "pack", "artifacts", "-o", "archives"]);
    let scan = ["artifact", "scan", "--artifact-dir", "archives", "-o", "c.json.zst"];
    succeed(dir, &[&scan[..], &["--lock", "artifacts.lock"]].concat());
    let planned = ["plan", "--catalog", "c.json.zst", "--version", "7.2.0"];
    fs::write(dir.join("plan.json"), with(&[&planned[..], &["--json"]].concat())).unwrap();
    let shards = with(&[&planned[..], &["--format", "shards", "--shards", "3"]].concat());
    let shards: serde_json::Value = serde_json::from_str(&shards).unwrap();
    let programs = dir.join("programs");
    fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(PROGRAM, programs.join("rockpack")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let action = |only: &str, dest: &str| {
        let mut action = Command::new("bash");
        action.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &command_line()]);
        action.current_dir(dir).env("PATH", &path).env("ROCKPACK_NO_CACHE", "1");
        // Values of the action's inputs when omitted, including an empty variable.
        let inputs = [
            ("ARTIFACTS", "--artifact-dir archives --lock artifacts.lock --locked"),
            ("CATALOG", "c.json.zst"),
            ("PLAN", "plan.json"),
            ("ONLY", only),
            ("DEST", dest),
            ("ROCKPACK_MANIFEST", "built-in"),
            ("ROCKPACK_REMOTE", ""),
            ("ROCKPACK_REMOTE_CACHE", ""),
            ("ROCKPACK_REMOTE_HEADER", ""),
            ("ROCKPACK_REMOTE_MODE", ""),
        ];
        action.envs(inputs).output().unwrap()
    };
    let mut jobs = Vec::new();
    for (number, job) in shards["include"].as_array().unwrap().iter().enumerate() {
        let dest = format!("job{number}");
        let output = action(job["only"].as_str().unwrap(), &dest);
        assert!(output.status.success(), "{}", text(&output.stderr));
        jobs.push(dest);
    }
    // A name that is not in the matrix gives an empty text, which must not build all packages.
    let output = action("", "all");
    assert!(!output.status.success() && !dir.join("all").exists());
    assert!(text(&output.stderr).contains("ONLY: is empty"), "{}", text(&output.stderr));
    assert_eq!(jobs.len(), 3);
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    succeed(dir, &[&["merge", "-o", "out"], &jobs[..]].concat());
    assert_eq!(succeed(dir, &["diff", "--exit-code", "plan.json", "out/dist"]), "no difference\n");
}
