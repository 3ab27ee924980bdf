use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::code::{Targets, Told};
use super::elf::{FileRole, Search, Taken};
use super::member::Member;
use super::metadata::Rules;
use super::names::Names;
use super::record::Record;
use super::{Finding, Package, entry_points, layout, member, variants};
use base::names::Form;
use base::source::Code;
use binary::dlls::Dll;
use binary::site::Linked;
use wheel::archive::variants::MEMBER;
use wheel::package::ZipFile;
use wheel::package::directory::DirectoryEntry;
use wheel::package::entry_points::EntryPoints;
use wheel::package::wheel::site_path;
use wheel::package::{Header, Metadata, WheelFile, WheelName};

/// Minimum packed size, except for the last part.
const PART: u64 = 32 << 20;

/// Wheel with its directory read.
#[derive(Debug)]
pub struct Wheel {
    file: WheelFile,
    name: String,
    record: Record,
    targets: Option<Arc<Targets>>,
}

impl Wheel {
    /// An invalid archive is a finding.
    pub fn open(path: &Path, name: &str) -> io::Result<Self> {
        let file = WheelFile::read(path)?;
        let zip = file.zip();
        let record = file.dist_info().and_then(|dir| zip.find(&format!("{dir}/RECORD")));
        // Reading members reports a member that cannot be unpacked.
        let record = record.and_then(|at| zip.member(&zip.entries()[at]).ok());
        let record = record.map(|text| Record::read(text, zip.directory())).unwrap_or_default();
        Ok(Self { file, name: name.to_owned(), record, targets: None })
    }

    /// Enables detection of device code, for [`super::misplaced`].
    #[must_use]
    pub fn with_targets(mut self, targets: &Arc<Targets>) -> Self {
        self.targets = Some(Arc::clone(targets));
        self
    }

    /// Sets the future file name, which is checked instead.
    #[must_use]
    pub fn called(mut self, file_name: &str) -> Self {
        self.file = self.file.called(file_name);
        self
    }

    fn zip(&self) -> &ZipFile {
        self.file.zip()
    }

    /// Divides the members for threads, only by size.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (index, entry) in self.zip().entries().iter().enumerate() {
            bytes += entry.compressed;
            if bytes >= PART || index + 1 == self.zip().entries().len() {
                parts.push(start..index + 1);
                (start, bytes) = (index + 1, 0);
            }
        }
        parts
    }

    /// Reads a part. Faults of members are in the result.
    pub fn read(&self, part: Range<usize>) -> io::Result<Vec<Member>> {
        let entries = self.zip().entries().get(part.clone()).unwrap_or_default();
        part.zip(entries)
            .map(|(at, entry)| {
                let algorithm = self.record.algorithm(at);
                member::read(self.zip(), entry, algorithm, self.targets.as_deref())
            })
            .collect()
    }

    /// Result, given all members in order.
    pub fn conclude(self, members: &[Member]) -> Package {
        let mut package = Package::unread(&self.name, Form::Wheel);
        let mut found: Vec<Finding> =
            self.file.faults().iter().cloned().map(Finding::from).collect();
        let entries = self.zip().entries();
        package.files = entries.iter().filter(|entry| !entry.is_directory()).count();
        package.size = members.iter().map(|member| member.size).sum();
        let is_binary =
            |member: &&Member| matches!(member.kind, FileRole::Elf(_) | FileRole::Pe(..));
        package.binaries = members.iter().filter(is_binary).count();
        package.searches = entries
            .iter()
            .zip(members)
            .filter_map(|(entry, member)| search(entry, member))
            .collect();
        package.symbols = entries
            .iter()
            .zip(members)
            .filter_map(|(entry, member)| symbols(entry, member))
            .collect();
        let loaded = entries.iter().zip(members);
        package.linked = loaded.filter_map(|(entry, member)| linked(entry, member)).collect();
        let both = entries.iter().zip(members);
        package.dlls = both.flat_map(|(entry, member)| dlls(entry, member)).collect();
        let archived = members.iter().flat_map(|member| &member.archived);
        package.archived = archived.map(|file| file.path.clone()).collect();
        if let Ok(WheelName { python, abi, .. }) = self.file.file_name().parse() {
            package.python = (python, abi);
        }
        package.code = self.code(members);
        let (installed, doubles) = layout::installed(entries);
        package.installed = installed;
        found.extend(doubles);
        let of_archives = members.iter().flat_map(|member| &member.archive_faults);
        found.extend(of_archives.cloned().map(Finding::from));
        let loaders = entries.iter().zip(members);
        found.extend(loaders.filter_map(|(entry, member)| loader(entry, member)));
        let stacks = entries.iter().zip(members);
        found.extend(stacks.flat_map(|(entry, member)| stacks_of(entry, member)));
        found.extend(layout::check(entries, members, self.file.dist_info()));
        let only_linux = Names::new(&self.file.file_name(), "").is_only_for_linux();
        found.extend(layout::clashes(&package.installed, only_linux));
        if let Some(dist_info) = self.file.dist_info() {
            found.extend(self.metadata(dist_info, members, &mut package));
        }
        package.findings = found.into_iter().map(|finding| finding.within(&self.name)).collect();
        package
    }

    fn code(&self, members: &[Member]) -> Vec<Told> {
        let Some(targets) = &self.targets else { return Vec::new() };
        let mut told = Vec::new();
        for (entry, member) in self.zip().entries().iter().zip(members) {
            if !member.code.is_empty() || targets.names_one(&entry.name) {
                told.push(Told { member: entry.name.clone(), code: member.code.clone() });
            }
            let archived = member.archived.iter();
            let told_of = archived.filter(|f| !f.code.is_empty() || targets.names_one(&f.path));
            told.extend(told_of.map(|f| Told { member: f.path.clone(), code: f.code.clone() }));
        }
        told
    }

    fn metadata(&self, dist_info: &str, members: &[Member], package: &mut Package) -> Vec<Finding> {
        let entries = self.zip().entries();
        let mut found = Vec::new();
        let record = format!("{dist_info}/RECORD");
        if self.zip().find(&record).is_some() {
            found.extend(self.record.findings.iter().cloned());
            found.extend(self.record.compare(&record, self.zip().directory(), members));
        } else {
            found.push(missing("RECORD"));
        }
        let wheel = self.needed("WHEEL", &mut found);
        let has = |path: &str| self.zip().find(path).is_some();
        let file_name = self.file.file_name();
        let names = Names::new(&file_name, dist_info);
        found.extend(names.findings());
        found.extend(names.extensions(entries));
        let variant = self.text(MEMBER, &mut found);
        let (variant, wrong) = variants::told(names.label(), variant.as_deref());
        package.variant = variant;
        found.extend(wrong);
        if let Some(text) = self.needed("METADATA", &mut found) {
            let metadata = Metadata::parse(&text);
            let rules = Rules(&metadata);
            found.extend(rules.check());
            found.extend(rules.license_files(|file| {
                has(&format!("{dist_info}/licenses/{file}")) || has(&format!("{dist_info}/{file}"))
            }));
            found.extend(names.compare(&metadata));
            rules.tell(package);
        }
        if let Some(text) = wheel {
            found.extend(names.tags(&Header::parse(&text)));
            found.extend(names.platform(entries, members));
        }
        let text = self.text("entry_points.txt", &mut found).unwrap_or_default();
        let (points, file) = (EntryPoints::parse(&text), format!("{dist_info}/entry_points.txt"));
        found.extend(points.faults.iter().cloned().map(|fault| fault.of(&*file).into()));
        for (entry, object) in points.sound() {
            package.entry_points += 1;
            let other = entry_points::script(entry)
                .and_then(|path| package.installed.insert(path, file.clone()));
            // The reader reports repeated entries.
            if let Some(other) = other.filter(|other| *other != file) {
                let what = "script with the name of another file";
                let finding = Finding::error(Code::MemberTwice, what).of(other);
                found.push(finding.because(format!("`{}`", entry.name)));
            }
            found.extend(entry_points::check(entry, &object, &package.installed, |member| {
                self.file.text(member).map(|(text, _)| text)
            }));
        }
        found
    }

    fn needed(&self, file: &str, found: &mut Vec<Finding>) -> Option<String> {
        let text = self.text(file, found);
        if text.is_none() {
            found.push(missing(file));
        }
        text
    }

    fn text(&self, file: &str, found: &mut Vec<Finding>) -> Option<String> {
        let name = format!("{}/{file}", self.file.dist_info()?);
        let (text, fault) = self.file.text(&name)?;
        found.extend(fault.map(Finding::from));
        Some(text)
    }
}

