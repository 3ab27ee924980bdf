//! `rockpack completions`: a script for a shell.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use clap_complete::{Generator, shells};
use manifest::{KdlFile, VOCABULARY};

use super::{Failure, environment, print_exact};
use crate::cli::{Cli, Shell};
use crate::inputs;

/// Prints the script for `shell`.
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
    String::from_utf8(script).map_err(|e| environment(format!("the script is no text: {e}")))
}

/// What arguments of commands can be, which clap's script for fish leaves out.
fn fish_arguments(root: &Command) -> String {
    let mut lines = String::new();
    for command in root.get_subcommands() {
        for (index, argument) in command.get_positionals().enumerate() {
            let values: Vec<String> = argument
                .get_possible_values()
                .iter()
                .map(|value| value.get_name().to_owned())
                .collect();
            if !values.is_empty() {
                let (name, values, before) = (command.get_name(), values.join(" "), index + 2);
                let here = format!(
                    "__fish_rockpack_using_subcommand {name}; and test (count (commandline -opc)) -eq {before}"
                );
                let _ = writeln!(lines, "complete -c rockpack -n \"{here}\" -f -a \"{values}\"");
            }
        }
    }
    lines
}

/// With what `--only` can name: packages of the built-in manifest and their distributions.
fn with_names(command: Command) -> Command {
    let names = inputs::manifest::names();
    command.mut_subcommands(|sub| {
        let names = names.clone();
        sub.mut_args(move |arg| match arg.get_id().as_str() {
            "only" => arg.value_parser(PossibleValuesParser::new(names.clone())),
            _ => arg,
        })
    })
}

/// With what `rockpack help` can be asked for, which clap does not know by itself.
fn with_topics(command: Command) -> Command {
    let mut topics: Vec<String> =
        command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    topics.push("manifest".to_owned());
    let below = command
        .get_subcommands()
        .flat_map(Command::get_subcommands)
        .map(|sub| sub.get_name().to_owned());
    let mut names: Vec<String> = below.collect();
    names.extend(VOCABULARY.iter().flat_map(KdlFile::words).map(|(_, word)| word.name.to_owned()));
    command.mut_subcommand("help", |help| {
        let help = help.mut_arg("topic", |arg| arg.value_parser(PossibleValuesParser::new(topics)));
        help.mut_arg("name", |arg| arg.value_parser(PossibleValuesParser::new(names)))
    })
}
