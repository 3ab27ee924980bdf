use std::collections::{BTreeMap, HashSet};

use super::{Findings, Resolver};
use crate::catalog::{CatalogEntry, Origin};
use crate::resolve::emptied::Emptied;
use crate::resolve::expected::Expectations;
use crate::resolve::links::Filled;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::sources::Sources;
use crate::resolve::unowned::{self, Causes, Left, Leftover, Ownership};
use crate::resolve::{
    apart_code, check, closure, compression, misplaced, misspelled, oversize, ownership, parted,
    platform, repeated, shards, source_build, taken_and_dropped, too_wide, unused_rules, windows,
};
use crate::{Distribution, Dropped, FORMAT, Note, Plan, Unowned};
use base::source::{Problem, Problems};

impl<'a> Resolver<'a> {
    pub(super) fn check(
        &self,
        mut made: Vec<(ResolvedDist<'a>, Distribution)>,
        filled: &[Filled<'a>],
        found: Findings,
    ) -> Result<(Plan, Problems), Problems> {
        let Findings { mut problems, mut notes, selected, run, emptied } = found;
        let sources = Sources::new(self.catalog);
        problems.extend(ownership::check(&made, filled, self.targets.system));
        problems.extend(repeated::check(filled));
        problems.extend(parted::check(filled));
        let distributions = made.iter().map(|(_, d)| d);
        let mut too_long = windows::paths(self.manifest, self.targets.system, distributions);
        if too_long.is_empty() {
            too_long = oversize::paths(made.iter().map(|(_, d)| d));
        }
        problems.extend(too_long);
        let (unowned, dropped) = self.ownership(&made, filled, (&selected, emptied), &mut problems);
        let entries = apart_code::Entries { taken: &selected, run: &run };
        let apart = apart_code::check(self.manifest, self.catalog, self.targets, filled, &entries);
        problems.extend(apart);
        problems.extend(too_wide::check(self.manifest, filled));
        problems.extend(misspelled::check(
            self.manifest,
            self.catalog,
            filled,
            self.targets.system,
        ));
        if !problems.has_errors() {
            // Otherwise consequences of earlier errors.
            problems.extend(check::directories(&made));
            let expected = Expectations::new(self.manifest);
            problems.extend(check::libraries(filled, self.targets.system, &expected));
            let distributions = made.iter().map(|(_, d)| d);
            let (unresolved, excused) =
                closure::check(self.manifest, self.catalog, &sources, &expected, distributions);
            problems.extend(unresolved);
            notes.extend(excused);
            let packages: Vec<_> = made.iter().map(|(_, d)| &d.package).collect();
            problems.extend(expected.unused(&packages));
            problems.extend(misplaced::check(self.manifest, &made));
        }
        problems.extend(unused_rules::elsewhere(self.manifest, self.catalog));
        problems.extend(shards::check(self.manifest, self.catalog, self.all));
        let shipped = made.iter().map(|(_, distribution)| distribution);
        let platform =
            platform::judge(self.manifest, self.request, self.targets.system, &sources, shipped);
        notes.extend(platform.notes.into_iter().map(Note::from));
        if !problems.has_errors() {
            problems.extend(platform.problems);
        }
        let platform_tag = platform.tag;
        for (number, tag) in platform.others {
            made[number].1.platform_tag = Some(tag);
        }
        let tree = source_build::Tree::of_packages(self.all, &self.targets.version);
        let python = source_build::resolve(self.manifest, self.request, tree, self.targets);
        problems.extend(python.problems);
        notes.extend(python.notes.into_iter().map(Note::from));
        if platform_tag.is_none() && !problems.has_errors() {
            problems.push(platform::unknown());
        }
        let Some(platform_tag) = platform_tag else { return Err(problems) };
        let made = self.with_former(made, &mut problems);
        let version = self.targets.version.clone();
        let has_modes = !self.manifest.families.isas.is_empty() || self.request.mode.is_some();
        let kpack_or_legacy = has_modes.then_some(self.targets.mode);
        let all = made.iter().map(|(_, distribution)| distribution);
        let earlier = self.request.since.as_ref().map(|since| &since.versions);
        let is_earlier = |i: &ResolvedDist<'_>| {
            earlier.is_some_and(|earlier| earlier.contains_key(&i.name.normalized()))
        };
        let is_whole = self.request.only.is_empty() && earlier.is_none_or(BTreeMap::is_empty);
        let whole =
            (!is_whole).then(|| crate::digest(kpack_or_legacy, &version, &platform_tag, all));
        let wanted = |i: &ResolvedDist<'_>| {
            self.request.wants_distribution(&i.package.name, &i.name) && !is_earlier(i)
        };
        let mut distributions: Vec<_> =
            made.into_iter().filter(|(i, _)| wanted(i)).map(|(_, d)| d).collect();
        for distribution in &mut distributions {
            distribution.compressed_otherwise =
                compression::otherwise(self.manifest, self.request, distribution);
        }
        let source_build::Resolved { projects, wheels, prefetched, devel, .. } = python;
        let plan = Plan {
            format: FORMAT,
            mode: kpack_or_legacy,
            version,
            platform_tag,
            distributions,
            earlier: Vec::new(),
            projects,
            wheels,
            prefetched,
            devel,
            dropped,
            unowned,
            notes,
            warnings: Vec::new(),
            whole,
        };
        Ok((plan, problems))
    }

    fn ownership(
        &self,
        made: &[(ResolvedDist<'a>, Distribution)],
        filled: &[Filled<'a>],
        (selected, emptied): (&HashSet<*const CatalogEntry>, Vec<Emptied>),
        problems: &mut Problems,
    ) -> (Vec<Unowned>, Vec<Dropped>) {
        let Leftover { mut unowned, dropped, problems: idle } =
            unowned::find(self.manifest, self.catalog, self.targets, selected);
        problems.extend(idle);
        let (manifest, catalog) = (self.manifest, self.catalog);
        problems.extend(taken_and_dropped::check(manifest, catalog, self.all, selected));
        // Shipped even if no package takes them.
        let texts = made.iter().flat_map(|(_, d)| &d.licenses);
        let texts: HashSet<&Origin> = texts.filter_map(|text| text.step.source()).collect();
        unowned.retain(|left| !texts.contains(&left.item.origin()));
        // An error of unowned files explains the line; a warning of allowed ones does not.
        let errors = unowned.iter().filter(|left| !self.allows(left));
        let errors: HashSet<_> = errors.map(|left| std::ptr::from_ref(left.item.entry)).collect();
        let is_reported = |line: &Emptied| line.files.iter().all(|file| errors.contains(file));
        let emptied = emptied.into_iter().filter(|line| !is_reported(line));
        let emptied: Vec<Problem> = emptied.map(|line| line.problem).collect();
        let mut causes =
            Causes::new((self.manifest, self.catalog), self.whole, self.targets.target(), self.all);
        let ownership = Ownership {
            manifest: self.manifest,
            catalog: self.catalog,
            filled,
            allow: self.request.allow_unowned,
            known: problems,
        };
        let (unowned, found) = unowned::check(&ownership, &unowned, &mut causes);
        problems.extend(found);
        for problem in emptied {
            problems.push(problem);
        }
        (unowned, dropped)
    }

    fn allows(&self, left: &Left<'_>) -> bool {
        self.request.allow_unowned || left.allowed.is_some()
    }
}
