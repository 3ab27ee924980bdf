//! One wheel: opened, read in parts, concluded.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use super::elf::Search;
use super::member::{Kind, Member};
use super::metadata::Metadata;
use super::names::Names;
use super::record::Record;
use super::{Finding, Package, entry_points, layout, member, text};
use crate::archive::ZipFile;
use crate::archive::directory::{Directory, DirectoryError, Entry, Fault, FaultKind};
use crate::archive::header::Header;
use crate::archive::zip_file::LONGEST_TEXT;
use crate::plan::Form;
use crate::regular;
use crate::source::Code;

/// A part is at least this long, packed, unless it is the last.
const PART: u64 = 32 << 20;

/// A wheel whose directory was read.
#[derive(Debug)]
pub struct Wheel {
    zip: ZipFile,
    /// What it is called in findings.
    name: String,
    /// What its file is called.
    file_name: String,
    dist_info: Option<String>,
    record: Record,
    findings: Vec<Finding>,
}

impl Wheel {
    /// Opens the wheel at `path`, which findings call `name`. An archive that cannot be read is a finding.
    ///
    /// # Errors
    /// When the file cannot be opened or read.
    pub fn open(path: &Path, name: &str) -> io::Result<Self> {
        let file = regular::open(path)?.into_parts().0;
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut findings = Vec::new();
        let directory = match Directory::read(&file) {
            Ok(directory) => directory,
            Err(DirectoryError::Io(error)) => return Err(error),
            Err(DirectoryError::Broken(why)) => {
                findings.push(Finding::error(Code::BrokenPackage, why));
                Directory::default()
            }
        };
        findings.extend(directory.faults.iter().map(finding));
        if directory.entries.is_empty() && findings.is_empty() {
            findings
                .push(Finding::error(Code::BrokenPackage, "it is a zip archive without members"));
        }
        let dist_info = dist_info(&directory.entries, &mut findings);
        let record = dist_info.as_ref().and_then(|dir| directory.find(&format!("{dir}/RECORD")));
        let zip = ZipFile::new(file, directory);
        // A member that cannot be unpacked at all is found when it is read.
        let record = record.and_then(|at| zip.member(&zip.entries()[at]).ok());
        let record = record.map(|text| Record::read(text, zip.directory())).unwrap_or_default();
        Ok(Self { zip, name: name.to_owned(), file_name, dist_info, record, findings })
    }

