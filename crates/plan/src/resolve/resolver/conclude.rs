use std::collections::HashSet;

use super::{Findings, Resolver};
use crate::resolve::emptied::Emptied;
use crate::resolve::entries::EntrySet;
use crate::resolve::ignored::IgnoreLines;
use crate::resolve::links::Filled;
use crate::resolve::platform::Platform;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::sources::Sources;
use crate::resolve::unowned::{self, Causes, Left, Leftover, Ownership};
use crate::resolve::{
    apart_code, check, closure, compression, execstack, limits, misplaced, misspelled, oversize,
    ownership, parted, partial_artifacts, platform, programs, repeated, set, source_build,
    taken_and_dropped, too_wide, unused_rules, windows,
};
use crate::{Distribution, Dropped, FORMAT, Note, Plan, Unowned};
use base::source::{Code, Problem, Problems};
use catalog::SourcePath;
use rayon::prelude::*;

type Made<'a> = (ResolvedDist<'a>, Distribution);

/// Packages with all of their files, before checks.
struct Packages<'r, 'a> {
    resolver: &'r Resolver<'a>,
    made: &'r [Made<'a>],
    filled: &'r [Filled<'a>],
    selected: &'r EntrySet<'a>,
    run: &'r EntrySet<'a>,
    sources: &'r Sources<'a>,
}

type Check = fn(&Packages<'_, '_>) -> Problems;

/// Checks of paths. Unowned files are searched for causes among their problems, and so after them.
const OF_PATHS: [Check; 5] = [
    |it| ownership::check(it.made, it.filled, it.resolver.targets.system),
    |it| repeated::check(it.resolver.catalog, it.filled),
    |it| parted::check(it.filled),
    |it| it.lengths(),
    |it| limits::check(it.resolver.manifest, it.distributions()),
];

const OF_RULES: [Check; 5] = [
    |it| execstack::check(it.made, it.sources),
    |it| {
        let Resolver { manifest, catalog, targets, .. } = it.resolver;
        let entries = apart_code::Entries { selected: it.selected, run: it.run };
        apart_code::check(manifest, catalog, targets, it.filled, &entries)
    },
    |it| too_wide::check(it.resolver.manifest, it.resolver.catalog, it.filled),
    |it| {
        let Resolver { manifest, catalog, targets, .. } = it.resolver;
        misspelled::check(manifest, catalog, it.filled, targets.system)
    },
    |it| {
        let Resolver { whole_manifest, manifest, targets, .. } = it.resolver;
        programs::without_script(whole_manifest, manifest, it.filled, targets.system)
    },
];

const OF_LINES: [Check; 2] = [
    |it| unused_rules::check_without_package(it.resolver.manifest, it.resolver.catalog),
    |it| partial_artifacts::check(it.resolver.manifest, it.resolver.catalog, it.resolver.dists),
];

impl Packages<'_, '_> {
    /// Runs checks side by side: none sees problems of another.
    fn run(&self, checks: &[Check], problems: &mut Problems) {
        let found: Vec<Problems> = checks.par_iter().map(|check| check(self)).collect();
        for new_problems in found {
            problems.extend(new_problems);
        }
    }

    fn distributions(&self) -> impl Iterator<Item = &Distribution> {
        self.made.iter().map(|(_, distribution)| distribution)
    }

    /// Checks the limits of archives only if Windows has no objection: one problem a path is
    /// enough.
    fn lengths(&self) -> Problems {
        let Resolver { manifest, targets, .. } = self.resolver;
        let problems = windows::paths(manifest, targets.system, self.distributions());
        if problems.is_empty() { oversize::paths(self.distributions()) } else { problems }
    }

    /// Only without errors: the problems could be consequences of these.
    fn libraries(&self, problems: &mut Problems, notes: &mut Vec<Note>) {
        let Resolver { manifest, catalog, targets, .. } = self.resolver;
        problems.extend(check::directories(self.made));
        let ignore_lines = IgnoreLines::new(manifest);
        let libraries = || check::libraries(self.filled, targets.system, &ignore_lines);
        let closure =
            || closure::check(manifest, catalog, self.sources, &ignore_lines, self.distributions());
        let misplaced = || misplaced::check(manifest, self.made);
        let ((libraries, (unresolved, accepted)), misplaced) =
            rayon::join(|| rayon::join(libraries, closure), misplaced);
        problems.extend(libraries);
        problems.extend(unresolved);
        notes.extend(accepted);
        let packages: Vec<_> = self.distributions().map(|it| &it.package).collect();
        problems.extend(ignore_lines.unused(&packages));
        problems.extend(misplaced);
    }
}

