//! What goes beside the packages: their checksums, and a statement of how they came about.
//!
//! `SHA256SUMS` is what `sha256sum -c` reads. The statement is in-toto's (Statement v1) with SLSA's
//! predicate (Provenance v1), one JSON document, for a signer to take as it is. Neither has a time in
//! it, nor anything of the machine but the tools and variables of the builds of projects: equal builds give equal bytes. `schema/provenance.md` says
//! what each field holds.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

use base::hash::Sha256;
use base::names::{PackageName, PathError, RelPath};
use plan::catalog::{ArtifactId, Catalog};
use plan::{Plan, Request};
use wheel::archive::stage::DIST;
use wheel::package;

mod commit;
mod contents;
mod project;
mod run;
mod sbom;
mod statement;

use statement::Descriptor;

pub use commit::{Commit, CommitError, Made};
pub use contents::Contents;
pub use project::{BuildRequirement, ProjectInputs, ProjectRepository, RequirementDigest};
pub use run::{ProgramSources, Run};
pub use sbom::{Document, SBOM_PATH, sboms};
pub use statement::{Difference, Part, Promoted, SplitInto, Statement};

/// The file with the checksums, in `dist`.
pub const SUMS: &str = package::sums::FILE;
/// The file with the statement, in `dist`.
pub const STATEMENT: &str = "provenance.intoto.json";

/// What kind of build the statement tells of: it says what its parameters mean (`schema/provenance.md`).
pub const BUILD_TYPE: &str = "urn:rockpack:build:1";
/// The same of files that something else made, which `rockpack merge --source-commit` tells of.
pub const FILES_TYPE: &str = "urn:rockpack:files:1";
/// The same of packages of another version, which `rockpack wheel promote` tells of.
pub const PROMOTION_TYPE: &str = "urn:rockpack:promotion:1";
/// The same of wheels that others were split into, which `rockpack wheel split` tells of.
pub const SPLIT_TYPE: &str = "urn:rockpack:split:1";

/// The path of the checksums below the destination.
///
/// # Errors
/// Never; the type of a path says so by checking again.
pub fn sums_path() -> Result<RelPath, PathError> {
    format!("{DIST}/{SUMS}").parse()
}

/// The path of a statement below the destination. The first has the plain name; more are there when
/// packages of builds lie together that one statement cannot tell of.
///
/// # Errors
/// Never; the type of a path says so by checking again.
pub fn statement_path(index: usize) -> Result<RelPath, PathError> {
    match index {
        0 => format!("{DIST}/{STATEMENT}"),
        _ => format!("{DIST}/provenance.{}.intoto.json", index + 1),
    }
    .parse()
}

/// Whether a file in `dist` has the name of a statement.
pub fn is_statement(file_name: &str) -> bool {
    let number = file_name
        .strip_prefix("provenance.")
        .and_then(|rest| rest.strip_suffix(".intoto.json"))
        .is_some_and(|number| number.parse::<usize>().is_ok_and(|number| number > 1));
    number || file_name == STATEMENT
}

/// Why a document is no statement of a build by rockpack.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// It is something else, or has something in it that no statement has.
    #[error("it is not a provenance statement")]
    Form(#[from] serde_json::Error),
    /// It tells of something else.
    #[error("it tells of another kind of build")]
    Kind,
}

/// A package that was written.
#[derive(Debug, Clone, Copy)]
pub struct Package<'a> {
    /// Where it is, below the destination: `dist/…`.
    pub path: &'a RelPath,
    /// Its SHA-256 in hexadecimal.
    pub sha256: &'a str,
}

impl<'a> Package<'a> {
    /// Its path below `dist`.
    fn name(&self) -> &'a str {
        self.path
            .as_str()
            .strip_prefix(DIST)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or(self.path.as_str())
    }
}

/// The packages by their paths below `dist`, sorted.
fn in_order<'p, 'a>(packages: &'p [Package<'a>]) -> Vec<&'p Package<'a>> {
    let mut sorted: Vec<_> = packages.iter().collect();
    sorted.sort_by_key(|package| package.name());
    sorted
}

