use base::names::PackageName;
use base::source::{Code, Place, Problem, Problems};
use check::{Finding, Package};
use manifest::{IgnoreRule, Manifest};

use super::owner::Owner;

/// Findings, split by the rules of the manifest.
pub struct Judged<'m> {
    /// Findings that no rule accepts.
    pub findings: Vec<Finding>,
    /// Findings that a rule accepts.
    pub ignored: Vec<(Finding, Reason<'m>)>,
    /// Warnings for rules that accept nothing.
    pub idle: Problems,
}

/// Reason for accepting a finding.
pub struct Reason<'m> {
    /// Reason given in the manifest.
    pub text: &'m str,
    /// Place of the rule.
    pub place: &'m Place,
}

impl<'m> Judged<'m> {
    /// Applies the manifest's rules to the findings; the first match counts.
    pub fn new(manifest: &'m Manifest, packages: &[Package<'_>], findings: Vec<Finding>) -> Self {
        let owners: Vec<(&str, Option<&PackageName>)> = packages
            .iter()
            .map(|package| {
                (&*package.file, Owner::of(manifest, package).map(|owner| owner.package))
            })
            .collect();
        let owner_of = |file: &str| {
            owners.iter().find(|(name, _)| *name == file).and_then(|(_, owner)| *owner)
        };
        let mut judged = Self { findings: Vec::new(), ignored: Vec::new(), idle: Problems::new() };
        let rules = &manifest.excuses.findings;
        let mut used = vec![false; rules.len()];
        for finding in findings {
            let owner = owner_of(&finding.file);
            let (member, to) = (finding.member.as_deref(), finding.to.as_deref());
            let fits = |rule: &IgnoreRule| rule.fits(finding.code, owner, member, to);
            if let Some(index) = rules.iter().position(fits) {
                used[index] = true;
                let rule = &rules[index];
                let reason = Reason { text: &rule.reason, place: &rule.code.place };
                judged.ignored.push((finding, reason));
            } else {
                judged.findings.push(finding);
            }
        }
        // The plan, which also knows the devel tree, reports rules for missing files.
        let has_files = |rule: &IgnoreRule| {
            packages.iter().zip(&owners).any(|(package, (_, owner))| {
                rule.is_of(*owner) && package.files.iter().any(|file| rule.is_within(&file.member))
            })
        };
        let concerned = |rule: &IgnoreRule| match rule.code.value {
            Code::MisplacedCode => has_files(rule),
            _ => {
                rule.is_of_packages()
                    && owners.iter().any(|(_, owner)| owner.is_some() && rule.is_of(*owner))
            }
        };
        let unused = rules
            .iter()
            .zip(used)
            .filter(|(rule, used)| !used && rule.optional.is_none() && concerned(rule));
        unused.for_each(|(rule, _)| judged.idle.push(idle(rule)));
        judged
    }

    /// A note for each accepted finding, with the reason.
    pub fn notes(&self) -> Problems {
        let mut notes = Problems::new();
        for (finding, reason) in &self.ignored {
            notes.push(Problem::note(finding.code, format!("{finding}; ignored: {}", reason.text)));
        }
        notes
    }
}

fn idle(rule: &IgnoreRule) -> Problem {
    let (place, label) = match (&rule.glob, rule.code.value) {
        (Some(glob), Code::MisplacedCode) => {
            (&glob.place, "such files exist, but each is in a package of its ISA")
        }
        _ => (&rule.code.place, "no finding with this code and place"),
    };
    Problem::warning(Code::MatchesNothing, format!("`{}` matches no finding", rule.title()))
        .label(place, label)
        .help("remove the line, or give a reason: optional=\"…\"")
}
