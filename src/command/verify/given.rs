use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use base::names::{Form, RelPath};
use base::source::{Code, Problem};
use base::text::with_causes;
use check::{Finding, Package};
use rayon::prelude::*;
use record::gate::Entrant;
use record::recorded;
use wheel::package::{self, Found};

use crate::failure::Failure;

#[derive(Default)]
pub struct Given {
    /// Packages with their names in messages.
    pub packages: Vec<(Found, String)>,
    /// Number of checked packages; the others are only installed with them.
    pub judged: usize,
    directories: BTreeSet<PathBuf>,
    /// Resolved paths of `packages`.
    paths: BTreeSet<PathBuf>,
    names: BTreeSet<String>,
}

impl Given {
    /// Finds packages, each once; `with` are only installed with them.
    pub fn new(paths: &[PathBuf], with: &[PathBuf]) -> Result<Self, Failure> {
        let mut given = Self::default();
        given.take(paths)?;
        given.judged = given.packages.len();
        let directories = given.directories.clone();
        given.take(with)?;
        given.directories = directories;
        Ok(given)
    }

    /// Takes packages without their directory.
    #[cfg(feature = "remote")]
    pub fn of(packages: Vec<(Found, String)>) -> Self {
        Self { judged: packages.len(), packages, ..Self::default() }
    }

    pub fn entrants(&self) -> Vec<Entrant> {
        let entrant = |(found, name): &(Found, String)| Entrant {
            path: found.path.clone(),
            form: found.form,
            name: name.clone(),
            file_name: None,
        };
        self.packages.iter().map(entrant).collect()
    }

    pub fn concerns(&self, finding: &Finding) -> bool {
        let judged = &self.packages[..self.judged];
        judged.len() == self.packages.len()
            || judged
                .iter()
                .any(|(_, name)| finding.file == *name || finding.what.contains(&**name))
    }

    fn take(&mut self, paths: &[PathBuf]) -> Result<(), Failure> {
        let given = self;
        for path in paths {
            if path.is_dir() && path.extension().is_none_or(|extension| extension != "whl") {
                let found = package::packages(path).map_err(|e| wrong(with_causes(&e)))?;
                given.directories.extend(
                    found.iter().filter_map(|found| found.path.parent()).map(Path::to_owned),
                );
                given.directories.extend([path.clone(), path.join("dist")]);
                for package in found {
                    given.add(package);
                }
            } else {
                given.add(one(path)?);
            }
        }
        Ok(())
    }

    fn add(&mut self, found: Found) {
        let resolved = std::fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone());
        if !self.paths.insert(resolved) {
            return;
        }
        let file = found.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let family = found
            .directory
            .as_str()
            .strip_prefix("dist/")
            .map(|family| format!("{family}/"))
            .unwrap_or_default();
        let short = family + &file;
        // Two files with one name are distinguished by their paths.
        let taken = self.names.contains(&short);
        let name = if taken { found.path.display().to_string() } else { short };
        self.names.insert(name.clone());
        self.packages.push((found, name));
    }

    /// Returns contradictions between wheel variants and the files that list them.
    pub fn variants(&self, packages: &[Package<'_>]) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for directory in &self.directories {
            let lies = |found: &Found| found.path.parent() == Some(directory);
            let here = self.packages.iter().zip(packages).filter(|((found, _), _)| lies(found));
            findings
                .extend(check::read::variants_beside(directory, here.map(|(_, package)| package))?);
        }
        Ok(findings)
    }

    pub fn provenance(&self) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for directory in &self.directories {
            let faults = recorded::statement_faults(directory)?.into_iter();
            findings.extend(faults.map(|fault| {
                let finding = Finding::error(Code::WrongProvenance, fault.what);
                finding.within(&fault.file).because(fault.detail)
            }));
        }
        Ok(findings)
    }

    pub fn sums(&self) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let mut lists = Vec::new();
        for directory in &self.directories {
            lists.extend(check::beside(directory)?.map(|list| (directory, list)));
        }
        for (directory, list) in &lists {
            let checked: Vec<io::Result<Option<Finding>>> =
                (0..list.len()).into_par_iter().map(|row| list.check(row)).collect();
            findings
                .extend(checked.into_iter().collect::<io::Result<Vec<_>>>()?.into_iter().flatten());
            let nearer = |path: &Path| {
                lists.iter().any(|(other, _)| {
                    other != directory && other.starts_with(directory) && path.starts_with(other)
                })
            };
            let judged = &self.packages[..self.judged];
            let below = judged.iter().map(|(found, _)| &found.path).filter(|path| !nearer(path));
            let names: Vec<String> = below
                .filter_map(|path| {
                    Some(path.strip_prefix(directory).ok()?.to_string_lossy().into_owned())
                })
                .collect();
            findings.extend(list.unlisted(names.iter().map(String::as_str)));
        }
        Ok(findings)
    }
}

fn wrong(message: String) -> Failure {
    Problem::error(Code::Environment, message)
        .help("give wheels (.whl), sdists (.tar.gz), or directories of them")
        .into()
}

fn one(path: &Path) -> Result<Found, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !path.exists() {
        return Err(wrong(format!("{} does not exist", path.display())));
    }
    let form = Form::of_file(&name)
        .ok_or_else(|| wrong(format!("{} is neither a wheel nor an sdist", path.display())))?;
    let directory: RelPath =
        "dist".parse().map_err(|error: base::names::PathError| wrong(error.to_string()))?;
    Ok(Found { path: path.to_owned(), directory, form })
}
