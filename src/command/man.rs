//! `rockpack help man`.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use roff::{Inline, Roff, bold, italic, roman};

use super::{Failure, print_exact};
use crate::cli::Cli;

mod sections;

use sections::{ENVIRONMENT, EXIT_STATUS, FILES};

/// Equal programs print equal pages. (roff ignores an empty argument.)
const NO_DATE: &str = " ";

pub fn run() -> Result<(), Failure> {
    print_exact(&page(&Cli::root()).render())
}

fn page(root: &Command) -> Roff {
    let mut roff = Roff::new();
    let version = root.get_version().unwrap_or_default();
    roff.control("TH", ["ROCKPACK", "1", NO_DATE, &format!("rockpack {version}"), "User Commands"]);
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("rockpack - {}", root.get_about().map(plain).unwrap_or_default()))]);
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([
        bold("rockpack"),
        roman(" "),
        italic("COMMAND"),
        roman(" ["),
        italic("OPTION"),
        roman("]..."),
    ]);
    roff.control("SH", ["DESCRIPTION"]);
    description(&mut roff, root);
    options(&mut roff, root);
    roff.control("SH", ["COMMANDS"]);
    root.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(|sub| command(&mut roff, sub));
    for (heading, entries) in
        [("EXIT STATUS", EXIT_STATUS), ("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)]
    {
        roff.control("SH", [heading]);
        for (name, text) in entries {
            entry(&mut roff, [bold(*name)], text);
        }
    }
    roff
}

fn command(roff: &mut Roff, command: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage).trim();
    roff.control("SS", [name]);
    roff.text([bold(name), roman(usage.strip_prefix(name).unwrap_or_default())]);
    roff.control("PP", []);
    description(roff, command);
    options(roff, command);
    if let Some(more) = command.get_after_long_help() {
        examples(roff, &plain(more));
    }
    command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .for_each(|sub| self::command(roff, sub));
}

fn description(roff: &mut Roff, command: &Command) {
    let text =
        command.get_long_about().or_else(|| command.get_about()).map(plain).unwrap_or_default();
    for line in text.lines() {
        if line.is_empty() {
            roff.control("PP", []);
        } else {
            roff.text([roman(line)]);
        }
    }
}

fn options(roff: &mut Roff, command: &Command) {
    let shown = |arg: &&Arg| {
        !arg.is_hide_set()
            && !matches!(
                arg.get_action(),
                ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort
            )
    };
    let (positional, named): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(shown).partition(|arg| arg.is_positional());
    let mut headings = vec![None];
    for heading in named.iter().map(|arg| arg.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for arg in positional {
        option(roff, arg);
    }
    for heading in headings {
        if let Some(heading) = heading {
            roff.control("PP", []);
            roff.text([italic(format!("{heading}:"))]);
        }
        named
            .iter()
            .filter(|arg| arg.get_help_heading() == heading)
            .for_each(|arg| option(roff, arg));
    }
}

fn option(roff: &mut Roff, arg: &Arg) {
    let mut head = Vec::new();
    if let Some(short) = arg.get_short() {
        head.push(bold(format!("-{short}")));
    }
    if let Some(long) = arg.get_long() {
        head.extend((!head.is_empty()).then(|| roman(", ")));
        head.push(bold(format!("--{long}")));
    }
    if arg.get_action().takes_values() {
        head.extend((!head.is_empty()).then(|| roman(" ")));
        head.push(italic(arg.get_value_names().unwrap_or_default().join(" ")));
    }
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(plain).unwrap_or_default();
    entry(roff, head, &(help + &values(arg)));
}

fn values(arg: &Arg) -> String {
    let names = |values: Vec<String>, label: &str| {
        if values.is_empty() { String::new() } else { format!(" [{label}: {}]", values.join(", ")) }
    };
    let takes = arg.get_action().takes_values();
    let shows = takes && !arg.is_hide_possible_values_set();
    let possible = arg
        .get_possible_values()
        .iter()
        .filter(|value| shows && !value.is_hide_set())
        .map(|v| v.get_name().to_owned())
        .collect();
    let hidden = arg.is_hide_default_value_set() || !takes;
    let default = arg
        .get_default_values()
        .iter()
        .filter(|_| !hidden)
        .map(|v| v.to_string_lossy().into_owned())
        .collect();
    names(possible, "possible values") + &names(default, "default")
}

fn entry(roff: &mut Roff, name: impl Into<Vec<Inline>>, text: &str) {
    roff.control("TP", []);
    roff.text(name);
    roff.text([roman(text)]);
}

fn examples(roff: &mut Roff, text: &str) {
    roff.control("PP", []);
    roff.control("nf", []);
    for line in text.trim_end().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}
