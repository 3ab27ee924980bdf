//! `--contract` of `rockpack check` and `rockpack plan`.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;

use base::partial::PartialFile;
use base::regular;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use review::contract::{self, Contracts};

use super::{Failure, environment, print_exact};
use crate::cli::ContractTo;

/// A contract of 200 packages has 1 MB.
const MOST_BYTES: u64 = 64 << 20;

/// Lines of a difference in a message.
const SHOWN: usize = 6;

/// Mode of a file for a repository.
const MODE: u32 = 0o644;

/// Prints or writes a contract, or compares a file with it.
pub fn write_or_check(
    contracts: &Contracts,
    destination: &ContractTo<'_>,
    json: bool,
    check: bool,
) -> Result<(), Failure> {
    let text = if json {
        let json = serde_json::to_string_pretty(contracts)
            .map_err(|e| environment(format!("cannot write the contract as JSON: {e}")))?;
        json + "\n"
    } else {
        contract::page(contracts)
    };
    match destination {
        ContractTo::Standard => print_exact(&text),
        ContractTo::File(file) if check => compare(file, &text),
        ContractTo::File(file) => write(file, &text),
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |e| environment(format!("cannot write {}: {e}", file.display()));
    let mut target = PartialFile::beside(file, MODE).map_err(failed)?;
    target.write_all(text.as_bytes()).map_err(failed)?;
    target.persist(file).map_err(failed)?;
    Ok(())
}

fn compare(file: &Path, today: &str) -> Result<(), Failure> {
    let text = regular::read_to_string(file, MOST_BYTES)
        .map_err(|e| environment(format!("cannot read {}: {e}", file.display())))?;
    // Checkouts of git can have other ends of lines.
    let lines = differences(&text.replace("\r\n", "\n"), today);
    if lines.is_empty() {
        return Ok(());
    }
    let message = format!("{} is not the contract of today", file.display());
    let more = lines.len().saturating_sub(SHOWN);
    let mut help: Vec<String> = lines.into_iter().take(SHOWN).collect();
    help.extend((more > 0).then(|| format!("and {}", counted(more, "more line"))));
    help.push("write it with the same command without --check, and review its difference".into());
    Err(Problems::from(Problem::error(Code::Loss, message).help(help.join("\n"))).into())
}

/// Lines that only one text has in a section, with their sign.
fn differences(old: &str, new: &str) -> Vec<String> {
    let lines_only_in = |text: &str, other_text: &str, sign: char| -> Vec<String> {
        let other_lines: HashSet<(&str, &str)> = by_section(other_text).collect();
        let lines = by_section(text).filter(|line| !other_lines.contains(line));
        lines.map(|(_, line)| format!("{sign} {}", line.trim())).collect()
    };
    let mut differences = lines_only_in(old, new, '-');
    differences.extend(lines_only_in(new, old, '+'));
    if differences.is_empty() && old != new {
        differences.push("the order of the lines differs".to_owned());
    }
    differences
}

/// Lines, each with the last line without indentation. Many packages have equal lines.
fn by_section(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().scan("", |section, line| {
        if !line.starts_with(' ') {
            *section = line;
        }
        Some((*section, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_lines_of_one_text_alone() {
        assert_eq!(differences("a\n  b\n", "a\n  b\n"), [""; 0]);
        assert_eq!(differences("a\n  b\n", "a\n  c\n"), ["- b", "+ c"]);
        let (old, new) = ("a\n  b\nc\n  b\n", "a\n  b\nc\n  d\n");
        assert_eq!(differences(old, new), ["- b", "+ d"], "a line that another section has");
        assert_eq!(differences("a\nb\n", "b\na\n"), ["the order of the lines differs"]);
    }
}
