//! Builds that end early: their finished packages are named, and not packed again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use crate::demo_tree::scratch;
use crate::program::{PROGRAM, stderr, text};

const BUILD: [&str; 9] = [
    "build",
    "--artifact-dir",
    "artifacts",
    "-o",
    "out",
    "--platform-tag",
    "linux_x86_64",
    "--jobs",
    "1",
];
const CORE: &str = "dist/rocm_sdk_core-7.2.0.dev0-py3-none-linux_x86_64.whl";
const DEVICE: &str = "dist/rocm_sdk_device_gfx942-7.2.0.dev0-py3-none-linux_x86_64.whl";

/// Returns artifacts whose device package shrinks little, and is built after `rocm-sdk-core`.
fn artifacts() -> TempDir {
    let dir = scratch(true);
    let write = |path: &str, text: String| {
        let path = dir.path().join("artifacts").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let lines = "a line that deflate packs well\n".repeat(100_000);
    write("amd-llvm_run_generic/stage/lib/llvm/bin/large.txt", lines);
    let mut state = 1_u64;
    let digits = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{state:016x}")
    });
    let digits: String = digits.take(100_000).collect();
    write("miopen_lib_gfx942/stage/share/miopen/db/gfx942.db.txt", digits);
    dir
}

fn command(dir: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("ROCKPACK_CACHE_DIR", dir.join("cache"));
    command.env("ROCKPACK_MANIFEST", "built-in").env_remove("ROCKPACK_NO_CACHE");
    command
}

/// Returns the packages with a file that the next build deflates.
fn packed_by_next(dir: &Path) -> Vec<String> {
    let build = command(dir, PROGRAM).args(BUILD).args(["--events", "events"]).output().unwrap();
    assert!(build.status.success(), "{}", stderr(&build));
    let events = fs::read_to_string(dir.join("events")).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let works = events.filter(|it| it["event"] == "worked" && it["kind"] == "deflate");
    let mut packed: Vec<String> =
        works.map(|work| work["package"].as_str().unwrap().to_owned()).collect();
    packed.dedup();
    packed
}

#[test]
fn a_failed_build_names_its_finished_packages_and_the_next_packs_the_rest() {
    let dir = artifacts();
    let dir = dir.path();
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\"";
    let failed = command(dir, "sh").args(["-c", script, PROGRAM]).args(BUILD).output().unwrap();
    let text = text(&failed.stderr);
    assert_eq!(failed.status.code(), Some(2), "{text}");
    let of = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).unwrap();
    let (finished, left) = (of("finished: "), of("not finished: "));
    assert!(finished.contains("rocm_sdk_core") && finished.contains("in the cache"), "{text}");
    assert!(left.contains("rocm_sdk_device_gfx942") && !left.contains("rocm_sdk_core"), "{text}");
    assert!(text.contains(DEVICE) && !dir.join("out").exists(), "{text}");
    let packed = packed_by_next(dir);
    assert!(
        !packed.contains(&CORE.to_owned()) && packed.contains(&DEVICE.to_owned()),
        "{packed:?}"
    );
}

#[test]
fn a_package_above_its_packed_limit_leaves_the_destination_as_it_was() {
    let dir = artifacts();
    let dir = dir.path();
    fs::write(dir.join("families.kdl"), "include \"built-in\"\n").unwrap();
    let build = |packed: &str| {
        let line = format!("change \"package\" \"core\" {{\n    at-most packed=\"{packed}\"\n}}\n");
        fs::write(dir.join("packages.kdl"), format!("include \"built-in\"\n{line}")).unwrap();
        command(dir, PROGRAM).env_remove("ROCKPACK_MANIFEST").args(BUILD).output().unwrap()
    };
    let small = build("10 kB");
    let refusal = stderr(&small);
    assert_eq!(small.status.code(), Some(1), "{refusal}");
    assert!(
        refusal.contains("`rocm-sdk-core` has ")
            && refusal.contains(" packed, but packages.kdl:3 allows 10.0 kB"),
        "{refusal}"
    );
    assert!(!dir.join("out").exists(), "{refusal}");
    let wide = build("10 MB");
    assert!(wide.status.success(), "{}", stderr(&wide));
    let list = || fs::read_to_string(dir.join("out/dist/SHA256SUMS")).unwrap();
    let before = list();
    assert_eq!(build("10 kB").status.code(), Some(1));
    assert_eq!(list(), before);
}

#[test]
fn a_killed_build_keeps_its_finished_packages() {
    let dir = artifacts();
    let dir = dir.path();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let fifo = dir.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut build = command(dir, PROGRAM)
        .args(BUILD)
        .args(["--events", "fifo"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(fs::File::open(&fifo).unwrap()).lines().map(Result::unwrap);
    assert!(log.any(|line| line.contains("\"output-finished\"") && line.contains(CORE)));
    build.kill().unwrap();
    assert!(!build.wait().unwrap().success());
    let packed = packed_by_next(dir);
    assert!(!packed.contains(&CORE.to_owned()), "{packed:?}");
}
