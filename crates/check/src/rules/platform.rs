//! Machines, loaders and systems that the platform tags of a wheel promise.

use std::collections::{BTreeMap, BTreeSet};

use base::source::{Code, Severity};
use binary::elf::{ElfFacts, ElfKind, Machine};
use binary::policy::{
    Architecture, Level, Libc, Mixed, Needs as PolicyNeeds, Obstacle, ObstacleKind, Shipped,
    Subject, unusual_loader, windows_tag,
};
use wheel::package::devel_archive::is_devel_archive;

use super::libraries::{self, Lost};
use crate::{File, Finding, Needs, Package, Scheme, Set};

/// `EM_ARM`.
const ARM: u16 = 40;
/// Version 5 of the ABI, with hard floats (ELF for the ARM architecture), of which `armv7l` is.
const ARM_ABI: (u32, u32) = (0xff00_0400, 0x0500_0400);

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
    let systems = Systems::new(set);
    set.packages.iter().filter_map(|package| systems.contradiction(package)).collect()
}

/// Needs of the wheels of a set on their systems.
pub(crate) struct Systems<'s> {
    /// Libraries of the set that the loader of a file does not find, by package and member.
    lost: BTreeMap<(&'s str, &'s str), Vec<String>>,
    shipped: Shipped,
    names: BTreeSet<&'s str>,
}

impl<'s> Systems<'s> {
    pub fn new(set: &'s Set<'_>) -> Self {
        let mut systems =
            Self { lost: BTreeMap::new(), shipped: Shipped::default(), names: BTreeSet::new() };
        for Lost { package, file, library, own, .. } in libraries::lost(set) {
            if own.is_some() {
                let names = systems.lost.entry((&package.file, &file.member)).or_default();
                names.push(library);
            }
        }
        for (_, file, needs) in set.binaries() {
            if let Some(facts) = needs.elf().filter(|_| judged(needs).is_ok()) {
                systems.shipped.add(file.name(), facts);
            }
        }
        systems.names.extend(set.packages.iter().filter_map(|package| package.name.as_deref()));
        systems
    }

    /// Needs of a wheel. `hint` chooses between two C libraries.
    pub fn needs(&self, package: &Package<'_>) -> Result<Option<PolicyNeeds>, Mixed> {
        let files: Vec<(String, &File<'_>, &Needs<'_>)> = hosted(package)
            .into_iter()
            .filter_map(|(file, needs, judged)| {
                judged.is_ok().then(|| (shown(package, file), file, needs))
            })
            .collect();
        let empty = Vec::new();
        let subjects: Vec<Subject<'_>> = files
            .iter()
            .filter_map(|(shown, file, needs)| {
                Some(Subject {
                    file: shown,
                    facts: needs.elf()?,
                    imports: needs.elf_symbols().map_or(&[], |symbols| symbols.imports()),
                    lost: self.lost.get(&(&*package.file, &*file.member)).unwrap_or(&empty),
                })
            })
            .collect();
        PolicyNeeds::of(&subjects, &self.shipped, libc(package))
    }

