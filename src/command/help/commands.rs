//! The command line as Markdown, from clap's data.

use std::collections::HashMap;
use std::fmt::Write as _;

use clap::builder::{PossibleValue, StyledStr};
use clap::{Arg, ArgAction, Command};

const HEAD: &str = "\
# The command line

Every command with its options; an option of several commands is described at the first of them.
`rockpack help COMMAND` prints all of one command. This page is made by `rockpack help --markdown`.
";

/// Descriptions of options, and the command that has each first.
type Described = HashMap<String, String>;

pub fn page(root: &Command) -> String {
    let mut text = HEAD.to_owned();
    section(root, &mut Described::new(), &mut text);
    text
}

fn section(command: &Command, described: &mut Described, text: &mut String) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim_end();
    let _ = writeln!(text, "\n## {name}\n\n```text\n{usage}\n```");
    let about = plain(command.get_long_about().or_else(|| command.get_about()));
    about.split("\n\n").for_each(|paragraph| describe(paragraph, text));
    arguments(command, name, described, text);
    let examples = plain(command.get_after_long_help().or_else(|| command.get_after_help()));
    if !examples.is_empty() {
        let _ = writeln!(text, "\n```text\n{}\n```", examples.trim_end());
    }
    let is_shown = |sub: &&Command| {
        !sub.is_hide_set() && (sub.get_name() != "help" || command.get_name() == "rockpack")
    };
    command.get_subcommands().filter(is_shown).for_each(|sub| section(sub, described, text));
}

fn arguments(command: &Command, name: &str, described: &mut Described, text: &mut String) {
    let mut last = None;
    let mut elsewhere = Vec::<(String, Vec<String>)>::new();
    for arg in command.get_arguments().filter(|arg| is_shown(arg, command)) {
        let item = item(arg);
        if let Some(first) = described.get(&item).filter(|_| !arg.is_positional()) {
            let label = format!("`{}`", label(arg));
            match elsewhere.iter_mut().find(|(name, _)| name == first) {
                Some((_, labels)) => labels.push(label),
                None => elsewhere.push((first.clone(), vec![label])),
            }
            continue;
        }
        let heading = arg.get_help_heading().unwrap_or("Options");
        let heading = if arg.is_positional() { "Arguments" } else { heading };
        if last.replace(heading) != Some(heading) {
            let _ = writeln!(text, "\n{heading}:\n");
        }
        text.push_str(&item);
        described.insert(item, name.to_owned());
    }
    for (name, labels) in elsewhere {
        let anchor = name.replace(' ', "-");
        let _ = writeln!(text, "\nAs for [{name}](#{anchor}): {}", labels.join(", "));
    }
}

fn item(arg: &Arg) -> String {
    let help = escaped(&plain(arg.get_long_help().or_else(|| arg.get_help())));
    let help = help.replace('\n', "\n  ").replace("\n  \n", "\n\n");
    format!("- `{}`: {help}{}\n", label(arg), values(arg))
}

/// Writes a paragraph; columns keep their layout.
fn describe(paragraph: &str, text: &mut String) {
    let _ = if paragraph.contains("\n  ") {
        writeln!(text, "\n```text\n{paragraph}\n```")
    } else {
        writeln!(text, "\n{}", escaped(paragraph))
    };
}

/// Shows global options only with the program's own.
fn is_shown(arg: &Arg, command: &Command) -> bool {
    let action = arg.get_action();
    let help = matches!(action, ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort);
    !arg.is_hide_set() && !help && (!arg.is_global_set() || command.get_name() == "rockpack")
}

/// Returns `-j, --jobs N`, or the name of a positional argument.
fn label(arg: &Arg) -> String {
    let options =
        [arg.get_short().map(|c| format!("-{c}")), arg.get_long().map(|l| format!("--{l}"))];
    let value = arg.get_action().takes_values().then(|| arg.get_value_names().unwrap_or_default());
    let value = value.map(|names| names.join(" ")).unwrap_or_default();
    let options = options.into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("{options} {value}").trim().to_owned()
}

fn values(arg: &Arg) -> String {
    let quoted = |name: &str| format!("`{name}`");
    let possible = arg.get_possible_values();
    let hides_all = arg.is_hide_possible_values_set();
    let is_shown = |value: &&PossibleValue| !(hides_all || value.is_hide_set());
    let possible = possible.iter().filter(is_shown);
    let possible: Vec<String> = possible.map(|value| quoted(value.get_name())).collect();
    let default = arg.get_default_values().iter().filter(|_| !arg.is_hide_default_value_set());
    let default: Vec<String> = default.map(|value| quoted(&value.to_string_lossy())).collect();
    let variable: Vec<String> =
        arg.get_env().iter().map(|name| quoted(&name.to_string_lossy())).collect();
    let mut text = String::new();
    for (what, values) in [("one of", possible), ("default", default), ("variable", variable)] {
        if arg.get_action().takes_values() && !values.is_empty() {
            let _ = write!(text, " ({what}: {})", values.join(", "));
        }
    }
    text
}

fn escaped(text: &str) -> String {
    let halves = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => part.replace('_', "\\_").replace('*', "\\*").replace('<', "\\<").replace('[', "\\["),
        _ => part.to_owned(),
    });
    halves.collect::<Vec<_>>().join("`")
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}
