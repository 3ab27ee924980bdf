//! Command line that a shell completes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, CommandFactory};

use crate::cli::Cli;
use crate::inputs::variable::COMPLETE;

/// Arguments of the command, as far as the line is valid, and the variables of its options.
pub struct Line(ArgMatches);

/// Words of the line up to the cursor; scripts pass them after `--`.
pub fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

impl Line {
    pub fn read() -> Option<Self> {
        let is_quoted = std::env::var(COMPLETE).is_ok_and(|shell| QUOTING.contains(&&*shell));
        let words = words().map(|word| if is_quoted { unquoted(word) } else { word });
        let command = Cli::command().ignore_errors(true);
        let mut matches = command.try_get_matches_from(words).ok()?;
        while let Some((_, below)) = matches.remove_subcommand() {
            matches = below;
        }
        Some(Self(matches))
    }

    pub fn path(&self, argument: &str) -> Option<&Path> {
        let path = self.0.try_get_one::<PathBuf>(argument).ok().flatten();
        path.map(PathBuf::as_path)
    }

    pub fn text(&self, argument: &str) -> Option<&str> {
        self.0.try_get_one::<String>(argument).ok().flatten().map(String::as_str)
    }
}

/// Shells that pass words as they are typed.
const QUOTING: [&str; 2] = ["bash", "zsh"];

/// Removes quotes, and completes `~/`. A word with an open quote stays as it is.
fn unquoted(word: OsString) -> OsString {
    let Some(text) = word.to_str() else { return word };
    let home = std::env::var("HOME").unwrap_or_default();
    if let Some(below) = text.strip_prefix("~/") {
        return format!("{home}/{below}").into();
    }
    match shlex::split(text).as_deref() {
        Some([one]) => one.into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_quotes() {
        let home = std::env::var("HOME").unwrap_or_default();
        for (word, expected) in [
            ("plan", "plan"),
            ("'a b'", "a b"),
            ("\"a b\"/c", "a b/c"),
            (r"a\ b", "a b"),
            ("'a b", "'a b"),
            ("", ""),
            ("~/a", &*format!("{home}/a")),
        ] {
            assert_eq!(unquoted(word.into()), expected, "{word}");
        }
    }
}
