//! Help, and the manual page.
//!
//! Missing formatters are skipped, and listed after all tests.

use std::process::{Command, Output};

use manifest::{KdlFile, VOCABULARY};
use tempfile::TempDir;

use crate::program::{self, text};
use workbench::skips::has;

fn rockpack(args: &[&str]) -> Output {
    program::rockpack(crate::repository::root(), args)
}

/// Returns the output of a successful command without messages.
fn printed(args: &[&str]) -> String {
    let output = rockpack(args);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn all_nodes() -> impl Iterator<Item = &'static str> {
    VOCABULARY.iter().flat_map(KdlFile::words).map(|(_, word)| word.name)
}

const COMMANDS: &[&[&str]] = &[
    &["init"],
    &["check"],
    &["plan"],
    &["build"],
    &["explain"],
    &["diff"],
    &["fmt"],
    &["merge"],
    &["artifact"],
    &["artifact", "fetch"],
    &["artifact", "scan"],
    &["artifact", "pack"],
    &["wheel"],
    &["wheel", "verify"],
    &["wheel", "audit"],
    &["wheel", "retag"],
    &["wheel", "repack"],
    &["wheel", "promote"],
    &["wheel", "split"],
    &["index"],
    &["index", "write"],
    &["index", "publish"],
    &["index", "prune"],
    &["index", "mirror"],
    &["index", "delta"],
    &["index", "fetch"],
    &["project"],
    &["project", "list"],
    &["project", "clone"],
    &["elf"],
    &["elf", "show"],
    &["elf", "edit"],
    &["elf", "compare"],
    &["cache"],
    &["cache", "stats"],
    &["cache", "prune"],
    &["cache", "verify"],
    &["help"],
    &["help", "man"],
    &["help", "completions"],
    &["help", "versions"],
];

#[test]
fn help_with_a_command_is_its_long_help() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    for &command in COMMANDS {
        assert_eq!(
            printed(&[&["help"], command].concat()),
            printed(&[command, &["--help"]].concat()),
            "{command:?}"
        );
    }
}

#[test]
fn the_commands_are_complete() {
    let page = printed(&["help", "--markdown"]);
    let sections = page.lines().filter_map(|line| line.strip_prefix("## rockpack "));
    let sections: Vec<&str> = sections.collect();
    assert_eq!(sections, COMMANDS.iter().map(|words| words.join(" ")).collect::<Vec<_>>());
}

#[test]
fn long_help_is_wrapped_as_it_is_written() {
    for &command in COMMANDS {
        let (name, text) = (command.join(" "), printed(&[command, &["--help"]].concat()));
        let about: Vec<&str> =
            text.lines().take_while(|line| !line.starts_with("Usage:")).collect();
        // A line that is too long leaves a word or two on a separate line.
        for three in about.windows(3) {
            let [above, line, below] = three else { unreachable!("three lines") };
            let is_rest = above.len() > 85
                && !line.is_empty()
                && !line.starts_with(' ')
                && line.len() < 30
                && below.len() > 60;
            assert!(!is_rest, "{name}: {above}\n{line}\n{below}");
        }
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
        assert!(
            one.starts_with(&format!("{name}\n    ")) && one.contains("    Example:\n"),
            "{one}"
        );
        // Nodes in different blocks can have one name.
        let heading = format!("\n\n{name}\n");
        assert!(
            one.split(&heading).all(|one| whole.contains(one.trim_end())),
            "what is said of {name} is part of all that is said"
        );
    }
}

#[test]
fn refuses_topics_without_help_with_a_hint() {
    let cases: [(&[&str], &str); 5] = [
        (&["help", "biuld"], "did you mean `build`?"),
        (&["help", "nothing-like-it"], "topics: init, check, plan, build, explain, diff"),
        (&["help", "elf", "shwo"], "did you mean `show`?"),
        (&["help", "manifest", "artefact"], "did you mean `artifact`?"),
        (&["help", "plan", "--json"], "`rockpack help manifest`"),
    ];
    for (args, hint) in cases {
        let output = rockpack(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            text(&output.stderr).contains(hint) && output.stdout.is_empty(),
            "{args:?}: {}",
            text(&output.stderr)
        );
    }
}

/// Returns a tool of this machine, if installed.
fn tool(name: &str) -> Option<Command> {
    has(name, "the manual page").then(|| Command::new(name))
}

/// Returns the output of a shell with `arguments`.
fn run(mut shell: Command, arguments: &[&str]) -> String {
    let output = shell.args(arguments).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_manual_page_has_everything() {
    let page = printed(&["help", "man"]);
    assert_eq!(page, printed(&["help", "man"]));
    for &command in COMMANDS {
        assert!(
            page.contains(&format!("\n.SS \"rockpack {}\"\n", command.join(" "))),
            "{command:?}"
        );
    }
    for section in
        ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "\"EXIT STATUS\"", "FILES", "ENVIRONMENT"]
    {
        assert!(page.contains(&format!("\n.SH {section}\n")), "{section}");
    }
}

#[test]
fn the_manual_page_is_rendered_without_a_warning() {
    let page = printed(&["help", "man"]);
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("rockpack.1");
    fs_err::write(&file, page).unwrap();
    let file = file.to_str().unwrap();
    if let Some(groff) = tool("groff") {
        let plain = run(groff, &["-man", "-ww", "-Tascii", "-P-c", "-P-b", "-P-u", file]);
        let words: Vec<&str> = plain.split_whitespace().collect();
        let plain = words.join(" ");
        for said in [
            "rockpack plan [OPTIONS] <--artifact-dir <DIR_OR_URL>|--store <NAME>|--catalog <FILE>>",
            "--json The same as --format json",
            "rockpack build --artifact-dir artifacts -o out",
        ] {
            assert!(plain.contains(said), "{said:?} is not in:\n{plain}");
        }
    }
    // The `man` of small images only reports that pages are missing.
    let is_man = |man: &mut Command| {
        man.arg("--version").output().is_ok_and(|output| output.stdout.starts_with(b"man "))
    };
    if tool("man").is_some_and(|mut man| is_man(&mut man)) {
        let mut man = Command::new("man");
        man.env("MANPAGER", "cat").env("LC_ALL", "C.UTF-8");
        assert!(run(man, &["--warnings", "-l", file]).contains("EXIT STATUS"));
    }
}

#[test]
fn codes_have_a_page_with_levels_and_an_accepting_line() {
    let page = printed(&["help", "rpath-outside"]);
    let expected = "\
rpath-outside
    A file searches for libraries outside of site-packages.

    plan, verify, audit, merge, publish  error
    edit                                 warning
    prune                                it reads requirements alone: files passed the rules of
                                         `publish`

    To accept it, in packages.kdl (`rockpack help manifest ignore`):
      ignore \"rpath-outside\" package=\"…\" in=\"…\" reason=\"…\"
";
    assert_eq!(page, expected);
    let page = printed(&["help", "not-kdl"]);
    assert_eq!(page, "not-kdl\n    The file is not KDL.\n");
    assert!(printed(&["help", "cache"]).contains("Usage: rockpack cache"));
    let output = rockpack(&["help", "rpath-outsid"]);
    assert!(text(&output.stderr).contains("did you mean `rpath-outside`?"));
}
