//! Every kind of problem is used, and documented in `schema/problems.md`, which `./tasks accept problem_codes`
//! rewrites.

use std::fmt::Write as _;
use std::path::Path;

use base::source::Code;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the page: a row for each code.
fn page() -> String {
    let mut page = "# Problems\n\n\
        Every problem has a code: a stable name for scripts, printed by `--message-format json`, `github` and\n\
        `sarif`. Messages can change; a code keeps its meaning. This page is generated from the program.\n\n\
        | code | problem |\n|---|---|\n"
        .to_owned();
    for code in Code::ALL {
        writeln!(page, "| `{code}` | {} |", code.meaning()).unwrap();
    }
    page
}

#[test]
fn every_code_is_documented() {
    workbench::expected::compare("schema/problems.md", &page());
}

#[test]
fn every_code_is_used() {
    let below = |dir| walkdir::WalkDir::new(root().join(dir)).into_iter().map(Result::unwrap);
    let files = below("crates").chain(below("src"));
    let files = files.filter(|e| {
        e.path().extension().is_some_and(|e| e == "rs") && !e.path().ends_with("source/code.rs")
    });
    let text: String = files.map(|e| fs_err::read_to_string(e.path()).unwrap()).collect();
    let is_used = |code: &&Code| {
        text.split(&format!("Code::{code:?}"))
            .skip(1)
            .any(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let unused: Vec<&Code> = Code::ALL.iter().filter(|code| !is_used(code)).collect();
    assert!(unused.is_empty(), "nothing reports {unused:?}");
}
