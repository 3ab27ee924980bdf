use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Returns whether an option or a variable can have an empty value. Only then, the options of all
/// commands have to be defined before a line is parsed.
pub fn are_in(line: &[OsString]) -> bool {
    let is_empty = |word: &OsString| word.is_empty() || word.to_string_lossy().ends_with('=');
    line.iter().any(is_empty) || has_empty_variable()
}

/// Removes options with an empty value: scripts write `--version "$VERSION"` for an optional input.
/// [`CHECKS`] stay, so that clap refuses the empty value instead of skipping the check.
///
/// Options of `rockpack elf` stay too: an empty rpath is valid.
pub fn without_empty_options(
    root: &Command,
    line: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut words = line.into_iter().peekable();
    let mut remaining: Vec<OsString> = words.next().into_iter().collect();
    let mut command = root;
    while let Some(word) = words.next() {
        if word == "--" || command.get_name() == "elf" {
            remaining.push(word);
            remaining.extend(words);
            break;
        }
        let text = word.to_str().unwrap_or_default();
        if let Some(below) = command.find_subcommand(text) {
            command = below;
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        let is_check = CHECKS.contains(&name);
        if text.len() == name.len() + 1 && option(root, command, name) && !is_check {
            continue;
        }
        let value = option(root, command, text).then(|| words.next()).flatten();
        if value.as_deref() != Some(OsStr::new("")) || is_check {
            remaining.push(word);
            remaining.extend(value);
        }
    }
    remaining
}

/// Options that demand a check or select packages.
const CHECKS: [&str; 2] = ["--plan", "--only"];

fn option(root: &Command, command: &Command, word: &str) -> bool {
    let named = |arg: &Arg| match word.strip_prefix("--") {
        Some(long) => {
            let mut aliases = arg.get_all_aliases().unwrap_or_default().into_iter();
            arg.get_long() == Some(long) || aliases.any(|alias| alias == long)
        }
        None => {
            arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&*short.to_string()))
        }
    };
    let mut options = root.get_arguments().chain(command.get_arguments());
    options.any(|arg| arg.get_action().takes_values() && named(arg))
}

/// Removes variables with an empty value.
pub fn without_empty_variables(command: Command) -> Command {
    if !has_empty_variable() {
        return command;
    }
    let empty = |arg: &Arg| {
        let value = arg.get_env().and_then(std::env::var_os);
        value.is_some_and(|value| value.is_empty())
    };
    let command = command.mut_args(|arg| if empty(&arg) { arg.env(None::<&str>) } else { arg });
    command.mut_subcommands(without_empty_variables)
}

/// Prefix of the program's variables, and variables of others that options name.
const VARIABLES: [&str; 3] = ["ROCKPACK_", "SOURCE_DATE_EPOCH", "GITHUB_SHA"];

fn has_empty_variable() -> bool {
    let counts = |name: &OsStr| VARIABLES.iter().any(|v| name.to_string_lossy().starts_with(v));
    std::env::vars_os().any(|(name, value)| value.is_empty() && counts(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;

    fn without_empty(line: &str) -> String {
        let words = line.split(' ').map(|word| if word == "''" { "" } else { word }.into());
        let words = without_empty_options(&Cli::whole(), words);
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn removes_options_with_an_empty_value() {
        let cases = [
            ("rockpack plan --version '' --json", "rockpack plan --json"),
            ("rockpack plan --version= --platform-tag ''", "rockpack plan"),
            ("rockpack --message-format '' plan", "rockpack plan"),
            ("rockpack build -j '' --dest-dir '' -o ''", "rockpack build"),
            ("rockpack build --plan '' --version ''", "rockpack build --plan "),
            ("rockpack build --only ''", "rockpack build --only "),
            ("rockpack wheel verify --plan= dist", "rockpack wheel verify --plan= dist"),
            ("rockpack cache stats --cache ''", "rockpack cache stats"),
        ];
        for (line, expected) in cases {
            assert_eq!(without_empty(line), expected, "{line}");
        }
    }

    #[test]
    fn keeps_all_other_words() {
        for line in [
            "rockpack plan --version 1.0 --json",
            "rockpack plan --version --json",
            "rockpack explain  --catalog c",
            "rockpack explain -- --version  x",
            "rockpack elf edit x --rpath  -o y",
            "rockpack plan --json= --no-such-option ",
        ] {
            assert_eq!(without_empty(line), line);
        }
    }

    #[test]
    fn knows_the_variables_of_all_options() {
        fn below(command: &Command) {
            for variable in command.get_arguments().filter_map(Arg::get_env) {
                let name = variable.to_string_lossy();
                assert!(VARIABLES.iter().any(|v| name.starts_with(v)), "{name}");
            }
            command.get_subcommands().for_each(below);
        }
        below(&Cli::whole());
    }
}
