//! Last test of the workspace: prints the tests of all packages that were skipped for lack of tools.
//!
//! With `ROCKPACK_REQUIRE_TOOLS` it fails for them, except for tools in `ROCKPACK_WITHOUT`. Writes
//! their names to the file `ROCKPACK_SKIPPED_TESTS`, one in a line.

#![expect(clippy::print_stdout, reason = "it is there to be read")]
#![expect(clippy::unwrap_used, reason = "a record that cannot be read has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

use rockpack_workbench::skips;

/// Skipped tests by missing tool, each with its subject and its name.
type Skipped = BTreeMap<String, BTreeSet<(String, String)>>;

fn main() -> ExitCode {
    // With `--list`, it lists no tests.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let skipped = take();
    println!("{}", summary(&skipped));
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

/// Lists the missing tools, each with the subjects that lacked it, and the features that are not compiled.
fn summary(skipped: &Skipped) -> String {
    let mut text = match skipped.len() {
        0 => "No test that ran lacked a tool.".to_owned(),
        _ => "Skipped, since this machine lacks".to_owned(),
    };
    for (lacking, tests) in skipped {
        let subjects: BTreeSet<&str> = tests.iter().map(|(subject, _)| subject.as_str()).collect();
        let subjects: Vec<&str> = subjects.into_iter().collect();
        let _ = write!(text, "\n    {lacking}: {}", subjects.join("; "));
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
    let exempt =
        |lacking: &str| lacking.split(' ').next().is_some_and(|tool| without.contains(&tool));
    skipped.keys().map(String::as_str).filter(|lacking| !exempt(lacking)).collect()
}

/// Returns the tests skipped in this run by missing tool. Removes its record, and the records of
/// ended runs.
fn take() -> Skipped {
    let mut skipped = Skipped::new();
    let record = fs_err::read_to_string(skips::records().join(skips::run())).unwrap_or_default();
    for line in record.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [lacking, subject, name] = columns[..] {
            let test = (subject.to_owned(), name.to_owned());
            skipped.entry(lacking.to_owned()).or_default().insert(test);
        }
    }
    for entry in fs_err::read_dir(skips::records()).into_iter().flatten().filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let alive =
            name.split_once('-').is_some_and(|(pid, _)| skips::started(pid) == Some(name.clone()));
        if name == skips::run() || !alive {
            let _ = fs_err::remove_file(entry.path());
        }
    }
    skipped
}
