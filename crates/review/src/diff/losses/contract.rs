//! Losses by contract: a rule for each field finds the narrower ones.

use std::collections::{BTreeMap, BTreeSet};

use base::names::Requirement;

use super::super::contents::{File, Package};
use super::offered::{Offered, required};
use super::{Compared, Found, LossKind, Of, general, platform, python};
use crate::contract::{self, Command, Contract, Form, Leads};
use plan::LossSubject;

pub(super) fn find(compared: &Compared<'_, '_>, offered: &Offered<'_, '_>, found: &mut Found) {
    let contracts = (contract::of_contents(compared.old), contract::of_contents(compared.new));
    let mut renamed = BTreeMap::new();
    for (was, is) in compared.pairs.indices() {
        let names = (&compared.old.packages[was].name, &compared.new.packages[is].name);
        renamed.insert(names.0.as_str(), names.1.as_str());
    }
    let context = All { compared, offered, new: &contracts.1, renamed };
    for (was, is) in compared.pairs.indices() {
        let (old, new) = (&compared.old.packages[was], &compared.new.packages[is]);
        Pair { all: &context, old, new }.narrower(&contracts.0[was], &contracts.1[is], found);
    }
    python::find(compared, found);
    platform::find(compared, found);
}

struct All<'s, 'a> {
    compared: &'s Compared<'s, 'a>,
    offered: &'s Offered<'s, 'a>,
    /// Contracts of the new packages.
    new: &'s [Contract],
    /// New names by old ones: `packages` judges renamed ones.
    renamed: BTreeMap<&'s str, &'s str>,
}

impl All<'_, '_> {
    /// Returns a directory of an old package in its new one.
    fn new_directory(&self, directory: &str) -> String {
        let (owner, below) = directory.split_once('/').unwrap_or((directory, ""));
        match self.renamed.get(owner) {
            Some(name) if !below.is_empty() => format!("{name}/{below}"),
            _ => directory.to_owned(),
        }
    }
}

struct Pair<'s, 'a> {
    all: &'s All<'s, 'a>,
    old: &'s Package<'a>,
    new: &'s Package<'a>,
}

