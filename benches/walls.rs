//! Cost of the walls around a step of a project: milliseconds of `true`, without and with them.
//!
//! ```text
//! cargo bench --bench walls                          this program
//! cargo bench --bench walls -- --rockpack FILE       another one
//! ```
//!
//! Builds a project with one, and with many `run "true"` lines; the difference is of the steps
//! alone. Needs a Python with `build` and pip: `ROCKPACK_PYTHON`, or python3. Namespaces are
//! refused by a filter of system calls, as Docker's.

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on has failed")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fs_err as fs;

const REFUSAL: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/walls/refused_namespaces.py");
const STEPS: u32 = 100;
const ROUNDS: usize = 5;

const MANIFEST: &str = "common { author \"A\"; requires-python \">=3.10\"; }\n\
    package \"core\" kind=\"runtime\" {\n    distribution \"x-core\" module=\"x_core\" per=\"none\"\n    \
    summary \"Core\"; license \"MIT\"; template \"runtime\"\n    artifact \"base\" \"lib\"\n}\n";

/// Way in which a step runs: name, words before the program, options.
const WAYS: [(&str, &[&str], &[&str]); 3] = [
    ("without walls", &[], &["--unconfined"]),
    ("namespaces, Landlock, seccomp", &[], &[]),
    ("namespaces refused", &["python3", REFUSAL], &[]),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts it too.
        println!("not measured: this is for `cargo bench`");
        return;
    }
    let named = arguments.iter().position(|argument| argument == "--rockpack");
    let program = named.map_or(env!("CARGO_BIN_EXE_rockpack"), |at| &arguments[at + 1]);
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("src/steps")).unwrap();
    fs::write(dir.path().join("src/steps/CMakeLists.txt"), "").unwrap();
    fs::write(dir.path().join("families.kdl"), "isa \"gfx942\" \"gfx94X\"\n").unwrap();
    println!("{:32} {:>8}", "step `true`", "ms");
    for (name, before, options) in WAYS {
        let mut times: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let [one, many] = [1, 1 + STEPS]
                    .map(|count| built(dir.path(), program, (before, options), count));
                (many.as_secs_f64() - one.as_secs_f64()) * 1000.0 / f64::from(STEPS)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{name:32} {:8.2}", times[ROUNDS / 2]);
    }
}

/// Builds a project of this number of steps.
fn built(dir: &Path, program: &str, way: (&[&str], &[&str]), steps: u32) -> Duration {
    let lines = "    run \"true\"\n".repeat(steps as usize);
    let node = format!(
        "native-project \"steps\" {{\n    source \"steps\"\n    run \"touch\" \"{{prefix}}/file\"\n{lines}}}\n"
    );
    fs::write(dir.join("packages.kdl"), MANIFEST.to_owned() + &node).unwrap();
    let build = ["build", "--sources", "src", "-o", "out", "--version", "7.2.1"];
    let words = [way.0, &[program], &build, &["--projects", "rebuild"], way.1].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(dir).env("ROCKPACK_BUILD_DIR", dir.join("work"));
    let start = Instant::now();
    let output = command.output().unwrap();
    let took = start.elapsed();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    took
}
