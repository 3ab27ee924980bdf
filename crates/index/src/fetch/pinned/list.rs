//! Lists of pins: requirement files of pip.

use std::collections::BTreeSet;
use std::ops::Range;

use base::names::Requirement;
use base::source::{Code, Problem, Problems, Source};
use base::version::Version;
use pep440_rs::Operator;

use super::Pin;

/// Options that add no packages: hashes are always required, and indexes are options of the
/// command.
const IGNORED: [&str; 8] = [
    "--require-hashes",
    "--index-url",
    "-i",
    "--extra-index-url",
    "--trusted-host",
    "--only-binary",
    "--no-binary",
    "--prefer-binary",
];

/// Reads a file for pip's `--require-hashes`. Ignores markers and extras, because an index is for
/// all systems.
pub fn pins(list: &Source) -> Result<Vec<Pin>, Problems> {
    let (mut pins, mut problems) = (Vec::new(), Problems::new());
    for Line { text, first } in logical_lines(list.text()) {
        let place = list.at(first);
        match pin_of_line(&text) {
            Ok(pin) => pins.extend(pin.map(|pin| Pin { place: Some(place), ..pin })),
            Err((message, label, help)) => {
                let problem = Problem::error(Code::PinnedPackage, message);
                problems.push(problem.label(&place, label).help(help));
            }
        }
    }
    if problems.is_empty() { Ok(pins) } else { Err(problems) }
}

/// Reads `NAME==VERSION`.
pub fn pin(text: &str) -> Option<Pin> {
    let requirement: Requirement = text.parse().ok()?;
    let versions = requirement.versions?;
    let mut versions = versions.iter();
    let (Some(exact), None) = (versions.next(), versions.next()) else { return None };
    let is_exact = matches!(exact.operator(), Operator::Equal | Operator::ExactEqual);
    let version: Version = exact.version().to_string().parse().ok().filter(|_| is_exact)?;
    Some(Pin { project: requirement.name, version, sha256: BTreeSet::new(), place: None })
}

struct Line {
    text: String,
    /// Bytes of the first line, without the final `\`.
    first: Range<usize>,
}

/// Joins lines with their continuations, without comments. Like pip, ends a requirement at a line
/// with only a comment.
fn logical_lines(text: &str) -> Vec<Line> {
    // Editors of Windows begin files with a byte order mark, which pip skips.
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut lines, mut open) = (Vec::<Line>::new(), false);
    let mut start = text.len() - content.len();
    for whole in content.split_inclusive('\n') {
        let is_comment = whole.trim_start().starts_with('#');
        let line = if is_comment { "" } else { whole.split(" #").next().unwrap_or_default() };
        let line = line.trim_end();
        let (line, continues) = match line.strip_suffix('\\') {
            Some(line) => (line.trim_end(), true),
            None => (line, false),
        };
        if let Some(before) = lines.last_mut().filter(|_| open) {
            before.text.push(' ');
            before.text.push_str(line);
        } else {
            let indent = line.len() - line.trim_start().len();
            let first = start + indent..start + line.len();
            lines.push(Line { text: line.to_owned(), first });
        }
        (open, start) = (continues, start + whole.len());
    }
    lines.retain(|line| !line.text.trim().is_empty());
    lines
}

/// Message, label and help.
type Fault = (String, &'static str, &'static str);