impl<'s> Pair<'s, '_> {
    /// Judges each field; a new field does not compile without a rule.
    fn narrower(&self, old: &Contract, new: &Contract, found: &mut Found) {
        let Contract {
            distribution: _, // `packages` judges names
            target: _,       // plans have one target
            imports,
            commands,
            libraries,
            unversioned,
            extras,
            requirements: _, // judged with their closures, from the metadata
            python: _,       // judged over all packages
            platforms: _,    // judged over all packages
            gpus,
            license,
            license_texts,
            environment,
            python_path,
            keep_links,
            headers,
            links,
        } = old;
        self.imports(imports.as_ref(), new, found);
        self.commands(commands, new, found);
        self.libraries(libraries.as_ref(), found);
        self.unversioned(unversioned, new, found);
        self.extras(extras, new, found);
        self.requirements(found);
        self.needs(found);
        self.gpus(gpus.as_ref(), new, found);
        self.license(license.as_ref(), new, found);
        self.license_texts(license_texts.as_ref(), found);
        self.environment(environment.as_ref(), new, found);
        self.python_path(python_path, found);
        self.keep_links(keep_links.as_ref(), new, found);
        // Otherwise `files` judges each of them.
        if self.all.compared.old.contracts.is_some() {
            self.counted(headers.as_ref(), new.headers.as_ref(), "headers", found);
            self.counted(links.as_ref(), new.links.as_ref(), "links", found);
            self.gone_names(unversioned, found);
        }
    }

    /// Shortens a path below the package's directory.
    fn add(&self, kind: LossKind, name: &str, to: &str, found: &mut Found) {
        let below = name.strip_prefix(self.old.name.as_str());
        let name = below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        self.add_of(kind, &general(self.old), name, to, found);
    }

    fn add_of(&self, kind: LossKind, of: &str, name: &str, to: &str, found: &mut Found) {
        let subject = LossSubject { package: self.old.package, name, source: None };
        found.add(Of::new(kind, of), to, &subject, 0, self.all.compared.new);
    }

    /// Contracts of the new package and of the packages that pip installs with it.
    fn contracts(&self) -> impl Iterator<Item = &'s Contract> {
        let packages = self.all.compared.new.packages.iter().zip(self.all.new);
        let brought = packages.filter(|(package, _)| self.all.offered.installs(self.new, package));
        brought.map(|(_, contract)| contract)
    }

    fn imports(&self, old: Option<&BTreeSet<String>>, new: &Contract, found: &mut Found) {
        let Some((old, new)) = old.zip(new.imports.as_ref()) else { return };
        for module in old {
            let imports_it = |contract: &Contract| {
                contract.imports.as_ref().is_none_or(|modules| modules.contains(module))
            };
            if !self.contracts().any(imports_it) {
                let replacement = new.iter().next().map(|module| without_target(self.old, module));
                let name = without_target(self.old, module);
                self.add(LossKind::Import, &name, &replacement.unwrap_or_default(), found);
            }
        }
    }

    fn commands(&self, old: &BTreeMap<String, Command>, new: &Contract, found: &mut Found) {
        for (name, was) in old {
            match new.commands.get(name) {
                Some(is) => self.command(name, was, is, found),
                None => self.gone_command(name, found),
            }
        }
    }

    fn gone_command(&self, name: &str, found: &mut Found) {
        let packages = &self.all.compared.new.packages;
        let has_command = |other: &&Package<'_>| other.entry_points.contains_key(name);
        let mut holders = packages.iter().filter(has_command).peekable();
        let first = holders.peek().map(|holder| general(holder)).unwrap_or_default();
        if !holders.any(|holder| self.all.offered.installs(self.new, holder)) {
            self.add(LossKind::Command, name, &first, found);
        }
    }

    fn command(&self, name: &str, old: &Command, new: &Command, found: &mut Found) {
        let Command { starts, expands_devel } = old;
        // A package without facts of the runtime names a generated function.
        let both_known = expands_devel.is_some() == new.expands_devel.is_some();
        if both_known && *starts != new.starts {
            self.add(LossKind::Program, name, &new.starts, found);
        }
        if *expands_devel == Some(true) && new.expands_devel == Some(false) {
            self.add(LossKind::Expands, name, "", found);
        }
    }

    /// `find_libraries` searches all packages.
    fn libraries(&self, old: Option<&BTreeMap<String, Leads>>, found: &mut Found) {
        let listed = || self.all.new.iter().filter_map(|contract| contract.libraries.as_ref());
        if listed().next().is_none() {
            return;
        }
        for (name, was) in old.into_iter().flatten() {
            match listed().find_map(|libraries| libraries.get(name)) {
                None => self.add_of(LossKind::Name, "", name, "", found),
                Some(is) => {
                    if let Some(to) = other_library(was, is) {
                        self.add_of(LossKind::Leads, "", name, &to, found);
                    }
                }
            }
        }
    }

    /// `files` judges names that are gone.
    fn unversioned(&self, old: &BTreeMap<String, Form>, new: &Contract, found: &mut Found) {
        let files = old.iter().filter(|(_, form)| **form == Form::File);
        for (path, _) in files {
            match new.unversioned.get(path) {
                Some(Form::Forward) => self.add(LossKind::Forward, path, "", found),
                Some(Form::File | Form::Link) | None => {}
            }
        }
    }

    fn gone_names(&self, old: &BTreeMap<String, Form>, found: &mut Found) {
        let has_name = |path: &&String| {
            self.contracts().any(|contract| contract.unversioned.contains_key(*path))
        };
        for path in old.keys().filter(|path| !has_name(path)) {
            let subject = LossSubject { package: self.new.package, name: path, source: None };
            let kind = Of::new(LossKind::Libraries, "");
            found.add(kind, "", &subject, 0, self.all.compared.new);
        }
    }

    fn counted(
        &self,
        old: Option<&BTreeMap<String, usize>>,
        new: Option<&BTreeMap<String, usize>>,
        label: &str,
        found: &mut Found,
    ) {
        let Some((old, new)) = old.zip(new) else { return };
        for (directory, was) in old {
            let count = new.get(directory).copied().unwrap_or_default();
            if count < *was {
                let name = format!("{} of {was} {label} of {directory}", was - count);
                self.add(LossKind::Fewer, &name, "", found);
            }
        }
    }

    fn extras(&self, old: &BTreeMap<String, BTreeSet<String>>, new: &Contract, found: &mut Found) {
        for (name, was) in old {
            let Some(is) = new.extras.get(name) else {
                self.add(LossKind::Extra, name, "", found);
                continue;
            };
            let installs = names(is);
            let is_installed = |wanted: &String| {
                let mut closures = installs.iter().map(|one| self.all.offered.closure(one));
                installs.contains(wanted)
                    || closures.any(|closure| closure.contains(wanted))
                    || self.is_former_name(wanted, &installs)
            };
            let less =
                names(was).into_iter().filter(|one| !is_installed(one) && self.is_there(one));
            for one in less {
                self.add(LossKind::Installs, name, &one, found);
            }
        }
    }

    /// An empty package that requires one of these keeps a former name alive.
    fn is_former_name(&self, name: &String, of: &BTreeSet<String>) -> bool {
        let is_empty = |package: &Package<'_>| !package.files.iter().any(super::files::counts);
        let named = |package: &&Package<'_>| package.name.normalized() == *name;
        let packages = &self.all.compared.new.packages;
        packages.iter().find(named).is_some_and(is_empty)
            && !self.all.offered.closure(name).is_disjoint(of)
    }

    /// A package that is gone is its own loss.
    fn is_there(&self, name: &String) -> bool {
        let old = &self.all.compared.old.packages;
        self.all.offered.contains(name) || !old.iter().any(|p| p.name.normalized() == *name)
    }

    fn requirements(&self, found: &mut Found) {
        let required_now = required(self.new);
        for name in required(self.old).into_iter().filter(|name| !required_now.contains(name)) {
            if self.is_there(&name) && !self.all.offered.brings_name(self.new, &name) {
                self.add(LossKind::Requirement, &name, "", found);
            }
        }
    }

    /// A package of another project that must be installed now, or in fewer versions.
    fn needs(&self, found: &mut Found) {
        let of_others = |package: &Package<'_>| -> Vec<Requirement> {
            let texts = package.metadata.requires_dist.iter();
            let requirements = texts.filter_map(|text| text.parse::<Requirement>().ok());
            let is_met =
                |it: &Requirement| it.of_extras.is_empty() && !self.all.offered.contains(&it.name);
            requirements.filter(is_met).collect()
        };
        let old = of_others(self.old);
        for is in of_others(self.new) {
            if !old.iter().any(|was| includes(was, &is)) {
                self.add(LossKind::Needs, &is.text, "", found);
            }
        }
    }

    /// A vanished package for the GPU is its own loss.
    fn gpus(&self, old: Option<&BTreeSet<String>>, new: &Contract, found: &mut Found) {
        let Some((old, new)) = old.zip(new.gpus.as_ref()) else { return };
        let compared = self.all.compared;
        let packages = || compared.old.packages.iter().enumerate();
        for gpu in old.difference(new) {
            let mut of_gpu = packages().filter(|(_, package)| package.variant == Some(gpu));
            if !of_gpu.any(|(was, _)| compared.pairs.new_of[was].is_none()) {
                self.add(LossKind::Gpu, gpu, "", found);
            }
        }
    }

    fn license(&self, old: Option<&String>, new: &Contract, found: &mut Found) {
        if let Some((was, is)) = old.zip(new.license.as_ref())
            && was != is
        {
            self.add(LossKind::License, was, is, found);
        }
    }

    /// Texts move with the files of their artifacts.
    fn license_texts(&self, old: Option<&BTreeSet<String>>, found: &mut Found) {
        let is_kept = |path: &String| {
            let texts =
                |contract: &Contract| contract.license_texts.as_ref().map(|t| t.contains(path));
            self.all.new.iter().any(|contract| texts(contract).unwrap_or(true))
        };
        for path in old.into_iter().flatten().filter(|path| !is_kept(path)) {
            let file = self.old.files.iter().find(|file| file.is_license() && file.path == path);
            let source = file.and_then(File::origin);
            let subject = LossSubject { package: self.old.package, name: path, source };
            let kind = Of::new(LossKind::LicenseTexts, "");
            found.add(kind, "", &subject, 0, self.all.compared.new);
        }
    }

    fn environment(
        &self,
        old: Option<&BTreeMap<String, BTreeSet<String>>>,
        new: &Contract,
        found: &mut Found,
    ) {
        let Some((old, new)) = old.zip(new.environment.as_ref()) else { return };
        for (variable, directories) in old {
            let new_directories = new.get(variable);
            let is_kept = |one: &String| {
                new_directories.is_some_and(|new_directories| {
                    new_directories.contains(&self.all.new_directory(one))
                })
            };
            let missing = directories.iter().filter(|one| !is_kept(one));
            for directory in missing {
                self.add(LossKind::Variable, directory, variable, found);
            }
        }
    }

    fn python_path(&self, old: &BTreeSet<String>, found: &mut Found) {
        for directory in old {
            let now = self.all.new_directory(directory);
            if !self.contracts().any(|contract| contract.python_path.contains(&now)) {
                self.add(LossKind::PythonPath, directory, "", found);
            }
        }
    }

    fn keep_links(&self, old: Option<&BTreeSet<String>>, new: &Contract, found: &mut Found) {
        let Some((old, new)) = old.zip(new.keep_links.as_ref()) else { return };
        for path in old.difference(new) {
            self.add(LossKind::KeptLink, path, "", found);
        }
    }
}

