use std::ffi::OsString;

use base::address::redacted;
use base::source::nearest;
use clap::Command;

mod facts;
mod options;

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
    let today = || of_manifest(line, at).or_else(|| of_option(line, at));
    if root.find_subcommand(former).is_some()
        && let Some(text) = today()
    {
        return Some(text);
    }
    let (old, new, rest) =
        of_command(root, former, rest.clone()).or_else(|| of_form(former, rest))?;
    let before = line[1..at].iter().map(|word| quoted(&word.to_string_lossy()));
    let rest = rest.into_iter().map(|word| quoted(&word.to_string_lossy()));
    let words: Vec<String> = before.chain([new.clone()]).chain(rest).collect();
    Some(format!("`rockpack {old}` is now `rockpack {new}`\n\n  rockpack {}", words.join(" ")))
}

fn of_option(line: &[OsString], at: usize) -> Option<String> {
    let words: Vec<&OsString> = line[at + 1..].iter().collect();
    let today = options::of(&words)?;
    let variables = today.variables.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let before = line[1..=at].iter().chain(today.rest);
    let words = before.map(|word| quoted(&word.to_string_lossy()));
    let words = ["rockpack".to_owned()].into_iter().chain(words);
    let words = variables.chain(words).chain(today.added.into_iter().map(str::to_owned));
    let words: Vec<String> = words.collect();
    Some(format!("`{}` is now `{}`\n\n  {}", today.option, today.new, words.join(" ")))
}

fn of_manifest(line: &[OsString], at: usize) -> Option<String> {
    let is_group = line[at] == "artifact";
    let command = line.get(at + usize::from(is_group))?.to_str()?;
    let words: Vec<&OsString> = line[at + 1 + usize::from(is_group)..].iter().collect();
    let facts = facts::of(command, &words)?;
    let before = line[1..=at + usize::from(is_group)].iter();
    let words = before.chain(facts.rest).map(|word| quoted(&word.to_string_lossy()));
    let words: Vec<String> = words.chain(facts.name.map(str::to_owned)).collect();
    let indented = facts.line.replace('\n', "\n  ");
    let node = facts.line.split(' ').next().unwrap_or_default();
    Some(format!(
        "`{}` is now part of a `{node}` line of packages.kdl\n\n  {indented}\n\n  rockpack {}",
        facts.option,
        words.join(" ")
    ))
}

/// A former command, its words today and the other words of the line.
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

/// Returns the index of the command: the first word after options of the program and their values.
fn command_at(line: &[OsString]) -> Option<usize> {
    let mut is_value = false;
    line.iter().enumerate().skip(1).find_map(|(index, word)| {
        let is_option = word.to_string_lossy().starts_with('-');
        let is_command = !is_option && !is_value;
        is_value = word == "--message-format";
        is_command.then_some(index)
    })
}

fn names_one_below(root: &Command, name: &str, words: &[&OsString]) -> bool {
    let Some(group) = root.find_subcommand(name) else { return false };
    let names: Vec<&str> = group.get_subcommands().map(Command::get_name).collect();
    let mut words = words.iter().filter_map(|word| word.to_str());
    words.any(|word| names.contains(&word) || nearest(word, names.iter().copied()).is_some())
}

fn quoted(word: &str) -> String {
    let word = redacted(word);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word;
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
    fn facts_of_a_server_are_a_line_of_the_manifest() {
        for (line, facts, command) in [
            (
                "build --catalog c --remote-cache grpc://a:1 -o out --remote-retries=0",
                r#"remote "NAME" cache="grpc://a:1" tries=1"#,
                "build --catalog c -o out --remote NAME",
            ),
            (
                "build --remote farm --remote-header authorization=secret --remote-header @file",
                "remote \"farm\" {\n      header \"authorization\" env=\"VARIABLE\"\n      \
                 header \"NAME\" file=\"FILE\"    // the file has the value of one header\n  }",
                "build --remote farm",
            ),
            (
                "build --remote-upload-local-results --credential-helper *.a=b --tls-client-key k \
                 --remote-default-exec-properties OS=Linux --tls-client-certificate c",
                "remote \"NAME\" upload=#true {\n      credential-helper \"b\" for=\"*.a\"\n      \
                 machine \"OS\" \"Linux\"\n      tls client-key=\"k\" client-certificate=\"c\"\n  }",
                "build --remote NAME",
            ),
            (
                "artifact scan --store ci --unsigned --run 1 --downloads 3",
                r#"store "ci" url="…" unsigned=#true downloads=3"#,
                "artifact scan --store ci --run 1",
            ),
            (
                "plan --artifact-dir a --require-checksums",
                r#"store "NAME" url="…" require-checksums=#true"#,
                "plan --artifact-dir a",
            ),
        ] {
            let words: Vec<&str> =
                ["rockpack"].into_iter().chain(line.split_whitespace()).collect();
            let text = read(&words).unwrap_err().to_string();
            assert!(text.contains(&format!("\n\n  {facts}\n\n  rockpack {command}\n")), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn other_former_options_are_options_or_variables() {
        for (line, expected) in [
            (
                "build --memory 1GB -o o --run-tests",
                "ROCKPACK_MEMORY=1GB rockpack build -o o --projects tests",
            ),
            ("plan --catalog c --allow-unowned", "rockpack plan --catalog c --allow unowned-files"),
            (
                "wheel split w.whl --builder-id=tag:a --invocation-id 7",
                "ROCKPACK_BUILDER_ID=tag:a ROCKPACK_INVOCATION_ID=7 rockpack wheel split w.whl",
            ),
            (
                "build --builder-id https://me:secret@example.org/b -o o",
                "ROCKPACK_BUILDER_ID=https://example.org/b rockpack build -o o",
            ),
        ] {
            let words: Vec<&str> = ["rockpack"].into_iter().chain(line.split(' ')).collect();
            let text = read(&words).unwrap_err().to_string();
            assert!(text.contains(&format!("\n\n  {expected}\n")), "{text}");
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
