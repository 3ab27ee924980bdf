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
                    let what = format!("no package has the rpath directory `{to}`");
                    found.push(Finding::warning(Code::RpathLeadsNowhere, what).to(to));
                    continue;
                }
                Leads::Above => "rpath out of site-packages",
                Leads::Absolute => "absolute rpath",
                Leads::WorkingDirectory if entry.as_str().is_empty() => {
                    "empty rpath, which means the current directory"
                }
                Leads::WorkingDirectory => "rpath relative to the current directory",
            };
            let what = format!("{outside}: `{entry}`");
            found.push(Finding::error(Code::RpathOutside, what).to(entry.as_str()));
        }
        if search.runpath && shared {
            let what = "LD_LIBRARY_PATH overrides the DT_RUNPATH that leads to libraries of \
                packages";
            found.push(Finding::warning(Code::Runpath, what));
        }
        found.into_iter().map(|finding| finding.of(&*search.member)).collect()
    }
}
