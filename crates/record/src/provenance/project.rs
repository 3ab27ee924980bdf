use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::statement::{Descriptor, PACKAGES};
use base::names::PackageName;

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
    let own = format!("project/{name}");
    let mut all = vec![checkout(&own, inputs)];
    for repository in inputs.repositories.iter().skip(1) {
        if let Some(commit) = &repository.commit {
            let name = format!("{own}/submodule/{}", repository.path);
            all.push(Descriptor::commit(&name, commit, repository.address.as_deref()));
        }
    }
    all.extend(inputs.requirements.iter().filter_map(|it| requirement(&own, it)));
    all.into_iter().map(|it| it.with(PACKAGES, packages.clone())).collect()
}

/// A dirty checkout is identified by the hash of its files.
fn checkout(name: &str, inputs: &ProjectInputs) -> Descriptor {
    let root = inputs.repositories.first();
    let commit = root.and_then(|root| root.commit.as_deref());
    let address = root.and_then(|root| root.address.as_deref());
    let clean = inputs.changed.is_empty();
    let mut made = match commit {
        Some(commit) if clean => Descriptor::commit(name, commit, address),
        commit => Descriptor::text(name, inputs.tree.clone()).at(address, commit),
    };
    let control = if root.is_some() { "git" } else { "none" };
    made = made.with("checkout", &*inputs.checkout).with("versionControl", control);
    made = made.with("tree", &*inputs.tree);
    if let Some(commit) = commit.filter(|_| !clean) {
        made = made.with("commit", commit);
    }
    if !clean {
        let listed: Vec<&str> = inputs.changed.iter().take(LISTED).map(String::as_str).collect();
        made = made.with("dirty", inputs.changed.len()).with("changed", listed);
    }
    let missing = inputs.requirements.iter().filter(|it| it.digest.is_none());
    let missing: Vec<String> = missing.map(|it| format!("{}=={}", it.name, it.version)).collect();
    let lists = [("requiresWithoutHash", missing), ("passed", inputs.passed.clone())];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        made = made.with(name, list);
    }
    let maps =
        [("named", &inputs.named), ("tools", &inputs.tools), ("environment", &inputs.environment)];
    for (name, map) in maps.into_iter().filter(|(_, map)| !map.is_empty()) {
        let pairs = map.iter().map(|(name, value)| (name.clone(), Value::from(value.clone())));
        made = made.with(name, Value::Object(pairs.collect()));
    }
    made
}

fn requirement(project: &str, requirement: &BuildRequirement) -> Option<Descriptor> {
    let BuildRequirement { name, version, file, digest } = requirement;
    let pin = format!("{name}=={version}");
    let called = format!("{project}/requires/{}", file.as_deref().unwrap_or(&pin));
    let package = format!("pkg:pypi/{name}@{version}");
    Some(match digest.as_ref()? {
        RequirementDigest::File(hash) => Descriptor::text(&called, hash.clone()).of(&package),
        RequirementDigest::Record(hash) => {
            Descriptor::text(&called, hash.clone()).of(&package).with("covers", "its RECORD")
        }
        RequirementDigest::Commit(commit) => Descriptor::commit(&called, commit, None).of(&package),
    })
}
