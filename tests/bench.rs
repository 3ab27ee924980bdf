//! Computations and Python code of the benches.
//!
//! mypy and ruff check the Python if installed.

use std::path::Path;
use std::process::Command;

#[path = "../benches/build/measured.rs"]
#[expect(dead_code, reason = "tests start no programs")]
mod measured;
#[path = "../benches/build/options.rs"]
mod options;
#[path = "../benches/build/program.rs"]
#[expect(dead_code, reason = "tests start no programs")]
mod program;
#[path = "../benches/build/results.rs"]
#[expect(dead_code, reason = "only the bench uses all of it")]
mod results;
#[path = "../benches/build/rows.rs"]
#[expect(dead_code, reason = "only the bench uses all of it")]
mod rows;
#[path = "../benches/build/table.rs"]
mod table;
#[path = "../benches/build/trace.rs"]
mod trace;

use measured::Measured;
use options::Options;
use program::{Build, Compression};
use results::{Outcome, Results, Subject};
use table::{Limit, Line, Quantity};

fn outcome(wall: f64, size: u64) -> Outcome {
    Outcome { measured: Measured { wall, ..Measured::default() }, size, ..Outcome::default() }
}

#[test]
fn a_table_is_aligned_and_marks_missed_limits() {
    let slow = Line::multiple(
        "build",
        Quantity::Seconds(12.0),
        "the bound",
        Quantity::Seconds(10.0),
        Limit::AtMost(1.1),
    );
    let fast = Line::faster(
        "build",
        Quantity::Seconds(12.0),
        "before",
        Quantity::Seconds(120.0),
        Limit::AtLeast(6.5),
    );
    let size =
        Line::multiple("size", Quantity::Bytes(5e5), "zlib", Quantity::Bytes(2e9), Limit::None);
    let text = table::table(&[
        ("default", vec![slow, fast]),
        ("other", vec![size, Line::alone("alone", Quantity::Seconds(0.0001))]),
    ]);
    let expected = "\
row      what   measured  against            ratio  target
default  build   12.00 s  10.00 s the bound   1.20  ≤ 1.10  MISS
         build   12.00 s  120.00 s before    10.00  ≥ 6.50  ok
other    size   500.0 kB  2.000 GB zlib       0.00
         alone    100 µs
";
    assert_eq!(text, expected);
}

#[test]
fn incomputable_quantities_miss_their_limit() {
    let nothing = Line::multiple(
        "build",
        Quantity::Seconds(0.0),
        "nothing",
        Quantity::Seconds(0.0),
        Limit::AtMost(1.1),
    );
    assert!(table::table(&[("row", vec![nothing])]).contains("MISS"));
}

#[test]
fn pieces_of_all_workers_add_up() {
    let text = r#"{"traceEvents": [
        {"ph": "M", "name": "thread_name", "tid": 1, "args": {"name": "worker 1"}},
        {"ph": "X", "name": "deflate", "tid": 1, "ts": 0, "dur": 1000000, "args": {"bytes": 10}},
        {"ph": "X", "name": "deflate", "tid": 2, "ts": 500000, "dur": 1000000, "args": {"bytes": 20}},
        {"ph": "X", "name": "write", "tid": 1, "ts": 1000000, "dur": 250000},
        {"ph": "X", "name": "deflate", "tid": 2, "ts": 3000000, "dur": 500000}]}"#;
    let pieces = trace::pieces(text).unwrap();
    assert_eq!(trace::totals(&pieces)["deflate"], (2.5, 30.0));
    assert_eq!(trace::totals(&pieces)["write"], (0.25, 0.0));
    assert!(trace::pieces("{}").is_none() && trace::pieces("no").is_none());
}

