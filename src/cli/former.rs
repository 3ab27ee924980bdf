//! Former command lines and their replacements.

use std::ffi::OsString;

use base::source::nearest;
use clap::Command;

/// Former command and the words that replace it.
const COMMANDS: [(&str, &str); 18] = [
    ("version", "help versions"),
    ("fetch", "artifact fetch"),
    ("scan", "artifact scan"),
    ("sources", "project list"),
    ("assemble", "merge"),
    ("audit", "wheel audit"),
    ("retag", "wheel retag"),
    ("promote", "wheel promote"),
    ("split", "wheel split"),
    ("verify", "wheel verify"),
    ("index", "index write"),
    ("publish", "index publish"),
    ("prune", "index prune"),
    ("mirror", "index mirror"),
    ("serve", "index serve"),
    ("demo", "init --demo"),
    ("completions", "help completions"),
    ("man", "help man"),
];

/// Commands with former options for output forms, and these forms.
const FORMS: [(&str, &[&str]); 2] =
    [("plan", &["files", "markdown", "html", "shards"]), ("diff", &["files", "markdown"])];

/// Describes the replacement of an invalid command line, if it is a former one.
pub fn replacement(root: &Command, line: &[OsString]) -> Option<String> {
    let at = command_at(line)?;
    let former = line[at].to_str()?;
    let rest: Vec<&OsString> = line[at + 1..].iter().collect();
    let (old, new, rest) =
        of_command(root, former, rest.clone()).or_else(|| of_form(former, rest))?;
    let before = line[1..at].iter().map(|word| quoted(&word.to_string_lossy()));
    let rest = rest.into_iter().map(|word| quoted(&word.to_string_lossy()));
    let words: Vec<String> = before.chain([new.clone()]).chain(rest).collect();
    Some(format!("`rockpack {old}` is now `rockpack {new}`\n\n  rockpack {}", words.join(" ")))
}

/// Returns former words, their replacement, and the other words.
fn of_command<'a>(
    root: &Command,
    former: &str,
    mut rest: Vec<&'a OsString>,
) -> Option<(String, String, Vec<&'a OsString>)> {
    let (_, words) = COMMANDS.iter().find(|(name, _)| *name == former)?;
    if former == "index" && (rest.is_empty() || names_one_below(root, former, &rest)) {
        return None;
    }
    let clones = former == "sources" && rest.iter().any(|word| *word == "--clone");
    if clones {
        rest.retain(|word| *word != "--clone");
    }
    let words = if clones { "project clone" } else { words };
    Some((former.to_owned(), words.to_owned(), rest))
}

/// Returns former words, their replacement with `--format`, and the other words.
fn of_form<'a>(
    command: &str,
    mut rest: Vec<&'a OsString>,
) -> Option<(String, String, Vec<&'a OsString>)> {
    let (_, forms) = FORMS.iter().find(|(name, _)| *name == command)?;
    let form = |word: &OsString| {
        let name = word.to_str()?.strip_prefix("--")?.split('=').next()?.to_owned();
        forms.contains(&&*name).then_some(name)
    };
    if rest.iter().any(|word| word.to_string_lossy().starts_with("--format")) {
        return None;
    }
    let form = rest.iter().find_map(|word| form(word))?;
    // The number of shards keeps its option.
    if form != "shards" {
        rest.retain(|word| word.to_string_lossy() != format!("--{form}"));
    }
    Some((format!("{command} --{form}"), format!("{command} --format {form}"), rest))
}

/// Returns the index of the first word that is neither an option of the program nor its value.
fn command_at(line: &[OsString]) -> Option<usize> {
    let mut is_value = false;
    line.iter().enumerate().skip(1).find_map(|(index, word)| {
        let is_option = word.to_string_lossy().starts_with('-');
        let is_command = !is_option && !is_value;
        is_value = word == "--message-format";
        is_command.then_some(index)
    })
}

