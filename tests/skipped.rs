//! Last test: prints the tests skipped for lack of tools.
//!
//! With `ROCKPACK_REQUIRE_TOOLS` it fails for them, except for tools in `ROCKPACK_WITHOUT`. Writes
//! their names to the file `ROCKPACK_SKIPPED_TESTS`, one in a line.

#![expect(clippy::print_stdout, reason = "it is there to be read")]
#![expect(clippy::unwrap_used, reason = "a record that cannot be read has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

#[path = "skips.rs"]
#[expect(dead_code, reason = "tests skip, and this only reads")]
mod skips;

/// Skipped tests by missing tool, each with its subject and its name.
type Skipped = BTreeMap<String, BTreeSet<(String, String)>>;

fn main() -> ExitCode {
    // With `--list`, it lists no tests.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let skipped = take();
    println!("{}", told(&skipped));
    let variable = |name| std::env::var(name).unwrap_or_default();
    let list = variable("ROCKPACK_SKIPPED_TESTS");
    if !list.is_empty() {
        fs_err::write(list, names(&skipped)).unwrap();
    }
    let without = variable("ROCKPACK_WITHOUT");
    let missing = required(&skipped, &without.split_whitespace().collect::<Vec<_>>());
    if variable("ROCKPACK_REQUIRE_TOOLS").is_empty() || missing.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("ROCKPACK_REQUIRE_TOOLS is set, and this was lacking: {}", missing.join(", "));
    ExitCode::FAILURE
}

/// Formats the list.
fn told(skipped: &Skipped) -> String {
    let mut text = match skipped.len() {
        0 => "No test that ran lacked a tool.".to_owned(),
        _ => "Skipped, since this machine lacks".to_owned(),
    };
    for (lacking, what) in skipped {
        let what: BTreeSet<&str> = what.iter().map(|(what, _)| what.as_str()).collect();
        let what: Vec<&str> = what.into_iter().collect();
        let _ = write!(text, "\n    {lacking}: {}", what.join("; "));
    }
    let features = [
        ("schema-tests", cfg!(feature = "schema-tests")),
        ("long-tests", cfg!(feature = "long-tests")),
    ];
    for (feature, _) in features.iter().filter(|(_, compiled)| !compiled) {
        let _ = write!(
            text,
            "\nNot compiled: tests of the feature {feature} (`cargo test --workspace --all-features`)"
        );
    }
    text
}

/// Names of the tests, one in a line.
fn names(skipped: &Skipped) -> String {
    let names: BTreeSet<&str> = skipped.values().flatten().map(|(_, name)| name.as_str()).collect();
    names.into_iter().fold(String::new(), |text, name| text + name + "\n")
}

/// Returns the required missing tools; the first word of each entry is the tool.
fn required<'a>(skipped: &'a Skipped, without: &[&str]) -> Vec<&'a str> {
    let known =
        |lacking: &str| lacking.split(' ').next().is_some_and(|tool| without.contains(&tool));
    skipped.keys().map(String::as_str).filter(|lacking| !known(lacking)).collect()
}

/// Returns the tests skipped in this run by missing tool. Removes its record, and the records of
/// ended runs.
fn take() -> Skipped {
    let mut skipped = Skipped::new();
    let record = fs_err::read_to_string(skips::place().join(skips::run())).unwrap_or_default();
    for line in record.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [lacking, what, name] = columns[..] {
            let test = (what.to_owned(), name.to_owned());
            skipped.entry(lacking.to_owned()).or_default().insert(test);
        }
    }
    for entry in fs_err::read_dir(skips::place()).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let alive =
            name.split_once('-').is_some_and(|(pid, _)| skips::started(pid) == Some(name.clone()));
        if name == skips::run() || !alive {
            let _ = fs_err::remove_file(entry.path());
        }
    }
    skipped
}
