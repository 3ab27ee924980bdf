//! Windows tags only state the processor (PEP 425).

use std::collections::BTreeMap;

use super::Platform;
use crate::resolve::sources::Sources;
use crate::{Distribution, Member};
use base::source::{Code, Problem};
use base::text::counted;
use binary::policy::windows_tag;

struct Program<'a> {
    distribution: &'a Distribution,
    member: &'a Member,
}

pub(super) fn judge<'a>(
    sources: &Sources<'a>,
    distributions: impl Iterator<Item = &'a Distribution>,
    platform: &mut Platform,
) {
    let mut by_tag: BTreeMap<&str, Vec<Program<'a>>> = BTreeMap::new();
    for distribution in distributions {
        for member in distribution.all_members() {
            let source = member.step.source().and_then(|origin| sources.entry(origin));
            let Some(tag) = source.and_then(|it| windows_tag(it.pe()?)) else { continue };
            by_tag.entry(tag).or_default().push(Program { distribution, member });
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

fn other_processor(tag: &str, other: &str, files: &[Program<'_>]) -> Problem {
    let first = files
        .first()
        .map(|file| format!("`{}` of {} is for {other}", file.member.path, file.distribution.name));
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