/// Returns true if a word is, or resembles, a subcommand of `name`.
fn names_one_below(root: &Command, name: &str, words: &[&OsString]) -> bool {
    let Some(group) = root.find_subcommand(name) else { return false };
    let names: Vec<&str> = group.get_subcommands().map(Command::get_name).collect();
    let mut words = words.iter().filter_map(|word| word.to_str());
    words.any(|word| names.contains(&word) || nearest(word, names.iter().copied()).is_some())
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn read(words: &[&str]) -> Result<Cli, clap::Error> {
        Cli::read(words.iter().map(OsString::from))
    }

    fn new(line: &str) -> String {
        let error = read(&line.split(' ').collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        let text = error.to_string();
        let shown = text.lines().find_map(|line| line.strip_prefix("  rockpack "));
        shown.unwrap_or_else(|| panic!("{line}: {text}")).to_owned()
    }

    #[test]
    fn every_former_command_is_an_error_that_shows_todays_line() {
        for (line, expected) in [
            ("version --release-type dev", "help versions --release-type dev"),
            ("fetch --store ci --run 1 -o a", "artifact fetch --store ci --run 1 -o a"),
            ("scan --artifact-dir a", "artifact scan --artifact-dir a"),
            ("sources --sources s --version 1", "project list --sources s --version 1"),
            ("sources --clone --sources s --version 1", "project clone --sources s --version 1"),
            ("assemble a b --plan p.json", "merge a b --plan p.json"),
            ("audit dist --json", "wheel audit dist --json"),
            ("retag --platform-tag t w.whl", "wheel retag --platform-tag t w.whl"),
            ("promote rc1 --to 7.1.0 -o out", "wheel promote rc1 --to 7.1.0 -o out"),
            ("split w.whl --dry-run", "wheel split w.whl --dry-run"),
            ("verify out/dist --plan plan.json", "wheel verify out/dist --plan plan.json"),
            ("index --layout flat out/dist", "index write --layout flat out/dist"),
            ("index out/dist", "index write out/dist"),
            ("publish out s3://b/whl", "index publish out s3://b/whl"),
            ("prune s3://b --stream dev", "index prune s3://b --stream dev"),
            ("mirror s3://b pages", "index mirror s3://b pages"),
            ("serve out", "index serve out"),
            ("demo --system windows d", "init --demo --system windows d"),
            ("completions bash", "help completions bash"),
            ("man", "help man"),
            ("plan --catalog c --files", "plan --format files --catalog c"),
            ("plan --markdown --catalog c", "plan --format markdown --catalog c"),
            ("plan --catalog c --html", "plan --format html --catalog c"),
            ("plan --catalog c --shards 4", "plan --format shards --catalog c --shards 4"),
            ("diff --files a b", "diff --format files a b"),
            ("diff a b --markdown", "diff --format markdown a b"),
        ] {
            assert_eq!(new(&format!("rockpack {line}")), expected);
            let quiet = format!("rockpack --message-format json -q {line}");
            assert_eq!(new(&quiet), format!("--message-format json -q {expected}"));
        }
    }

    #[test]
    fn every_replacement_is_a_command() {
        let root = Cli::command();
        for (former, words) in COMMANDS {
            let mut names = words.split(' ').filter(|word| !word.starts_with('-'));
            let found = names.try_fold(&root, |command, name| command.find_subcommand(name));
            assert!(found.is_some(), "{words}");
            assert!(former == "index" || root.find_subcommand(former).is_none(), "{former}");
        }
    }

    #[test]
    fn words_keep_their_quotes() {
        let error = read(&["rockpack", "retag", "a b", "it's", ""]).unwrap_err().to_string();
        assert!(error.contains(r"  rockpack wheel retag 'a b' 'it'\''s' ''"), "{error}");
    }

    #[test]
    fn other_mistakes_keep_their_message() {
        for line in [
            "index",
            "index wriet",
            "index publish --no-such-option",
            "paln",
            "build",
            "plan --format files --html",
        ] {
            let line = format!("rockpack {line}");
            let error = read(&line.split(' ').collect::<Vec<_>>()).unwrap_err().to_string();
            assert!(!error.contains("is now"), "{line}: {error}");
        }
    }
}
