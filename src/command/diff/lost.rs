//! Files that a change of the manifest leaves in no package, with the lines that took them before.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::source::{Code, Place, Problem, Problems, Source};
use base::text::{counted, human_size};
use manifest::Manifest;
use plan::catalog::Origin;
use plan::{Distribution, Plan};

use super::side::Side;
use crate::builtin;

const SHOWN: usize = 4;

/// Returns the new side's unowned files, and the old side's lines that took them.
pub fn faults(old: &Side, new: &Side) -> Problems {
    let Some(planned) = new.planned().filter(|planned| planned.faults.has_errors()) else {
        return Problems::new();
    };
    let mut faults = planned.faults.clone();
    if let (Some(before), Some(after)) = (old.plan(), new.plan()) {
        faults.extend(let_go(old, before, after));
    }
    faults
}

/// Number and bytes of files by line.
type Taken<'p> = BTreeMap<&'p str, (usize, u64)>;

fn let_go(old: &Side, before: &Plan, after: &Plan) -> Problems {
    let lost: HashMap<&Origin, u64> = after.unowned.iter().map(|u| (&u.origin, u.size)).collect();
    let mut taken = Taken::new();
    let mut known: HashSet<&Origin> = HashSet::new();
    for member in before.distributions.iter().flat_map(Distribution::all_members) {
        if let Some(origin) = member.step.source()
            && let Some(size) = lost.get(origin)
            && known.insert(origin)
        {
            let (files, bytes) = taken.entry(&member.rule).or_default();
            (*files, *bytes) = (*files + 1, *bytes + size);
        }
    }
    let mut problems = Problems::new();
    if !taken.is_empty() {
        problems.push(problem(old, &taken));
    }
    problems
}

fn problem(old: &Side, taken: &Taken<'_>) -> Problem {
    let (files, bytes) =
        taken.values().fold((0, 0), |(files, bytes), (f, b)| (files + f, bytes + b));
    let were = if files == 1 { "was" } else { "were" };
    let what = format!(
        "{} ({}) {were} in packages of {}, and would be in none",
        counted(files, "file"),
        human_size(bytes),
        old.label()
    );
    let mut lines: Vec<_> = taken.iter().collect();
    lines.sort_by_key(|(rule, (_, bytes))| (std::cmp::Reverse(*bytes), **rule));
    let manifest = old.planned().map(|planned| &planned.manifest);
    lines.into_iter().take(SHOWN).fold(
        Problem::error(Code::UnownedFiles, what),
        |problem, (rule, (files, bytes))| {
            let text = format!("took {} ({})", counted(*files, "file"), human_size(*bytes));
            match manifest.and_then(|manifest| line(manifest, rule, old.label())) {
                Some(place) => problem.label(&place, text),
                None => problem,
            }
        },
    )
}

/// Returns the line of a rule such as `packages.kdl:12`, under the old side's name.
fn line(manifest: &Manifest, rule: &str, label: &str) -> Option<Place> {
    let (name, number) = rule.rsplit_once(':')?;
    let source = manifest.sources.iter().find(|source| source.name() == name)?;
    let number: usize = number.parse().ok()?;
    let text = source.text();
    let start: usize = text.split_inclusive('\n').take(number.checked_sub(1)?).map(str::len).sum();
    let line = text.get(start..)?.lines().next()?;
    let indent = line.len() - line.trim_start().len();
    let bytes = start + indent..start + line.trim_end().len();
    let label = if name == builtin::PACKAGES.0 { label } else { name };
    Some(Source::new(label, text).at(bytes))
}
