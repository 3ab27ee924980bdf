//! What rockpack says of itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::process::{Command, Output};

use rockpack::manifest::{KdlFile, VOCABULARY};

fn rockpack(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rockpack")).args(args).env("NO_COLOR", "1").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is printed by a command that has to do well and to say nothing else.
fn printed(args: &[&str]) -> String {
    let output = rockpack(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The names of all nodes of the manifest.
fn all_nodes() -> impl Iterator<Item = &'static str> {
    VOCABULARY.iter().flat_map(KdlFile::words).map(|(_, word)| word.name)
}

const COMMANDS: [&[&str]; 7] = [&["plan"], &["build"], &["elf"], &["elf", "show"], &["elf", "edit"], &["elf", "verify"], &["help"]];

#[test]
fn help_with_a_command_is_its_long_help() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    for command in COMMANDS {
        assert_eq!(printed(&[&["help"], command].concat()), printed(&[command, &["--help"]].concat()), "{command:?}");
    }
}

#[test]
fn help_manifest_explains_every_node_and_is_readable_anywhere() {
    let whole = printed(&["help", "manifest"]);
    assert!(!whole.contains('\u{1b}'), "nothing is coloured where nobody sees it");
    let long: Vec<&str> = whole.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:?}");
    assert_eq!(whole.lines().find(|line| line.ends_with(' ')), None);
    for name in all_nodes() {
        let one = printed(&["help", "manifest", name]);
        assert!(one.starts_with(&format!("{name}\n    ")) && one.contains("    Example:\n"), "{one}");
        assert!(whole.contains(&one), "what is said of {name} is part of all that is said");
    }
}

#[test]
fn what_there_is_no_help_on_is_refused_with_a_hint() {
    let cases: [(&[&str], &str); 5] = [
        (&["help", "biuld"], "did you mean `build`?"),
        (&["help", "nothing-like-it"], "there is help on plan, build,"),
        (&["help", "elf", "shwo"], "did you mean `show`?"),
        (&["help", "manifest", "artefact"], "did you mean `artifact`?"),
        (&["help", "plan", "--json"], "`rockpack help manifest`"),
    ];
    for (args, hint) in cases {
        let output = rockpack(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(hint) && output.stdout.is_empty(), "{args:?}: {}", text(&output.stderr));
    }
}
