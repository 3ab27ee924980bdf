//! Completion of command lines, for the scripts of `rockpack help completions`.
//!
//! Reads names from files, and prints nothing but candidates, even if a file is broken: shells show
//! all other output in the middle of the prompt.

use std::ffi::{OsStr, OsString};

use clap::Command;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{EnvCompleter, Shells};

use crate::cli::Cli;
use crate::inputs::variable::COMPLETE;
use crate::ui;

mod line;
mod names;
mod paths;
mod topics;

use line::Line;

/// Prints the candidates of a completion, and returns the exit status; `None` if no shell asks.
pub fn run() -> Option<u8> {
    let name = std::env::var(COMPLETE).ok().filter(|name| !name.is_empty())?;
    let printed = Shells::builtins().completer(&name).and_then(print);
    Some(u8::from(printed.is_none()))
}

fn print(shell: &dyn EnvCompleter) -> Option<()> {
    let words: Vec<OsString> = line::words().collect();
    if words.is_empty() {
        return None;
    }
    let directory = std::env::current_dir().ok();
    let mut text = Vec::new();
    shell.write_complete(&mut command(), words, directory.as_deref(), &mut text).ok()?;
    ui::print_exact(&String::from_utf8_lossy(&text)).ok()
}

fn command() -> Command {
    with_candidates(Cli::whole())
}

fn with_candidates(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|arg| match candidates(&name, arg.get_id().as_str()) {
        Some(candidates) => arg.add(ArgValueCompleter::new(completer(candidates))),
        None => arg,
    });
    command.mut_subcommands(with_candidates)
}

/// Reader of candidates for a value, by its first characters and the whole line; `None` if a file is
/// unreadable.
type Candidates = fn(&str, &Line) -> Option<Vec<CompletionCandidate>>;

/// Reader of candidates for an argument, if its values are names from files or topics. Other arguments
/// declare their values to clap.
fn candidates(command: &str, argument: &str) -> Option<Candidates> {
    Some(match (command, argument) {
        (_, "only") => names::packages,
        (_, "store") => names::stores,
        (_, "variable") => names::variables,
        (_, families) if families.ends_with("amdgpu_families") => names::targets,
        ("explain", "path") => paths::of_artifacts,
        ("help", "topic") => |begin, _| Some(topics::topics(begin)),
        ("help", "name") => topics::names,
        _ => return None,
    })
}

fn completer(candidates: Candidates) -> impl Fn(&OsStr) -> Vec<CompletionCandidate> {
    move |begin| {
        let candidates = Line::read().and_then(|line| candidates(begin.to_str()?, &line));
        candidates.unwrap_or_default()
    }
}

/// Keeps the candidates that begin like the word.
fn beginning<'c>(
    begin: &str,
    candidates: impl IntoIterator<Item = (impl AsRef<str>, Option<&'c str>)>,
) -> Vec<CompletionCandidate> {
    let matching = candidates.into_iter().filter(|(value, _)| value.as_ref().starts_with(begin));
    let candidate = |(value, help): (_, Option<&str>)| {
        let help = help.map(|help| help.to_owned().into());
        CompletionCandidate::new(AsRef::<str>::as_ref(&value)).help(help)
    };
    matching.map(candidate).collect()
}
