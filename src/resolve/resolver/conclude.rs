//! The checks over all distributions, and the plan that is made of them.

use super::{Findings, Resolver};
use crate::plan::{self, Distribution, FORMAT, Note, Plan};
use crate::resolve::expected::Expectations;
use crate::resolve::links::Filled;
use crate::resolve::resolved_dist::ResolvedDist;
use crate::resolve::sources::Sources;
use crate::resolve::unowned::{self, Leftover};
use crate::resolve::{
    check, closure, compression, misplaced, oversize, ownership, parted, platform, repeated,
    shards, source_build, unused_rules, windows,
};
use crate::source::{Code, Problem, Problems};

impl<'a> Resolver<'a> {
    /// Checks all distributions together; without errors, they are the plan.
    pub(super) fn check(
        &self,
        made: Vec<(ResolvedDist<'a>, Distribution)>,
        filled: &[Filled<'a>],
        found: Findings,
    ) -> Result<(Plan, Problems), Problems> {
        let Findings { mut problems, mut notes, selected } = found;
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
        if !problems.has_errors() {
            // Of a plan that fails, these would tell consequences.
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
        let Leftover { unowned, dropped, problems: idle } =
            unowned::find(self.manifest, self.catalog, self.targets, &selected);
        problems.extend(idle);
        if self.request.deny_unowned {
            problems.extend(unowned::denied(self.manifest, self.catalog, &unowned));
        }
        let shipped = made.iter().map(|(_, distribution)| distribution);
        let platform =
            platform::judge(self.manifest, self.request, self.targets.system, &sources, shipped);
        notes.extend(platform.note.map(Note::from));
        if !problems.has_errors() {
            problems.extend(platform.problems);
        }
        let platform_tag = platform.tag;
        let python = source_build::resolve(self.manifest, self.request, self.all, self.targets);
        problems.extend(python.problems);
        notes.extend(python.notes.into_iter().map(Note::from));
        if platform_tag.is_none() && !problems.has_errors() {
            problems.push(
                Problem::usage(
                    Code::PlatformTag,
                    "no binary says which platform the wheels are for",
                )
                .help("give the tag: --platform-tag linux_x86_64"),
            );
        }
        let Some(platform_tag) = platform_tag else { return Err(problems) };
        let version = self.targets.version.clone();
        let all = made.iter().map(|(_, distribution)| distribution);
        let whole = (!self.request.only.is_empty())
            .then(|| plan::digest(self.targets.mode, &version, &platform_tag, all));
        let wanted =
            |i: &ResolvedDist<'_>| self.request.wants_distribution(&i.package.name, &i.name);
        let mut distributions: Vec<_> =
            made.into_iter().filter(|(i, _)| wanted(i)).map(|(_, d)| d).collect();
        for distribution in &mut distributions {
            distribution.compressed_otherwise =
                compression::otherwise(self.manifest, self.request, distribution);
        }
        let source_build::Resolved { projects, wheels, prefetched, devel, .. } = python;
        let plan = Plan {
            format: FORMAT,
            mode: self.targets.mode,
            version,
            platform_tag,
            distributions,
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
}
