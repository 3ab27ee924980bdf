//! Former options that are other options or variables today.

use std::ffi::OsString;

/// Former switches and the options that replace them.
const SWITCHES: [(&str, &str); 4] = [
    ("allow-unowned", "--allow unowned-files"),
    ("run-tests", "--projects tests"),
    ("docs", "--projects docs"),
    ("rebuild", "--projects rebuild"),
];

/// Former options with a value and the variables that replace them.
const VARIABLES: [(&str, &str); 4] = [
    ("memory", "ROCKPACK_MEMORY"),
    ("cache-size", "ROCKPACK_CACHE_SIZE"),
    ("builder-id", "ROCKPACK_BUILDER_ID"),
    ("invocation-id", "ROCKPACK_INVOCATION_ID"),
];

/// Former option of a command line, with its replacement.
pub struct Replaced<'a> {
    /// The first former option.
    pub option: String,
    /// Its replacement: an option, or a variable.
    pub new: &'static str,
    /// Variables and their values, to be set before the command.
    pub variables: Vec<(&'static str, String)>,
    /// The other words.
    pub rest: Vec<&'a OsString>,
    /// Options to add.
    pub added: Vec<&'static str>,
}

/// Returns the former options among words, if there are any.
pub fn of<'a>(words: &[&'a OsString]) -> Option<Replaced<'a>> {
    let (mut first, mut variables) = (None, Vec::new());
    let (mut rest, mut added) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let option = text.strip_prefix("--").unwrap_or_default();
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let known = |table: &'static [(&str, &str)]| table.iter().find(|(old, _)| *old == name);
        if let Some((name, new)) = known(&SWITCHES) {
            first.get_or_insert((format!("--{name}"), *new));
            added.push(*new);
        } else if let Some((name, new)) = known(&VARIABLES) {
            first.get_or_insert((format!("--{name}"), *new));
            let next = if option.contains('=') { None } else { words.next() };
            let value = next.map_or_else(|| value.to_owned(), |v| v.to_string_lossy().into_owned());
            variables.push((*new, value));
        } else {
            rest.push(word);
        }
    }
    let (option, new) = first?;
    Some(Replaced { option, new, variables, rest, added })
}
