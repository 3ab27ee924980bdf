//! Contracts that a manifest alone promises, for each mode and system.

use std::collections::{BTreeMap, BTreeSet};

use base::names::PackageName;
use base::target::Target;
use manifest::{
    AliasForm, IndexRule, Manifest, Package, PackageKind, Pick, RequireRule, RpathRule,
    ScriptTarget,
};

use super::{CONTRACT_FORMAT, Command, Contract, Contracts, Form, Leads};

/// Contracts without the facts of files: tags, GPUs, licence texts, headers and links are unknown.
pub fn promised(manifest: &Manifest) -> Contracts {
    let targets = Target::ALL.map(|target| (target, manifest.for_target(target)));
    let mut packages = Vec::new();
    for name in manifest.packages.keys() {
        for (target, manifest) in &targets {
            let made = manifest.packages.get(name);
            packages.extend(
                made.into_iter().flat_map(|package| of_package(manifest, *target, package)),
            );
        }
    }
    Contracts { format: CONTRACT_FORMAT, packages }
}

/// The package, its former name, and its copies for other indexes.
fn of_package(manifest: &Manifest, target: Target, package: &Package) -> Vec<Contract> {
    let Some(contract) = of_distribution(manifest, target, package) else { return Vec::new() };
    let former = former_name(package, &contract);
    let selectors = selectors_of_indexes(manifest, package, &contract);
    former.into_iter().chain(selectors).chain([contract]).collect()
}

fn of_distribution(manifest: &Manifest, target: Target, package: &Package) -> Option<Contract> {
    let declared = package.distribution()?;
    let is_runtime = package.kind == PackageKind::Runtime;
    let directories = |rules: &[RpathRule]| -> BTreeSet<String> {
        rules.iter().filter_map(|rule| directory(manifest, rule)).collect()
    };
    let environment = package.environment.iter();
    let keep_links = package.keep_links.iter().map(|rule| rule.path.to_string());
    Some(Contract {
        distribution: declared.name.as_str().to_owned(),
        target: Some(format!("{} {}", target.mode, target.system.as_str())),
        imports: Some(BTreeSet::from([declared.module.as_str().to_owned()])),
        commands: commands(package),
        libraries: Some(libraries(package)),
        unversioned: unversioned(package),
        extras: extras(manifest, package),
        requirements: requirements(manifest, package),
        python: manifest.project.requires_python.clone(),
        platforms: None,
        gpus: None,
        license: package.license.as_ref().map(|license| license.to_string()),
        license_texts: None,
        environment: is_runtime.then(|| {
            environment
                .map(|one| (one.variable.value.clone(), directories(&one.directories)))
                .collect()
        }),
        python_path: directories(&package.python_path),
        keep_links: (package.kind == PackageKind::Devel).then(|| keep_links.collect()),
        headers: None,
        links: None,
    })
}

/// The empty package of a former name, which requires the new one.
fn former_name(package: &Package, contract: &Contract) -> Option<Contract> {
    let name = package.distribution()?.renames.as_ref()?;
    Some(Contract {
        distribution: name.as_str().to_owned(),
        target: contract.target.clone(),
        imports: Some(BTreeSet::new()),
        requirements: BTreeSet::from([format!("{}=={{version}}", contract.distribution)]),
        python: contract.python.clone(),
        license: contract.license.clone(),
        ..Contract::default()
    })
}

/// Selectors of additional indexes, which require more.
fn selectors_of_indexes(
    manifest: &Manifest,
    package: &Package,
    contract: &Contract,
) -> Vec<Contract> {
    let selector = |index: &IndexRule| {
        let mut selector = contract.clone();
        selector.distribution = format!("{}/{}", index.name.as_str(), contract.distribution);
        selector.requirements.extend(of_set(manifest, &index.requires));
        selector
    };
    package.indexes.iter().map(selector).collect()
}

fn distribution(manifest: &Manifest, package: &PackageName) -> Option<String> {
    let declared = manifest.packages.get(package)?.distribution()?;
    Some(declared.name.as_str().to_owned())
}

fn directory(manifest: &Manifest, rule: &RpathRule) -> Option<String> {
    Some(format!("{}/{}", distribution(manifest, &rule.package)?, *rule.directory))
}

fn commands(package: &Package) -> BTreeMap<String, Command> {
    let command = |script: &manifest::Script| {
        let (starts, expands_devel) = match &*script.target {
            ScriptTarget::Program(program) => (program.to_string(), Some(script.expand_devel)),
            ScriptTarget::Function(function) => (function.clone(), None),
        };
        (script.name.value.clone(), Command { starts, expands_devel })
    };
    package.scripts.iter().map(command).collect()
}

fn libraries(package: &Package) -> BTreeMap<String, Leads> {
    let leads = |library: &manifest::Library| {
        let (linux, windows) = (library.so.clone(), library.dll.clone());
        (library.name.value.clone(), Leads { linux, windows, files: None })
    };
    package.libraries.iter().map(leads).collect()
}

fn unversioned(package: &Package) -> BTreeMap<String, Form> {
    let form = |form| match form {
        AliasForm::Forward => Form::Forward,
        AliasForm::Copy => Form::File,
    };
    package.aliases.iter().map(|rule| (rule.path.to_string(), form(rule.form))).collect()
}

fn extras(manifest: &Manifest, package: &Package) -> BTreeMap<String, BTreeSet<String>> {
    let extra = |extra: &manifest::Extra| {
        let name = distribution(manifest, &extra.package)?;
        let requirement = match extra.pick {
            Pick::Only | Pick::Each => format!("{name}=={{version}}"),
            Pick::All => format!("each {name}=={{version}}"),
        };
        Some((extra.name.as_str().to_owned(), BTreeSet::from([requirement])))
    };
    package.extras.iter().filter_map(extra).collect()
}

fn requirements(manifest: &Manifest, package: &Package) -> BTreeSet<String> {
    let of_others = package.requires_dist.iter();
    let of_others = of_others.map(|rule| rule.requirement.as_str().to_owned());
    of_set(manifest, &package.requires).chain(of_others).collect()
}

/// Requirements on packages of the set.
fn of_set(manifest: &Manifest, rules: &[RequireRule]) -> impl Iterator<Item = String> {
    rules.iter().filter_map(|rule| {
        let each = if rule.is_of_all() { "each " } else { "" };
        Some(format!("{each}{}=={{version}}", distribution(manifest, &rule.package)?))
    })
}
