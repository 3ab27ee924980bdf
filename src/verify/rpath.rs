//! Where ELF files look for libraries: every directory has to be one of the set's.

use std::collections::HashSet;

use super::elf::Search;
use super::{Finding, Package};
use crate::source::Code;

/// The directories below site-packages that the packages install together.
pub(super) struct Directories<'p>(HashSet<&'p str>);

impl<'p> Directories<'p> {
    pub fn new(packages: &'p [Package]) -> Self {
        let mut directories = HashSet::new();
        for path in packages.iter().flat_map(|package| package.installed.keys()) {
            // Above a directory that is known, all are.
            let above = path.match_indices('/').rev().map(|(at, _)| &path[..at]);
            above.take_while(|directory| directories.insert(*directory)).for_each(drop);
        }
        Self(directories)
    }

    /// What is wrong with where a package's files look.
    pub fn check(&self, package: &Package) -> Vec<Finding> {
        package
            .searches
            .iter()
            .flat_map(|search| self.search(search))
            .map(|finding| finding.within(&package.file))
            .collect()
    }

    fn search(&self, search: &Search) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut shared = false;
        for entry in search.directories.split(':') {
            match target(&search.path, entry) {
                Target::Unknown => {}
                Target::Outside(what) => found.push(
                    Finding::error(Code::RpathOutside, format!("{what}: `{entry}`")).to(entry),
                ),
                Target::Inside(directory)
                    if directory.is_empty() || self.0.contains(&*directory) =>
                {
                    shared = true;
                }
                Target::Inside(directory) => {
                    let what =
                        format!("an rpath leads to `{directory}`, which no package of the set has");
                    found.push(Finding::warning(Code::RpathLeadsNowhere, what).to(directory));
                }
            }
        }
        if search.runpath && shared {
            let what = "looks for libraries of packages through DT_RUNPATH, before which LD_LIBRARY_PATH comes";
            found.push(Finding::warning(Code::Runpath, what));
        }
        found.into_iter().map(|finding| finding.of(&*search.member)).collect()
    }
}

/// What an entry of an rpath stands for.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// A directory below site-packages.
    Inside(String),
    /// Somewhere else, and why that is wrong.
    Outside(&'static str),
    /// What only the loader knows (`$LIB`, `$PLATFORM`).
    Unknown,
}

/// Where `entry` leads from the file at `path` (ld.so(8), "Dynamic string tokens").
fn target(path: &str, entry: &str) -> Target {
    if entry.is_empty() {
        return Target::Outside(
            "an rpath is empty, which is the directory that a program is started in",
        );
    }
    let Some(rest) = entry.strip_prefix("$ORIGIN").or_else(|| entry.strip_prefix("${ORIGIN}"))
    else {
        return match entry.chars().next() {
            Some('$') => Target::Unknown,
            Some('/') => Target::Outside("an rpath is absolute"),
            _ => Target::Outside(
                "an rpath is relative to the directory that a program is started in",
            ),
        };
    };
    if rest.contains('$') {
        return Target::Unknown;
    }
    let mut at: Vec<&str> = path.split('/').collect();
    at.pop();
    for segment in rest.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                if at.pop().is_none() {
                    return Target::Outside("an rpath leads out of site-packages");
                }
            }
            segment => at.push(segment),
        }
    }
    Target::Inside(at.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_lead_where_the_loader_goes() {
        let inside = |directory: &str| Target::Inside(directory.to_owned());
        for (entry, expected) in [
            ("$ORIGIN", inside("_a/lib")),
            ("${ORIGIN}/", inside("_a/lib")),
            ("$ORIGIN/../../_b/lib/./x//y", inside("_b/lib/x/y")),
            ("$ORIGIN/../..", inside("")),
            ("$ORIGIN/../$LIB", Target::Unknown),
            ("$LIB", Target::Unknown),
        ] {
            assert_eq!(target("_a/lib/libx.so", entry), expected, "{entry}");
        }
        for outside in ["", "/opt/lib", "lib", "$ORIGIN/../../..", "$ORIGIN/../../../x"] {
            assert!(matches!(target("_a/lib/libx.so", outside), Target::Outside(_)), "{outside}");
        }
    }
}
