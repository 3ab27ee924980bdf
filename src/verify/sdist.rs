//! One sdist: a gzipped tar with one directory at its top (PEP 625, PEP 643).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::layout::oversize;
use super::metadata::Metadata;
use super::requirement::{Requirement, normalized};
use super::{Finding, Package, text};
use crate::archive::TarStream;
use crate::archive::directory::MOST_MEMBERS;
use crate::archive::header::Header;
use crate::archive::zip_file::LONGEST_TEXT;
use crate::names::RelPath;
use crate::plan::Form;
use crate::regular;
use crate::review::diff::data;
use crate::source::Code;

mod links;

/// What was read of the archive.
#[derive(Debug, Default)]
struct Contents {
    /// The directory that all is in.
    top: String,
    files: BTreeSet<String>,
    /// Of what is wanted as text, by path.
    texts: BTreeMap<String, String>,
    size: u64,
    times: BTreeSet<u64>,
    findings: Vec<Finding>,
}

/// Reads and checks the sdist at `path`, which findings call `name`.
///
/// # Errors
/// When the file cannot be read. An archive that cannot be read is a finding.
pub fn sdist(path: &Path, name: &str) -> io::Result<Package> {
    let mut package = Package::unread(name, Form::Sdist);
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let top = file_name.strip_suffix(".tar.gz").unwrap_or(&file_name).to_owned();
    let mut contents = Contents { top, ..Contents::default() };
    if let Err(error) = contents.read(regular::open(path)?.into_parts().0) {
        if !is_broken(&error) {
            return Err(error);
        }
        let what = "it is no gzipped tar archive, or cut short";
        let finding = Finding::error(Code::BrokenPackage, what);
        contents.findings.push(finding.because(error.to_string()));
    } else {
        contents.check(&file_name, &mut package);
    }
    package.files = contents.files.len();
    package.size = contents.size;
    package.findings = contents.findings.into_iter().map(|finding| finding.within(name)).collect();
    Ok(package)
}

/// Whether the bytes are at fault, and not the disk.
fn is_broken(error: &io::Error) -> bool {
    error.raw_os_error().is_none()
}