fn pin_of_line(text: &str) -> Result<Option<Pin>, Fault> {
    let text = text.trim();
    if text.starts_with('-') {
        let option = text.split([' ', '=']).next().unwrap_or_default();
        if option == "--hash" {
            let help = "put it directly after the lines of its requirement, each with a final `\\`";
            let message = "the `--hash` belongs to no requirement: pip would ignore it".to_owned();
            return Err((message, "without requirement", help));
        }
        if IGNORED.contains(&option) {
            return Ok(None);
        }
        let help = "write the requirements themselves, such as `numpy==2.1.0 --hash=sha256:…`";
        let message = format!("the option `{option}` cannot be in a list of packages");
        return Err((message, "not supported", help));
    }
    let (requirement, hashes) = text.split_once("--hash").unwrap_or((text, ""));
    let requirement = requirement.trim();
    let exact = pin(requirement).ok_or_else(|| {
        let help = "write an exact version, such as `numpy==2.1.0`";
        (format!("`{requirement}` is not NAME==VERSION"), "not an exact version", help)
    })?;
    let hashes = hashes.split("--hash").map(|hash| hash.trim_matches([' ', '\t', '=']));
    let sha256 = hashes.filter_map(|hash| hash.strip_prefix("sha256:"));
    let sha256: BTreeSet<String> = sha256.map(str::to_ascii_lowercase).collect();
    let is_one = |hash: &String| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some(wrong) = sha256.iter().find(|hash| !is_one(hash)) {
        let help = "write 64 hexadecimal digits after `sha256:`";
        return Err((format!("`{wrong}` is not a SHA-256"), "has an invalid hash", help));
    }
    if sha256.is_empty() {
        let help = "add --hash=sha256:…, or compile the list with hashes: `uv pip compile \
                    --generate-hashes`";
        return Err((format!("`{requirement}` has no SHA-256"), "has no hash", help));
    }
    Ok(Some(Pin { sha256, ..exact }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_like_pip() {
        let (first_hash, second_hash) = ("a".repeat(64), "B".repeat(64));
        let text = format!(
            "# by a tool\n--index-url https://example.com/simple\n\nNum.Py[x]==2.0 ; sys_platform == 'linux' \\\n    \
             --hash=sha256:{first_hash} \\\n    --hash sha256:{second_hash} --hash=md5:00 # via\n    # a comment\nb-c===1.0.0 --hash=sha256:{first_hash}\n"
        );
        let pins = pins(&Source::new("list.txt", text)).unwrap();
        let shown = |pin: &Pin| {
            let place = pin.place.as_ref().unwrap();
            format!("{pin} {} {}", place.line(), place.text())
        };
        let shown: Vec<String> = pins.iter().map(shown).collect();
        let first = "num-py==2.0 4 Num.Py[x]==2.0 ; sys_platform == 'linux'";
        assert_eq!(shown[0], first);
        assert!(shown[1].starts_with("b-c==1.0.0 8 b-c===1.0.0 --hash"), "{shown:?}");
        let expected = BTreeSet::from([first_hash, second_hash.to_ascii_lowercase()]);
        assert_eq!(pins[0].sha256, expected);
    }

    #[test]
    fn skips_a_byte_order_mark() {
        let text = format!("\u{feff}a==1 --hash=sha256:{}\r\n", "a".repeat(64));
        let pins = pins(&Source::new("list.txt", text)).unwrap();
        let place = pins[0].place.as_ref().unwrap();
        assert_eq!((pins[0].to_string().as_str(), place.line()), ("a==1", 1));
        assert!(place.text().starts_with("a==1 --hash"), "{}", place.text());
    }

    #[test]
    fn refuses_a_hash_after_a_comment_like_pip() {
        let hash = "a".repeat(64);
        let text =
            format!("a==1 \\\n  --hash=sha256:{hash} \\\n  # by hand\n  --hash=sha256:{hash}\n");
        let problems = pins(&Source::new("list.txt", text)).unwrap_err();
        let problem = problems.iter().next().unwrap();
        assert!(problem.message().contains("pip would ignore it"), "{}", problem.message());
        assert_eq!(problem.labels()[0].0.line(), 4);
    }

    #[test]
    fn refuses_unpinned_requirements() {
        let hash = format!("--hash=sha256:{}", "a".repeat(64));
        for (line, expected) in [
            (format!("a>=1 {hash}"), "`a>=1` is not NAME==VERSION"),
            (format!("a==1.* {hash}"), "`a==1.*` is not NAME==VERSION"),
            (format!("a==1,<2 {hash}"), "`a==1,<2` is not NAME==VERSION"),
            (format!("a @ https://h/a.whl {hash}"), "is not NAME==VERSION"),
            ("a==1".to_owned(), "`a==1` has no SHA-256"),
            ("a==1 --hash=md5:00".to_owned(), "`a==1` has no SHA-256"),
            ("a==1 --hash=sha256:0g".to_owned(), "`0g` is not a SHA-256"),
            (format!("--hash=sha256:{}", "a".repeat(64)), "belongs to no requirement"),
            ("-r other.txt".to_owned(), "the option `-r` cannot be in a list"),
            ("--find-links=x".to_owned(), "the option `--find-links` cannot be in a list"),
        ] {
            let problems = pins(&Source::new("list.txt", &*line)).unwrap_err();
            let problem = problems.iter().next().unwrap();
            assert!(problem.message().contains(expected), "{line}: {}", problem.message());
            assert_eq!(problem.labels()[0].0.line(), 1);
        }
    }
}
