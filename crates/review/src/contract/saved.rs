//! A saved contract as the old side of a comparison: packages without files.

use std::collections::BTreeSet;

use base::names::{DistName, Form};
use base::version::Version;
use check::{Finished, Known, Package};
use serde::Deserialize;

use super::{CONTRACT_FORMAT, Contract, Contracts};
use wheel::archive::unique_keys::UniqueKeys;
use wheel::archive::wheel::wheel_file_name;
use wheel::package::{Header, Metadata};

/// Contracts of a file, as packages.
#[derive(Debug)]
pub struct Saved {
    /// Contracts, one for each package.
    pub contracts: Vec<Contract>,
    /// Packages with their names and metadata.
    pub packages: Vec<Package<'static>>,
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
}

#[derive(Deserialize)]
struct Kind {
    packages: Option<serde::de::IgnoredAny>,
}

impl Saved {
    /// Returns whether a text is the JSON of contracts: plans have no `packages`.
    ///
    /// # Errors
    /// Fails unless the text is a JSON object.
    pub fn is_contract(text: &str) -> serde_json::Result<bool> {
        Ok(serde_json::from_str::<Kind>(text)?.packages.is_some())
    }

    /// Reads a contract of `rockpack plan --contract --json`. The packages get the version of the
    /// new side, because a contract has no version.
    ///
    /// # Errors
    /// For another text or format.
    pub fn read(text: &str, version: &Version) -> Result<Self, SavedError> {
        let head: Head = serde_json::from_str(text).map_err(SavedError::NoContract)?;
        if head.format != CONTRACT_FORMAT {
            return Err(SavedError::Format(head.format));
        }
        // Maps, unlike structures, take a key twice.
        let UniqueKeys = serde_json::from_str(text).map_err(SavedError::NoContract)?;
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

fn package(contract: &Contract, version: &Version) -> Result<Package<'static>, SavedError> {
    let title = contract.distribution.as_str();
    let (rest, form) = match title.strip_suffix(" (sdist)") {
        Some(rest) => (rest, Form::Sdist),
        None => (title, Form::Wheel),
    };
    let place = rest.split_once(" (").map_or(rest, |(place, _)| place);
    let name = place.rsplit('/').next().unwrap_or(place);
    let name: DistName = name.parse().map_err(|_| SavedError::Name(title.to_owned()))?;
    let filled = |text: &String| text.replace("{version}", version.as_str());
    let of_extra = |(extra, texts): (&String, &BTreeSet<String>)| {
        let line = |text: &String| format!("{}; extra == '{extra}'", filled(text));
        texts.iter().map(line).collect::<Vec<_>>()
    };
    let required = contract.requirements.iter().map(filled);
    let required = required.chain(contract.extras.iter().flat_map(of_extra));
    let mut fields = vec![
        ("Name", name.to_string()),
        ("Requires-Python", contract.python.clone()),
        ("License-Expression", contract.license.clone().unwrap_or_default()),
    ];
    fields.extend(required.map(|text| ("Requires-Dist", text)));
    fields.extend(contract.extras.keys().map(|extra| ("Provides-Extra", extra.clone())));
    let fields = fields.iter().map(|(field, value)| format!("{field}: {value}\n"));
    let mut package = Package::new(&format!("dist/{place}"), form);
    package.version = Some(version.clone());
    package.tags = contract.platforms.as_ref().and_then(|tags| {
        let tags = tags.iter().map(String::as_str).collect::<Vec<_>>().join(".");
        wheel_file_name(&name, version, &tags).parse().ok()
    });
    let module = contract.imports.iter().flatten().next();
    let commands = contract.commands.iter();
    package.finished = Known::Is(Box::new(Finished {
        metadata: Metadata::parse(&fields.collect::<String>()),
        header: Header::default(),
        entry_points: commands.map(|(name, it)| (name.clone(), it.starts.clone())).collect(),
        runtime: Some(serde_json::json!({ "module": module })),
        packed: 0,
        compressed: false,
    }));
    Ok(package)
}
