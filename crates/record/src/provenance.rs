//! Checksums (as for `sha256sum -c`) and provenance of packages.
//!
//! The statement is an unsigned in-toto Statement v1 with the predicate SLSA Provenance v1
//! (`schema/provenance.md`). Neither contains a time, nor facts about the machine except tools and
//! variables of project builds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use base::hash::Sha256;
use base::names::{PackageName, PathError, RelPath};
use catalog::{ArtifactId, Catalog};
use serde_json::{Map, Value};
use wheel::archive::stage::DIST;
use wheel::package;

mod commit;
mod contents;
mod project;
mod run;
mod statement;

use statement::Descriptor;

pub use commit::{Commit, CommitError, FilesOrigin};
pub use contents::Contents;
pub use project::{BuildRequirement, ProjectInputs, ProjectRepository, RequirementDigest};
pub use run::{ProgramSources, Run};
pub use statement::{Difference, ONLY, PLAN, Part, Promoted, SplitInto, Statement};

/// Checksum file in `dist`.
pub const SUMS: &str = package::sums::FILE;
pub const STATEMENT: &str = "provenance.intoto.json";

/// SLSA build type of `rockpack build` (`schema/provenance.md`).
pub const BUILD_TYPE: &str = "urn:rockpack:build:1";
/// Build type of files made by another program (`rockpack merge --source-commit`).
pub const FILES_TYPE: &str = "urn:rockpack:files:1";
/// Build type of `rockpack wheel promote`.
pub const PROMOTION_TYPE: &str = "urn:rockpack:promotion:1";
/// Build type of `rockpack wheel split`.
pub const SPLIT_TYPE: &str = "urn:rockpack:split:1";

/// Path of the checksum file below the destination.
pub fn sums_path() -> Result<RelPath, PathError> {
    format!("{DIST}/{SUMS}").parse()
}

/// Path of a statement below the destination. The first has the plain name.
pub fn statement_path(index: usize) -> Result<RelPath, PathError> {
    match index {
        0 => format!("{DIST}/{STATEMENT}"),
        _ => format!("{DIST}/provenance.{}.intoto.json", index + 1),
    }
    .parse()
}

/// Returns whether a file of `dist` has the name of a statement.
pub fn is_statement(file_name: &str) -> bool {
    let number = file_name
        .strip_prefix("provenance.")
        .and_then(|rest| rest.strip_suffix(".intoto.json"))
        .is_some_and(|number| number.parse::<usize>().is_ok_and(|number| number > 1));
    number || file_name == STATEMENT
}

/// Fault of a statement.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// Wrong form.
    #[error("it is not a provenance statement")]
    Form(#[from] serde_json::Error),
    /// Another build type.
    #[error("it is of another kind of build")]
    Kind,
}

/// Written package.
#[derive(Debug, Clone, Copy)]
pub struct Package<'a> {
    /// Path below the destination: `dist/…`.
    pub path: &'a RelPath,
    /// Hexadecimal SHA-256.
    pub sha256: &'a str,
}

impl<'a> Package<'a> {
    fn name(&self) -> &'a str {
        self.path
            .as_str()
            .strip_prefix(DIST)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(self.path.as_str())
    }
}

fn sorted<'p, 'a>(packages: &'p [Package<'a>]) -> Vec<&'p Package<'a>> {
    let mut packages: Vec<_> = packages.iter().collect();
    packages.sort_by_key(|package| package.name());
    packages
}

/// Text of the checksum file, sorted by name.
pub fn sha256sums(packages: &[Package<'_>]) -> String {
    sorted(packages).into_iter().fold(String::new(), |mut text, package| {
        let _ = writeln!(text, "{}  {}", package.sha256, package.name());
        text
    })
}

/// URI of the builder, for policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuilderId(String);

impl BuilderId {
    /// URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for BuilderId {
    fn default() -> Self {
        Self("urn:rockpack:unidentified-builder".to_owned())
    }
}

/// Rejected identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuilderIdError {
    /// Text that is not a URI.
    #[error("`{0}` is not a URI: write it like https://example.org/builders/nightly")]
    NoUri(String),
    /// User or password, which would be published and so are not in the message.
    #[error(
        "the URI has a user or password before `@`: leave it out, because provenance is published"
    )]
    Secret,
}

