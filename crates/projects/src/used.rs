//! Requirements and tools of a build, from reports of pip and the tools.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use base::names::normalized;
use base::regular;
use record::provenance::{BuildRequirement, RequirementDigest};

const LARGEST: u64 = 64 << 20;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Used {
    pub requirements: Vec<BuildRequirement>,
    pub tools: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Report {
    install: Vec<Installed>,
}

#[derive(Deserialize)]
struct Installed {
    metadata: Metadata,
    download_info: SourcePath,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

/// An origin (PEP 610).
#[derive(Deserialize)]
struct SourcePath {
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
    /// `sha256=…`, the only form before pip 23.
    #[serde(default)]
    hash: Option<String>,
}

#[derive(Deserialize)]
struct Repository {
    commit_id: String,
}

impl Used {
    pub fn add(&mut self, other: Self) {
        self.requirements.extend(other.requirements);
        self.requirements.sort();
        self.requirements.dedup();
        self.tools.extend(other.tools);
    }

    pub fn report(&mut self, file: &Path) -> io::Result<()> {
        let report: Report = serde_json::from_str(&regular::read_to_string(file, LARGEST)?)?;
        let requirements = report.install.into_iter().map(requirement).collect();
        self.add(Self { requirements, tools: BTreeMap::new() });
        Ok(())
    }

    /// Adds earlier distributions, unless the same version was installed.
    pub(crate) fn add_preinstalled(&mut self, mut preinstalled: Vec<BuildRequirement>) {
        let is_same = |a: &BuildRequirement, b: &BuildRequirement| {
            (&a.name, &a.version) == (&b.name, &b.version)
        };
        preinstalled
            .retain(|requirement| !self.requirements.iter().any(|used| is_same(used, requirement)));
        self.add(Self { requirements: preinstalled, tools: BTreeMap::new() });
    }
}

fn requirement(installed: Installed) -> BuildRequirement {
    let Installed { metadata: Metadata { name, version }, download_info } = installed;
    let hash = download_info.archive_info.and_then(|archive| {
        let old = archive.hash.as_deref().and_then(|hash| hash.strip_prefix("sha256="));
        archive.hashes.get("sha256").cloned().or(old.map(str::to_owned))
    });
    let commit = download_info.vcs_info.map(|vcs| RequirementDigest::Commit(vcs.commit_id));
    let digest = hash.map(RequirementDigest::File).or(commit);
    let file = matches!(digest, Some(RequirementDigest::File(_))).then(|| {
        let path = download_info.url.split(['?', '#']).next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    });
    BuildRequirement { name: normalized(&name).unwrap_or(name), version, file, digest }
}
