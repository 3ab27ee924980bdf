//! Command line that a shell completes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, CommandFactory};

use crate::cli::Cli;
use crate::inputs::variable::COMPLETE;

/// Arguments of the typed command, where the line is valid, with the values that its options take from
/// the environment.
pub struct Line(ArgMatches);

/// Words of the line, which scripts pass after `--`.
pub fn words() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(1)
}

impl Line {
    pub fn read() -> Option<Self> {
        let is_raw = std::env::var(COMPLETE).is_ok_and(|shell| RAW_SHELLS.contains(&&*shell));
        let home = std::env::var("HOME").ok().filter(|home| !home.is_empty());
        let words = words().map(|word| if is_raw { unquoted(word, home.as_deref()) } else { word });
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
const RAW_SHELLS: [&str; 2] = ["bash", "zsh"];

/// Removes quotes, and replaces `~/` by the home directory, as the shell would. A word with an open
/// quote stays as it is.
fn unquoted(word: OsString, home: Option<&str>) -> OsString {
    let Some(text) = word.to_str() else { return word };
    let (start, rest) = match (home, text.strip_prefix("~/")) {
        (Some(home), Some(rest)) => (format!("{home}/"), rest),
        _ => (String::new(), text),
    };
    match shlex::split(rest).as_deref() {
        Some([one]) => (start + one).into(),
        // A quoted empty word has one part, so this is `~/` alone.
        Some([]) if !start.is_empty() => start.into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_quotes() {
        for (word, expected) in [
            ("plan", "plan"),
            ("'a b'", "a b"),
            ("\"a b\"/c", "a b/c"),
            (r"a\ b", "a b"),
            ("'a b", "'a b"),
            ("", ""),
            ("~/a", "/home/x/a"),
            (r"~/a\ b", "/home/x/a b"),
            ("~/'a b'", "/home/x/a b"),
            ("~/'a b", "~/'a b"),
            ("~/", "/home/x/"),
            (r"\~/a", "~/a"),
        ] {
            assert_eq!(unquoted(word.into(), Some("/home/x")), expected, "{word}");
        }
        assert_eq!(unquoted("~/a".into(), None), "~/a");
    }
}
