//! Reader of plans: planned files with the facts of their sources, and their judgement.

use std::borrow::Cow;

use super::resolved_dist::ResolvedDist;
use super::sources::Sources;
use crate::{Archive, Distribution, Member, Request, Step};
use base::names::{Form, PackageName};
use base::source::{Problems, Severity};
use base::version::Version;
use binary::device_code::Code;
use binary::elf::stub::StubMachine;
use binary::elf::{ElfFacts, ElfKind};
use catalog::{CatalogEntry, EntryKind, FileType};
use check::{
    Command, Facts, File, Finding, Kind, Known, Needs, Package, Scheme, Set, Targets, Why, judge,
    report,
};
use manifest::Manifest;
use rayon::prelude::*;
use wheel::archive::wheel::{dist_info_dir, wheel_file_name};
use wheel::package::Fault;
use wheel::unpacking::{MemberFault, MemberKind, Tree};

/// Planned packages without tags: the tags depend on them.
pub(super) fn packages<'a>(
    sources: &Sources<'a>,
    version: &Version,
    made: &'a [(ResolvedDist<'_>, Distribution)],
) -> Vec<Package<'a>> {
    let reader = Reader { sources, version };
    let packages = made.par_iter().map(|(dist, distribution)| {
        // Axis values are no GPUs: one distribution suits all ISAs.
        let target = dist.variant.as_str().filter(|_| dist.variant.per().is_by_gpu());
        let target = Known::Is(target.map(str::to_owned));
        Package { target, ..reader.package(distribution) }
    });
    packages.collect()
}

/// Reports faults that `verify` would find in the packages, as far as a catalog tells; a manifest can ignore them.
pub(super) fn check<'t>(
    manifest: &Manifest,
    targets: &super::targets::Targets,
    request: &Request,
    made: &[(ResolvedDist<'_>, Distribution)],
    mut packages: Vec<Package<'_>>,
    platform_tag: impl Fn(usize) -> &'t str,
) -> Problems {
    for (number, (package, (_, distribution))) in packages.iter_mut().zip(made).enumerate() {
        if package.form == Form::Wheel {
            let tag = platform_tag(number);
            let file = wheel_file_name(&distribution.name, &targets.version, tag);
            package.tags = file.parse().ok();
        }
    }
    let has_code = packages.iter().flat_map(|it| &it.files).any(|it| it.code.get().is_some());
    let names = has_code.then(|| Targets::new(manifest.families.target_names()));
    let set = Set { packages, environment: &|_: &str| true, targets: names.as_ref() };
    let owner = |file: &str| {
        let mut distributions = made.iter().map(|(_, distribution)| distribution);
        distributions.find(|distribution| distribution.name.as_str() == file).map(|it| &it.package)
    };
    // Warnings are of single files, and only `verify` lists these.
    let errors = judge(&set, Command::Plan).into_iter().filter(|finding| {
        finding.severity == Severity::Error && !is_ignored(manifest, finding, owner(&finding.file))
    });
    let (allowed, errors) = report::let_through(errors.collect(), &request.allowed);
    let mut problems = report::problems(&errors, report::Shown::Few);
    problems.extend(report::allowed(&allowed, report::Shown::Few));
    problems
}

fn is_ignored(manifest: &Manifest, finding: &Finding, owner: Option<&PackageName>) -> bool {
    let (member, target) = (finding.member.as_deref(), finding.to.as_deref());
    let mut rules = manifest.excuses.with(finding.code);
    rules.any(|rule| rule.fits(finding.code, owner, member, target))
}

struct Reader<'r, 'a> {
    sources: &'r Sources<'a>,
    version: &'r Version,
}

impl<'a> Reader<'_, 'a> {
    fn package(&self, distribution: &'a Distribution) -> Package<'a> {
        let name = &distribution.name;
        let mut package = Package::new(name.as_str(), distribution.form);
        package.name = Some(name.normalized());
        package.version = Some(self.version.clone());
        package.size = distribution.size();
        if distribution.form == Form::Sdist {
            let files = distribution.members.iter().map(|member| {
                File::below(Scheme::Source, member.path.as_str(), mode(member), Kind::Unread)
            });
            package.files.extend(files);
            return package;
        }
        package.info = dist_info_dir(name, self.version).ok().map(|info| info.to_string());
        let files = distribution.members.iter().filter(|member| member.step != Step::Directory);
        package.files.extend(files.map(|member| {
            let entry = self.entry(&member.step);
            let kind = kind(&member.step, entry);
            let file = File::of_wheel(member.path.as_str(), mode(member), kind);
            file.with_code(code(entry))
        }));
        let unread = Known::Unknown(Why::NoFact);
        let commands = distribution.entry_points.keys();
        package.files.extend(
            commands.map(|command| {
                File::below(Scheme::Scripts, command.as_str(), unread, Kind::Command)
            }),
        );
        if let Some(archive) = &distribution.archive {
            self.archive(archive, &mut package);
        }
        package
    }

    fn archive(&self, archive: &'a Archive, package: &mut Package<'a>) {
        let mut tree = Tree::new(false);
        let mut faults: Vec<MemberFault> = Vec::new();
        for member in &archive.members {
            let path = member.path.as_str();
            let tar_kind = match &member.step {
                Step::Link { target } => MemberKind::Symlink(target.clone()),
                Step::Directory => MemberKind::Directory,
                _ => MemberKind::File,
            };
            faults.extend(tree.add(path, &tar_kind).err().map(|refusal| refusal.of(path)));
            if member.step != Step::Directory {
                let entry = self.entry(&member.step);
                let kind = kind(&member.step, entry);
                let file = File::below(Scheme::Devel, path, mode(member), kind);
                package.files.push(file.with_code(code(entry)));
            }
        }
        faults.extend(tree.link_faults());
        package.faults.extend(faults.into_iter().map(|fault| {
            let member = format!("{}!{}", archive.path, fault.member);
            Finding::from(Fault::from(fault).of(member)).within(&package.file)
        }));
    }

    fn entry(&self, step: &Step) -> Option<&'a CatalogEntry> {
        self.sources.entry(step.source()?)
    }
}

