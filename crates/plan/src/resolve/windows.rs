//! Check for paths that Windows cannot install.

use crate::{Distribution, Member, Step};
use base::names::System;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use manifest::{Manifest, WindowsPaths};

pub(super) fn paths<'a>(
    manifest: &Manifest,
    system: System,
    distributions: impl Iterator<Item = &'a Distribution>,
) -> Problems {
    let mut problems = Problems::new();
    if system != System::Windows {
        return problems;
    }
    for distribution in distributions {
        let members = || distribution.all_members().filter(|m| m.step != Step::Directory);
        let limit = manifest.project.windows_paths;
        problems.extend(
            too_long(limit, distribution, members()).map_or_else(Problems::new, Problems::from),
        );
    }
    problems
}

fn too_long<'a>(
    limit: WindowsPaths,
    distribution: &Distribution,
    members: impl Iterator<Item = &'a Member>,
) -> Option<Problem> {
    // UTF-16 units, with the separator before the path.
    let len = |member: &Member| member.path.as_str().encode_utf16().count() + 1;
    let beyond = |member: &&Member| limit.site_packages + len(member) > limit.longest;
    let mut beyond: Vec<&Member> = members.filter(beyond).collect();
    beyond.sort_by_key(|member| std::cmp::Reverse(len(member)));
    let longest = beyond.first()?;
    let more = match beyond.len() - 1 {
        0 => String::new(),
        more => format!(", and {} too", counted(more, "more path")),
    };
    let message = format!(
        "{} installs `{}`, which has {} characters{more}: with a site-packages of {}, the limit \
         of Windows is {}",
        distribution.name,
        longest.path,
        len(longest) - 1,
        limit.site_packages,
        limit.longest,
    );
    let help = "shorten the path in the build, or exclude it; `windows-paths` in `common` sets \
        the limit";
    Some(Problem::error(Code::PathTooLong, message).help(help))
}

#[cfg(test)]
mod tests {
    use super::{WindowsPaths, too_long};
    use crate::resolve::tests::{Fixture, runtime, wheel};

    #[test]
    fn paths_may_be_as_long_as_windows_opens_them() {
        let fixture =
            Fixture::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
        let limit = WindowsPaths { site_packages: 10, longest: 20 };
        let cases = [
            ("a/b/c/d/e", None),
            ("a/b/c/d/ef", Some("a/b/c/d/ef")),
            ("üüüüüüüüü", None),
            ("üüüüüüüüüü", Some("üüüüüüüüüü")),
            ("😀😀😀😀x", None),
            ("😀😀😀😀xy", Some("😀😀😀😀xy")),
            ("0123456789 01234567890 a", Some("01234567890")),
        ];
        for (installed, longest) in cases {
            let wheel = wheel(&fixture.dists()[0], installed);
            let problem = too_long(limit, &wheel, wheel.members.iter());
            let message = problem.as_ref().map(base::source::Problem::message);
            let named = longest.map(|path| format!("x-core installs `{path}`, "));
            assert_eq!(message.is_some(), longest.is_some(), "{installed}");
            assert!(
                message.unwrap_or_default().starts_with(&named.unwrap_or_default()),
                "{message:?}"
            );
        }
    }
}
