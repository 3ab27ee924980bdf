use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::statement::{Descriptor, PACKAGES};
use base::names::PackageName;

/// Limit of the list of changed paths: a statement says how a checkout differs, it is no copy of it.
const LISTED: usize = 20;

/// Inputs of the build of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectInputs {
    /// Checkout, below the root of all sources.
    pub checkout: String,
    /// Repository, then its submodules; empty without version control.
    pub repositories: Vec<ProjectRepository>,
    /// Hash of all files of the checkout.
    pub tree: String,
    /// Paths that differ from the commits.
    pub changed: Vec<String>,
    /// SHA-256 of untracked files that the manifest names.
    pub named: BTreeMap<String, String>,
    /// Distributions installed for the build.
    pub requirements: Vec<BuildRequirement>,
    /// Python, pip, compilers and Cython, with their versions.
    pub tools: BTreeMap<String, String>,
    /// Variables with an effect on the build.
    pub environment: BTreeMap<String, String>,
    /// Names of passed variables; values can be secrets.
    pub passed: Vec<String>,
}

/// Git repository in a checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectRepository {
    /// Path below the checkout; empty for the checkout itself.
    pub path: String,
    /// Commit of the checkout.
    pub commit: Option<String>,
    /// Address without passwords; `None` if local.
    pub address: Option<String>,
}

/// Distribution installed for a build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BuildRequirement {
    /// Normalized name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Source file.
    pub file: Option<String>,
    /// Identity.
    pub digest: Option<RequirementDigest>,
}

/// Identity of an installed distribution.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementDigest {
    /// SHA-256 of the wheel or sdist.
    File(String),
    /// SHA-256 of its RECORD, if it was installed earlier.
    Record(String),
    /// Git commit.
    Commit(String),
}

pub(super) fn descriptors(
    name: &PackageName,
    inputs: &ProjectInputs,
    packages: &[&PackageName],
) -> Vec<Descriptor> {
    let packages: Vec<&str> = packages.iter().map(|name| name.as_str()).collect();
    let project = format!("project/{name}");
    let mut descriptors = vec![checkout(&project, inputs)];
    for repository in inputs.repositories.iter().skip(1) {
        if let Some(commit) = &repository.commit {
            let name = format!("{project}/submodule/{}", repository.path);
            descriptors.push(Descriptor::commit(&name, commit, repository.address.as_deref()));
        }
    }
    descriptors.extend(inputs.requirements.iter().filter_map(|it| requirement(&project, it)));
    descriptors.into_iter().map(|it| it.with_annotation(PACKAGES, packages.clone())).collect()
}

/// A dirty checkout is identified by the hash of its files.
fn checkout(name: &str, inputs: &ProjectInputs) -> Descriptor {
    let root = inputs.repositories.first();
    let commit = root.and_then(|root| root.commit.as_deref());
    let address = root.and_then(|root| root.address.as_deref());
    let clean = inputs.changed.is_empty();
    let mut descriptor = match commit {
        Some(commit) if clean => Descriptor::commit(name, commit, address),
        commit => Descriptor::text(name, inputs.tree.clone()).with_repository(address, commit),
    };
    let control = if root.is_some() { "git" } else { "none" };
    descriptor = descriptor
        .with_annotation("checkout", &*inputs.checkout)
        .with_annotation("versionControl", control);
    descriptor = descriptor.with_annotation("tree", &*inputs.tree);
    if let Some(commit) = commit.filter(|_| !clean) {
        descriptor = descriptor.with_annotation("commit", commit);
    }
    if !clean {
        let listed: Vec<&str> = inputs.changed.iter().take(LISTED).map(String::as_str).collect();
        descriptor = descriptor
            .with_annotation("dirty", inputs.changed.len())
            .with_annotation("changed", listed);
    }
    let without_hash = inputs.requirements.iter().filter(|it| it.digest.is_none());
    let without_hash: Vec<String> =
        without_hash.map(|it| format!("{}=={}", it.name, it.version)).collect();
    let lists = [("requiresWithoutHash", without_hash), ("passed", inputs.passed.clone())];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        descriptor = descriptor.with_annotation(name, list);
    }
    let maps =
        [("named", &inputs.named), ("tools", &inputs.tools), ("environment", &inputs.environment)];
    for (name, map) in maps.into_iter().filter(|(_, map)| !map.is_empty()) {
        let pairs = map.iter().map(|(name, value)| (name.clone(), Value::from(value.clone())));
        descriptor = descriptor.with_annotation(name, Value::Object(pairs.collect()));
    }
    descriptor
}

fn requirement(project: &str, requirement: &BuildRequirement) -> Option<Descriptor> {
    let BuildRequirement { name, version, file, digest } = requirement;
    let pin = format!("{name}=={version}");
    let name_of_input = format!("{project}/requires/{}", file.as_deref().unwrap_or(&pin));
    let package = format!("pkg:pypi/{name}@{version}");
    Some(match digest.as_ref()? {
        RequirementDigest::File(hash) => {
            Descriptor::text(&name_of_input, hash.clone()).with_uri(&package)
        }
        RequirementDigest::Record(hash) => Descriptor::text(&name_of_input, hash.clone())
            .with_uri(&package)
            .with_annotation("covers", "its RECORD"),
        RequirementDigest::Commit(commit) => {
            Descriptor::commit(&name_of_input, commit, None).with_uri(&package)
        }
    })
}
