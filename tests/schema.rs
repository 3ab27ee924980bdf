//! Published formats in `schema/`: plans can be read again, and with the feature `schema-tests`
//! plans of real artifacts match their schema, which is generated from the types.

use std::process::Command;

use plan::Plan;

use crate::program::succeed;

#[cfg(feature = "schema-tests")]
#[path = "schema/types.rs"]
mod types;
#[cfg(feature = "schema-tests")]
#[path = "schema/validated.rs"]
mod validated;

/// Returns the output of `rockpack plan --json` for the demo artifacts.
fn plan(kpack: bool) -> String {
    let dir = crate::demo_tree::scratch(kpack);
    succeed(dir.path(), &["plan", "--artifact-dir", "artifacts", "--json"])
}

#[test]
fn plans_are_read_again() {
    for kpack in [true, false] {
        let text = plan(kpack);
        let again = serde_json::to_string_pretty(&Plan::read(&text).unwrap()).unwrap() + "\n";
        assert_eq!(again, text);
    }
}

/// Compares the output of `rockpack help` with its published page.
fn compare(arguments: &[&str], name: &str) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rockpack")).arg("help").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    workbench::expected::compare(name, &printed);
}

#[test]
fn the_published_vocabulary_is_the_decoders() {
    compare(&["manifest", "--markdown"], "docs/manifest-reference.md");
    compare(&["manifest", "--json"], "schema/manifest.json");
}

#[test]
fn the_published_command_line_is_the_programs() {
    compare(&["--markdown"], "docs/command-line.md");
}
