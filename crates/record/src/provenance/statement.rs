//! Format of the statement: in-toto Statement v1, SLSA Provenance v1.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use wheel::archive::unique_keys::UniqueKeys;

use super::{
    BUILD_TYPE, FILES_TYPE, Inputs, PROMOTION_TYPE, Package, ProgramSources, Run, SPLIT_TYPE,
    StatementError,
};

mod difference;
mod finished;
mod form;
mod promoted;
mod split;
mod unite;

pub use difference::{Difference, Part};
pub use promoted::Promoted;
pub use split::SplitInto;

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE_TYPE: &str = "https://slsa.dev/provenance/v1";
/// Parameter of the packages that a build is limited to.
pub const ONLY: &str = "only";
/// Parameter of the plan's digest.
pub const PLAN: &str = "plan";
/// The part of an artifact that its digest covers.
pub(super) const COVERS: &str = "covers";
pub(super) const PACKAGES: &str = "packages";
/// All artifacts of one run; another run may have had more.
pub(super) const ARTIFACTS: &str = "artifacts";

/// Statement of the build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Subject>,
    predicate_type: String,
    predicate: Predicate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Subject {
    name: String,
    digest: Digests,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotations: Option<AboutSubject>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct AboutSubject {
    /// SHA-256 of the content without the package's version.
    content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Digests {
    sha256: String,
}

/// In-toto `DigestSet` with one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Digest {
    Sha256(String),
    GitCommit(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Predicate {
    build_definition: BuildDefinition,
    run_details: RunDetails,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BuildDefinition {
    build_type: String,
    external_parameters: Map<String, Value>,
    internal_parameters: Map<String, Value>,
    resolved_dependencies: Vec<Descriptor>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    name: String,
    digest: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    annotations: Map<String, Value>,
}

impl Descriptor {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(name: &str, sha256: String) -> Self {
        Self {
            name: name.to_owned(),
            digest: Digest::Sha256(sha256),
            uri: None,
            media_type: None,
            annotations: Map::new(),
        }
    }

    pub fn commit(name: &str, commit: &str, url: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            digest: Digest::GitCommit(commit.to_owned()),
            uri: url.map(|url| format!("git+{url}@{commit}")),
            media_type: None,
            annotations: Map::new(),
        }
    }

    /// Sets the address of a repository at a commit, if the digest is not of the commit.
    pub fn with_repository(mut self, url: Option<&str>, commit: Option<&str>) -> Self {
        self.uri = url.zip(commit).map(|(url, commit)| format!("git+{url}@{commit}"));
        self
    }

    pub fn with_uri(mut self, uri: &str) -> Self {
        self.uri = Some(uri.to_owned());
        self
    }

    fn packages(&self) -> Option<Vec<&str>> {
        let packages = self.annotations.get(PACKAGES)?.as_array()?;
        Some(packages.iter().filter_map(Value::as_str).collect())
    }

    pub fn with_annotation(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.annotations.insert(name.to_owned(), value.into());
        self
    }

    /// Descriptor with an annotation, because the digest does not cover the files' bytes.
    pub fn catalog(name: &str, sha256: String) -> Self {
        let covers = (
            COVERS.to_owned(),
            Value::from("paths, sizes, kinds and ELF facts; not the files' bytes"),
        );
        let annotations = Map::from_iter([covers]);
        Self {
            name: name.to_owned(),
            digest: Digest::Sha256(sha256),
            uri: None,
            media_type: Some("application/json".to_owned()),
            annotations,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunDetails {
    builder: Builder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<RunMetadata>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Builder {
    id: String,
    version: Versions,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Versions {
    rockpack: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rockpack_commit: Option<String>,
    /// SHA-256 of the program's sources, if they are not a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rockpack_sources: Option<String>,
}

impl Versions {
    fn new(sources: &ProgramSources) -> Self {
        let (rockpack_commit, rockpack_sources) = match sources {
            ProgramSources::Unknown => (None, None),
            ProgramSources::Commit(commit) => (Some(commit.clone()), None),
            ProgramSources::Digest(digest) => (None, Some(digest.clone())),
        };
        Self { rockpack: env!("CARGO_PKG_VERSION").to_owned(), rockpack_commit, rockpack_sources }
    }
}

impl RunDetails {
    fn new(run: &Run) -> Self {
        let id = run.builder.as_str().to_owned();
        let builder = Builder { id, version: Versions::new(&run.program) };
        let metadata = run.invocation.clone().map(|invocation_id| RunMetadata { invocation_id });
        Self { builder, metadata }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunMetadata {
    invocation_id: String,
}

impl Statement {
    pub(super) fn new(
        decided: Map<String, Value>,
        inputs: &Inputs,
        packages: Vec<&Package<'_>>,
    ) -> Self {
        let build_definition = BuildDefinition {
            build_type: BUILD_TYPE.to_owned(),
            external_parameters: inputs.options.clone(),
            internal_parameters: decided,
            resolved_dependencies: inputs.dependencies.clone(),
        };
        let run_details = RunDetails::new(&inputs.run);
        let content = |package: &&Package<'_>| inputs.contents.get(package.path).cloned();
        let contents: Vec<Option<String>> = packages.iter().map(content).collect();
        let mut statement = Self::from_parts(packages, build_definition, run_details);
        for (subject, content) in statement.subject.iter_mut().zip(contents) {
            subject.annotations = content.map(|content| AboutSubject { content });
        }
        statement
    }

    fn from_parts(
        packages: Vec<&Package<'_>>,
        build_definition: BuildDefinition,
        run_details: RunDetails,
    ) -> Self {
        let subject = |p: &Package<'_>| Subject {
            name: p.name().to_owned(),
            digest: Digests { sha256: p.sha256.to_owned() },
            annotations: None,
        };
        Self {
            kind: STATEMENT_TYPE.to_owned(),
            subject: packages.into_iter().map(subject).collect(),
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: Predicate { build_definition, run_details },
        }
    }

    /// Parses only the output of [`Statement::to_json`].
    pub fn read(text: &str) -> Result<Self, StatementError> {
        let UniqueKeys = serde_json::from_str(text)?;
        let read: Self = serde_json::from_str(text)?;
        let build = &*read.predicate.build_definition.build_type;
        let ours = [BUILD_TYPE, FILES_TYPE, PROMOTION_TYPE, SPLIT_TYPE].contains(&build);
        if ours && [&*read.kind, &*read.predicate_type] == [STATEMENT_TYPE, PREDICATE_TYPE] {
            Ok(read)
        } else {
            Err(StatementError::Kind)
        }
    }

    /// Paths below `dist`, with hexadecimal SHA-256.
    pub fn subjects(&self) -> impl Iterator<Item = (&str, &str)> {
        self.subject.iter().map(|subject| (&*subject.name, &*subject.digest.sha256))
    }

    /// Digests of contents, by hexadecimal SHA-256 of the package.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.subject.iter().filter_map(|subject| {
            let content = &subject.annotations.as_ref()?.content;
            Some((&*subject.digest.sha256, &**content))
        })
    }

    /// Indented JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