fn loader(entry: &DirectoryEntry, member: &Member) -> Option<Finding> {
    let FileRole::Elf(binary) = &member.kind else { return None };
    let path = binary.loader.as_ref()?;
    let what = format!("the program starts with the loader `{path}`, which other systems lack");
    Some(Finding::error(Code::UnusualLoader, what).of(&*entry.name))
}

fn missing(file: &str) -> Finding {
    Finding::error(Code::MissingMetadata, format!("its metadata directory has no {file}"))
}

fn search(entry: &DirectoryEntry, member: &Member) -> Option<Search> {
    let FileRole::Elf(binary) = &member.kind else { return None };
    Some(Search {
        member: entry.name.clone(),
        path: site_path(&entry.name).unwrap_or_default(),
        // Loaders ignore DT_RPATH if DT_RUNPATH is present.
        directories: binary.runpath.as_ref().or(binary.rpath.as_ref())?.clone(),
        runpath: binary.runpath.is_some(),
    })
}

fn symbols(entry: &DirectoryEntry, member: &Member) -> Option<Taken> {
    let FileRole::Elf(binary) = &member.kind else { return None };
    let symbols = Arc::clone(binary.symbols.as_ref()?);
    Some(Taken { member: entry.name.clone(), symbols })
}

fn linked(entry: &DirectoryEntry, member: &Member) -> Option<(String, Linked)> {
    let FileRole::Elf(binary) = &member.kind else { return None };
    Some((entry.name.clone(), binary.linked.clone()?))
}

fn stacks_of<'m>(
    entry: &'m DirectoryEntry,
    member: &'m Member,
) -> impl Iterator<Item = Finding> + 'm {
    let own = match &member.kind {
        FileRole::Elf(binary) => binary.stack.clone(),
        _ => None,
    };
    let archived = member.archived.iter();
    let archived = archived.filter_map(|file| Some(file.stack.clone()?.of(&*file.path)));
    own.map(|finding| finding.of(&*entry.name)).into_iter().chain(archived)
}

fn dlls<'m>(entry: &'m DirectoryEntry, member: &'m Member) -> impl Iterator<Item = Dll> + 'm {
    let own = member.kind.dll(&entry.name);
    own.into_iter().chain(member.archived.iter().filter_map(|file| file.dll.clone()))
}
