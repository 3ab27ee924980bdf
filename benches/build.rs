//! Time and memory of builds, compared with today's flow and with the limits of the machine.
//!
//! ```text
//! cargo bench --bench build -- --artifact-dir DIR       every row, for a real tree
//! cargo bench --bench build -- --small                  a quick look at a small tree, made here
//! ```
//!
//! | option | |
//! |---|---|
//! | `--artifact-dir DIR` | unpacked artifacts; by default a small generated tree |
//! | `--only ROW,…` | rows: today, floor, default, fast, store, max, devel, presets, archives, unchanged, library, isa, promote, plan, memory, written, scaling |
//! | `--rounds N` | number of measurements \[3\]; the fastest run counts |
//! | `--small` | one round, without today, max, devel and presets |
//! | `--rockpack FILE` | program to measure instead of the one built with the bench |
//!
//! A round measures compared subjects one after the other. Slow subjects are measured only in the
//! first. Before each program, pending writes are finished; the artifacts are in the page cache.
//!
//! * today: `today/today.py`; rejected if its members differ from rockpack's.
//! * floor: packaged files, read, hashed and written on all cores.
//! * memory, bytes written, time: the kernel's counts for the process (`today/measure.py`).

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on has failed")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::print_stderr, reason = "what goes on and what failed is said")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fs_err as fs;

#[path = "build/archives.rs"]
mod archives;
#[path = "build/bench.rs"]
mod bench;
#[path = "build/bounds.rs"]
mod bounds;
#[path = "build/changed.rs"]
mod changed;
#[path = "build/content.rs"]
mod content;
#[path = "build/measured.rs"]
mod measured;
#[path = "build/options.rs"]
mod options;
#[path = "build/program.rs"]
mod program;
#[path = "build/results.rs"]
mod results;
#[path = "build/rows.rs"]
mod rows;
#[path = "build/table.rs"]
mod table;
#[path = "build/today.rs"]
mod today;
#[path = "build/trace.rs"]
mod trace;
#[path = "plan/walk.rs"]
mod walk;

use bench::Bench;
use options::Options;
use results::{Results, Subject};
use rows::Row;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts it too.
        println!("not measured: this is for `cargo bench`");
        return ExitCode::SUCCESS;
    }
    match Options::parse(arguments).and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints. Returns false if a row failed.
fn run(options: &Options) -> Result<bool, String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let scratch = options.scratch.clone().unwrap_or_else(|| temporary.path().to_path_buf());
    fs::create_dir_all(&scratch).map_err(|e| e.to_string())?;
    let tree = options.tree.clone().map_or_else(|| small_tree(&scratch), Ok)?;
    let program = options.program.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_rockpack").into());
    let venv = options.venv.clone().unwrap_or_else(|| scratch.join("venv"));
    let mut rows: Vec<Row> = rows::rows(&options.presets);
    if let Some(unknown) = options.only.iter().find(|name| rows.iter().all(|row| row.name != *name))
    {
        let names: Vec<_> = rows.iter().map(|row| row.name).collect();
        return Err(format!("there is no row {unknown}; there are {}", names.join(", ")));
    }
    rows.retain(|row| options.wants(row.name, row.slow));
    let mut bench = Bench::new(program, tree, scratch, venv)?;
    let (results, failures) = measure(&mut bench, &rows, options.rounds);
    print(&bench, &rows, options.rounds, &results, &failures);
    Ok(failures.is_empty())
}

fn small_tree(scratch: &Path) -> Result<PathBuf, String> {
    let tree = scratch.join("small-tree");
    let program = fs::read("/bin/true").map_err(|e| e.to_string())?;
    catalog::demo::make(&tree, true, &program).map_err(|e| e.to_string())?;
    Ok(tree)
}

/// Measures the needs of all `rows`, one round after the other. Failed subjects are not tried
/// again.
fn measure(bench: &mut Bench, rows: &[Row], rounds: usize) -> (Results, BTreeMap<Subject, String>) {
    let (mut results, mut failures) = (Results::default(), BTreeMap::new());
    for round in 0..rounds {
        let mut measured = Vec::new();
        for subject in rows.iter().flat_map(|row| &row.needs).copied() {
            if measured.contains(&subject)
                || failures.contains_key(&subject)
                || (round > 0 && subject.once())
            {
                continue;
            }
            measured.push(subject);
            eprintln!("round {} of {rounds}: {subject:?}", round + 1);
            match bench.measure(subject, round) {
                Ok(outcome) => results.0.entry(subject).or_default().push(outcome),
                Err(message) => _ = failures.insert(subject, message),
            }
        }
    }
    (results, failures)
}

fn print(
    bench: &Bench,
    rows: &[Row],
    rounds: usize,
    results: &Results,
    failures: &BTreeMap<Subject, String>,
) {
    println!("{}", bench::machine());
    println!(
        "{}: {} into packages; the fastest of {rounds}\n",
        bench.tree.display(),
        results::bytes(bench.bytes())
    );
    let lines: Vec<_> = rows.iter().map(|row| (row.name, row.lines(results))).collect();
    let (measured, missing): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(_, lines)| lines.is_ok());
    print!(
        "{}",
        table::table(
            &measured.into_iter().map(|(name, lines)| (name, lines.unwrap())).collect::<Vec<_>>()
        )
    );
    for note in bench.notes.values() {
        println!("\n{note}");
    }
    for (name, why) in missing {
        println!("\n{name} FAILED: {}", why.unwrap_err());
    }
    for (subject, message) in failures {
        println!("\n{subject:?} FAILED: {message}");
    }
}
