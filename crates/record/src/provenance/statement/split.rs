use serde_json::{Map, Value};

use super::{BuildDefinition, Descriptor, RunDetails, Statement};
use crate::provenance::{Package, Run, SPLIT_TYPE, sorted};
use base::version::Version;

/// Options and inputs of `rockpack wheel split`.
#[derive(Debug)]
pub struct SplitInto<'a> {
    /// Version that the wheels were built against.
    pub version: Option<&'a Version>,
    /// Original wheels by name, with hexadecimal SHA-256.
    pub inputs: Vec<(String, String)>,
    /// Run of the command.
    pub run: Run,
}

impl Statement {
    /// Statement of wheels from `rockpack wheel split`.
    pub fn of_split(split: &SplitInto<'_>, packages: &[Package<'_>]) -> Self {
        let option =
            split.version.map(|version| ("version".to_owned(), Value::from(version.as_str())));
        let inputs = split.inputs.iter();
        let definition = BuildDefinition {
            build_type: SPLIT_TYPE.to_owned(),
            external_parameters: option.into_iter().collect(),
            internal_parameters: Map::new(),
            resolved_dependencies: inputs
                .map(|(name, sha256)| Descriptor::text(&format!("from/{name}"), sha256.clone()))
                .collect(),
        };
        let run = RunDetails::new(&split.run);
        Self::from_parts(sorted(packages), definition, run)
    }
}
