use serde_json::{Map, Value};

use super::{BuildDefinition, Descriptor, RunDetails, Statement};
use crate::provenance::{PROMOTION_TYPE, Package, Run, sorted};
use base::version::Version;

/// Options and inputs of `rockpack wheel promote`.
#[derive(Debug)]
pub struct Promoted<'a> {
    /// Old version.
    pub from: &'a Version,
    /// New version.
    pub to: &'a Version,
    /// Targets to keep.
    pub keep_targets: &'a [String],
    /// Hexadecimal SHA-256 of promoted files, by path below their directory.
    pub inputs: Vec<(String, String)>,
    /// Run of the command.
    pub run: Run,
}

impl Statement {
    /// Statement of packages from `rockpack wheel promote`.
    pub fn of_promotion(promoted: &Promoted<'_>, packages: &[Package<'_>]) -> Self {
        let keep = promoted.keep_targets;
        let options = [
            Some(("to", Value::from(promoted.to.as_str()))),
            (!keep.is_empty()).then(|| ("keep-targets", Value::from(keep))),
        ];
        let decided = [("from", promoted.from), ("version", promoted.to)];
        let decided = decided.map(|(name, version)| (name, Value::from(version.as_str())));
        let named = |(name, value): (&str, Value)| (name.to_owned(), value);
        let inputs = promoted.inputs.iter();
        let definition = BuildDefinition {
            build_type: PROMOTION_TYPE.to_owned(),
            external_parameters: options.into_iter().flatten().map(named).collect(),
            internal_parameters: Map::from_iter(decided.map(named)),
            resolved_dependencies: inputs
                .map(|(name, sha256)| Descriptor::text(&format!("from/{name}"), sha256.clone()))
                .collect(),
        };
        let run = RunDetails::new(&promoted.run);
        Self::from_parts(sorted(packages), definition, run)
    }
}
