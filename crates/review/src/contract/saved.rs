//! A saved contract as the old side of a comparison: packages without files.

use base::names::{DistName, Form, RelPath};
use base::version::Version;
use serde::Deserialize;

use super::{CONTRACT_FORMAT, Contract, Contracts};
use crate::built::Built;
use wheel::archive::metadata::Metadata;

/// Contracts of a file, as packages.
#[derive(Debug)]
pub struct Saved {
    /// Contracts, one for each package.
    pub contracts: Vec<Contract>,
    /// Packages with their names and metadata.
    pub packages: Vec<Built>,
}

/// Fault of the text of a contract.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// Not JSON of a contract.
    #[error("this is not a contract of `--contract --json`")]
    NoContract(#[source] serde_json::Error),
    /// Another format.
    #[error("this contract has format {0}, but this rockpack reads format {CONTRACT_FORMAT}")]
    Format(u32),
    /// Contract of a manifest alone.
    #[error(
        "this contract is of a manifest alone, for several modes and systems: save it with \
         `rockpack plan --contract --json`"
    )]
    OfManifest,
    /// Invalid name.
    #[error("`{0}` is not the name of a package")]
    Name(String),
}

#[derive(Deserialize)]
struct Head {
    format: u32,
    #[serde(rename = "packages")]
    _packages: Vec<serde_json::Value>,
}

impl Saved {
    /// Returns whether a text is the JSON of contracts: plans have no `packages`.
    pub fn is_one(text: &str) -> bool {
        serde_json::from_str::<Head>(text).is_ok()
    }

    /// Reads a contract of `rockpack plan --contract --json`. The packages have the version of the
    /// new side: a contract has none.
    ///
    /// # Errors
    /// For another text or format.
    pub fn read(text: &str, version: &Version) -> Result<Self, SavedError> {
        let head: Head = serde_json::from_str(text).map_err(SavedError::NoContract)?;
        if head.format != CONTRACT_FORMAT {
            return Err(SavedError::Format(head.format));
        }
        let Contracts { packages: contracts, .. } =
            serde_json::from_str(text).map_err(SavedError::NoContract)?;
        if contracts.iter().any(|contract| contract.target.is_some()) {
            return Err(SavedError::OfManifest);
        }
        let packages = contracts.iter().map(|contract| package(contract, version));
        let packages = packages.collect::<Result<_, _>>()?;
        Ok(Self { contracts, packages })
    }
}

fn package(contract: &Contract, version: &Version) -> Result<Built, SavedError> {
    let title = contract.distribution.as_str();
    let wrong = || SavedError::Name(title.to_owned());
    let (rest, form) = match title.strip_suffix(" (sdist)") {
        Some(rest) => (rest, Form::Sdist),
        None => (title, Form::Wheel),
    };
    let rest = rest.split_once(" (").map_or(rest, |(name, _)| name);
    let (directory, name) = match rest.split_once('/') {
        Some((family, name)) => (format!("dist/{family}"), name),
        None => ("dist".to_owned(), rest),
    };
    let name: DistName = name.parse().map_err(|_| wrong())?;
    let directory: RelPath = directory.parse().map_err(|_| wrong())?;
    let own = |text: &String| text.replace("{version}", version.as_str());
    let of_extra = |(extra, texts): (&String, &std::collections::BTreeSet<String>)| {
        let line = |text: &String| format!("{}; extra == '{extra}'", own(text));
        texts.iter().map(line).collect::<Vec<_>>()
    };
    let required = contract.requirements.iter().map(own);
    let metadata = Metadata {
        requires_python: contract.python.clone(),
        license: contract.license.clone().unwrap_or_default(),
        requires_dist: required.chain(contract.extras.iter().flat_map(of_extra)).collect(),
        provides_extra: contract.extras.keys().cloned().collect(),
        ..Metadata::default()
    };
    let tags = contract.platforms.as_ref();
    let commands = contract.commands.iter();
    Ok(Built {
        directory,
        form,
        name,
        version: version.clone(),
        wheel_variant: None,
        platform_tag: tags.map(|tags| tags.iter().cloned().collect::<Vec<_>>().join(".")),
        module: contract.imports.iter().flatten().next().cloned(),
        platform_dir: None,
        packed: 0,
        compressed: false,
        archive: None,
        metadata,
        entry_points: commands.map(|(name, it)| (name.clone(), it.starts.clone())).collect(),
        files: Vec::new(),
    })
}
