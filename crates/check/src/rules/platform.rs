//! Machines, loaders and systems that the platform tags of a wheel promise.

use std::collections::BTreeSet;

use base::source::{Code, Severity};
use binary::elf::ElfKind;
use binary::policy::{Architecture, Obstacle, ObstacleKind, Refusal, unusual_loader, windows_tag};

use super::libraries;
use crate::systems::{Installed, PackageNeeds, Reason, runs_as};
use crate::{Finding, Needs, Package, Set};

pub(super) fn loaders(set: &Set<'_>) -> Vec<Finding> {
    let programs = set.binaries().filter(|(_, file, _)| file.is_installed());
    let unusual = programs.filter_map(|(package, file, needs)| {
        let path = unusual_loader(needs.elf()?)?;
        let message =
            format!("the program starts with the loader `{path}`, which other systems lack");
        let finding = Finding::error(Code::UnusualLoader, message);
        Some(finding.of(&*file.member).within(&package.file))
    });
    unusual.collect()
}

pub(super) fn machines(set: &Set<'_>) -> Vec<Finding> {
    set.packages.iter().flat_map(of_package).collect()
}

fn of_package<'p>(package: &'p Package<'_>) -> impl Iterator<Item = Finding> + 'p {
    let tags = package.tags.as_ref().map(|tags| tags.platform.as_str());
    let files = package.binaries().filter(|(file, _)| file.is_installed());
    files.filter_map(move |(file, needs)| {
        let (tags, (kind, machine)) = (tags?, machine(needs)?);
        if tags.split('.').any(|tag| tag.ends_with(machine)) {
            return None;
        }
        let message = format!("{kind} file for {machine} in a wheel with the tag `{tags}`");
        let finding = Finding::error(Code::WrongPlatform, message);
        Some(finding.of(&*file.member).within(&package.file))
    })
}

fn machine(needs: &Needs<'_>) -> Option<(&'static str, &'static str)> {
    if let Some(facts) = needs.pe() {
        return Some(("a PE", windows_tag(facts)?));
    }
    let facts = needs.elf()?;
    let is_loaded = facts.kind.is_library() || facts.kind == ElfKind::Executable;
    let architecture = Architecture::of(facts.machine).filter(|_| is_loaded)?;
    Some(("an ELF", architecture.name()))
}

/// Reports the first need of each wheel that a platform tag does not promise.
pub(super) fn tags(set: &Set<'_>) -> Vec<Finding> {
    let installed = Installed::new(&set.packages).without(&libraries::unfound(set));
    let names: BTreeSet<&str> = set.packages.iter().filter_map(|it| it.name.as_deref()).collect();
    let contradiction = |package: &Package<'_>| {
        // Files for two machines: one of them has another finding.
        let needs = installed.needs(package).ok()?;
        let mut requires = package.requires.iter();
        let is_absent = requires.any(|requirement| !names.contains(&*requirement.name));
        contradiction(package, &needs, is_absent)
    };
    set.packages.iter().filter_map(contradiction).collect()
}

/// `is_absent`: a required package is not in the set.
fn contradiction(package: &Package<'_>, needs: &PackageNeeds, is_absent: bool) -> Option<Finding> {
    let tags = &package.tags.as_ref()?.platform;
    let architecture = needs.linux.as_ref()?.architecture.name();
    let mut of_machine = tags.split('.').filter(|tag| tag.ends_with(architecture));
    let (severity, why) = of_machine.find_map(|tag| {
        let obstacles = match runs_as(needs, tag).err()? {
            Reason::Linux(Refusal::Beyond(obstacles)) => obstacles,
            reason => return Some((Severity::Error, reason.to_string())),
        };
        // Another rule reports loaders.
        let is_beyond = |obstacle: &&Obstacle| obstacle.kind != ObstacleKind::Loader;
        let beyond: Vec<&Obstacle> = obstacles.iter().filter(is_beyond).collect();
        let certain = beyond.iter().find(|one| !(is_absent && is_external(one, &beyond)));
        let severity = if certain.is_some() { Severity::Error } else { Severity::Warning };
        let first = certain.or(beyond.first())?;
        Some((severity, format!("{first}, beyond {tag}")))
    })?;
    let message = match severity {
        Severity::Error => "the platform tag is wrong",
        _ => "the platform tag is wrong, unless a required package has the library",
    };
    let finding = Finding::error(Code::TagContradicted, message);
    Some(Finding { severity, ..finding.because(why).within(&package.file) })
}

/// Matches a library that the set lacks, and its versions and symbols.
fn is_external(obstacle: &Obstacle, all: &[&Obstacle]) -> bool {
    let is_library = |name: &str| {
        all.iter().any(|other| other.kind == ObstacleKind::Library && other.needs == name)
    };
    is_library(obstacle.library.as_deref().unwrap_or(&obstacle.needs))
}
