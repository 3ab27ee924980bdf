//! Unversioned library names for `dlopen`, provided by alias rules.

use std::collections::BTreeSet;

use super::install_tree::View;
use super::place::{Placed, Runtime, shared_library};
use crate::Absent;
use base::names::{ArtifactName, RelPath};
use base::source::{Code, Problem, Problems, nearest};
use manifest::{AliasForm, AliasRule, Package};

pub(super) fn apply<'a>(
    package: &'a Package,
    runtime: &mut Runtime<'a>,
    view: &View<'_, 'a>,
    meant: &BTreeSet<&ArtifactName>,
    problems: &mut Problems,
) {
    for rule in &package.aliases {
        if runtime.placed.contains_key(&*rule.path) {
            continue; // a real file of this name makes the alias unnecessary
        }
        let Some((alias, _)) = runtime.aliases.get(&*rule.path) else {
            // The misspelled artifact is already reported.
            let follows =
                view.get(&rule.path).is_some_and(|item| meant.contains(&item.artifact.id.name));
            if rule.optional.is_none() && !follows {
                problems.push(no_such_link(rule, package, runtime, view));
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
    let left = runtime.aliases.iter().filter(|(path, _)| !runtime.placed.contains_key(*path));
    runtime.absent.extend(left.map(|(path, (alias, rule))| Absent {
        path: path.clone(),
        reason: format!("another name of the library `{}`; wheels cannot hold links", alias.real),
        rule: rule.shown(),
    }));
}

fn no_such_link(
    rule: &AliasRule,
    package: &Package,
    runtime: &Runtime<'_>,
    view: &View<'_, '_>,
) -> Problem {
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
    Problem::error(
        Code::MissingLibrary,
        format!("package `{}` has no library under `{}`", *package.name, *rule.path),
    )
    .label(&rule.path.place, label)
    .help("correct the path, remove the line, or give a reason: optional=\"…\"")
}