impl<'a> Resolver<'a> {
    pub(super) fn check(
        &self,
        mut made: Vec<Made<'a>>,
        filled: &[Filled<'a>],
        findings: Findings<'a>,
    ) -> Result<(Plan, Problems), Problems> {
        let Findings { mut problems, mut notes, selected, selected_by_runtime, emptied } = findings;
        let sources = &Sources::new(self.catalog);
        let (selected, run) = (&selected, &selected_by_runtime);
        let packages = Packages { resolver: self, made: &made, filled, selected, run, sources };
        packages.run(&OF_PATHS, &mut problems);
        let (unowned, dropped) = self.ownership(&packages, emptied, &mut problems);
        packages.run(&OF_RULES, &mut problems);
        if !problems.has_errors() {
            packages.libraries(&mut problems, &mut notes);
        }
        packages.run(&OF_LINES, &mut problems);
        let planned = set::packages(sources, &self.targets.version, &made);
        let platform = self.platform(&planned, &mut problems, &mut notes);
        let python = self.projects(&mut problems, &mut notes);
        if platform.tag.is_none() && !problems.has_errors() {
            problems.push(platform::unknown());
        }
        let Some(platform_tag) = platform.tag else { return Err(problems) };
        // Otherwise consequences of earlier errors.
        if problems.has_errors() {
            drop(planned);
        } else {
            let tag = |number| platform.others.get(&number).unwrap_or(&platform_tag).as_str();
            let Self { manifest, targets, request, .. } = self;
            problems.extend(set::check(manifest, targets, request, &made, planned, tag));
        }
        for (number, tag) in platform.others {
            made[number].1.platform_tag = Some(tag);
        }
        let made = self.with_former(made, &mut problems);
        let version = self.targets.version.clone();
        let has_modes = !self.manifest.families.isas.is_empty() || self.request.mode.is_some();
        let kpack_or_legacy = has_modes.then_some(self.targets.mode);
        // `--since` leaves out the same packages in each job, and its saved plan has no others.
        let distributions = made.iter().filter(|(dist, _)| !self.is_earlier(dist));
        let distributions = distributions.map(|(_, distribution)| distribution);
        let whole = (!self.request.only.is_empty())
            .then(|| crate::digest(kpack_or_legacy, &version, &platform_tag, distributions));
        let source_build::Resolved { projects, wheels, prefetched, devel, .. } = python;
        let plan = Plan {
            format: FORMAT,
            mode: kpack_or_legacy,
            version,
            platform_tag,
            distributions: self.requested(made),
            texts: Vec::new(),
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

    /// Platform tags of wheels.
    fn platform(
        &self,
        packages: &[::check::Package<'_>],
        problems: &mut Problems,
        notes: &mut Vec<Note>,
    ) -> Platform {
        let mut platform =
            platform::judge(self.manifest, self.request, self.targets.system, packages);
        notes.extend(platform.notes.drain(..).map(Note::from));
        // Otherwise consequences of earlier errors.
        let new_problems = std::mem::take(&mut platform.problems);
        if !problems.has_errors() {
            problems.extend(new_problems);
        }
        platform
    }

    fn projects(&self, problems: &mut Problems, notes: &mut Vec<Note>) -> source_build::Resolved {
        let tree = source_build::Tree::of_packages(self.dists, &self.targets.version);
        let mut python = source_build::resolve(self.manifest, self.request, tree, self.targets);
        problems.extend(std::mem::take(&mut python.problems));
        notes.extend(std::mem::take(&mut python.notes).into_iter().map(Note::from));
        python
    }

    fn is_earlier(&self, dist: &ResolvedDist<'_>) -> bool {
        let since = self.request.since.as_ref();
        since.is_some_and(|since| since.versions.contains_key(&dist.name.normalized()))
    }

    fn requested(&self, made: Vec<Made<'a>>) -> Vec<Distribution> {
        let is_wanted = |dist: &ResolvedDist<'_>| {
            self.request.wants_distribution(&dist.package.name, &dist.name)
                && !self.is_earlier(dist)
        };
        let requested = made.into_iter().filter(|(dist, _)| is_wanted(dist));
        let mut distributions: Vec<_> = requested.map(|(_, distribution)| distribution).collect();
        for distribution in &mut distributions {
            distribution.compressed_otherwise =
                compression::other_levels(self.manifest, self.request, distribution);
        }
        distributions
    }

    fn ownership(
        &self,
        packages: &Packages<'_, 'a>,
        emptied: Vec<Emptied<'a>>,
        problems: &mut Problems,
    ) -> (Vec<Unowned>, Vec<Dropped>) {
        let Leftover { mut unowned, dropped, problems: idle } =
            unowned::find(self.manifest, self.catalog, self.targets, packages.selected);
        problems.extend(idle);
        let (manifest, catalog) = (self.manifest, self.catalog);
        problems.extend(taken_and_dropped::check(manifest, catalog, self.dists, packages.selected));
        // Shipped even if no package takes them.
        let texts = packages.distributions().flat_map(|it| &it.licenses);
        let texts: HashSet<&SourcePath> = texts.filter_map(|text| text.step.source()).collect();
        unowned.retain(|left| !texts.contains(&left.item.origin()));
        // An error of unowned files explains the line; a warning of allowed ones does not.
        let errors = unowned.iter().filter(|left| !self.allows(left));
        let errors = EntrySet::from_items(self.catalog, errors.map(|left| &left.item));
        let is_reported = |line: &Emptied<'_>| line.files.iter().all(|file| errors.contains(file));
        let emptied = emptied.into_iter().filter(|line| !is_reported(line));
        let emptied: Vec<Problem> = emptied.map(|line| line.problem).collect();
        let mut causes = Causes::new(
            (self.manifest, self.catalog),
            self.whole_manifest,
            self.targets.target(),
            self.dists,
        );
        let ownership = Ownership {
            manifest: self.manifest,
            catalog: self.catalog,
            filled: packages.filled,
            allow: self.request.allows(Code::UnownedFiles),
            known: problems,
        };
        let (unowned, new_problems) = unowned::check(&ownership, &unowned, &mut causes);
        problems.extend(new_problems);
        for problem in emptied {
            problems.push(problem);
        }
        (unowned, dropped)
    }

    fn allows(&self, left: &Left<'_>) -> bool {
        self.request.allows(Code::UnownedFiles) || left.allowed.is_some()
    }
}
