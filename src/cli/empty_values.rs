use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Returns whether an option or a variable can have an empty value. Only then, the caller has to
/// define the options of all commands before it parses the line, which takes milliseconds.
pub fn may_be_in(line: &[OsString]) -> bool {
    let is_empty = |word: &OsString| word.is_empty() || word.to_string_lossy().ends_with('=');
    line.iter().any(is_empty) || has_empty_variable()
}

/// Removes options with an empty value: scripts write `--version "$VERSION"` for an optional input.
/// [`NEVER_EMPTY`] stay, so that their empty value is refused.
pub fn without_empty_options(
    root: &Command,
    line: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let mut words = line.into_iter().peekable();
    let mut remaining: Vec<OsString> = words.next().into_iter().collect();
    let mut command = root;
    while let Some(word) = words.next() {
        // The rest stays: values after `--`, and `rockpack elf`, where an empty rpath is valid.
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
        let Some(option) = option_with_value(root, command, name) else {
            remaining.push(word);
            continue;
        };
        let next = if text == name { words.next_if(|next| is_value(option, next)) } else { None };
        let is_empty = match &next {
            Some(value) => value.is_empty(),
            None => text.strip_prefix(name) == Some("="),
        };
        if !is_empty || option.get_long().is_some_and(|long| NEVER_EMPTY.contains(&long)) {
            remaining.push(word);
            remaining.extend(next);
        }
    }
    remaining
}

/// Options without which less is checked, or more is selected: an empty variable must not have
/// this effect. Lists of families may be empty, because workflows leave these inputs empty for all
/// families of a build.
const NEVER_EMPTY: [&str; 8] =
    ["contract", "family", "keep-targets", "lock", "only", "plan", "project", "requirements"];

fn option_with_value<'c>(root: &'c Command, command: &'c Command, word: &str) -> Option<&'c Arg> {
    let has_name = |arg: &Arg| match word.strip_prefix("--") {
        Some(long) => {
            let mut aliases = arg.get_all_aliases().unwrap_or_default().into_iter();
            arg.get_long() == Some(long) || aliases.any(|alias| alias == long)
        }
        None => {
            arg.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&*short.to_string()))
        }
    };
    let mut options = root.get_arguments().chain(command.get_arguments());
    options.find(|arg| arg.get_action().takes_values() && has_name(arg))
}

/// Returns whether clap takes the word after an option as its value.
fn is_value(option: &Arg, word: &OsStr) -> bool {
    let is_optional = option.get_num_args().is_some_and(|count| count.min_values() == 0);
    let is_option = word != "-" && word.to_string_lossy().starts_with('-');
    !(option.is_require_equals_set() || (is_optional && is_option))
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

/// Prefix of the program's own variables, and other programs' variables that options read.
const VARIABLES: [&str; 3] = ["ROCKPACK_", "SOURCE_DATE_EPOCH", "GITHUB_SHA"];

fn has_empty_variable() -> bool {
    let is_read = |name: &OsStr| VARIABLES.iter().any(|v| name.to_string_lossy().starts_with(v));
    std::env::vars_os().any(|(name, value)| value.is_empty() && is_read(&name))
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
            ("rockpack plan --contract --version ''", "rockpack plan --contract"),
            ("rockpack build --require-clean --version ''", "rockpack build --require-clean"),
            ("rockpack build --require-clean= -o out", "rockpack build -o out"),
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
            "rockpack plan --contract - --json",
            "rockpack plan --contract -- --version ",
            "rockpack build --require-clean -- --version ",
        ] {
            assert_eq!(without_empty(line), line);
        }
    }

    #[test]
    fn keeps_options_that_check_or_select() {
        for line in [
            "rockpack plan --catalog c --contract ",
            "rockpack build --artifact-dir a -o out --lock ",
            "rockpack build --sources s -o out --requirements=",
            "rockpack artifact pack a -o out --family ",
            "rockpack wheel promote dist --to 1.0 -o out --keep-targets ",
            "rockpack index mirror a b --project ",
            "rockpack index fetch https://example.com torch==2 -o out -r ",
        ] {
            assert_eq!(without_empty(line), line);
        }
    }

    fn options() -> Vec<Arg> {
        fn collect(command: &Command, options: &mut Vec<Arg>) {
            options.extend(command.get_arguments().cloned());
            command.get_subcommands().for_each(|command| collect(command, options));
        }
        let mut options = Vec::new();
        collect(&Cli::whole(), &mut options);
        options
    }

    #[test]
    fn knows_the_variables_of_all_options() {
        for variable in options().iter().filter_map(Arg::get_env) {
            let name = variable.to_string_lossy();
            assert!(VARIABLES.iter().any(|v| name.starts_with(v)), "{name}");
        }
    }

    #[test]
    fn every_option_that_is_never_empty_exists() {
        let options = options();
        let exists = |name: &str| options.iter().any(|arg| arg.get_long() == Some(name));
        assert!(NEVER_EMPTY.iter().all(|name| exists(name)), "{NEVER_EMPTY:?}");
    }
}
