//! The statement's shape: in-toto Statement v1, SLSA Provenance v1.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{BUILD_TYPE, Inputs, Package};
use crate::names::PackageName;
use crate::plan::{Plan, Request};

/// An in-toto statement (<https://in-toto.io/Statement/v1>).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statement {
    #[serde(rename = "_type")]
    kind: &'static str,
    subject: Vec<Subject>,
    predicate_type: &'static str,
    predicate: Predicate,
}

#[derive(Debug, Serialize)]
struct Subject {
    name: String,
    digest: Digests,
}

#[derive(Debug, Clone, Serialize)]
struct Digests {
    sha256: String,
}

/// SLSA's predicate (<https://slsa.dev/provenance/v1>).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Predicate {
    build_definition: BuildDefinition,
    run_details: RunDetails,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BuildDefinition {
    build_type: &'static str,
    external_parameters: Map<String, Value>,
    internal_parameters: Map<String, Value>,
    resolved_dependencies: Vec<Descriptor>,
}

/// An in-toto resource descriptor.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    name: String,
    digest: Digests,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    annotations: Map<String, Value>,
}

impl Descriptor {
    /// A file that a person writes.
    pub fn text(name: &str, sha256: String) -> Self {
        Self { name: name.to_owned(), digest: Digests { sha256 }, media_type: None, annotations: Map::new() }
    }

    /// What a catalog says of artifacts. It has paths, sizes and the facts of ELF files, but not the
    /// files' bytes: that is said with it.
    pub fn catalog(name: &str, sha256: String) -> Self {
        let covers = ("covers".to_owned(), Value::from("paths, sizes, kinds and ELF facts; not the files' bytes"));
        let annotations = Map::from_iter([covers]);
        Self { name: name.to_owned(), digest: Digests { sha256 }, media_type: Some("application/json"), annotations }
    }
}

#[derive(Debug, Serialize)]
struct RunDetails {
    builder: Builder,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<RunMetadata>,
}

#[derive(Debug, Serialize)]
struct Builder {
    id: String,
    version: Versions,
}

#[derive(Debug, Serialize)]
struct Versions {
    rockpack: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunMetadata {
    invocation_id: String,
}

impl Statement {
    /// Of these packages, in this order.
    pub fn new(plan: &Plan, inputs: &Inputs, packages: Vec<&Package<'_>>) -> Self {
        let subject = |p: &Package<'_>| Subject { name: p.name().to_owned(), digest: Digests { sha256: p.sha256.to_owned() } };
        let build_definition = BuildDefinition {
            build_type: BUILD_TYPE,
            external_parameters: asked(&inputs.request),
            internal_parameters: decided(plan),
            resolved_dependencies: inputs.dependencies.clone(),
        };
        let builder = Builder { id: inputs.builder.as_str().to_owned(), version: Versions { rockpack: env!("CARGO_PKG_VERSION") } };
        let metadata = inputs.invocation.clone().map(|invocation_id| RunMetadata { invocation_id });
        Self {
            kind: "https://in-toto.io/Statement/v1",
            subject: packages.into_iter().map(subject).collect(),
            predicate_type: "https://slsa.dev/provenance/v1",
            predicate: Predicate { build_definition, run_details: RunDetails { builder, metadata } },
        }
    }

    /// As JSON, with a line for each value. Maps with texts as keys can always be written.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// What was asked for, in the words of the command line; what was not, is not there.
fn asked(request: &Request) -> Map<String, Value> {
    let given = [
        ("version", request.version.clone().map(Value::from)),
        ("version-suffix", (!request.suffix.is_empty()).then(|| request.suffix.clone().into())),
        ("mode", request.mode.map(|mode| mode.as_str().into())),
        ("linux-families", request.linux_families.clone().map(Value::from)),
        ("windows-families", request.windows_families.clone().map(Value::from)),
        ("platform-tag", request.platform_tag.clone().map(Value::from)),
        ("only", (!request.only.is_empty()).then(|| request.only.iter().map(PackageName::as_str).collect())),
        ("compression", request.compression.map(|level| level.as_str().into())),
        ("xz-preset", request.xz_preset.map(Value::from)),
        ("devel-tarball-compression", request.plain_archive.then_some(false.into())),
        ("deny-unowned", request.deny_unowned.then_some(true.into())),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What followed from it and from the artifacts.
fn decided(plan: &Plan) -> Map<String, Value> {
    let decided =
        [("version", plan.version.to_string()), ("mode", plan.mode.as_str().to_owned()), ("platform-tag", plan.platform_tag.clone())];
    decided.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}