/// A catalog knows code objects, bundles and archives, but not the code in programs and libraries.
fn code(entry: Option<&CatalogEntry>) -> Known<Option<Box<Code>>> {
    let (ids, number) = match entry.map(|entry| &entry.kind) {
        Some(EntryKind::File { content: FileType::DeviceCode(ids), .. }) => (&ids[..], None),
        Some(EntryKind::File { content: FileType::Elf(facts), .. }) => (&[][..], facts.isa_number),
        _ => (&[][..], None),
    };
    if ids.is_empty() && number.is_none() {
        return Known::Unknown(Why::NoBytes);
    }
    let (ids, machs) = (ids.iter().cloned().collect(), number.into_iter().collect());
    Known::Is(Some(Box::new(Code { ids, machs, ..Code::default() })))
}

fn kind<'a>(step: &'a Step, entry: Option<&'a CatalogEntry>) -> Kind<'a> {
    match step {
        Step::Copy { .. } => entry.map_or(Kind::Data, |entry| of_entry(entry, None)),
        Step::Relink { rpath, clear_execstack, .. } => {
            let edit = Some((rpath.as_str(), *clear_execstack));
            entry.map_or(Kind::Data, |entry| of_entry(entry, edit))
        }
        Step::Alias { soname, needed, rpath, machine } => {
            elf(Cow::Owned(alias(soname, needed, rpath, *machine)))
        }
        Step::Link { target } => Kind::Link(target.as_str().into()),
        Step::Stub { .. } | Step::Directory => Kind::Unread,
        Step::Render { text } if text.pieces().next().is_some_and(|it| it.starts_with("#!")) => {
            Kind::Script
        }
        Step::Render { .. } => Kind::Data,
    }
}

fn mode(member: &Member) -> Known<u32> {
    Known::Is(if member.executable { 0o755 } else { 0o644 })
}

/// `edit` is the new rpath, and whether the request for an executable stack goes.
fn of_entry<'a>(entry: &'a CatalogEntry, edit: Option<(&str, bool)>) -> Kind<'a> {
    let EntryKind::File { content, .. } = &entry.kind else { return Kind::Unread };
    match content {
        FileType::Elf(facts) => elf(match edit {
            Some((rpath, clears)) => {
                let (rpath, runpath) = (Some(rpath.to_owned()), None);
                let executable_stack = facts.executable_stack.filter(|_| !clears);
                Cow::Owned(ElfFacts { rpath, runpath, executable_stack, ..(**facts).clone() })
            }
            None => Cow::Borrowed(facts),
        }),
        FileType::Pe(facts) => needs(Facts::Pe(Cow::Borrowed(facts))),
        FileType::ImportLibrary(library) => Kind::ImportLibrary(library.clone()),
        FileType::BrokenElf(why) => Kind::Broken(binary::Format::Elf, why.as_str().into()),
        FileType::BrokenPe(why) => Kind::Broken(binary::Format::Pe, why.as_str().into()),
        FileType::BrokenImportLibrary(why) => Kind::BrokenImportLibrary(why.as_str().into()),
        FileType::Script => Kind::Script,
        FileType::DeviceCode(_) | FileType::Data => Kind::Data,
    }
}

fn elf(facts: Cow<'_, ElfFacts>) -> Kind<'_> {
    needs(Facts::Elf(facts))
}

fn needs(facts: Facts<'_>) -> Kind<'_> {
    let unread = Known::Unknown(Why::NoBytes);
    Kind::Binary(Box::new(Needs { facts, symbols: unread, flags: Known::Unknown(Why::NoBytes) }))
}

/// Facts of a generated library that only needs another one.
pub(super) fn alias(soname: &str, needed: &str, rpath: &str, machine: StubMachine) -> ElfFacts {
    ElfFacts {
        kind: ElfKind::SharedLibrary,
        machine: machine.machine(),
        soname: Some(soname.to_owned()),
        needed: vec![needed.to_owned()],
        rpath: Some(rpath.to_owned()),
        runpath: None,
        glibc: None,
        versions: Vec::new(),
        interpreter: None,
        forbidden: Vec::new(),
        isa_level: None,
        isa_number: None,
        executable_stack: None,
    }
}
