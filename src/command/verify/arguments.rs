use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use base::names::{Form, RelPath};
use base::source::{Code, Problem};
use base::text::with_causes;
use check::{Finding, Package};
use rayon::prelude::*;
use record::gate::PackageFile;
use record::recorded;
use wheel::package::{self, FoundPackage};

use crate::failure::Failure;

#[derive(Default)]
pub struct PackageArguments {
    /// Packages with their names in messages.
    pub packages: Vec<(FoundPackage, String)>,
    /// Number of checked packages; the others are only installed with them.
    pub judged: usize,
    directories: BTreeSet<PathBuf>,
    /// Resolved paths of `packages`.
    paths: BTreeSet<PathBuf>,
    names: BTreeSet<String>,
}

impl PackageArguments {
    /// Finds packages, each once; `companions` are only installed with them.
    pub fn new(paths: &[PathBuf], companions: &[PathBuf]) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        arguments.take(paths)?;
        arguments.judged = arguments.packages.len();
        let directories = arguments.directories.clone();
        arguments.take(companions)?;
        arguments.directories = directories;
        Ok(arguments)
    }

    /// Takes packages without their directory.
    #[cfg(feature = "remote")]
    pub fn from_packages(packages: Vec<(FoundPackage, String)>) -> Self {
        Self { judged: packages.len(), packages, ..Self::default() }
    }

    pub fn package_files(&self) -> Vec<PackageFile> {
        let package_file = |(package, name): &(FoundPackage, String)| PackageFile {
            path: package.path.clone(),
            form: package.form,
            name: name.clone(),
            file_name: None,
        };
        self.packages.iter().map(package_file).collect()
    }

    pub fn concerns(&self, finding: &Finding) -> bool {
        let judged = &self.packages[..self.judged];
        judged.len() == self.packages.len()
            || judged
                .iter()
                .any(|(_, name)| finding.file == *name || finding.what.contains(&**name))
    }

    fn take(&mut self, paths: &[PathBuf]) -> Result<(), Failure> {
        let arguments = self;
        for path in paths {
            if path.is_dir() && path.extension().is_none_or(|extension| extension != "whl") {
                let packages = package::packages(path).map_err(|e| wrong(with_causes(&e)))?;
                arguments.directories.extend(
                    packages.iter().filter_map(|package| package.path.parent()).map(Path::to_owned),
                );
                arguments.directories.extend([path.clone(), path.join("dist")]);
                for package in packages {
                    arguments.add(package);
                }
            } else {
                arguments.add(single_package(path)?);
            }
        }
        Ok(())
    }

    fn add(&mut self, package: FoundPackage) {
        let resolved =
            std::fs::canonicalize(&package.path).unwrap_or_else(|_| package.path.clone());
        if !self.paths.insert(resolved) {
            return;
        }
        let file = package.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let family = package
            .directory
            .as_str()
            .strip_prefix("dist/")
            .map(|family| format!("{family}/"))
            .unwrap_or_default();
        let short = family + &file;
        // Two files with one name are distinguished by their paths.
        let is_taken = self.names.contains(&short);
        let name = if is_taken { package.path.display().to_string() } else { short };
        self.names.insert(name.clone());
        self.packages.push((package, name));
    }

    /// Returns contradictions between wheel variants and the files that list them.
    pub fn variants(&self, packages: &[Package<'_>]) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for directory in &self.directories {
            let is_in_directory = |package: &FoundPackage| package.path.parent() == Some(directory);
            let in_directory = self
                .packages
                .iter()
                .zip(packages)
                .filter(|((package, _), _)| is_in_directory(package));
            findings.extend(check::read::variants_beside(
                directory,
                in_directory.map(|(_, package)| package),
            )?);
        }
        Ok(findings)
    }

    pub fn provenance(&self) -> io::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        for directory in &self.directories {
            let faults = recorded::statement_faults(directory)?.into_iter();
            findings.extend(faults.map(|fault| {
                let finding = Finding::error(Code::WrongProvenance, fault.kind);
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
                lists.iter().any(|(list_directory, _)| {
                    list_directory != directory
                        && list_directory.starts_with(directory)
                        && path.starts_with(list_directory)
                })
            };
            let judged = &self.packages[..self.judged];
            let below =
                judged.iter().map(|(package, _)| &package.path).filter(|path| !nearer(path));
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

fn single_package(path: &Path) -> Result<FoundPackage, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if !path.exists() {
        return Err(wrong(format!("{} does not exist", path.display())));
    }
    let form = Form::of_file(&name)
        .ok_or_else(|| wrong(format!("{} is neither a wheel nor an sdist", path.display())))?;
    let directory: RelPath =
        "dist".parse().map_err(|error: base::names::PathError| wrong(error.to_string()))?;
    Ok(FoundPackage { path: path.to_owned(), directory, form })
}
