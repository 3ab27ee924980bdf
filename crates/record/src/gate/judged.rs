use base::names::{PackageName, RelPath};
use base::source::{Code, Place, Problem, Problems};
use check::verify::{Finding, Package};
use manifest::{AllowIsaRule, Glob, IgnoreRule, Manifest};

use super::owner::Owner;

/// Findings, split by the rules of the manifest.
pub struct Judged<'m> {
    /// Findings that no rule accepts.
    pub kept: Vec<Finding>,
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
    pub fn new(manifest: &'m Manifest, packages: &[Package], findings: Vec<Finding>) -> Self {
        let owners: Vec<(&str, Option<&PackageName>)> = packages
            .iter()
            .map(|package| {
                (&*package.file, Owner::of(manifest, package).map(|owner| owner.package))
            })
            .collect();
        let owner_of = |file: &str| {
            owners.iter().find(|(name, _)| *name == file).and_then(|(_, owner)| *owner)
        };
        let mut judged = Self { kept: Vec::new(), ignored: Vec::new(), idle: Problems::new() };
        let mut used = vec![false; manifest.ignores.len()];
        let mut allowed = vec![false; manifest.allowed_isas.len()];
        for finding in findings {
            let owner = owner_of(&finding.file);
            let allows = |rule: &AllowIsaRule| allows(rule, &finding, owner);
            let fits = |rule: &IgnoreRule| fits(rule, &finding, owner);
            if let Some(index) = manifest.allowed_isas.iter().position(allows) {
                allowed[index] = true;
                let rule = &manifest.allowed_isas[index];
                let reason = Reason { text: &rule.reason, place: &rule.glob.place };
                judged.ignored.push((finding, reason));
            } else if let Some(index) = manifest.ignores.iter().position(fits) {
                used[index] = true;
                let rule = &manifest.ignores[index];
                let reason = Reason { text: &rule.reason, place: &rule.code.place };
                judged.ignored.push((finding, reason));
            } else {
                judged.kept.push(finding);
            }
        }
        // The plan, which also knows the devel tree, reports rules for missing files.
        let needless = |rule: &AllowIsaRule| {
            rule.optional.is_none()
                && packages.iter().zip(&owners).any(|(package, (_, owner))| {
                    package.members().any(|member| is_about(rule, member, *owner))
                })
        };
        let rules = manifest.allowed_isas.iter().zip(allowed);
        let rules = rules.filter(|(rule, allowed)| !allowed && needless(rule));
        rules.for_each(|(rule, _)| judged.idle.push(needless_isa(rule)));
        let concerned = |rule: &IgnoreRule| {
            rule.is_of_packages()
                && owners.iter().filter_map(|(_, owner)| *owner).any(|owner| {
                    rule.package.as_ref().is_none_or(|package| package.value == *owner)
                })
        };
        let unused = manifest
            .ignores
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

fn fits(rule: &IgnoreRule, finding: &Finding, owner: Option<&PackageName>) -> bool {
    let of_package = rule.package.as_ref().is_none_or(|package| Some(&package.value) == owner);
    let leads = || {
        rule.to.as_ref().is_none_or(|glob| finding.to.as_deref().is_some_and(|to| is_in(glob, to)))
    };
    let within = || {
        rule.glob
            .as_ref()
            .is_none_or(|glob| finding.member.as_deref().is_some_and(|member| is_in(glob, member)))
    };
    rule.code.value == finding.code && of_package && within() && leads()
}

fn allows(rule: &AllowIsaRule, finding: &Finding, owner: Option<&PackageName>) -> bool {
    let about = |member: &str| is_about(rule, member, owner);
    finding.code == Code::MisplacedCode && finding.member.as_deref().is_some_and(about)
}

fn is_about(rule: &AllowIsaRule, member: &str, owner: Option<&PackageName>) -> bool {
    let path = member.split_once('/').and_then(|(_, below)| below.parse::<RelPath>().ok());
    owner.zip(path).is_some_and(|(owner, path)| rule.is_about(owner, &path))
}

fn is_in(glob: &Glob, member: &str) -> bool {
    let matches = |path: &str| path.parse::<RelPath>().is_ok_and(|path| glob.matches(&path));
    matches(member) || member.split_once('/').is_some_and(|(_, below)| matches(below))
}

fn idle(rule: &IgnoreRule) -> Problem {
    Problem::warning(
        Code::MatchesNothing,
        format!("`ignore \"{}\"` matches no finding", rule.code.value),
    )
    .label(&rule.code.place, "no finding with this code and place")
    .help("remove the line, or give a reason: optional=\"…\"")
}

fn needless_isa(rule: &AllowIsaRule) -> Problem {
    let what = format!("`allow-isa \"{}\"` matches no finding", rule.glob.as_str());
    Problem::warning(Code::MatchesNothing, what)
        .label(&rule.glob.place, "such files exist, but each is in a package of its ISA")
        .help("remove the line, or give a reason: optional=\"…\"")
}
