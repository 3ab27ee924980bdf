//! Needs of packages, with the libraries of their set.

use std::collections::BTreeMap;

use binary::elf::{ElfFacts, ElfKind, Machine};
use binary::policy::{
    Architecture, Libc, Mixed, Needs as PolicyNeeds, Shipped, Subject, windows_tag,
};
use binary::systems::PythonTags;
use wheel::package::devel_archive::is_devel_archive;

use super::PackageNeeds;
use crate::rules::libraries::UnfoundLibrary;
use crate::{File, Needs, Package, Scheme};

/// `EM_ARM`.
const ARM: u16 = 40;
/// Version 5 of the ABI, with hard floats (ELF for the ARM architecture), of which `armv7l` is.
const ARM_ABI: (u32, u32) = (0xff00_0400, 0x0500_0400);

/// Libraries of a set.
#[derive(Debug, Default)]
pub struct Installed<'s> {
    /// Libraries of the same package that the loader of a file does not find, by package and member: a tag promises the
    /// system's.
    unfound: BTreeMap<(&'s str, &'s str), Vec<String>>,
    shipped: Shipped,
}

impl<'s> Installed<'s> {
    /// Indexes the libraries of a set, as if loaders find each.
    pub fn new(packages: &'s [Package<'_>]) -> Self {
        let mut installed = Self::default();
        for (file, needs) in packages.iter().flat_map(Package::binaries) {
            if let Some(facts) = needs.elf().filter(|_| judged(needs).is_ok()) {
                installed.shipped.add(file.name(), facts);
            }
        }
        installed
    }

    /// Removes libraries that loaders do not find.
    pub(crate) fn without(mut self, unfound: &[UnfoundLibrary<'s, '_>]) -> Self {
        let in_same_package = unfound.iter().filter(|library| library.own.is_some());
        for UnfoundLibrary { package, file, library, .. } in in_same_package {
            self.unfound.entry((&package.file, &file.member)).or_default().push(library.clone());
        }
        self
    }

    /// Needs of a package.
    ///
    /// # Errors
    ///
    /// Fails with files for two architectures.
    pub fn needs(&self, package: &Package<'_>) -> Result<PackageNeeds, Mixed> {
        let linux = self.of_files(subjects(package), libc(package))?;
        let has_tag = |needs: &Needs<'_>| needs.pe().and_then(windows_tag).is_some();
        let is_for_windows = linux.is_none() && package.binaries().any(|(_, needs)| has_tag(needs));
        Ok(PackageNeeds { is_for_windows, ..PackageNeeds::new(package.python(), linux) })
    }

    /// Needs of the ELF files of packages that have one tag.
    ///
    /// # Errors
    ///
    /// Fails with files for two architectures.
    pub fn common_needs(&self, packages: &[Package<'_>]) -> Result<PackageNeeds, Mixed> {
        let linux = self.of_files(packages.iter().flat_map(subjects), None)?;
        Ok(PackageNeeds::new(PythonTags::ANY, linux))
    }

    /// `hint` chooses between two C libraries.
    fn of_files<'p, 'a: 'p>(
        &self,
        files: impl IntoIterator<Item = Hosted<'p, 'a>>,
        hint: Option<Libc>,
    ) -> Result<Option<PolicyNeeds>, Mixed> {
        let files: Vec<Hosted<'p, 'a>> = files.into_iter().collect();
        let subjects = files.iter().filter_map(|it| {
            let unfound = self.unfound.get(&(&*it.package.file, &*it.file.member));
            Some(Subject {
                file: &it.name,
                facts: it.needs.elf()?,
                imports: it.needs.elf_symbols().map_or(&[], |symbols| symbols.imports()),
                lost: unfound.map_or(&[], Vec::as_slice),
            })
        });
        PolicyNeeds::of(&subjects.collect::<Vec<_>>(), &self.shipped, hint)
    }
}

/// ELF file for hosts.
struct Hosted<'p, 'a> {
    package: &'p Package<'a>,
    file: &'p File<'a>,
    needs: &'p Needs<'a>,
    /// Name in messages.
    name: String,
}

fn subjects<'p, 'a>(package: &'p Package<'a>) -> impl Iterator<Item = Hosted<'p, 'a>> {
    let names = MessageNames::new(package);
    let judged = hosted(package).into_iter().filter(|(_, _, judged)| judged.is_ok());
    judged.map(move |(file, needs, _)| Hosted { package, file, needs, name: names.of(file) })
}

/// ELF files of a package, each with the reason for which no platform tag covers it.
pub(crate) fn hosted<'p, 'a>(
    package: &'p Package<'a>,
) -> Vec<(&'p File<'a>, &'p Needs<'a>, Result<(), String>)> {
    let elf = package.binaries().filter(|(_, needs)| needs.elf().is_some());
    let named = package
        .tags
        .as_ref()
        .map_or_else(|| most_common(package), |tags| Architecture::in_tags(&tags.platform));
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

/// Architecture of most files: the tag that a plan computes from the facts.
fn most_common(package: &Package<'_>) -> Option<Architecture> {
    let mut counts: BTreeMap<Architecture, usize> = BTreeMap::new();
    let judged = package.binaries().filter(|(_, needs)| judged(needs).is_ok());
    let machines = judged.filter_map(|(_, needs)| Some(needs.elf()?.machine));
    for architecture in machines.filter_map(Architecture::of) {
        *counts.entry(architecture).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, files)| *files).map(|(architecture, _)| architecture)
}

/// Names of a package's files in messages: files of the devel archive have its name too.
pub(crate) struct MessageNames<'p> {
    /// Devel archive; a plan has no member for it. Searched once for all files: a search for each would compare each
    /// with each.
    archive: Option<&'p str>,
}

impl<'p> MessageNames<'p> {
    pub(crate) fn new(package: &'p Package<'_>) -> Self {
        let mut members = package.files.iter().map(|file| &*file.member);
        Self { archive: members.find(|member| is_devel_archive(member)) }
    }

    pub(crate) fn of(&self, file: &File<'_>) -> String {
        match self.archive {
            Some(archive) if file.scheme == Scheme::Devel => {
                format!("{archive}: {}", file.member)
            }
            _ => file.member.to_string(),
        }
    }
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
