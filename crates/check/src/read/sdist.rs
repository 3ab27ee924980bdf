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

/// An invalid archive is a finding.
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
    let mut findings = Vec::from_iter(tops(sdist, file_name));
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
            findings.extend(names(file_name, &metadata));
        }
        None => findings.push(missing("it has no PKG-INFO in its top directory")),
    }
    findings
}

fn tops(sdist: &Sdist, file_name: &str) -> Option<Finding> {
    let top =
        |path: &'_ String| path.split_once('/').map_or(String::new(), |(top, _)| top.to_owned());
    let tops: BTreeSet<String> = sdist.files.iter().map(top).collect();
    if tops.len() == 1 && tops.contains(&sdist.top) && file_name.ends_with(".tar.gz") {
        return None;
    }
    let named =
        |top: String| if top.is_empty() { "files at the top level".to_owned() } else { top };
    let detail = tops.into_iter().map(named).collect::<Vec<_>>().join(", ");
    let message = "its top level is not one directory with the name of the file";
    Some(Finding::error(Code::NamesDisagree, message).because(detail))
}

fn names(file_name: &str, metadata: &Metadata) -> Option<Finding> {
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
