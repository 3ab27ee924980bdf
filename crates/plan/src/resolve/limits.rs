//! Sizes of packages, and the lines that limit them.

use crate::{Distribution, Limit, Limits};
use base::source::{Code, Place, Problem, Problems, Spanned};
use manifest::{Manifest, Package, SizeLimit};

type Value = fn(&SizeLimit) -> Option<&Spanned<u64>>;

const INSTALLED: Value = |line| line.installed.as_ref();

pub(super) fn for_package(manifest: &Manifest, package: &Package) -> Limits {
    let limit = |value: Value| {
        let stated = stated(manifest, package, value)?;
        Some(Limit { most: stated.value, rule: stated.place.shown() })
    };
    Limits {
        installed: limit(INSTALLED),
        packed: limit(|line| line.packed.as_ref()),
        growth: limit(|line| line.growth.as_ref()),
    }
}

/// The package's lines count before the lines of `common`.
fn stated<'m>(
    manifest: &'m Manifest,
    package: &'m Package,
    value: Value,
) -> Option<&'m Spanned<u64>> {
    package.at_most.iter().chain(&manifest.project.at_most).find_map(value)
}

pub(super) fn check<'d>(
    manifest: &Manifest,
    distributions: impl Iterator<Item = &'d Distribution>,
) -> Problems {
    let mut problems = Problems::new();
    for excess in distributions.filter_map(Distribution::installs_too_much) {
        let package = manifest.packages.get(&excess.distribution.package);
        let stated = package.and_then(|package| stated(manifest, package, INSTALLED));
        problems.push(too_large(&excess.to_string(), stated.map(|stated| &stated.place)));
    }
    problems
}

fn too_large(message: &str, place: Option<&Place>) -> Problem {
    let help = "take fewer files, split the package, or raise the limit in the same change";
    let problem = Problem::error(Code::PackageTooLarge, message).help(help);
    match place {
        Some(place) => problem.label(place, "the limit"),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime, wheel};

    fn messages(lines: &str, bytes: u64) -> Vec<String> {
        let lines = format!("artifact \"a\" \"lib\"; {lines}");
        let fixture = Fixture::new(&[runtime("core", &lines)], "a_lib_generic f text f");
        let dist = &fixture.dists()[0];
        let mut made = wheel(dist, "f");
        made.members[0].size = bytes;
        made.limits = for_package(&fixture.manifest, dist.package);
        check(&fixture.manifest, [&made].into_iter()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn refuses_more_installed_bytes_than_the_line_allows() {
        let line = "at-most installed=\"2 kB\" packed=\"1 B\" growth=\"5 %\"";
        assert_eq!(messages(line, 2000), [""; 0]);
        let found = messages(line, 2001);
        let expected = "`x-core` has 2.00 kB installed, but packages.kdl:";
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
        assert!(found[0].ends_with(" allows 2.00 kB"), "{found:?}");
        assert_eq!(messages("at-most packed=\"1 B\"", 2001), [""; 0]);
    }
}
