//! Check for overlong paths: pip fails in the middle of the installation.

use crate::{Distribution, Member};
use base::names::{has_unseen, oversize};
use base::source::{Code, Problem, Problems};
use base::text::counted;

const SHOWN: usize = 60;

pub(super) fn paths<'a>(distributions: impl Iterator<Item = &'a Distribution>) -> Problems {
    let mut problems = Problems::new();
    distributions.filter_map(too_long).for_each(|problem| problems.push(problem));
    problems
}

fn too_long(distribution: &Distribution) -> Option<Problem> {
    let why = |member: &Member| oversize(member.path.as_str());
    let mut beyond = distribution.all_members().filter(|member| why(member).is_some());
    let first = beyond.next()?;
    let more = match beyond.count() {
        0 => String::new(),
        more => format!(", and {} too", counted(more, "more path")),
    };
    let mut shown: String = first.path.as_str().chars().take(SHOWN).collect();
    if shown.len() < first.path.as_str().len() {
        shown.push('…');
    }
    let reason = why(first).unwrap_or_default();
    let message =
        format!("{} installs `{}`: {reason}{more}", distribution.name, shown.escape_debug());
    let is_unseen = has_unseen(first.path.as_str());
    let (verb, code) =
        if is_unseen { ("rename", Code::UnsafeName) } else { ("shorten", Code::PathTooLong) };
    Some(Problem::error(code, message).help(format!("{verb} the path in the build, or exclude it")))
}

#[cfg(test)]
mod tests {
    use super::{Code, paths};
    use crate::resolve::tests::{Fixture, runtime, wheel};

    #[test]
    fn names_may_have_255_bytes_on_every_system() {
        let fixture =
            Fixture::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
        let longest = "a".repeat(255);
        let wheel = |installed: &str| wheel(&fixture.dists()[0], installed);
        for (installed, problem) in [
            (longest.clone(), None),
            (format!("{longest}b"), Some("one of its segments is longer than 255 bytes")),
            ("ü".repeat(128), Some("one of its segments is longer than 255 bytes")),
            (format!("{longest}b {longest}c"), Some("255 bytes, and 1 more path too")),
            (vec![&*longest; 17].join("/"), Some("it is longer than 4,095 bytes")),
        ] {
            let found = paths([&wheel(&installed)].into_iter());
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.len(), usize::from(problem.is_some()), "{found:?}");
            let expected = problem.unwrap_or_default();
            assert!(found.iter().all(|text| text.ends_with(expected) && text.len() < 200));
            assert!(found.iter().all(|text| text.starts_with("x-core installs `")), "{found:?}");
        }
        let unseen = paths([&wheel("a\u{ad}b")].into_iter());
        let problem = unseen.iter().next().unwrap();
        assert_eq!(problem.code(), Code::UnsafeName);
        let expected = "x-core installs `a\\u{ad}b`: it has an invisible or unassigned character";
        assert_eq!(problem.message(), expected);
    }
}
