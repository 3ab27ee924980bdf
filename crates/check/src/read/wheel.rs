use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::algorithm::Algorithm;
use super::content::{Content, FactRequest};
use super::depth::Depth;
use super::member::Member;
use super::metadata::Rules;
use super::names::Names;
use super::reading::nonempty;
use super::record::Record;
use super::texts::Texts;
use super::{entry_points, layout, member, variants};
use crate::{File, Finding, Finished, Kind, Known, Package, Scheme, Targets, Why};
use base::names::{Form, oversize};
use base::python_literal;
use base::source::Code;
use wheel::archive::variants::MEMBER;
use wheel::package::ZipFile;
use wheel::package::directory::DirectoryEntry;
use wheel::package::entry_points::EntryPoints;
use wheel::package::{Header, Metadata, WheelFile};

/// Minimum packed size, except for the last part.
const PART: u64 = 32 << 20;

/// Wheel with its directory read.
#[derive(Debug)]
pub struct Wheel {
    file: WheelFile,
    name: String,
    /// `None` if nobody compares it.
    record: Option<Record>,
    targets: Option<Arc<Targets>>,
    depth: Depth,
    /// Members whose texts are kept.
    texts: Vec<bool>,
    /// Facts for the runtime.
    runtime: Option<serde_json::Value>,
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
        Ok(Self { record: Some(record), ..Self::to_depth(file, name, Depth::Rules) })
    }

    /// Reads nothing yet, except facts for the runtime.
    pub(super) fn to_depth(file: WheelFile, name: &str, depth: Depth) -> Self {
        let (mut texts, mut runtime) = (Vec::new(), None);
        if depth.has_texts() {
            let entries = file.zip().entries().iter();
            let facts = entries.map(|entry| &*entry.name).find(|name| {
                name.strip_suffix("/_dist_info.py").is_some_and(|module| !module.contains('/'))
            });
            let text = facts.and_then(|facts| file.text(facts));
            runtime = text.and_then(|(text, _)| python_literal::data(&text));
            let platform = runtime.as_ref().and_then(|facts| facts.get("platform_dir")?.as_str());
            let info = file.dist_info().unwrap_or_default();
            texts = Texts::of_wheel(file.zip().entries(), info, platform);
        }
        Self { file, name: name.to_owned(), record: None, targets: None, depth, texts, runtime }
    }

    /// Enables detection of device code, for the rule of misplaced code.
    #[must_use]
    pub fn with_targets(mut self, targets: &Arc<Targets>) -> Self {
        self.targets = Some(Arc::clone(targets));
        self
    }

    /// Sets the future file name, which is checked instead.
    #[must_use]
    pub fn with_file_name(mut self, file_name: &str) -> Self {
        self.file = self.file.with_file_name(file_name);
        self
    }

    fn zip(&self) -> &ZipFile {
        self.file.zip()
    }

    pub(super) fn entries(&self) -> &[DirectoryEntry] {
        self.zip().entries()
    }

    /// Findings of headers and rows of RECORD, without reading a member.
    pub fn headers(&self) -> Vec<Finding> {
        let faults = self.file.faults().iter().cloned().map(Finding::from);
        let layout = layout::headers(self.zip().entries(), self.file.dist_info());
        let rows = self.record.iter().flat_map(Record::alone);
        faults.chain(layout).chain(rows).collect()
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
                let algorithm = match self.depth {
                    Depth::Digests => Some(Algorithm::Sha256),
                    _ => self.record.as_ref().map(|record| record.algorithm(at)),
                };
                let text = self.texts.get(at).is_some_and(|is_kept| *is_kept);
                let request =
                    FactRequest { depth: self.depth, text, targets: self.targets.as_deref() };
                member::read(self.zip(), entry, algorithm, &request)
            })
            .collect()
    }

    /// Result, given all members in order.
    pub fn into_package(self, members: Vec<Member>) -> Package<'static> {
        let mut package = Package::new(&self.name, Form::Wheel);
        let mut faults: Vec<Finding> =
            self.file.faults().iter().cloned().map(Finding::from).collect();
        let entries = self.zip().entries();
        package.size = members.iter().map(|member| member.size).sum();
        package.tags = self.file.file_name().parse().ok();
        package.info = self.file.dist_info().map(str::to_owned);
        let of_archives = members.iter().flat_map(|member| &member.archive_faults);
        faults.extend(of_archives.cloned().map(Finding::from));
        faults.extend(layout::check(entries, &members, self.file.dist_info()));
        let record = self.record(&members);
        for (entry, member) in entries.iter().zip(members) {
            package.files.extend(file(entry, member));
        }
        if let Some(dist_info) = self.file.dist_info() {
            faults.extend(record);
            faults.extend(self.metadata(dist_info, &mut package));
        }
        package.faults = faults.into_iter().map(|finding| finding.within(&self.name)).collect();
        package
    }

    fn record(&self, members: &[Member]) -> Vec<Finding> {
        let (Some(rows), Some(dist_info)) = (&self.record, self.file.dist_info()) else {
            return Vec::new();
        };
        let record = format!("{dist_info}/RECORD");
        if self.zip().find(&record).is_none() {
            return vec![missing("RECORD")];
        }
        let mut findings = rows.findings.clone();
        findings.extend(rows.compare(&record, self.zip().directory(), members));
        findings
    }

    fn metadata(&self, dist_info: &str, package: &mut Package<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        let header = self.needed("WHEEL", &mut findings).map(|text| Header::parse(&text));
        let has_member = |path: &str| self.zip().find(path).is_some();
        let file_name = self.file.file_name();
        let names = Names::new(&file_name, dist_info);
        findings.extend(names.findings());
        let variant = self.text(MEMBER, &mut findings);
        let (variant, wrong) = variants::variant_facts(names.label(), variant.as_deref());
        package.variant = variant;
        findings.extend(wrong);
        let mut parsed = None;
        if let Some(text) = self.needed("METADATA", &mut findings) {
            let metadata = Metadata::parse(&text);
            let rules = Rules(&metadata);
            findings.extend(rules.check());
            findings.extend(rules.license_files(|file| {
                has_member(&format!("{dist_info}/licenses/{file}"))
                    || has_member(&format!("{dist_info}/{file}"))
            }));
            findings.extend(names.compare(&metadata));
            rules.add_facts(package);
            parsed = Some(metadata);
        }
        findings.extend(header.iter().flat_map(|header| names.tags(header)));
        let text = self.text("entry_points.txt", &mut findings).unwrap_or_default();
        let (points, file) = (EntryPoints::parse(&text), format!("{dist_info}/entry_points.txt"));
        if let Some(metadata) = parsed {
            package.finished = Known::Is(Box::new(Finished {
                metadata,
                header: header.unwrap_or_default(),
                entry_points: points.by_name(),
                runtime: self.runtime.clone(),
                packed: self.file.size(),
                compressed: self.is_compressed(),
            }));
        }
        findings.extend(points.faults.iter().cloned().map(|fault| fault.of(&*file).into()));
        // A comparison judges nothing, and reads few modules.
        let is_judged = self.depth == Depth::Rules;
        let modules = is_judged.then(|| entry_points::Modules::new(&package.files));
        let mut commands = Vec::new();
        for (entry, object) in points.sound() {
            package.entry_points += 1;
            commands.extend(entry.is_script().then(|| entry.name.clone()));
            let text = |member: &str| self.file.text(member).map(|(text, _)| text);
            findings.extend(modules.iter().filter_map(|it| it.check(entry, &object, text)));
        }
        // The reader reports repeated entries.
        commands.sort();
        commands.dedup();
        let unread = Known::Unknown(Why::NoFact);
        let command = |name| File::below(Scheme::Scripts, name, unread, Kind::Command);
        package.files.extend(commands.into_iter().map(command));
        findings
    }

    /// RECORD is deflated in every wheel.
    fn is_compressed(&self) -> bool {
        let is_record = |entry: &DirectoryEntry| entry.name.ends_with(".dist-info/RECORD");
        self.entries().iter().any(|entry| !entry.is_stored() && !is_record(entry))
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

fn missing(file: &str) -> Finding {
    Finding::error(Code::MissingMetadata, format!("its metadata directory has no {file}"))
}

/// Names too long for any system are faults of the archive.
fn file(entry: &DirectoryEntry, member: Member) -> Vec<File<'static>> {
    let Member { content: Content { kind, code, fault, .. }, bytes, archived, .. } = member;
    if entry.is_directory() || oversize(&entry.name).is_some() {
        return archived;
    }
    // Permissions of links have no effect.
    let is_link = entry.mode & 0o170_000 == 0o120_000;
    // Windows has no permissions of others, so tools make some up.
    let permissions = entry.mode & if entry.is_unix { 0o7777 } else { 0o7775 };
    let mode = if is_link { Known::Unknown(Why::NoFact) } else { Known::Is(permissions) };
    let kind = if fault.is_some() && kind.is_plain() { Kind::Unread } else { kind };
    let mut file = File::of_wheel(entry.name.clone(), mode, kind);
    (file.code, file.bytes) = (nonempty(code), bytes);
    std::iter::once(file).chain(archived).collect()
}
