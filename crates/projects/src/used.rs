//! Requirements and tools of a build, as reports of pip and the tools say them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Deserialize;

use base::names::normalized;
use base::regular;
use build::provenance::{BuildRequirement, RequirementDigest};

/// How large a report of pip can be.
const LARGEST: u64 = 64 << 20;

/// What the steps of a build installed and compiled with.
#[derive(Debug, Clone, Default)]
pub struct Used {
    /// Distributions that were installed.
    pub requirements: Vec<BuildRequirement>,
    /// Tools with their versions.
    pub tools: BTreeMap<String, String>,
}

/// The report of `pip install --report`: what it installed, and from where.
#[derive(Deserialize)]
struct Report {
    install: Vec<Installed>,
}

#[derive(Deserialize)]
struct Installed {
    metadata: Metadata,
    download_info: Origin,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

/// An origin by PEP 610.
#[derive(Deserialize)]
struct Origin {
    url: String,
    #[serde(default)]
    archive_info: Option<Archive>,
    #[serde(default)]
    vcs_info: Option<Repository>,
}

#[derive(Deserialize)]
struct Archive {
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    /// `sha256=…`: pip before 23 writes this alone.
    #[serde(default)]
    hash: Option<String>,
}

#[derive(Deserialize)]
struct Repository {
    commit_id: String,
}

impl Used {
    /// Takes in what others used.
    pub fn add(&mut self, other: Self) {
        self.requirements.extend(other.requirements);
        self.requirements.sort();
        self.requirements.dedup();
        self.tools.extend(other.tools);
    }

    /// Takes in a report of pip.
    ///
    /// # Errors
    /// Fails if the report cannot be read.
    pub fn report(&mut self, file: &Path) -> io::Result<()> {
        let report: Report = serde_json::from_str(&regular::read_to_string(file, LARGEST)?)?;
        let requirements = report.install.into_iter().map(requirement).collect();
        self.add(Self { requirements, tools: BTreeMap::new() });
        Ok(())
    }

    /// Takes in distributions that were there before, apart from those that were installed in the same version.
    pub fn were_there(&mut self, mut found: Vec<BuildRequirement>) {
        let same = |a: &BuildRequirement, b: &BuildRequirement| {
            (&a.name, &a.version) == (&b.name, &b.version)
        };
        found.retain(|it| !self.requirements.iter().any(|own| same(own, it)));
        self.add(Self { requirements: found, tools: BTreeMap::new() });
    }
}

fn requirement(installed: Installed) -> BuildRequirement {
    let Installed { metadata: Metadata { name, version }, download_info } = installed;
    let hash = download_info.archive_info.and_then(|archive| {
        let old = archive.hash.as_deref().and_then(|hash| hash.strip_prefix("sha256="));
        archive.hashes.get("sha256").cloned().or(old.map(str::to_owned))
    });
    let commit = download_info.vcs_info.map(|found| RequirementDigest::Commit(found.commit_id));
    let digest = hash.map(RequirementDigest::File).or(commit);
    let file = matches!(digest, Some(RequirementDigest::File(_))).then(|| {
        let path = download_info.url.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    });
    BuildRequirement { name: normalized(&name).unwrap_or(name), version, file, digest }
}
