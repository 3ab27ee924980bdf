use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::resolved_dist::ResolvedDist;
use crate::{Distribution, Form, Member, Step};
use base::names::{RelPath, TargetNames};
use base::source::{Code, Problem, Problems};
use base::target::Per;
use base::text::counted;
use manifest::{IgnoreRule, Manifest};

const SHOWN: usize = 3;

/// Warns of ISAs of other targets, and of unused lines for misplaced code.
pub(super) fn check(manifest: &Manifest, made: &[(ResolvedDist<'_>, Distribution)]) -> Problems {
    let check = Check {
        names: manifest.families.target_names(),
        rules: manifest.excuses.with(Code::MisplacedCode).collect(),
        used: RefCell::default(),
    };
    let mut problems = Problems::new();
    let mut by_package: BTreeMap<&str, OtherIsas> = BTreeMap::new();
    for (dist, distribution) in made.iter().filter(|(_, d)| d.form == Form::Wheel) {
        let isas = by_package.entry(dist.package.name.as_str()).or_default();
        check.distribution(dist, distribution, isas);
    }
    for (dist, _) in made {
        if let Some(isas) = by_package.remove(dist.package.name.as_str()).filter(|f| f.files > 0) {
            problems.push(isas.problem(dist));
        }
    }
    problems.extend(check.unused(made));
    problems
}

struct Check<'m> {
    names: TargetNames,
    rules: Vec<&'m IgnoreRule>,
    used: RefCell<BTreeSet<usize>>,
}

#[derive(Default)]
struct OtherIsas {
    files: usize,
    first: Vec<String>,
}

impl Check<'_> {
    fn distribution(
        &self,
        dist: &ResolvedDist<'_>,
        distribution: &Distribution,
        found: &mut OtherIsas,
    ) {
        // Axis values are not GPUs: one distribution suits all ISAs.
        let target = dist.variant.as_str().filter(|_| dist.variant.per().is_by_gpu());
        let archived = distribution.archive.iter().flat_map(|a| &a.members);
        let root = RelPath::from(&dist.platform_dir);
        for member in distribution.members.iter().chain(archived).filter(|m| is_content(m)) {
            let Some(path) = member.path.below(&root) else { continue };
            let named = self.names.in_path(path.as_str());
            let elsewhere = |name: &&&str| target.is_none_or(|t| !self.names.belongs(name, t));
            let elsewhere: Vec<&str> = named.iter().filter(elsewhere).copied().collect();
            // `verify` checks files without an ISA in the name.
            if !named.is_empty() && elsewhere.is_empty() {
                continue;
            }
            let package = &dist.package.name.value;
            let about =
                |rule: &&IgnoreRule| rule.accepts(Code::MisplacedCode, Some(package), Some(&path));
            let allowed = self.rules.iter().position(about);
            self.used.borrow_mut().extend(allowed);
            if allowed.is_none() && !elsewhere.is_empty() {
                found.files += 1;
                if found.first.len() < SHOWN {
                    found.first.push(format!("`{path}` ({})", elsewhere.join(", ")));
                }
            }
        }
    }

    fn unused(&self, made: &[(ResolvedDist<'_>, Distribution)]) -> Problems {
        let used = self.used.borrow();
        let is_made = |rule: &IgnoreRule| {
            rule.package.as_ref().is_none_or(|name| {
                made.iter().any(|(dist, _)| dist.package.name.value == name.value)
            })
        };
        let idle = self.rules.iter().enumerate().filter(|(index, rule)| {
            !used.contains(index) && rule.optional.is_none() && is_made(rule)
        });
        let mut problems = Problems::new();
        for (_, rule) in idle {
            let message = format!("`{}` matches no file", rule.title());
            problems.push(
                Problem::warning(Code::MatchesNothing, message)
                    .label(
                        rule.glob.as_ref().map_or(&rule.code.place, |glob| &glob.place),
                        "no file with device code has such a path",
                    )
                    .help("correct the glob, remove the line, or give a reason: optional=\"…\""),
            );
        }
        problems
    }
}

fn is_content(member: &Member) -> bool {
    matches!(member.step, Step::Copy { .. } | Step::Relink { .. })
}

impl OtherIsas {
    fn problem(&self, dist: &ResolvedDist<'_>) -> Problem {
        let whose = match dist.variant.per() {
            Per::Isa | Per::Family => "with the name of another ISA than the wheel",
            Per::None | Per::Axis(_) => "with the name of an ISA, but is for all ISAs",
        };
        let more = match self.files - self.first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let message = format!(
            "package `{}` has {} {whose}: {}{more}",
            dist.package.name.value,
            counted(self.files, "file"),
            self.first.join(", ")
        );
        Problem::warning(Code::MisplacedCode, message)
            .label(&dist.declared.name.place, "in these wheels")
            .help(
                "build them as artifacts of the ISA, or accept them: ignore \"misplaced-code\" \
                in=\"GLOB\" reason=\"…\"",
            )
            .of_fact(dist.package.name.value.to_string())
    }
}
