use serde_json::{Map, Value};

use super::{BuildDefinition, Descriptor, Digest, RunDetails, Statement};
use crate::provenance::{FILES_TYPE, FilesOrigin, Package, sorted};

/// Parameter with the commit.
const SOURCE_COMMIT: &str = "source-commit";
/// Name of the dependency with the tree of the commit.
const SOURCE: &str = "source";

impl Statement {
    /// Statement of files built from a commit.
    pub fn of_files(origin: &FilesOrigin, files: &[Package<'_>]) -> Self {
        let commit = origin.commit.as_str();
        let parameters = [(SOURCE_COMMIT.to_owned(), Value::from(commit))];
        let source = Descriptor {
            name: SOURCE.to_owned(),
            digest: Digest::GitCommit(commit.to_owned()),
            media_type: None,
            uri: None,
            annotations: Map::new(),
        };
        let definition = BuildDefinition {
            build_type: FILES_TYPE.to_owned(),
            external_parameters: Map::from_iter(parameters),
            internal_parameters: Map::new(),
            resolved_dependencies: vec![source],
        };
        let run = RunDetails::new(&origin.run);
        Self::from_parts(sorted(files), definition, run)
    }
}