/// The text of `SHA256SUMS`: a line for each package, as `sha256sum` writes it in `dist`, sorted by path.
pub fn sha256sums(packages: &[Package<'_>]) -> String {
    in_order(packages).into_iter().fold(String::new(), |mut text, package| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {}", package.sha256, package.name());
        text
    })
}

/// Who answers for a build: a URI, which a policy compares with those that it trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuilderId(String);

impl BuilderId {
    /// The URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A build that nobody in particular answers for.
impl Default for BuilderId {
    fn default() -> Self {
        Self("urn:rockpack:unidentified-builder".to_owned())
    }
}

/// A text that is no URI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a URI: write something like https://example.org/builders/nightly")]
pub struct BuilderIdError {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for BuilderId {
    type Err = BuilderIdError;

    /// A scheme, `:` and more, without spaces (RFC 3986, section 3).
    fn from_str(text: &str) -> Result<Self, BuilderIdError> {
        let scheme = |scheme: &str| {
            let of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(of_scheme)
        };
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        match text.split_once(':') {
            Some((name, rest)) if scheme(name) && !rest.is_empty() && printable => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(BuilderIdError { text: text.to_owned() }),
        }
    }
}

/// What a build was made of and by whom, as far as the plan does not say it.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The run.
    pub run: Run,
    /// What was asked for.
    pub request: Request,
    /// What it was made of.
    dependencies: Vec<Descriptor>,
}

impl Inputs {
    /// Of a build by nobody in particular. `manifest` has the name and the text of each of the manifest's files.
    pub fn new(request: Request, manifest: &[(&str, &str)], catalog: &Catalog) -> Self {
        let files = manifest
            .iter()
            .map(|(name, text)| Descriptor::text(name, Sha256::of(text.as_bytes()).to_string()));
        let origin = &catalog.build.origin;
        let told = [("run", &origin.run), ("job", &origin.job)];
        let told = told.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let whole = Descriptor::catalog(statement::ARTIFACTS, catalog.sha256());
        let whole = told.fold(whole, |whole, (name, value)| whole.with(name, value));
        let own = origin.commit.iter().map(|commit| Descriptor::commit("source", commit, None));
        let pins = origin.sources.iter().map(|pin| {
            let name = format!("source/{}", pin.path);
            let pinned = Descriptor::commit(&name, &pin.commit, pin.url.as_deref());
            if pin.patches.is_empty() {
                pinned
            } else {
                pinned.with("patches", pin.patches.clone())
            }
        });
        let each = catalog.artifacts.iter().map(|artifact| {
            Descriptor::catalog(&format!("artifacts/{}", artifact.id), artifact.sha256())
        });
        let dependencies = files.chain([whole]).chain(each).chain(own).chain(pins).collect();
        Self { run: Run::default(), request, dependencies }
    }

    /// Adds digests of the bytes of artifacts.
    pub fn add_contents(&mut self, contents: &BTreeMap<ArtifactId, Contents>) {
        let contents = contents.iter().map(|(id, it)| it.descriptor(id));
        self.dependencies.extend(contents);
        contents::sort(&mut self.dependencies);
    }

    /// The same with the inputs of projects that were built too. Something of a native project is in the wheels of
    /// all that were built after it.
    #[must_use]
    pub fn with_projects(
        mut self,
        plan: &Plan,
        projects: &BTreeMap<PackageName, ProjectInputs>,
    ) -> Self {
        for build in &plan.projects {
            let Some(inputs) = projects.get(&build.name) else { continue };
            let after = plan.projects.iter().filter(|it| it.after.contains(&build.name));
            let wheels = after.filter(|it| it.native.is_none()).map(|it| &it.name);
            let packages: Vec<&PackageName> =
                if build.native.is_some() { wheels.collect() } else { vec![&build.name] };
            self.dependencies.extend(project::descriptors(&build.name, inputs, &packages));
        }
        self
    }
}

/// Which packages came about, of what, and how.
pub fn statement(plan: &Plan, inputs: &Inputs, packages: &[Package<'_>]) -> Statement {
    Statement::new(plan, inputs, in_order(packages))
}

#[cfg(test)]
mod tests;
