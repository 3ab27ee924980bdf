//! Files that a change of the manifest leaves in no package, with the lines that took them before.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::source::{Code, Place, Problem, Problems, Source};
use base::text::{counted, human_size};
use catalog::SourcePath;
use manifest::Manifest;
use plan::{Distribution, Plan};
use review::diff::{Diff, Loss, LossKind};

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
        faults.extend(newly_unowned(old, before, after));
    }
    faults
}

/// Returns an error for each loss that the change does not allow. With `has_errors`, omits files of
/// no package, which those errors have.
pub fn losses(diff: &Diff, has_errors: bool, new: &Side) -> Problems {
    let is_reported = |loss: &&Loss| {
        has_errors
            && matches!(
                loss.kind,
                LossKind::Libraries | LossKind::DeviceCode | LossKind::Programs | LossKind::Files
            )
    };
    let manifest = new.planned().map(|planned| &planned.manifest);
    diff.unallowed_losses().filter(|loss| !is_reported(loss)).fold(
        Problems::new(),
        |mut problems, loss| {
            let help = manifest.map_or_else(
                || "give --allow loss to accept all losses once".to_owned(),
                |manifest| remedy(loss, manifest),
            );
            problems.push(Problem::error(Code::Loss, &loss.text).help(help));
            problems
        },
    )
}

fn remedy(loss: &Loss, manifest: &Manifest) -> String {
    let accepting = accepting(loss, manifest);
    match (&loss.kind, &*loss.names) {
        (LossKind::Renamed, [name]) => format!(
            "add to the `distribution` line: renames=\"{name}\"; or accept it in the same change: \
             {accepting}"
        ),
        _ => format!("undo it, or accept it in the same change: {accepting}"),
    }
}

fn accepting(loss: &Loss, manifest: &Manifest) -> String {
    let has_package =
        |name: &&String| manifest.packages.keys().any(|package| package.as_str() == *name);
    let package = loss.package.as_ref().filter(has_package);
    let package = package.map(|name| format!(" package=\"{name}\"")).unwrap_or_default();
    let glob = glob(loss).map(|glob| format!(" in=\"{glob}\"")).unwrap_or_default();
    format!("`ignore \"loss\"{package}{glob} reason=\"…\"`")
}

/// Glob of all names of a loss, as a line without it would accept later losses too; `None` if only some
/// names are known, or one has characters of globs.
fn glob(loss: &Loss) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-<>=~ ".contains(c);
    let all_known = loss.count == loss.names.len();
    if !all_known || !loss.names.iter().flat_map(|name| name.chars()).all(is_plain) {
        return None;
    }
    match &*loss.names {
        [] => None,
        [name] => Some(name.clone()),
        names => Some(format!("{{{}}}", names.join(","))),
    }
}

pub fn warnings(diff: &Diff, new: &Side) -> Problems {
    let manifest = new.planned().map(|planned| &planned.manifest);
    let mut problems = Problems::new();
    for warning in diff.warnings.iter().filter(|warning| warning.now) {
        let code = Code::named(&warning.code).unwrap_or(Code::Loss);
        let problem = Problem::error(code, &warning.message);
        let place = warning.rule.as_deref().zip(manifest);
        let place = place.and_then(|(rule, manifest)| line(manifest, rule, None));
        problems.push(match place {
            Some(place) => problem.label(&place, "new with the change"),
            None => problem,
        });
    }
    problems
}

/// Files and bytes by rule.
type RuleCounts<'p> = BTreeMap<&'p str, (usize, u64)>;

fn newly_unowned(old: &Side, before: &Plan, after: &Plan) -> Problems {
    let unowned: HashMap<&SourcePath, u64> =
        after.unowned.iter().map(|u| (&u.origin, u.size)).collect();
    let mut counts = RuleCounts::new();
    let mut sources: HashSet<&SourcePath> = HashSet::new();
    for member in before.distributions.iter().flat_map(Distribution::all_members) {
        if let Some(source) = member.step.source()
            && let Some(size) = unowned.get(source)
            && sources.insert(source)
        {
            let (files, bytes) = counts.entry(&member.rule).or_default();
            (*files, *bytes) = (*files + 1, *bytes + size);
        }
    }
    let mut problems = Problems::new();
    if !counts.is_empty() {
        problems.push(problem(old, &counts));
    }
    problems
}

fn problem(old: &Side, counts: &RuleCounts<'_>) -> Problem {
    let (files, bytes) =
        counts.values().fold((0, 0), |(files, bytes), (f, b)| (files + f, bytes + b));
    let were = if files == 1 { "was" } else { "were" };
    let message = format!(
        "{} ({}) {were} in packages of {}, and would be in none",
        counted(files, "file"),
        human_size(bytes),
        old.label()
    );
    let mut lines: Vec<_> = counts.iter().collect();
    lines.sort_by_key(|(rule, (_, bytes))| (std::cmp::Reverse(*bytes), **rule));
    let manifest = old.planned().map(|planned| &planned.manifest);
    lines.into_iter().take(SHOWN).fold(
        Problem::error(Code::UnownedFiles, message),
        |problem, (rule, (files, bytes))| {
            let text = format!("took {} ({})", counted(*files, "file"), human_size(*bytes));
            match manifest.and_then(|manifest| line(manifest, rule, Some(old.label()))) {
                Some(place) => problem.label(&place, text),
                None => problem,
            }
        },
    )
}

/// Returns the line of a rule such as `packages.kdl:12`. With a label, it is not a line of a file.
fn line(manifest: &Manifest, rule: &str, label: Option<&str>) -> Option<Place> {
    let (name, number) = rule.rsplit_once(':')?;
    let source = manifest.sources.iter().find(|source| source.name() == name)?;
    let number: usize = number.parse().ok()?;
    let text = source.text();
    let start: usize = text.split_inclusive('\n').take(number.checked_sub(1)?).map(str::len).sum();
    let line = text.get(start..)?.lines().next()?;
    let indent = line.len() - line.trim_start().len();
    let bytes = start + indent..start + line.trim_end().len();
    let Some(label) = label else { return Some(source.at(bytes)) };
    let label = if name == builtin::PACKAGES.0 { label } else { name };
    Some(Source::new(label, text).at(bytes))
}