    fn contradiction(&self, package: &Package<'_>) -> Option<Finding> {
        let tags = &package.tags.as_ref()?.platform;
        // Files for two machines: one of them has another finding.
        let needs = self.needs(package).ok()??;
        let of_machine = |tag: &&str| tag.ends_with(needs.architecture.name());
        let (severity, why) = tags.split('.').filter(of_machine).find_map(|tag| {
            let base = tag.strip_suffix(needs.architecture.name())?.strip_suffix('_')?;
            let obstacles = match (base, base.parse::<Level>()) {
                ("linux", _) => return None,
                (_, Ok(level)) if needs.libc.is_none_or(|libc| libc == level.libc) => {
                    needs.beyond(level)
                }
                _ => return Some((Severity::Error, needs.contradiction(tag)?)),
            };
            // Another rule reports loaders.
            let is_beyond = |obstacle: &&Obstacle| obstacle.kind != ObstacleKind::Loader;
            let beyond: Vec<&Obstacle> = obstacles.iter().filter(is_beyond).collect();
            let absent = self.lacks_requirement(package);
            let certain = beyond.iter().find(|one| !(absent && is_external(one, &beyond)));
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

    /// Returns whether a required package is not in the set.
    fn lacks_requirement(&self, package: &Package<'_>) -> bool {
        package.requires.iter().any(|requirement| !self.names.contains(&*requirement.name))
    }
}

/// Matches a library that the set lacks, and its versions and symbols.
fn is_external(obstacle: &Obstacle, all: &[&Obstacle]) -> bool {
    let is_library = |name: &str| {
        all.iter().any(|other| other.kind == ObstacleKind::Library && other.needs == name)
    };
    is_library(obstacle.library.as_deref().unwrap_or(&obstacle.needs))
}

/// ELF files of a package, each with the reason for which no platform tag covers it.
pub(crate) fn hosted<'p, 'a>(
    package: &'p Package<'a>,
) -> Vec<(&'p File<'a>, &'p Needs<'a>, Result<(), String>)> {
    let elf = package.binaries().filter(|(_, needs)| needs.elf().is_some());
    let named = package.tags.as_ref().and_then(|tags| Architecture::in_tags(&tags.platform));
    let is_for = |needs: &Needs<'_>, named| {
        needs.elf().and_then(|facts| Architecture::of(facts.machine)) == Some(named)
    };
    let mut files: Vec<_> = elf.map(|(file, needs)| (file, needs, judged(needs))).collect();
    let Some(named) = named else { return files };
    if files.iter().any(|(_, needs, judged)| judged.is_ok() && is_for(needs, named)) {
        // A wheel can carry files for other processors than its name says.
        for (_, needs, judged) in &mut files {
            let refusal = needs.elf().and_then(another_machine).filter(|_| !is_for(needs, named));
            if let (Ok(()), Some(reason)) = (&judged, refusal) {
                *judged = Err(reason);
            }
        }
    }
    files
}

/// Name in messages: files of the devel archive have its name too.
pub(crate) fn shown(package: &Package<'_>, file: &File<'_>) -> String {
    if file.scheme != Scheme::Devel {
        return file.member.to_string();
    }
    let mut archives = package.files.iter().filter(|file| is_devel_archive(&file.member));
    let archive = archives.next().map_or("", |file| &*file.member);
    format!("{archive}: {}", file.member)
}

pub(crate) fn libc(package: &Package<'_>) -> Option<Libc> {
    let tags = &package.tags.as_ref()?.platform;
    let means = |libc: &Libc| tags.split('.').any(|tag| tag.starts_with(libc.prefix()));
    [Libc::Glibc, Libc::Musl].into_iter().find(means)
}

fn judged(needs: &Needs<'_>) -> Result<(), String> {
    let Some(facts) = needs.elf() else { return Ok(()) };
    let Some(machine) = another_machine(facts) else { return Ok(()) };
    let has_policies = facts.kind.runs_on_hosts() && Architecture::of(facts.machine).is_some();
    let (mask, abi) = ARM_ABI;
    match facts.machine {
        Machine::Other { number: ARM, .. }
            if needs.flags.get().is_some_and(|flags| flags & mask != abi) =>
        {
            Err("for ARM without hard floats".to_owned())
        }
        _ if has_policies => Ok(()),
        _ => Err(machine),
    }
}

fn another_machine(facts: &ElfFacts) -> Option<String> {
    match (facts.machine, facts.kind) {
        (_, ElfKind::CodeObject | ElfKind::DebugOnly) => None,
        (Machine::Other { number, bits, .. }, _) => {
            Some(format!("for another machine (number {number}, {bits}-bit)"))
        }
        _ => None,
    }
}
