//! Completion of command lines in shells. Missing shells are skipped, and listed after all tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::program::text;
use crate::skips::has;

const PROGRAM: &str = env!("CARGO_BIN_EXE_rockpack");

/// Directory with artifacts of the demo, a catalog of them, and a manifest.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(TempDir::new().unwrap());
        let run = |words: &[&str]| {
            let output = desk.command(PROGRAM).args(words).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        };
        run(&["init", "--demo", "artifacts"]);
        run(&["artifact", "scan", "--artifact-dir", "artifacts", "-o", "catalog.json.zst"]);
        fs_err::create_dir(desk.path("own")).unwrap();
        fs_err::write(desk.path("own/packages.kdl"), MANIFEST).unwrap();
        fs_err::write(desk.path("own/families.kdl"), FAMILIES).unwrap();
        desk
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// Command in the directory, with the program in `PATH` and no variables of the tests.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let programs = Path::new(PROGRAM).parent().unwrap().to_str().unwrap();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
        command.current_dir(self.0.path()).env("PATH", path).env("HOME", self.0.path());
        command.env_remove("ROCKPACK_MANIFEST");
        command
    }

    /// Asks for a completion of the last word, as the script of bash does.
    fn ask(&self, words: &[&str], edit: impl FnOnce(&mut Command)) -> Output {
        let mut command = self.command(PROGRAM);
        command.env("ROCKPACK_COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        command.args(["--", "rockpack"]).args(words);
        edit(&mut command);
        command.output().unwrap()
    }

    fn candidates(&self, words: &[&str]) -> Vec<String> {
        let output = self.ask(words, |_| ());
        assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
        text(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// Writes the script of a shell to a file, as a package would install it.
    fn script(&self, shell: &str) -> String {
        let output = self.command(PROGRAM).args(["help", "completions", shell]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let path = self.path("_rockpack");
        fs_err::write(&path, output.stdout).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the lines that a shell with `arguments` prints.
    fn lines_of(&self, shell: &str, arguments: &[&str]) -> Vec<String> {
        let output = self.command(shell).args(arguments).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        text(&output.stdout).lines().map(str::to_owned).collect()
    }
}

const MANIFEST: &str = r#"
common {
    author "A"
    requires-python ">=3.10"
}
package "tool" kind="runtime" {
    distribution "my-tool" module="my_tool" per="none"
    summary "A tool"
    license "MIT"
    artifact "a" "run"
}
store "ci" url="https://example.org/{external}{run}-{system}/"
"#;

const FAMILIES: &str = "isa \"v1\" \"all-v\"\nisa \"v2\" \"all-v\"\n";

#[test]
fn commands_options_and_values_are_completed() {
    let desk = Desk::new();
    assert_eq!(desk.candidates(&["pl"]), ["plan"]);
    assert_eq!(desk.candidates(&["elf", "ed"]), ["edit"]);
    assert_eq!(desk.candidates(&["plan", "--format", "fi"]), ["files"]);
    assert_eq!(desk.candidates(&["build", "--mode", ""]), ["kpack", "legacy"]);
    assert_eq!(desk.candidates(&["plan", "--artifact"]), ["--artifact-dir"]);
    for option in ["--artifact-dir", "--manifest", "-o"] {
        assert_eq!(desk.candidates(&["build", option, "arti"]), ["artifacts/"], "{option}");
    }
}

#[test]
fn names_of_the_manifest_are_completed() {
    let desk = Desk::new();
    assert_eq!(desk.candidates(&["build", "--only", "prof"]), ["profiler"]);
    let isa = "rocm-sdk-device-gfx942";
    assert_eq!(desk.candidates(&["plan", "--only", isa]), [isa], "distributions too");
    let families = ["plan", "--linux-amdgpu-families", "gfx942;gfx103"];
    assert!(desk.candidates(&families).contains(&"gfx942;gfx1030".to_owned()));
    // Options stand on both sides of the word, and one with the value of a variable.
    let own = ["--manifest", "own"];
    let only = |begin| desk.candidates(&[&["plan"], &own[..], &["--only", begin]].concat());
    assert_eq!(only(""), ["my-tool", "tool"]);
    assert_eq!(only("tool,my"), ["tool,my-tool"]);
    let quoted = ["build", "--manifest", "'own'", "--store", ""];
    assert_eq!(desk.candidates(&quoted), ["ci"], "words are as they were typed");
    let families = ["diff", "--manifest", "~/own", "--old-linux-amdgpu-families", ""];
    assert_eq!(desk.candidates(&families), ["all-v", "v1", "v2"]);
    let of_variable =
        desk.ask(&["plan", "--only", "my"], |command| _ = command.env("ROCKPACK_MANIFEST", "own"));
    assert_eq!(text(&of_variable.stdout), "my-tool");
}

#[test]
fn codes_and_topics_are_completed() {
    let desk = Desk::new();
    assert_eq!(desk.candidates(&["wheel", "verify", "--allow", "rpath-o"]), ["rpath-outside"]);
    assert_eq!(desk.candidates(&["plan", "--allow", "unow"]), ["unowned-files"]);
    assert!(desk.candidates(&["wheel", "verify", "--allow", "unow"]).is_empty());
    assert_eq!(desk.candidates(&["help", "rpath-o"]), ["rpath-outside"]);
    assert_eq!(desk.candidates(&["help", "man"]), ["man", "manifest"]);
    assert_eq!(desk.candidates(&["help", "elf", "ed"]), ["edit"]);
    assert_eq!(desk.candidates(&["help", "manifest", "keep"]), ["keep-link"]);
    assert_eq!(desk.candidates(&["help", "completions", "f"]), ["fish"]);
    let topics = desk.candidates(&["help", ""]);
    assert!(topics.contains(&"build".to_owned()) && topics.len() < 40, "{topics:?}");
}

#[test]
fn paths_of_artifacts_and_catalogs_are_completed() {
    let desk = Desk::new();
    for input in [["--artifact-dir", "artifacts"], ["--catalog", "catalog.json.zst"]] {
        let explain = |path| desk.candidates(&[&["explain"], &input[..], &[path]].concat());
        assert_eq!(explain("li"), ["lib/", "libexec/"], "{input:?}");
        assert_eq!(explain("lib/libamdhip64.so.7."), ["lib/libamdhip64.so.7.2"], "{input:?}");
        assert!(explain("lib/").contains(&"lib/llvm/".to_owned()), "{input:?}");
        assert!(explain("../").is_empty() && explain("no/").is_empty(), "{input:?}");
    }
}

/// The shell would show text in the middle of the prompt.
#[test]
fn broken_files_have_no_candidates_and_no_messages() {
    let desk = Desk::new();
    fs_err::write(desk.path("packages.kdl"), "package {").unwrap();
    fs_err::write(desk.path("catalog.json.zst"), "{").unwrap();
    assert!(desk.candidates(&["build", "--only", ""]).is_empty());
    assert!(desk.candidates(&["build", "--manifest", "no", "--only", ""]).is_empty());
    assert!(desk.candidates(&["explain", "--catalog", "catalog.json.zst", "li"]).is_empty());
    assert!(desk.candidates(&["explain", "--artifact-dir", "s3://bucket", "li"]).is_empty());
    for shell in ["bash", "zsh", "fish", "powershell", "unknown", "/bin/bash"] {
        for words in [&["--", "rockpack", "--no-such", ""][..], &["--"], &[]] {
            let mut command = desk.command(PROGRAM);
            let output = command.env("ROCKPACK_COMPLETE", shell).args(words).output().unwrap();
            assert!(output.stderr.is_empty(), "{shell} {words:?}: {output:?}");
        }
    }
}

/// A second of the processor, the smallest limit, is twenty times the time without optimization.
#[test]
fn a_completion_takes_no_time() {
    let desk = Desk::new();
    for words in [&["build", "--only", ""][..], &["explain", "--artifact-dir", "artifacts", ""]] {
        let index = words.len().to_string();
        let mut limited = desk.command("sh");
        limited
            .args(["-c", "ulimit -t 1; exec \"$@\"", "sh", PROGRAM, "--", "rockpack"])
            .args(words);
        limited.env("ROCKPACK_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        let output = limited.output().unwrap();
        assert!(output.status.success() && !output.stdout.is_empty(), "{words:?}: {output:?}");
    }
}

/// Calls the completion function as readline does, for the words after the script's name.
const BASH: &str = r#"
source "$1"; shift
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
function=$(complete -p rockpack | sed 's/.*-F \([^ ]*\) .*/\1/')
$function rockpack "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

#[test]
fn bash_completes() {
    if !has("bash", "completions") {
        return;
    }
    let desk = Desk::new();
    let script = desk.script("bash");
    desk.lines_of("bash", &["-n", &script]);
    let complete = |words: &[&str]| {
        let bash = ["--norc", "--noprofile", "-c", BASH, "bash", &script, "rockpack"];
        desk.lines_of("bash", &[&bash, words].concat())
    };
    assert_eq!(complete(&["pl"]), ["plan"]);
    assert_eq!(complete(&["build", "--mode", ""]), ["kpack", "legacy"]);
    assert_eq!(complete(&["plan", "--manifest", "own", "--only", ""]), ["my-tool", "tool"]);
    assert_eq!(complete(&["explain", "--catalog", "catalog.json.zst", "libe"]), ["libexec/"]);
    assert_eq!(complete(&["build", "--artifact-dir", "arti"]), ["artifacts/"]);
    assert_eq!(complete(&["plan", "--manifest", "no", "--only", ""]), [""]);
}

#[test]
fn fish_completes() {
    if !has("fish", "completions") {
        return;
    }
    let desk = Desk::new();
    let script = desk.script("fish");
    let complete = |line: &str| {
        let program = "source $argv[1]; complete -C $argv[2]";
        let lines = desk.lines_of("fish", &["--no-config", "-c", program, &script, line]);
        lines.iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete("rockpack pl"), ["plan"]);
    assert_eq!(complete("rockpack build --mode "), ["kpack", "legacy"]);
    assert_eq!(complete("rockpack plan --manifest own --only "), ["my-tool", "tool"]);
    assert_eq!(complete("rockpack explain --artifact-dir artifacts libe"), ["libexec/"]);
    assert_eq!(complete("rockpack build --artifact-dir arti"), ["artifacts/"]);
}

/// Shows the candidates that the completion function passes to zsh.
const ZSH: &str = r"
fpath=($1 $fpath); autoload -U compinit && compinit -u -D
_describe() { shift 2; print -l ${(P)1} }
words=(rockpack ${@[2,-1]}); CURRENT=$#words
$_comps[rockpack]; whence -w $_comps[rockpack]
";

#[test]
fn zsh_completes_from_the_first_time_on() {
    if !has("zsh", "completions") {
        return;
    }
    let desk = Desk::new();
    let script = desk.script("zsh");
    desk.lines_of("zsh", &["-f", "-n", &script]);
    let directory = desk.path("");
    let zsh = ["-f", "-c", ZSH, "zsh", directory.to_str().unwrap()];
    let lines = desk.lines_of("zsh", &[&zsh[..], &["plan", "--format", "fi"]].concat());
    let files =
        "files:A line for each file: step, size, path, the rule that placed it, and its source";
    assert_eq!(lines, [files, "_clap_dynamic_completer_rockpack: function"]);
}

/// Completes like the shell when Tab is pressed at the end of a line.
const POWERSHELL: &str = ". $args[0]
foreach ($match in (TabExpansion2 -inputScript $args[1] -cursorColumn $args[1].Length).CompletionMatches) {
    $match.CompletionText
}";

#[test]
fn powershell_completes() {
    if !has("pwsh", "completions") {
        return;
    }
    let desk = Desk::new();
    let script = format!("{}.ps1", desk.script("powershell"));
    fs_err::rename(desk.path("_rockpack"), &script).unwrap();
    let complete = |line: &str| {
        let program = format!("& {{ {POWERSHELL} }} '{script}' '{line}'");
        desk.lines_of("pwsh", &["-NoProfile", "-NonInteractive", "-Command", &program])
    };
    assert_eq!(complete("rockpack pl"), ["plan"]);
    assert_eq!(complete("rockpack build --mode k"), ["kpack"]);
}
