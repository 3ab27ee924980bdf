//! `rockpack help completions`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Command, CommandFactory};
use clap_complete::{Generator, shells};
use manifest::{KdlFile, VOCABULARY};

use super::{Failure, environment, print_exact};
use crate::cli::{Cli, Shell};
use crate::inputs;

pub fn run(shell: Shell) -> Result<(), Failure> {
    let mut command = with_names(with_topics(Cli::command()));
    command.set_bin_name("rockpack");
    command.build();
    print_exact(&match shell {
        Shell::Bash => script(&command, &shells::Bash)?,
        Shell::Zsh => script(&command, &shells::Zsh)?,
        Shell::Fish => script(&command, &shells::Fish)? + &fish_arguments(&command),
        Shell::Powershell => script(&command, &shells::PowerShell)?,
    })
}

fn script(command: &Command, shell: &impl Generator) -> Result<String, Failure> {
    let mut script = Vec::new();
    shell
        .try_generate(command, &mut script)
        .map_err(|e| environment(format!("cannot write the script: {e}")))?;
    String::from_utf8(script).map_err(|e| environment(format!("the script is not UTF-8: {e}")))
}

/// Completes positional arguments, which clap's script for fish lacks.
fn fish_arguments(root: &Command) -> String {
    let mut lines = String::new();
    for command in root.get_subcommands() {
        let using = format!("__fish_rockpack_using_subcommand {}", command.get_name());
        let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let alone = match below.as_slice() {
            [] => using.clone(),
            names => format!("{using}; and not __fish_seen_subcommand_from {}", names.join(" ")),
        };
        fish_values(&mut lines, command, &alone, 2);
        for below in command.get_subcommands() {
            let using = format!("{using}; and __fish_seen_subcommand_from {}", below.get_name());
            fish_values(&mut lines, below, &using, 3);
        }
    }
    lines
}

fn fish_values(lines: &mut String, command: &Command, using: &str, before: usize) {
    for (index, argument) in command.get_positionals().enumerate() {
        let values = argument.get_possible_values();
        let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
        if !values.is_empty() {
            let (values, before) = (values.join(" "), before + index);
            let condition = format!("{using}; and test (count (commandline -opc)) -eq {before}");
            let _ = writeln!(lines, "complete -c rockpack -n \"{condition}\" -f -a \"{values}\"");
        }
    }
}

/// Adds names for `--only`: packages of the built-in manifest and their distributions.
fn with_names(command: Command) -> Command {
    fn below(command: Command, names: &BTreeSet<String>) -> Command {
        let command = command.mut_args(|arg| match arg.get_id().as_str() {
            "only" => arg.value_parser(PossibleValuesParser::new(names.clone())),
            _ => arg,
        });
        command.mut_subcommands(|sub| below(sub, names))
    }
    below(command, &inputs::manifest::names())
}

/// Adds topics of `rockpack help` that clap does not know.
fn with_topics(command: Command) -> Command {
    let shown = || command.get_subcommands().filter(|sub| !sub.is_hide_set());
    let mut topics: Vec<String> = shown().map(|sub| sub.get_name().to_owned()).collect();
    topics.push("manifest".to_owned());
    let below = shown()
        .filter(|sub| sub.get_name() != "help")
        .flat_map(Command::get_subcommands)
        .map(|sub| sub.get_name().to_owned());
    let mut names: Vec<String> = below.collect();
    names.extend(VOCABULARY.iter().flat_map(KdlFile::words).map(|(_, word)| word.name.to_owned()));
    command.mut_subcommand("help", |help| {
        let help = help.mut_arg("topic", |arg| arg.value_parser(PossibleValuesParser::new(topics)));
        help.mut_arg("name", |arg| arg.value_parser(PossibleValuesParser::new(names)))
    })
}
