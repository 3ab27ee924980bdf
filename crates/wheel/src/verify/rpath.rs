//! Rpaths of ELF files: each directory must be in the set.

use std::collections::HashSet;

use super::elf::Search;
use super::{Finding, Package};
use base::source::Code;
use binary::elf::{Leads, Rpath};

pub(super) struct Directories<'p>(HashSet<&'p str>);

impl<'p> Directories<'p> {
    pub fn new(packages: &'p [Package]) -> Self {
        let mut directories = HashSet::new();
        for path in packages.iter().flat_map(|package| package.installed.keys()) {
            // If a directory is known, its parents are, too.
            let above = path.match_indices('/').rev().map(|(at, _)| &path[..at]);
            above.take_while(|directory| directories.insert(*directory)).for_each(drop);
        }
        Self(directories)
    }

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
        let (directory, _) = search.path.rsplit_once('/').unwrap_or_default();
        for entry in Rpath::new(&search.directories).entries() {
            let outside = match entry.leads_from(directory) {
                Leads::Token => continue,
                Leads::Inside(to) if to.is_empty() || self.0.contains(&*to) => {
                    shared = true;
                    continue;
                }
                Leads::Inside(to) => {
                    let what = format!("an rpath leads to `{to}`, which no package of the set has");
                    found.push(Finding::warning(Code::RpathLeadsNowhere, what).to(to));
                    continue;
                }
                Leads::Above => "an rpath leads out of site-packages",
                Leads::Absolute => "an rpath is absolute",
                Leads::WorkingDirectory if entry.as_str().is_empty() => {
                    "an rpath is empty, which is the directory that a program is started in"
                }
                Leads::WorkingDirectory => {
                    "an rpath is relative to the directory that a program is started in"
                }
            };
            let what = format!("{outside}: `{entry}`");
            found.push(Finding::error(Code::RpathOutside, what).to(entry.as_str()));
        }
        if search.runpath && shared {
            let what = "looks for libraries of packages through DT_RUNPATH, before which LD_LIBRARY_PATH comes";
            found.push(Finding::warning(Code::Runpath, what));
        }
        found.into_iter().map(|finding| finding.of(&*search.member)).collect()
    }
}