/// Names another library, if a short name leads to no old one now.
fn other_library(old: &Leads, new: &Leads) -> Option<String> {
    let Leads { linux, windows, files } = old;
    match files.as_ref().zip(new.files.as_ref()) {
        Some((was, is)) if !was.is_empty() => {
            was.is_disjoint(is).then(|| is.iter().next().cloned().unwrap_or_default())
        }
        // Neither side ships it, or one side has no files.
        _ => [(linux, &new.linux), (windows, &new.windows)]
            .into_iter()
            .find(|(was, is)| was.is_some() && was != is)
            .map(|(_, is)| is.clone().unwrap_or_default()),
    }
}

/// Returns true if all that meets the old requirement meets the new one, on every system.
fn includes(was: &Requirement, is: &Requirement) -> bool {
    let accepts_all = is.versions.as_ref().is_some_and(pep440_rs::VersionSpecifiers::is_empty);
    let everywhere = was.marker.is_none() || was.marker == is.marker;
    let with_extras = is.extras.iter().all(|extra| was.extras.contains(extra));
    was.name == is.name && (was.text == is.text || accepts_all && everywhere && with_extras)
}

fn names(requirements: &BTreeSet<String>) -> BTreeSet<String> {
    let parsed = requirements.iter().filter_map(|text| {
        let text = text.split("==").next()?.split(';').next()?;
        text.parse::<Requirement>().ok()
    });
    parsed.map(|requirement| requirement.name).collect()
}

/// Returns a module with `*` for the package's target.
fn without_target(package: &Package<'_>, module: &str) -> String {
    match package.variant {
        Some(variant) => module.replace(&variant.replace('-', "_"), "*"),
        None => module.to_owned(),
    }
}
