//! Check of an sdist: a gzipped tar archive with one top directory (PEP 625).

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::metadata::Rules;
use super::{project, sdist_scripts};
use crate::{File, Finding, Kind, Known, Package, Scheme, Why};
use base::names::DistName;
use base::names::Form;
use base::source::Code;
use wheel::package::{self, Metadata, Sdist};

/// Reads and checks an sdist. Faults of the archive are findings of the package.
///
/// # Errors
///
/// If the file cannot be read.
pub fn sdist(path: &Path, name: &str) -> io::Result<Package<'static>> {
    let mut package = Package::new(name, Form::Sdist);
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let sdist = Sdist::read(path, |_, _| Ok(()))?;
    let mut findings: Vec<Finding> = sdist.faults.iter().cloned().map(Finding::from).collect();
    if let Some(error) = &sdist.broken {
        let message = "it is not a gzipped tar archive, or truncated";
        findings.push(Finding::error(Code::BrokenPackage, message).because(error.to_string()));
    } else {
        findings.extend(check(&sdist, &file_name, &mut package));
        findings.extend(sdist_scripts::check(path, &sdist)?);
    }
    let unread = Known::Unknown(Why::NoBytes);
    let file = |path: &String| File::below(Scheme::Source, path.clone(), unread, Kind::Unread);
    package.files = sdist.files.iter().map(file).collect();
    package.size = sdist.size;
    package.faults = findings.into_iter().map(|finding| finding.within(name)).collect();
    Ok(package)
}

fn check(sdist: &Sdist, file_name: &str, package: &mut Package<'_>) -> Vec<Finding> {
    let mut findings = Vec::from_iter(check_top(sdist, file_name));
    if sdist.times.len() > 1 {
        let message = "its members have different timestamps, so its build is not reproducible";
        findings.push(Finding::warning(Code::MemberTime, message));
    }
    let missing = |message: &'static str| Finding::error(Code::MissingMetadata, message);
    if !sdist.has("pyproject.toml") && !sdist.has("setup.py") {
        findings.push(missing("it has neither pyproject.toml nor setup.py"));
    }
    findings.extend(project::check(sdist));
    match sdist.pkg_info().filter(|_| sdist.has("PKG-INFO")) {
        Some(text) => {
            let metadata = Metadata::parse(text);
            let rules = Rules(&metadata);
            findings.extend(rules.check());
            findings.extend(rules.license_files(|file| sdist.has(file)));
            rules.add_facts(package);
            findings.extend(check_file_name(file_name, &metadata));
        }
        None => findings.push(missing("it has no PKG-INFO in its top directory")),
    }
    findings
}

fn check_top(sdist: &Sdist, file_name: &str) -> Option<Finding> {
    let top = |path: &String| path.split_once('/').map(|(top, _)| top.to_owned());
    // `None` for files outside of directories.
    let tops: BTreeSet<Option<String>> = sdist.files.iter().map(top).collect();
    let is_expected = |top: &Option<String>| top.as_deref() == Some(&*sdist.top);
    if tops.len() == 1 && tops.iter().all(is_expected) && file_name.ends_with(".tar.gz") {
        return None;
    }
    let tops = tops.into_iter().map(|top| top.unwrap_or("files at the top level".to_owned()));
    let detail = tops.collect::<Vec<_>>().join(", ");
    let message = "its top level is not one directory with the name of the file";
    let finding = Finding::error(Code::NamesDisagree, message);
    Some(if detail.is_empty() {
        finding.because("it has no files")
    } else {
        finding.because(detail)
    })
}

fn check_file_name(file_name: &str, metadata: &Metadata) -> Option<Finding> {
    let (name, version): (DistName, _) = (metadata.name().ok()?, metadata.version().ok()?);
    let expected = format!("{}-{version}.tar.gz", name.file_stem());
    if file_name == expected {
        return None;
    }
    Some(if package::sdist::is_of(file_name, &name, &version) {
        Finding::warning(Code::PackageName, "its file name is not normalised, expected")
            .because(format!("`{expected}`"))
    } else {
        Finding::error(Code::NamesDisagree, "its metadata is of another package or version")
            .because(format!("`{}` {version}", name.normalized()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_directories_are_at_the_top() {
        let detail = |files: &[&str]| {
            let mut sdist = Sdist::default();
            sdist.top = "x-1".to_owned();
            sdist.files = files.iter().map(|file| (*file).to_owned()).collect();
            check_top(&sdist, "x-1.tar.gz").map(|finding| finding.detail.unwrap())
        };
        assert_eq!(detail(&["x-1/PKG-INFO", "x-1/src/a"]), None);
        assert_eq!(detail(&["y/a", "PKG-INFO"]).unwrap(), "files at the top level, y");
        assert_eq!(detail(&["x-1"]).unwrap(), "files at the top level");
        assert_eq!(detail(&[]).unwrap(), "it has no files");
    }
}