#[test]
fn a_row_takes_the_fastest_runs() {
    let mut results = Results::default();
    let rows = rows::rows(&[6]);
    let row = rows.iter().find(|row| row.name == "default").unwrap();
    assert!(row.lines(&results).is_err(), "nothing was measured");
    results
        .0
        .insert(Subject::Build(Compression::Default), vec![outcome(13.0, 98), outcome(12.0, 98)]);
    results
        .0
        .insert(Subject::Deflate(Compression::Default), vec![outcome(10.0, 0), outcome(11.0, 0)]);
    results.0.insert(Subject::DeflatePart, vec![outcome(8.0, 0)]);
    results.0.insert(Subject::Zlib, vec![outcome(60.0, 100)]);
    let ratios = |results: &Results| {
        row.lines(results).unwrap().iter().map(|line| line.ratio.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(ratios(&results), [1.2, 1.5, 0.98]);
    results.0.insert(Subject::Today, vec![outcome(120.0, 0)]);
    assert_eq!(ratios(&results), [1.2, 1.5, 0.98, 10.0]);
}

#[test]
fn each_preset_has_its_cost_and_saving() {
    let mut results = Results::default();
    let rows = rows::rows(&[6]);
    let row = rows.iter().find(|row| row.name == "presets").unwrap();
    results.0.insert(Subject::Devel, vec![outcome(10.0, 200)]);
    for (preset, run) in (0..=6).zip((0..=6_u32).map(|n| outcome(20.0 + f64::from(n), 100))) {
        assert!(row.lines(&results).is_err(), "preset {preset} was not measured");
        results.0.insert(Subject::Xz(preset), vec![run]);
    }
    let lines = row.lines(&results).unwrap();
    let last = &lines[lines.len() - 2..];
    assert_eq!(last[0].what, "build --only devel --devel-tarball-compression --xz-preset 6");
    assert_eq!((last[0].ratio, last[1].ratio), (Some(2.6), Some(0.5)));
}

#[test]
fn every_row_needs_an_input_and_has_a_unique_name() {
    let rows = rows::rows(&[6, 1]);
    let mut names: Vec<_> = rows.iter().map(|row| row.name).collect();
    assert!(rows.iter().all(|row| !row.needs.is_empty()));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rows.len());
}

#[test]
fn parses_options() {
    let parse = |text: &str| Options::parse(text.split_whitespace().map(str::to_owned));
    let options = parse("--bench --only default,plan --rounds 0 --xz-presets 0,6").unwrap();
    assert!(options.wants("plan", false) && !options.wants("fast", false));
    assert_eq!((options.rounds, options.presets), (1, vec![0, 6]));
    assert!(
        parse("--small").unwrap().wants("plan", false)
            && !parse("--small").unwrap().wants("today", true)
    );
    for wrong in ["--rounds", "--rounds x", "--unknown"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_build_has_the_arguments_of_its_settings() {
    let (tree, dest) = (Path::new("tree"), Path::new("dest"));
    let build = Build {
        compression: Compression::Fast,
        xz: Some(3),
        jobs: Some(2),
        ..Build::new(tree, dest)
    };
    let words: Vec<_> =
        build.arguments().into_iter().map(|word| word.into_string().unwrap()).collect();
    let expected = "build --artifact-dir tree --dest-dir dest --allow misplaced-code --compression fast --devel-tarball-compression --xz-preset 3 --no-cache --jobs 2";
    assert_eq!(words.join(" "), expected);
    let default = Build { cache: Some(Path::new("cache")), ..Build::new(tree, dest) }.arguments();
    assert_eq!(
        default,
        "build --artifact-dir tree --dest-dir dest --allow misplaced-code --cache cache"
            .split(' ')
            .collect::<Vec<_>>()
    );
}

fn benches() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

fn assert_success(command: &mut Command) {
    let output = command.output().expect("a program that starts");
    let printed =
        [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
    assert!(output.status.success(), "{printed}");
}

/// Returns a checker, as a Python module or a program; prints a note if missing.
fn checker(name: &str) -> Option<Command> {
    let mut module = Command::new("python3");
    module.args(["-m", name]);
    let mut candidates = [module, Command::new(name)];
    let works = candidates
        .iter_mut()
        .position(|c| c.arg("--version").output().is_ok_and(|o| o.status.success()));
    let mut command = match works {
        Some(0) => Command::new("python3"),
        Some(_) => return Some(Command::new(name)),
        None => {
            workbench::skips::skip("the benchmarks' Python sources", name);
            return None;
        }
    };
    command.args(["-m", name]);
    Some(command)
}

#[test]
fn ruff_and_mypy_accept_the_python() {
    let folders = [benches().join("today")];
    let cache = tempfile::tempdir().unwrap();
    if let Some(mut ruff) = checker("ruff") {
        let common = [
            "check",
            "--no-cache",
            "--line-length",
            "100",
            "--target-version",
            "py310",
            "--isolated",
        ];
        let rules = [
            "--select",
            "E,F,W,I,B,UP,SIM,C4,RET,PIE,RUF,D1,PLE",
            "--ignore",
            "E501,D102,D105,D107,SIM115",
        ];
        assert_success(ruff.args(common).args(rules).args(&folders));
    }
    for folder in &folders {
        if let Some(mut mypy) = checker("mypy") {
            mypy.args(["--strict", "--python-version", "3.10", "--cache-dir"]).arg(cache.path());
            assert_success(mypy.arg(".").current_dir(folder));
        }
    }
}
