//! Unversioned library names for `dlopen`, provided by alias rules.

use std::collections::BTreeSet;

use super::install_tree::View;
use super::place::{Placed, Runtime, shared_library};
use super::resolved_dist::ResolvedDist;
use super::select::{Refusal, Refusals};
use crate::Absent;
use base::names::{ArtifactName, RelPath};
use base::source::{Code, Problem, Problems, nearest};
use manifest::{AliasForm, AliasRule, Manifest};

pub(super) fn apply<'a>(
    manifest: &'a Manifest,
    dist: &ResolvedDist<'a>,
    runtime: &mut Runtime<'a>,
    view: &View<'_, 'a>,
    proposed: &BTreeSet<&ArtifactName>,
    problems: &mut Problems,
) {
    for rule in &dist.package.aliases {
        if runtime.placed.contains_key(&*rule.path) {
            continue; // a real file of this name makes the alias unnecessary
        }
        let Some((alias, _)) = runtime.aliases.get(&*rule.path) else {
            // The error of the missing artifact explains it.
            let follows =
                view.get(&rule.path).is_some_and(|item| proposed.contains(&item.artifact.id.name));
            let refusal = refusal(manifest, rule, dist, view);
            let is_excluded = matches!(refusal, Some(Refusal::Excluded(_)));
            if !follows && (rule.optional.is_none() || is_excluded) {
                problems.push(no_such_link(rule, dist, runtime, view, refusal));
            }
            continue;
        };
        let placed = match rule.form {
            AliasForm::Forward
                if shared_library(&alias.library).is_some_and(|f| f.soname.is_some()) =>
            {
                Placed::Forward(alias.clone())
            }
            AliasForm::Forward | AliasForm::Copy => Placed::File(alias.library),
        };
        runtime.placed.insert(rule.path.value.clone(), (placed, &rule.path.place));
    }
    let unplaced = runtime.aliases.iter().filter(|(path, _)| !runtime.placed.contains_key(*path));
    runtime.absent.extend(unplaced.map(|(path, (alias, rule))| Absent {
        path: path.clone(),
        reason: format!("another name of the library `{}`; wheels cannot hold links", alias.real),
        rule: rule.shown(),
    }));
}

fn refusal<'a>(
    manifest: &'a Manifest,
    rule: &AliasRule,
    dist: &ResolvedDist<'a>,
    view: &View<'_, 'a>,
) -> Option<Refusal<'a>> {
    let item = view.get(&rule.path)?;
    Refusals::new(manifest, dist, item.artifact).refusal(item.entry)
}

fn no_such_link(
    rule: &AliasRule,
    dist: &ResolvedDist<'_>,
    runtime: &Runtime<'_>,
    view: &View<'_, '_>,
    refusal: Option<Refusal<'_>>,
) -> Problem {
    let package = &*dist.package.name;
    let message = format!("package `{package}` has no library under `{}`", *rule.path);
    let problem = Problem::error(Code::MissingLibrary, message);
    if let Some(refusal) = refusal {
        return problem
            .label(refusal.place(), format!("this line {} it", refusal.verb()))
            .label(&rule.path.place, "needed here")
            .help("take the library, or remove the alias");
    }
    let hint = nearest(rule.path.as_str(), runtime.aliases.keys().map(RelPath::as_str));
    let label = match (view.get(&rule.path), hint) {
        (Some(item), _) => {
            format!(
                "artifact `{}` has it, but this package does not take that artifact",
                item.artifact.id
            )
        }
        (None, Some(near)) => format!("no library link at this path; did you mean `{near}`?"),
        (None, None) => "no library link at this path".to_owned(),
    };
    problem
        .label(&rule.path.place, label)
        .help("correct the path, remove the line, or give a reason: optional=\"…\"")
}
