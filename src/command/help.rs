//! `rockpack help`.

use std::io;

use ::manifest::{KdlFile, VOCABULARY};
use base::source::{Code, Problem, nearest};
use clap::{Command, CommandFactory};
use serde::Serialize;

use super::{Failure, environment, print_exact};
use crate::cli::{Cli, HelpArgs};
use crate::ui;

mod code;
mod commands;
mod manifest;
mod markdown;

/// Format of the vocabulary as JSON; it is increased like a plan's.
const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Vocabulary {
    format: u32,
    files: &'static [KdlFile],
}

pub fn run(args: &HelpArgs) -> Result<(), Failure> {
    match (args.topic.as_deref(), args.name.as_deref()) {
        (None, _) if args.markdown => print_exact(&commands::page(&Cli::root())),
        (Some("manifest"), _) if args.markdown => print_exact(&markdown::vocabulary(&VOCABULARY)),
        (Some("manifest"), _) if args.json => print_exact(&vocabulary_json()?),
        (Some("manifest"), None) => print_exact(&manifest::vocabulary(&VOCABULARY, ui::width())),
        (Some("manifest"), Some(name)) => print_exact(&node(name)?),
        _ if args.markdown || args.json => Err(environment(
            "--markdown and --json take only the topic `manifest`: `rockpack help manifest`",
        )),
        // The command `cache` comes before the code of this name.
        (Some(topic), None)
            if let Some(code) = Code::named(topic)
                && Cli::command().find_subcommand(topic).is_none() =>
        {
            print_exact(&code::page(code, ui::width()))
        }
        (topic, name) => command(topic.into_iter().chain(name)),
    }
}

fn vocabulary_json() -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(&Vocabulary { format: FORMAT, files: &VOCABULARY });
    Ok(text.map_err(|e| environment(format!("cannot write the vocabulary as JSON: {e}")))? + "\n")
}

fn node(name: &str) -> Result<String, Failure> {
    let entries = manifest::entries(&VOCABULARY);
    let pages: Vec<String> = entries
        .iter()
        .filter(|e| e.word.name == name)
        .map(|e| manifest::entry(e, ui::width()))
        .collect();
    if pages.is_empty() {
        let problem =
            Problem::usage(Code::Environment, format!("the manifest has no node `{name}`"));
        let near = nearest(name, entries.iter().map(|e| e.word.name));
        let help = near.map_or_else(
            || "see all nodes with `rockpack help manifest`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(problem.help(help).into());
    }
    Ok(pages.join("\n"))
}

fn command<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), Failure> {
    let mut root = Cli::root();
    let mut command = &mut root;
    for name in names {
        if command.find_subcommand(name).is_none() {
            return Err(unknown(command, name).into());
        }
        command = command
            .find_subcommand_mut(name)
            .ok_or_else(|| environment(format!("unknown command `{name}`")))?;
    }
    match command.print_long_help() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(environment(format!("cannot print the help: {error}")))
        }
        _ => Ok(()),
    }
}

fn unknown(above: &Command, name: &str) -> Problem {
    let path = above.get_bin_name().unwrap_or_else(|| above.get_name());
    let manifest = (above.get_name() == "rockpack").then_some("manifest");
    let topics: Vec<&str> = above
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .map(Command::get_name)
        .chain(manifest)
        .collect();
    let problem = Problem::usage(Code::Environment, format!("`{path}` has no command `{name}`"));
    let code = || code::near(name).filter(|_| above.get_name() == "rockpack");
    match nearest(name, topics.iter().copied()).or_else(code) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None if topics.is_empty() => problem.help(format!("`{path}` has no subcommands")),
        None => problem.help(format!("topics: {}; codes: schema/problems.md", topics.join(", "))),
    }
}
