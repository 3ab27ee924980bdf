//! Lines that remove requests for an executable stack: each clears a file, or says that it may not.

use std::collections::BTreeMap;

use super::resolved_dist::ResolvedDist;
use super::sources::Sources;
use crate::{Distribution, Member, Step};
use base::names::RelPath;
use base::source::{Capped, Code, Problem, Problems, nearest};
use manifest::{ExecstackRule, Package};

/// Effect of a line on the files of its package.
#[derive(Default)]
struct Effect {
    cleared: bool,
    /// A file that asks for an executable stack and that no edit can change.
    fixed: Option<RelPath>,
    /// A file without the request.
    plain: Option<RelPath>,
}

pub(super) fn check(made: &[(ResolvedDist<'_>, Distribution)], sources: &Sources<'_>) -> Problems {
    let mut packages: BTreeMap<&str, (&Package, Vec<Effect>, Vec<RelPath>)> = BTreeMap::new();
    for (dist, distribution) in made.iter().filter(|(dist, _)| !dist.package.execstacks.is_empty())
    {
        let package = dist.package;
        let initial = || {
            (package, package.execstacks.iter().map(|_| Effect::default()).collect(), Vec::new())
        };
        let (_, effects, paths) = packages.entry(package.name.as_str()).or_insert_with(initial);
        let root = RelPath::from(&dist.platform_dir);
        for member in distribution.all_members() {
            let Some(path) = member.path.below(&root) else { continue };
            for (index, _) in package.execstacks.matching(&path) {
                effects[index].add(&path, member, sources);
            }
            if member.step.source().is_some_and(|source| sources.facts(source).is_some()) {
                paths.push(path);
            }
        }
    }
    let mut problems = Capped::default();
    for (package, effects, paths) in packages.values() {
        for (rule, effect) in package.execstacks.iter().zip(effects) {
            if let Some(path) = &effect.fixed {
                problems.report(|| not_editable(package, rule, path));
            } else if !effect.cleared && rule.optional.is_none() {
                problems.report(|| idle(package, rule, effect, paths));
            }
        }
    }
    problems.into_problems()
}

impl Effect {
    fn add(&mut self, path: &RelPath, member: &Member, sources: &Sources<'_>) {
        let Some(facts) = member.step.source().and_then(|source| sources.facts(source)) else {
            return;
        };
        let place = match (&member.step, facts.executable_stack) {
            (Step::Relink { clear_execstack: true, .. }, _) => {
                self.cleared = true;
                return;
            }
            (_, Some(_)) => &mut self.fixed,
            (_, None) => &mut self.plain,
        };
        place.get_or_insert_with(|| path.clone());
    }
}

fn not_editable(package: &Package, rule: &ExecstackRule, path: &RelPath) -> Problem {
    let message = format!(
        "the executable stack of `{path}` in package `{}` cannot be cleared",
        *package.name
    );
    Problem::error(Code::ExecutableStack, message)
        .label(&rule.glob.place, "this line clears it")
        .help(
            "link it again with `-z noexecstack`: only dynamically linked files for x86-64 and aarch64 \
             can be edited",
        )
}

fn idle(package: &Package, rule: &ExecstackRule, effect: &Effect, paths: &[RelPath]) -> Problem {
    let message = format!("`{}` of package `{}` clears nothing", rule.glob.as_str(), *package.name);
    let near = || nearest(rule.glob.as_str(), paths.iter().map(RelPath::as_str));
    let label = match &effect.plain {
        Some(path) => format!("`{path}` does not ask for an executable stack"),
        None => near().map_or_else(
            || "no ELF file of the package matches".to_owned(),
            |path| format!("no ELF file of the package matches; the nearest is `{path}`"),
        ),
    };
    Problem::error(Code::MatchesNothing, message)
        .label(&rule.glob.place, label)
        .help("correct the glob, remove the line, or give a reason: optional=\"…\"")
}