    /// Its members in parts that can be read on any thread: how to cut depends on sizes alone.
    pub fn parts(&self) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (index, entry) in self.zip.entries().iter().enumerate() {
            bytes += entry.compressed;
            if bytes >= PART || index + 1 == self.zip.entries().len() {
                parts.push(start..index + 1);
                (start, bytes) = (index + 1, 0);
            }
        }
        parts
    }

    /// Reads the members of a part.
    ///
    /// # Errors
    /// When the file cannot be read. What is wrong with a member is known of it afterwards.
    pub fn read(&self, part: Range<usize>) -> io::Result<Vec<Member>> {
        let entries = self.zip.entries().get(part.clone()).unwrap_or_default();
        part.zip(entries)
            .map(|(at, entry)| member::read(self.zip.file(), entry, self.record.algorithm(at)))
            .collect()
    }

    /// What there is to say when all members were read, in their order.
    pub fn conclude(mut self, members: &[Member]) -> Package {
        let mut package = Package::unread(&self.name, Form::Wheel);
        let mut found = std::mem::take(&mut self.findings);
        let entries = self.zip.entries();
        package.files = entries.iter().filter(|entry| !entry.is_directory()).count();
        package.size = members.iter().map(|member| member.size).sum();
        package.elf_files =
            members.iter().filter(|member| matches!(member.kind, Kind::Elf(_))).count();
        package.searches =
            entries.iter().zip(members).flat_map(|(entry, member)| search(entry, member)).collect();
        package.installed = layout::installed(entries);
        found.extend(layout::check(entries, members, self.dist_info.as_deref()));
        found.extend(layout::clashes(&package.installed));
        if let Some(dist_info) = self.dist_info.clone() {
            found.extend(self.metadata(&dist_info, members, &mut package));
        }
        package.findings = found.into_iter().map(|finding| finding.within(&self.name)).collect();
        package
    }

    fn metadata(&self, dist_info: &str, members: &[Member], package: &mut Package) -> Vec<Finding> {
        let entries = self.zip.entries();
        let mut found = Vec::new();
        let record = format!("{dist_info}/RECORD");
        if self.zip.find(&record).is_some() {
            found.extend(self.record.findings.iter().cloned());
            found.extend(self.record.compare(&record, self.zip.directory(), members));
        } else {
            found.push(missing("RECORD"));
        }
        let wheel = self.header("WHEEL", &mut found);
        let has = |path: &str| self.zip.find(path).is_some();
        let names = Names::new(&self.file_name, dist_info);
        found.extend(names.findings());
        if let Some(header) = self.header("METADATA", &mut found) {
            let metadata = Metadata::new(&header);
            found.extend(metadata.check());
            found.extend(metadata.license_files(|file| {
                has(&format!("{dist_info}/licenses/{file}")) || has(&format!("{dist_info}/{file}"))
            }));
            found.extend(names.compare(&header));
            metadata.tell(package);
        }
        if let Some(header) = wheel {
            found.extend(names.tags(&header));
            found.extend(names.platform(entries, members));
        }
        let text = self.text("entry_points.txt", &mut found).unwrap_or_default();
        let (points, wrong) = entry_points::parse(&text);
        found.extend(
            wrong.into_iter().map(|finding| finding.of(format!("{dist_info}/entry_points.txt"))),
        );
        package.entry_points = points.len();
        for point in points {
            package
                .installed
                .extend(point.script().map(|path| (path, format!("{dist_info}/entry_points.txt"))));
            found.extend(entry_points::check(&point, &package.installed, |member| {
                self.member_text(member)
            }));
        }
        found
    }

    /// A header of the metadata directory; one that is not there is a finding.
    fn header(&self, file: &str, found: &mut Vec<Finding>) -> Option<Header> {
        let text = self.text(file, found);
        if text.is_none() {
            found.push(missing(file));
        }
        text.map(|text| Header::parse(&text))
    }

    /// A text of the metadata directory, if it is there; what is no text of one is a finding.
    fn text(&self, file: &str, found: &mut Vec<Finding>) -> Option<String> {
        let name = format!("{}/{file}", self.dist_info.as_ref()?);
        let (text, wrong) = text::checked(self.member_bytes(&name)?);
        found.extend(wrong.map(|finding| finding.of(name)));
        Some(text)
    }

    /// A member as text, as far as it can be unpacked and the limit for texts.
    fn member_text(&self, name: &str) -> Option<String> {
        let bytes = self.member_bytes(name)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The bytes of a text and one more than it may have.
    fn member_bytes(&self, name: &str) -> Option<Vec<u8>> {
        let at = self.zip.find(name)?;
        let mut bytes = Vec::new();
        if let Ok(member) = self.zip.member(&self.zip.entries()[at]) {
            // Where unpacking fails, that is found when all members are read.
            let _ = member.take(LONGEST_TEXT + 1).read_to_end(&mut bytes);
        }
        Some(bytes)
    }
}

/// What is said of where readers would differ.
fn finding(fault: &Fault) -> Finding {
    let code = match fault.kind {
        FaultKind::Feature => Code::ZipFeature,
        FaultKind::Twice => Code::MemberTwice,
        FaultKind::Stray | FaultKind::Comment => Code::StrayBytes,
        FaultKind::Disagree => Code::HeadersDisagree,
    };
    let finding = match fault.kind {
        FaultKind::Comment => Finding::warning(code, fault.what),
        _ => Finding::error(code, fault.what),
    };
    Finding { member: fault.member.clone(), detail: fault.detail.clone(), ..finding }
}

fn missing(file: &str) -> Finding {
    Finding::error(Code::MissingMetadata, format!("its metadata directory has no {file}"))
}

/// The only metadata directory.
fn dist_info(entries: &[Entry], findings: &mut Vec<Finding>) -> Option<String> {
    let mut found: Vec<&str> = entries
        .iter()
        .filter_map(|entry| entry.name.split_once('/'))
        .map(|(directory, _)| directory)
        .collect();
    found.retain(|directory| directory.ends_with(".dist-info"));
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [one] => return Some((*one).to_owned()),
        [] if entries.is_empty() => {}
        [] => findings.push(Finding::error(
            Code::MissingMetadata,
            "it has no metadata directory (NAME-VERSION.dist-info)",
        )),
        several => findings.push(
            Finding::error(Code::MissingMetadata, "it has several metadata directories")
                .because(several.join(", ")),
        ),
    }
    None
}

fn search(entry: &Entry, member: &Member) -> Vec<Search> {
    let Kind::Elf(binary) = &member.kind else { return Vec::new() };
    let path = layout::site_path(&entry.name);
    // A loader that sees DT_RUNPATH does not look at DT_RPATH.
    let (directories, runpath) = match (&binary.runpath, &binary.rpath) {
        (Some(runpath), _) => (runpath, true),
        (None, Some(rpath)) => (rpath, false),
        (None, None) => return Vec::new(),
    };
    vec![Search {
        member: entry.name.clone(),
        path: path.unwrap_or_default(),
        directories: directories.clone(),
        runpath,
    }]
}