impl Contents {
    fn read(&mut self, file: std::fs::File) -> io::Result<()> {
        let gzip = GzDecoder::new(BufReader::new(file));
        let mut archive = tar::Archive::new(TarStream::new(gzip, MOST_MEMBERS));
        for entry in archive.entries()? {
            self.entry(&mut entry?)?;
        }
        let mut gzip = archive.into_inner().into_inner();
        // The checksum stands behind the last byte.
        io::copy(&mut gzip, &mut io::sink())?;
        if gzip.into_inner().read(&mut [0])? > 0 {
            self.findings.push(Finding::error(Code::StrayBytes, "bytes follow the archive"));
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> io::Result<()> {
        let path = String::from_utf8_lossy(&entry.path_bytes()).trim_end_matches('/').to_owned();
        let mode = entry.header().mode()?;
        self.times.insert(entry.header().mtime()?);
        let mut found = Vec::new();
        if let Err(fault) = path.parse::<RelPath>() {
            found.push(
                Finding::error(Code::UnsafeName, "its name cannot be unpacked")
                    .because(fault.reason),
            );
        } else if let Some(reason) = oversize(&path) {
            found.push(
                Finding::error(Code::UnsafeName, "its name cannot be unpacked").because(reason),
            );
        }
        let target =
            entry.link_name_bytes().map(|target| String::from_utf8_lossy(&target).into_owned());
        found.extend(links::check(entry.header().entry_type(), &path, target.as_deref()));
        let kind = entry.header().entry_type();
        if kind.is_file() && mode & 0o7002 != 0 {
            let what = "writable for everyone, or set-user-id and the like";
            found.push(
                Finding::error(Code::MemberMode, what)
                    .because(format!("mode {:04o}", mode & 0o7777)),
            );
        }
        if !kind.is_dir() {
            self.size += entry.size();
            if self.wants(&path) {
                let (text, wrong) = read_text(entry)?;
                found.extend(wrong);
                self.texts.insert(path.clone(), text);
            }
            if !self.files.insert(path.clone()) {
                found.push(Finding::error(Code::MemberTwice, "there twice"));
            }
        }
        self.findings.extend(found.into_iter().map(|finding| finding.of(&*path)));
        Ok(())
    }

    /// Whether a file is wanted as text: the metadata, and what the first module knows of the package.
    fn wants(&self, path: &str) -> bool {
        let Some(path) = path.strip_prefix(&*self.top).and_then(|path| path.strip_prefix('/'))
        else {
            return false;
        };
        let own = path.starts_with("src/") && path.ends_with("/_dist_info.py");
        path == "PKG-INFO" || own && !self.texts.keys().any(|text| text.ends_with("/_dist_info.py"))
    }

    fn check(&mut self, file_name: &str, package: &mut Package) {
        let mut found = self.tops(file_name);
        if self.times.len() > 1 {
            let what =
                "its members bear different times, so that it cannot be built again as it is";
            found.push(Finding::warning(Code::MemberTime, what));
        }
        let has = |file: &str| self.files.contains(&format!("{}/{file}", self.top));
        if !has("pyproject.toml") && !has("setup.py") {
            found.push(Finding::error(
                Code::MissingMetadata,
                "it has neither pyproject.toml nor setup.py",
            ));
        }
        match self.texts.get(&format!("{}/PKG-INFO", self.top)) {
            Some(text) => {
                let header = Header::parse(text);
                let metadata = Metadata::new(&header);
                found.extend(metadata.check());
                found.extend(metadata.license_files(has));
                metadata.tell(package);
                found.extend(names(file_name, package));
            }
            None => found.push(Finding::error(
                Code::MissingMetadata,
                "it has no PKG-INFO in its top directory",
            )),
        }
        self.computed(package);
        self.findings.extend(found);
    }

    /// The one directory has the name of the file.
    fn tops(&self, file_name: &str) -> Vec<Finding> {
        let tops: BTreeSet<&str> =
            self.files.iter().map(|path| path.split_once('/').map_or("", |(top, _)| top)).collect();
        match tops.iter().next() {
            Some(top) if tops.len() == 1 && file_name.strip_suffix(".tar.gz") == Some(*top) => {
                Vec::new()
            }
            _ => {
                let detail = tops
                    .iter()
                    .map(|top| if top.is_empty() { "files at its top" } else { *top })
                    .collect::<Vec<_>>()
                    .join(", ");
                let what = "it is not one directory with the name of the file";
                vec![Finding::error(Code::NamesDisagree, what).because(detail)]
            }
        }
    }

    /// What a selector made by rockpack offers where it is installed: its metadata leaves that open.
    fn computed(&self, package: &mut Package) {
        let own = self.texts.iter().find(|(path, _)| path.ends_with("/_dist_info.py"));
        let Some(facts) = own.and_then(|(_, text)| data(text)) else { return };
        let all = |value: &serde_json::Value| -> Vec<Requirement> {
            let texts =
                value.as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
            texts.filter_map(|text| text.parse().ok()).collect()
        };
        package.requires.extend(all(&facts["requires"]));
        for (extra, requirements) in facts["extras"].as_object().into_iter().flatten() {
            package.extras.extend(normalized(extra));
            package.requires.extend(all(requirements));
        }
    }
}

/// A text, as far as the limit for texts.
fn read_text(entry: &mut impl Read) -> io::Result<(String, Option<Finding>)> {
    let mut bytes = Vec::new();
    entry.take(LONGEST_TEXT + 1).read_to_end(&mut bytes)?;
    Ok(text::checked(bytes))
}

/// Compares the file's name with the metadata.
fn names(file_name: &str, package: &Package) -> Option<Finding> {
    let (Some(name), Some(version)) = (&package.name, &package.version) else { return None };
    let expected = format!("{}-{version}.tar.gz", name.replace('-', "_"));
    if file_name == expected {
        return None;
    }
    let told = file_name.strip_suffix(".tar.gz").and_then(|stem| stem.rsplit_once('-'));
    let same = told.is_some_and(|(dist, told)| {
        normalized(dist).as_ref() == Some(name) && told.parse().as_ref() == Ok(version)
    });
    Some(if same {
        Finding::warning(Code::PackageName, "its file name is not normalised")
            .because(format!("`{expected}` is"))
    } else {
        Finding::error(Code::NamesDisagree, "its metadata is another package's")
            .because(format!("`{name}` {version}"))
    })
}
