//! Inputs of a build, for provenance.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::process::{Run, answer};
use super::remote::public_address;
use super::snapshot::Snapshot;
use super::tree::file_hash;
use super::used::Used;
use super::variables::{self, is_recorded};
use super::workspace::Workspace;
use base::address::redacted;
use base::names::normalized;
use plan::ProjectBuild;
use record::provenance::{BuildRequirement, ProjectInputs, ProjectRepository, RequirementDigest};

pub fn installed(python: &Path, place: &Workspace) -> io::Result<Vec<BuildRequirement>> {
    let command = [python.into(), "-c".into(), OsString::from(INSTALLED)];
    let limits = place.building().map_err(io::Error::other)?;
    let output = answer(&Run {
        command: &command,
        // Python imports modules from its working directory.
        directory: Path::new("/"),
        environment: &place.variables,
        limits: limits.as_ref(),
    });
    let rows: Vec<[String; 3]> = serde_json::from_str(&output.map_err(io::Error::other)?)?;
    let row = |[name, version, record]: [String; 3]| BuildRequirement {
        name: normalized(&name).unwrap_or(name),
        version,
        file: None,
        digest: Some(RequirementDigest::Record(record)),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// Prints name, version and SHA-256 of RECORD of each distribution.
const INSTALLED: &str = "\
import hashlib, importlib.metadata, json
rows = []
for found in importlib.metadata.distributions():
    text = found.read_text('RECORD') or found.read_text('METADATA') or found.read_text('PKG-INFO') or ''
    rows.append([found.metadata['Name'], found.version, hashlib.sha256(text.encode()).hexdigest()])
print(json.dumps(rows))";

/// Compilers by their variables. Installed ones are among the requirements.
pub(crate) fn compilers(place: &Workspace, python: Option<&str>) -> BTreeMap<String, String> {
    let mut compilers = BTreeMap::new();
    let Ok(limits) = place.building() else { return compilers };
    for (name, default) in [("CC", python.unwrap_or("cc")), ("CXX", "c++")] {
        let words = place.variables.get(name).map(|value| value.to_string_lossy().into_owned());
        let words = words.unwrap_or_else(|| default.to_owned());
        let is_cache = |word: &&str| {
            let file = word.rsplit('/').next().unwrap_or_default();
            ["ccache", "sccache", "distcc", "icecc"].contains(&file)
        };
        let Some(program) = words.split_whitespace().find(|word| !is_cache(word)) else { continue };
        let Some(path) = variables::find_program(&place.variables, program) else { continue };
        if path.starts_with(&place.directory) {
            continue;
        }
        let command = [path.into_os_string(), "--version".into()];
        let output = answer(&Run {
            command: &command,
            directory: &place.directory,
            environment: &place.variables,
            limits: limits.as_ref(),
        });
        let line = output.ok().and_then(|output| output.lines().next().map(str::to_owned));
        compilers.extend(line.map(|line| (name.to_owned(), line.trim().to_owned())));
    }
    compilers
}

/// Collects the inputs of a build.
pub fn inputs(
    project: &ProjectBuild,
    root: &Path,
    snapshot: &Snapshot,
    used: Used,
) -> io::Result<ProjectInputs> {
    let place = root.join(project.source.as_str());
    let content = &snapshot.content;
    let mut named = BTreeMap::new();
    for path in &content.named {
        if let Some((_, hash)) = file_hash(&place.join(path))? {
            named.insert(path.display().to_string(), hash);
        }
    }
    let repository = |repository: &super::Repository| ProjectRepository {
        path: repository.path.display().to_string(),
        commit: repository.commit.clone(),
        address: repository.address.as_deref().and_then(public_address),
    };
    let mut tools = used.tools;
    let cython = used.requirements.iter().find(|requirement| requirement.name == "cython");
    tools.extend(cython.map(|requirement| ("cython".to_owned(), requirement.version.clone())));
    let caller =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    Ok(ProjectInputs {
        checkout: snapshot.directory.to_string(),
        repositories: content.repositories.iter().map(repository).collect(),
        tree: snapshot.tree.clone(),
        changed: content.changed.iter().map(|path| path.display().to_string()).collect(),
        named,
        requirements: used.requirements,
        tools,
        environment: environment(project, variables::base(caller)),
        passed: passed(project, |name| std::env::var_os(name).is_some()),
    })
}

/// Effective variables: the caller's, without secrets in addresses, and the project's, filled in.
fn environment(
    project: &ProjectBuild,
    variables: BTreeMap<String, OsString>,
) -> BTreeMap<String, String> {
    let of_caller = variables.into_iter().filter(|(name, _)| is_recorded(name));
    let of_caller = of_caller.map(|(name, value)| (name, redacted(&value.to_string_lossy())));
    let of_project = project.environment.iter();
    of_caller.chain(of_project.map(|(name, value)| (name.clone(), value.clone()))).collect()
}

fn passed(project: &ProjectBuild, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let is_passed = |name: &&String| !project.environment.contains_key(*name) && is_set(name);
    project.pass.iter().filter(is_passed).cloned().collect()
}
