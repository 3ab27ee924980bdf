//! Rpaths of ELF files: each directory must be in the set.

use std::collections::HashSet;

use base::source::Code;
use binary::elf::{EntryTarget, Rpath};

use crate::{File, Finding, Needs, Set};

pub(super) fn check(set: &Set<'_>) -> Vec<Finding> {
    let directories = Directories::new(set);
    let each = set.binaries().filter(|(_, file, _)| file.is_installed());
    let findings = each.flat_map(|(package, file, needs)| {
        let findings = directories.search(file, needs).into_iter();
        findings.map(|finding| finding.of(&*file.member).within(&package.file))
    });
    findings.collect()
}

/// Directories of site-packages.
struct Directories<'s>(HashSet<&'s str>);

impl<'s> Directories<'s> {
    fn new(set: &'s Set<'_>) -> Self {
        let mut directories = HashSet::new();
        let files = set.packages.iter().flat_map(|package| &package.files);
        for path in files.filter_map(File::site_path) {
            // If a directory is known, its parents are, too.
            let above = path.match_indices('/').rev().map(|(at, _)| &path[..at]);
            above.take_while(|directory| directories.insert(*directory)).for_each(drop);
        }
        Self(directories)
    }

    fn search(&self, file: &File<'_>, needs: &Needs<'_>) -> Vec<Finding> {
        let Some(facts) = needs.elf() else { return Vec::new() };
        // Loaders ignore DT_RPATH if DT_RUNPATH is present.
        let Some(rpath) = facts.runpath.as_ref().or(facts.rpath.as_ref()) else {
            return Vec::new();
        };
        let (mut findings, mut shared) = (Vec::new(), false);
        let path = file.site_path().unwrap_or_default();
        let (directory, _) = path.rsplit_once('/').unwrap_or_default();
        for entry in Rpath::new(rpath).entries() {
            let outside = match entry.target_from(directory) {
                EntryTarget::Token => continue,
                EntryTarget::Inside(to) if to.is_empty() || self.0.contains(&*to) => {
                    shared = true;
                    continue;
                }
                EntryTarget::Inside(target) => {
                    let message = format!("no package has the rpath directory `{target}`");
                    findings.push(Finding::warning(Code::RpathLeadsNowhere, message).to(target));
                    continue;
                }
                EntryTarget::Above => "rpath out of site-packages",
                EntryTarget::Absolute => "absolute rpath",
                EntryTarget::WorkingDirectory if entry.as_str().is_empty() => {
                    "empty rpath, which means the current directory"
                }
                EntryTarget::WorkingDirectory => "rpath relative to the current directory",
            };
            let message = format!("{outside}: `{entry}`");
            findings.push(Finding::error(Code::RpathOutside, message).to(entry.as_str()));
        }
        if facts.runpath.is_some() && shared {
            let message = "LD_LIBRARY_PATH overrides the DT_RUNPATH that leads to libraries of \
                packages";
            findings.push(Finding::warning(Code::Runpath, message));
        }
        findings
    }
}
