use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::{Labelled, Note, Warning};
use base::names::PackageName;
use base::source::{Code, Problem, Problems};
use manifest::{IgnoreRule, Manifest};

pub(super) struct Expectations<'a> {
    rules: Vec<&'a IgnoreRule>,
    used: RefCell<BTreeSet<usize>>,
}

impl<'a> Expectations<'a> {
    pub fn new(manifest: &'a Manifest) -> Self {
        let rules = manifest.excuses.findings.iter().filter(|rule| rule.is_of_plans()).collect();
        Self { rules, used: RefCell::default() }
    }

    pub fn find(&self, code: Code, package: &PackageName, path: &str) -> Option<usize> {
        let index = self.rules.iter().position(|rule| rule.accepts(code, Some(package), path))?;
        self.used.borrow_mut().insert(index);
        Some(index)
    }

    pub fn apply(&self, problem: Problem, rule: Option<usize>) -> Problem {
        match rule.and_then(|index| self.rules.get(index)) {
            Some(rule) => problem.expected(&rule.reason, &rule.code.place),
            None => problem,
        }
    }

    pub fn unused(&self, made: &[&PackageName]) -> Problems {
        let used = self.used.borrow();
        let made = |rule: &IgnoreRule| {
            rule.package.as_ref().is_none_or(|package| made.contains(&&package.value))
        };
        let unused =
            self.rules.iter().enumerate().filter(|(index, rule)| {
                !used.contains(index) && rule.optional.is_none() && made(rule)
            });
        unused.fold(Problems::new(), |mut problems, (_, rule)| {
            let message = format!("`ignore \"{}\"` matches no warning", rule.code.value);
            problems.push(
                Problem::warning(Code::MatchesNothing, message)
                    .label(&rule.code.place, "no warning with this code and place")
                    .help("remove the line, or give a reason: optional=\"…\""),
            );
            problems
        })
    }
}

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
    fn a_line_that_expects_nothing_is_idle_where_its_package_is_made() {
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
        for (found, made, idle) in cases {
            let expected = Expectations::new(&fixture.manifest);
            for (package, path) in &found {
                expected.find(Code::UnresolvedLibrary, package, path);
            }
            assert_eq!(expected.unused(&made).iter().count(), idle, "{found:?} {made:?}");
        }
    }
}
