//! `ignore` lines about warnings of plans, and conversion of warnings to the type stored in a plan.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use crate::{Labelled, Note, Warning};
use base::names::PackageName;
use base::source::{Code, Problem, Problems};
use manifest::{IgnoreRule, Manifest};

/// `ignore` lines about warnings of plans, and the indexes of the lines that accepted a warning.
pub(super) struct IgnoreLines<'a> {
    rules: Vec<&'a IgnoreRule>,
    /// Two checks at once mark lines.
    used: Mutex<BTreeSet<usize>>,
}

impl<'a> IgnoreLines<'a> {
    pub fn new(manifest: &'a Manifest) -> Self {
        let rules = manifest.excuses.findings.iter().filter(|rule| rule.is_of_plans()).collect();
        Self { rules, used: Mutex::default() }
    }

    /// Returns the index of the first line that accepts the warning, and marks the line as used.
    pub fn accept(&self, code: Code, package: &PackageName, path: &str) -> Option<usize> {
        let path = path.parse().ok();
        let accepts = |rule: &IgnoreRule| rule.accepts(code, Some(package), path.as_ref());
        let index = self.rules.iter().position(|rule| accepts(rule))?;
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(index);
        Some(index)
    }

    /// Marks a warning as expected, with the reason of the line at this index. `None` returns it
    /// unchanged.
    pub fn with_reason(&self, problem: Problem, index: Option<usize>) -> Problem {
        match index.and_then(|index| self.rules.get(index)) {
            Some(rule) => problem.expected(&rule.reason, &rule.code.place),
            None => problem,
        }
    }

    /// Reports unused lines without `optional`. A package that is not in `packages` has no
    /// distribution in this mode or on this system, so its lines can accept nothing: skipped.
    pub fn unused(&self, packages: &[&PackageName]) -> Problems {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_planned = |rule: &IgnoreRule| {
            rule.package.as_ref().is_none_or(|package| packages.contains(&&package.value))
        };
        let unused = self.rules.iter().enumerate().filter(|(index, rule)| {
            !used.contains(index) && rule.optional.is_none() && is_planned(rule)
        });
        unused.fold(Problems::new(), |mut problems, (_, rule)| {
            let message = format!("`ignore \"{}\"` matches no warning", rule.code.value);
            problems.push(
                Problem::warning(Code::MatchesNothing, message)
                    .label(&rule.code.place, "no warning with this code and place")
                    .help("remove the line, or say why the warning can be absent: optional=\"…\""),
            );
            problems
        })
    }
}

/// Converts a problem to the warning that a plan stores.
pub(super) fn warning(problem: &Problem) -> Warning {
    let labels = problem.labels().iter().chain(problem.labels_elsewhere());
    Warning {
        code: problem.code().to_string(),
        message: problem.message().to_owned(),
        places: labels
            .map(|(place, text)| Labelled { rule: place.to_string(), text: text.clone() })
            .collect(),
        help: problem.remedy().map(str::to_owned),
        expected: problem.expectation().map(|expected| Note {
            text: expected.reason.clone(),
            rule: Some(expected.place.to_string()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime};

    #[test]
    fn reports_unused_lines_if_their_package_is_planned() {
        let packages = [
            runtime("core", "artifact \"a\" \"lib\""),
            runtime("libs", "artifact \"a\" \"lib\""),
            "ignore \"unresolved-library\" package=\"core\" in=\"lib/**\" reason=\"meant\"\n"
                .to_owned(),
        ];
        let fixture = Fixture::new(&packages, "a_lib_generic f text f");
        let [core, libs]: [PackageName; 2] = ["core", "libs"].map(|name| name.parse().unwrap());
        let cases = [
            (vec![], vec![&core, &libs], 1),
            (vec![], vec![&libs], 0),
            (vec![(&core, "lib/a")], vec![&core], 0),
            (vec![(&core, "bin/a")], vec![&core], 1),
            (vec![(&libs, "lib/a")], vec![&core], 1),
        ];
        for (warnings, packages, unused_count) in cases {
            let lines = IgnoreLines::new(&fixture.manifest);
            for (package, path) in &warnings {
                lines.accept(Code::UnresolvedLibrary, package, path);
            }
            let unused = lines.unused(&packages);
            assert_eq!(unused.iter().count(), unused_count, "{warnings:?} {packages:?}");
        }
    }
}
