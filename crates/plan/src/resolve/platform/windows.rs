//! Windows tags only state the processor (PEP 425).

use std::collections::BTreeMap;

use super::Platform;
use base::source::{Code, Problem};
use base::text::counted;
use binary::policy::windows_tag;
use check::{File, Package};

/// PE file of a package.
type Program<'p, 'a> = (&'p Package<'a>, &'p File<'a>);

pub(super) fn judge(packages: &[Package<'_>], platform: &mut Platform) {
    let mut by_tag: BTreeMap<&str, Vec<Program<'_, '_>>> = BTreeMap::new();
    for package in packages {
        for (file, needs) in package.binaries() {
            let Some(tag) = needs.pe().and_then(windows_tag) else { continue };
            by_tag.entry(tag).or_default().push((package, file));
        }
    }
    let requested = platform.tag.clone();
    let most = by_tag.iter().max_by_key(|(_, files)| files.len()).map(|(tag, _)| *tag);
    let Some(tag) = requested.as_deref().or(most) else { return };
    for (other, files) in by_tag.iter().filter(|(other, _)| **other != tag) {
        platform.problems.push(other_processor(tag, other, files));
    }
    platform.tag = Some(tag.to_owned());
}

fn other_processor(tag: &str, other: &str, files: &[Program<'_, '_>]) -> Problem {
    let first = files
        .first()
        .map(|(package, file)| format!("`{}` of {} is for {other}", file.member, package.file));
    let more = match files.len() {
        0 | 1 => String::new(),
        many => format!(", and so {}", counted_more(many - 1)),
    };
    let message = format!("{}{more}: the wheels are for {tag}", first.unwrap_or_default());
    Problem::error(Code::PlatformTag, message)
        .help("exclude the files for another processor, or correct the build")
}

fn counted_more(files: usize) -> String {
    let verb = if files == 1 { "is" } else { "are" };
    format!("{verb} {}", counted(files, "more file"))
}