impl FromStr for BuilderId {
    type Err = BuilderIdError;

    /// A scheme, `:` and more, without spaces (RFC 3986, section 3).
    fn from_str(text: &str) -> Result<Self, BuilderIdError> {
        let scheme = |scheme: &str| {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_allowed)
        };
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        match text.split_once(':') {
            Some((_, rest)) if has_user(rest) => Err(BuilderIdError::Secret),
            Some((name, rest)) if scheme(name) && !rest.is_empty() && printable => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(BuilderIdError::NoUri(text.to_owned())),
        }
    }
}

fn has_user(rest: &str) -> bool {
    let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next());
    authority.is_some_and(|authority| authority.contains('@'))
}

/// Inputs of a build, apart from the plan.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// Run of the build.
    pub run: Run,
    /// Options of the command line, by name.
    pub options: Map<String, Value>,
    /// Digests of contents without versions, by path of the package.
    pub contents: BTreeMap<RelPath, String>,
    dependencies: Vec<Descriptor>,
}

impl Inputs {
    /// Inputs of a build of projects alone; see [`Self::new`].
    pub fn without_artifacts(options: Map<String, Value>, manifest: &[(&str, &str)]) -> Self {
        let (run, contents) = (Run::default(), BTreeMap::new());
        Self { run, options, contents, dependencies: files(manifest).collect() }
    }

    /// Inputs without a builder. `manifest` has name and text of each manifest file.
    pub fn new(options: Map<String, Value>, manifest: &[(&str, &str)], catalog: &Catalog) -> Self {
        let origin = &catalog.build.origin;
        let annotations = [("run", &origin.run), ("job", &origin.job)];
        let annotations =
            annotations.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let whole = Descriptor::catalog(statement::ARTIFACTS, catalog.sha256());
        let whole =
            annotations.fold(whole, |whole, (name, value)| whole.with_annotation(name, value));
        let commit = origin.commit.iter().map(|commit| Descriptor::commit("source", commit, None));
        let pins = origin.sources.iter().map(|pin| {
            let name = format!("source/{}", pin.path);
            let pinned = Descriptor::commit(&name, &pin.commit, pin.url.as_deref());
            if pin.patches.is_empty() {
                pinned
            } else {
                pinned.with_annotation("patches", pin.patches.clone())
            }
        });
        let each = catalog.artifacts.iter().map(|artifact| {
            Descriptor::catalog(&format!("artifacts/{}", artifact.id), artifact.sha256())
        });
        let dependencies =
            files(manifest).chain([whole]).chain(each).chain(commit).chain(pins).collect();
        Self { run: Run::default(), options, contents: BTreeMap::new(), dependencies }
    }

    /// Adds digests of the bytes of artifacts.
    pub fn add_contents(&mut self, contents: &BTreeMap<ArtifactId, Contents>) {
        let contents = contents.iter().map(|(id, it)| it.descriptor(id));
        self.dependencies.extend(contents);
        contents::sort(&mut self.dependencies);
    }

    /// Adds the inputs of a project, on which these packages of the build depend.
    pub fn add_project(
        &mut self,
        name: &PackageName,
        inputs: &ProjectInputs,
        packages: &[&PackageName],
    ) {
        self.dependencies.extend(project::descriptors(name, inputs, packages));
    }
}

fn files(manifest: &[(&str, &str)]) -> impl Iterator<Item = Descriptor> {
    manifest
        .iter()
        .map(|(name, text)| Descriptor::text(name, Sha256::of(text.as_bytes()).to_string()))
}

/// Statement of `packages`; `decided` has the facts that the build derived from its inputs, by
/// name.
pub fn statement(
    decided: Map<String, Value>,
    inputs: &Inputs,
    packages: &[Package<'_>],
) -> Statement {
    Statement::new(decided, inputs, sorted(packages))
}
