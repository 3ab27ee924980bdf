//! Gate of directories and stores: new packages must pass the rules of `check` for the command that
//! places them.
//!
//! ```text
//! files ─files─► read (each once) ─► Set ─judge─► findings ─Judged (the manifest's lines)─► errors ─allowed─► refused
//! ```
//!
//! Packages of artifacts do not pass the gate: tests run `verify` on the code that writes them.
//! Warnings do not refuse a package.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use base::names::Requirement;
use base::source::{Code, Problems, Severity};
pub use check::Command;
use check::report::{Shown, let_through, problems as shown_problems};
use check::{Environment, Finding, Package, Set, Targets, judge};
use manifest::Manifest;

mod judged;
mod owner;
mod read;
mod report;

pub use judged::{Judged, Reason};
pub use owner::{Owner, filled, known_target};
pub use read::{PackageFile, read};
pub use report::{Checked, IgnoredFinding, REPORT_FORMAT, Report};

/// Rules for new packages.
pub struct Gate<'g> {
    /// Command that places the packages.
    pub command: Command,
    /// Manifest with the `ignore` lines.
    pub manifest: &'g Manifest,
    /// Codes of accepted findings.
    pub allowed: &'g [Code],
    /// Callback for accepted findings.
    pub on_allowed: &'g (dyn Fn(&[Finding]) + Sync),
}

/// Reason for refusing packages.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Errors found in the packages.
    #[error("{}", summary(.0))]
    Refused(Vec<Finding>),
    /// Unreadable package.
    #[error("a package cannot be checked")]
    Io(#[from] io::Error),
}

impl std::fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Gate<'_> {
    /// Refuses all packages among `files` if one has an error that neither the manifest nor
    /// [`Gate::allowed`] accepts.
    pub fn check<'f>(&self, files: impl IntoIterator<Item = &'f Path>) -> Result<(), GateError> {
        let files: Vec<PackageFile> =
            files.into_iter().filter_map(PackageFile::from_path).collect();
        self.check_as(&files)
    }

    /// Checks packages like [`Gate::check`], and wheel variants against the files next to them.
    /// Returns the requirements of all.
    pub fn check_set<'f>(
        &self,
        files: impl IntoIterator<Item = &'f Path>,
    ) -> Result<Vec<Requirement>, GateError> {
        let files: Vec<PackageFile> =
            files.into_iter().filter_map(PackageFile::from_path).collect();
        self.check_with(&files, variants)
    }

    /// Checks packages before they have their final names.
    pub fn check_as(&self, files: &[PackageFile]) -> Result<(), GateError> {
        self.check_with(files, |_, _| Ok(Vec::new())).map(drop)
    }

    fn check_with(
        &self,
        files: &[PackageFile],
        more: impl FnOnce(&[PackageFile], &[Package<'_>]) -> io::Result<Vec<Finding>>,
    ) -> Result<Vec<Requirement>, GateError> {
        let targets = Arc::new(Targets::new(self.manifest.families.target_names()));
        let system = System(self.manifest);
        let set = system.set(&targets, read(files, &targets)?);
        let errors = self.errors(&set, more(files, &set.packages)?);
        let (allowed, refused) = let_through(errors, self.allowed);
        if !refused.is_empty() {
            return Err(GateError::Refused(refused));
        }
        if !allowed.is_empty() {
            (self.on_allowed)(&allowed);
        }
        Ok(set.packages.into_iter().flat_map(|package| package.requires).collect())
    }

    fn errors(&self, set: &Set<'_>, more: Vec<Finding>) -> Vec<Finding> {
        let findings = judge(set, self.command).into_iter().chain(more).collect();
        let mut findings = Judged::new(self.manifest, &set.packages, findings).findings;
        findings.retain(|finding| finding.severity == Severity::Error);
        findings
    }
}

/// Systems of users, as a manifest states them.
pub struct System<'m>(pub &'m Manifest);

impl System<'_> {
    /// Set of finished packages, with the facts that the manifest states.
    pub fn set<'s>(&'s self, targets: &'s Targets, mut packages: Vec<Package<'s>>) -> Set<'s> {
        owner::set_targets(self.0, &mut packages);
        Set { packages, environment: self, targets: Some(targets) }
    }
}

impl Environment for System<'_> {
    fn on_system(&self, library: &str) -> bool {
        let Manifest { system_libraries, excuses, .. } = self.0;
        let mut rules = system_libraries.iter().chain(&excuses.missing_libraries);
        rules.any(|rule| rule.name.matches(library))
    }
}

fn variants(files: &[PackageFile], packages: &[Package<'_>]) -> io::Result<Vec<Finding>> {
    let directories: BTreeSet<&Path> = files.iter().filter_map(|it| it.path.parent()).collect();
    let mut findings = Vec::new();
    for directory in directories {
        let is_in_directory =
            |(file, _): &(&PackageFile, &Package<'_>)| file.path.parent() == Some(directory);
        let neighbours = files.iter().zip(packages).filter(is_in_directory);
        let neighbours = neighbours.map(|(_, package)| package);
        findings.extend(check::read::variants_beside(directory, neighbours)?);
    }
    Ok(findings)
}

/// Errors with the option that accepts them.
pub fn problems(refused: &[Finding]) -> Problems {
    let mut problems = Problems::new();
    for problem in shown_problems(refused, Shown::Few).iter() {
        let option = format!("`--allow {}` makes it a warning", problem.code());
        let help = match problem.remedy() {
            Some(remedy) => format!("{remedy}; {option}"),
            None => format!("make the package again without this fault; {option}"),
        };
        problems.push(problem.clone().help(help));
    }
    problems
}

fn summary(refused: &[Finding]) -> String {
    let Some(first) = refused.first() else { return "no package is refused".to_owned() };
    let more = match refused.len() {
        0 | 1 => String::new(),
        2 => " (and 1 more finding)".to_owned(),
        count => format!(" (and {} more findings)", count - 1),
    };
    format!("{first}{more}; `--allow {}` makes it a warning", first.code)
}
