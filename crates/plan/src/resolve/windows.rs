//! Check for paths that Windows cannot install: overlong or reserved ("Naming Files, Paths, and
//! Namespaces", Microsoft).

use crate::{Distribution, Member, Step};
use base::names::System;
use base::source::{Code, Problem, Problems};
use base::text::counted;
use manifest::{Manifest, WindowsPaths};

/// Names reserved with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// Names reserved with a digit.
const NUMBERED: [&str; 2] = ["com", "lpt"];

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
        let wrong = members().filter_map(|member| impossible(distribution, member));
        too_long(limit, distribution, members())
            .into_iter()
            .chain(wrong)
            .for_each(|problem| problems.push(problem));
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
    let what = format!(
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
    Some(Problem::error(Code::PathTooLong, what).help(help))
}

fn impossible(distribution: &Distribution, member: &Member) -> Option<Problem> {
    let why = member.path.as_str().split('/').find_map(why_not)?;
    let what = format!("{} installs `{}`: {why}", distribution.name, member.path);
    Some(
        Problem::error(Code::UnsafeName, what)
            .help("rename it in the build, or exclude it: Windows does not allow this name"),
    )
}

fn why_not(name: &str) -> Option<String> {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let numbered = |device: &str| {
        let number = stem.strip_prefix(device).filter(|rest| rest.len() == 1);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    };
    if DEVICES.contains(&&*stem) || NUMBERED.iter().any(|device| numbered(device)) {
        return Some(format!("`{name}` is a reserved device name"));
    }
    if name.ends_with(['.', ' ']) {
        return Some(format!("`{name}` ends in a dot or a space, which Windows removes"));
    }
    let bad = name.chars().find(|c| c.is_control() || "<>:\"|?*\\".contains(*c))?;
    Some(format!("`{name}` has {bad:?}, which Windows does not allow"))
}

#[cfg(test)]
mod tests {
    use super::{System, WindowsPaths, paths, too_long, why_not};
    use crate::resolve::tests::{Given, runtime, wheel};

    #[test]
    fn paths_may_be_as_long_as_windows_opens_them() {
        let given =
            Given::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
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
            let wheel = wheel(&given.dists()[0], installed);
            let problem = too_long(limit, &wheel, wheel.members.iter());
            let message = problem.as_ref().map(base::source::Problem::message);
            let named = longest.map(|path| format!("x-core installs `{path}`, "));
            assert_eq!(message.is_some(), longest.is_some(), "{installed}");
            assert!(
                message.unwrap_or_default().starts_with(&named.unwrap_or_default()),
                "{message:?}"
            );
        }
        let wheel = wheel(&given.dists()[0], "nul");
        let wrong = |system| paths(&given.manifest, system, [&wheel].into_iter()).iter().count();
        assert_eq!([wrong(System::Linux), wrong(System::Windows)], [0, 1]);
    }

    #[test]
    fn names_that_windows_keeps() {
        for bad in ["nul", "NUL.txt", "com1", "Lpt9.h", "con .c", "a.", "b ", "a:b", "x\u{1}", "q?"]
        {
            assert!(why_not(bad).is_some(), "{bad}");
        }
        for fine in ["null", "com", "com10", "console.h", ".nul", "lpt.h", "a b", "ü"] {
            assert_eq!(why_not(fine), None);
        }
    }
}
