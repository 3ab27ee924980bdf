//! Help, completions in real shells, and the manual page.
//!
//! Missing shells and formatters are skipped, and listed after all tests.

use std::path::PathBuf;
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

/// Writes the script to a file, as a package would install it.
fn script(shell: &str) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("_rockpack");
    fs_err::write(&path, printed(&["help", "completions", shell])).unwrap();
    (dir, path)
}

/// Returns a tool of this machine, if installed.
fn tool(name: &str) -> Option<Command> {
    has(name, "completions and the manual page").then(|| Command::new(name))
}

/// Returns the output of a shell with `arguments`.
fn run(mut shell: Command, arguments: &[&str]) -> String {
    let output = shell.args(arguments).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Calls the completion function as readline does, for the words after the script's name. Also
/// prints the options that the function sets for readline (`plusdirs`).
const BASH: &str = r#"
source "$1"; shift
compopt() { echo "compopt $*"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
spec=$(complete -p rockpack) || exit 1
[[ $spec == *"-F _rockpack"* ]] || exit 1
_rockpack rockpack "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[test]
fn bash_completes_commands_options_values_and_paths() {
    let Some(bash) = tool("bash") else { return };
    let (_dir, script) = script("bash");
    let script = script.to_str().unwrap();
    run(bash, &["-n", script]);
    let complete = |words: &[&str]| {
        let arguments =
            [&["--norc", "--noprofile", "-c", BASH, "bash", script, "rockpack"], words].concat();
        run(Command::new("bash"), &arguments).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["pl"]), ["plan"]);
    assert_eq!(complete(&["elf", "ed"]), ["edit"]);
    assert_eq!(complete(&["plan", "--format", "fi"]), ["files"]);
    assert_eq!(complete(&["build", "--mode", ""]), ["kpack", "legacy"]);
    assert_eq!(complete(&["help", "man"]), ["manifest", "man"]);
    assert_eq!(complete(&["help", "manifest", "keep"]), ["keep-link"]);
    assert_eq!(complete(&["help", "completions", "f"]), ["fish"]);
    assert_eq!(complete(&["build", "--only", "prof"]), ["profiler"]);
    let isa = "rocm-sdk-device-gfx942";
    assert_eq!(complete(&["plan", "--only", isa]), [isa], "distributions too");
    for option in ["--artifact-dir", "--manifest", "-o"] {
        assert_eq!(
            complete(&["build", option, ""])[0],
            "compopt -o plusdirs",
            "{option} takes a directory"
        );
    }
}

#[test]
fn fish_completes_commands_options_values_and_paths() {
    let Some(_) = tool("fish") else { return };
    let (dir, script) = script("fish");
    fs_err::create_dir(dir.path().join("artifacts")).unwrap();
    let complete = |line: &str| {
        let program = "source $argv[1]; cd $argv[2]; complete -C $argv[3]";
        let arguments = [
            "--no-config",
            "-c",
            program,
            script.to_str().unwrap(),
            dir.path().to_str().unwrap(),
            line,
        ];
        let output = Command::new("fish").env("HOME", dir.path()).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines = text(&output.stdout);
        lines.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete("rockpack pl"), ["plan"]);
    assert_eq!(complete("rockpack elf ed"), ["edit"]);
    assert_eq!(complete("rockpack build --mode "), ["kpack", "legacy"]);
    assert_eq!(complete("rockpack help manif"), ["manifest"]);
    assert_eq!(complete("rockpack help manifest keep"), ["keep-link"]);
    assert_eq!(complete("rockpack help completions f"), ["fish"]);
    assert_eq!(complete("rockpack build --only prof"), ["profiler"]);
    assert_eq!(complete("rockpack build --artifact-dir arti"), ["artifacts/"]);
}

#[test]
fn zsh_loads_the_script_as_its_completion_function() {
    let Some(zsh) = tool("zsh") else { return };
    let (dir, script) = script("zsh");
    run(zsh, &["-f", "-n", script.to_str().unwrap()]);
    let program = "fpath=($1 $fpath); autoload -U compinit && compinit -u -D
        print $_comps[rockpack] && autoload +X _rockpack && whence -w _rockpack";
    let found =
        run(Command::new("zsh"), &["-f", "-c", program, "zsh", dir.path().to_str().unwrap()]);
    assert_eq!(found, "_rockpack\n_rockpack: function\n");
}

/// Completes like the shell when Tab is pressed at the end of a line.
const POWERSHELL: &str = ". $args[0]
foreach ($match in (TabExpansion2 -inputScript $args[1] -cursorColumn $args[1].Length).CompletionMatches) {
    $match.CompletionText
}";

#[test]
fn powershell_completes_commands_and_options() {
    let (dir, _) = script("powershell");
    let path = dir.path().join("rockpack.ps1");
    fs_err::rename(dir.path().join("_rockpack"), &path).unwrap();
    let script = fs_err::read_to_string(&path).unwrap();
    assert!(script.contains("Register-ArgumentCompleter -Native -CommandName 'rockpack'"));
    for &command in COMMANDS {
        assert!(script.contains(&format!("'rockpack;{}' {{", command.join(";"))), "{command:?}");
    }
    for (opening, closing) in [('{', '}'), ('(', ')')] {
        assert_eq!(script.matches(opening).count(), script.matches(closing).count(), "{opening}");
    }
    if tool("pwsh").is_none() {
        return;
    }
    let program = dir.path().join("complete.ps1");
    fs_err::write(&program, POWERSHELL).unwrap();
    let complete = |line: &str| {
        let mut pwsh = Command::new("pwsh");
        pwsh.args(["-NoProfile", "-NonInteractive", "-File"]).arg(&program).arg(&path);
        run(pwsh, &[line]).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete("rockpack pl"), ["plan"]);
    assert_eq!(complete("rockpack elf ed"), ["edit"]);
    assert_eq!(complete("rockpack plan --format f"), ["files"]);
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
