//! What `packages.kdl` and `families.kdl` say, decoded, with the line of every rule.
//!
//! A [`Manifest`] that exists is sound in itself: every name in it resolves, every glob is
//! compiled, and nothing in the files was left unread. What it says of a particular
//! artifact directory is the business of [`plan`].
//!
//! Takes KDL documents; returns a `Manifest` whose names resolve and whose globs compile, or every mistake with its
//! place. Never reads an artifact.

use indexmap::IndexMap;
use serde::Serialize;

use base::names::{ArtifactName, Component, PackageName, RelPath};
use base::source::{Problems, Source, Spanned};
use base::target::{Condition, Per, Target};

mod allow_isa;
mod allow_unowned;
mod compose;
mod compression;
mod condition;
mod decode;
mod families;
mod for_target;
mod forbid;
mod glob;
mod ignore;
pub mod kdl;
mod library;
mod license;
mod listing;
mod node_spec;
mod platform_tag;
mod project;
mod promote;
mod publishing;
mod python;
mod reader;
mod readme;
mod retention;
mod second_index;
pub mod setting;
mod split;
mod store;
mod template;
mod variant;
mod warnings;

pub use allow_isa::AllowIsaRule;
pub use allow_unowned::AllowUnownedRule;
pub use compression::CompressionRule;
pub use condition::HasCondition;
pub use families::{Families, IsaFacts, Level};
pub use forbid::ForbidRule;
pub use glob::{Glob, GlobError, HasGlob, Rules};
pub use ignore::IgnoreRule;
pub use library::{LibraryName, LibraryNameError, LibraryRule};
pub use license::{LicenseError, LicenseExpression, LicenseOf, LicenseText};
pub use listing::Listing;
pub use node_spec::{ArgKind, ArgSpec, Arity, KdlFile, NodeSpec};
pub use platform_tag::PlatformTag;
pub use project::{Project, WindowsPaths};
pub use promote::{PromoteRule, VersionFile};
pub use publishing::{Aggregate, Publishing, ShelfRule};
pub use python::{
    Checkout, Cmake, Command, EveryProject, Libraries, Native, Need, Pin, Prefetch, PrefetchSource,
    ProjectSource, Python, PythonVersion, PythonVersionError, ReadyWheel, Requirement,
    RequirementError, RunScript, Selection, SourceProject, Trial, WheelSource,
};
pub use readme::{Beside, BuiltIn, MOST_OF_README, Readme, ReadmeFormat};
pub use retention::{Dated, Keep, StreamRule};
pub use second_index::IndexRule;
pub use setting::{Filling, Setting};
pub use split::{DeviceBy, SplitFiles, SplitRule, TargetWord};
pub use store::{RunName, StoreRule, StoreUrl, StoreUrlError};
pub use template::{Template, TemplateError};
pub use variant::VariantRule;

/// What can stand in the two files, packages first: the words that the decoder itself goes by.
pub const VOCABULARY: [KdlFile; 2] = decode::VOCABULARY;

/// The packages to make and the families they can be made for.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// What all packages share.
    pub project: Project,
    /// The packages in the order of the file, which is the order in which they are built.
    pub packages: IndexMap<PackageName, Package>,
    /// Files that no package takes, on purpose.
    pub drops: Rules<DropRule>,
    /// Findings in packages that are meant.
    pub ignores: Vec<IgnoreRule>,
    /// Device code that can be in a package for another ISA, or for none in particular.
    pub allowed_isas: Vec<AllowIsaRule>,
    /// Files that may be in no package.
    pub allowed_unowned: Rules<AllowUnownedRule>,
    /// Libraries that the system has, wherever the packages are installed.
    pub system_libraries: Vec<LibraryRule>,
    /// Libraries that files need and some builds leave out.
    pub missing_libraries: Vec<LibraryRule>,
    /// What `rockpack promote` changes beside what rockpack wrote.
    pub promotions: Vec<PromoteRule>,
    /// Where packages go when they are published.
    pub publishing: Publishing,
    /// Where the artifacts of runs are kept.
    pub stores: Vec<StoreRule>,
    /// Source projects and finished wheels.
    pub python: Python,
    /// ISAs and the families they are in.
    pub families: Families,
    /// The texts it was decoded from: the two files, each before what it includes.
    pub sources: Vec<Source>,
}

impl Manifest {
    /// What is released: the name of the selector.
    pub fn product(&self) -> Option<&str> {
        let selector = self.packages.values().find(|p| p.kind == PackageKind::Selector)?;
        selector.distributions.first().map(|d| d.name.as_str())
    }

    /// Decodes the two files, and reads no other: a `readme` is an error.
    ///
    /// # Errors
    /// All independent mistakes at once, each with its place.
    pub fn decode(packages: &Source, families: &Source) -> Result<Self, Problems> {
        decode::manifest(packages, families, None)
    }

    /// The same where it is known what is beside the files: a package that names no template of the
    /// runtime, or a readme that cannot be read, is a mistake too.
    ///
    /// # Errors
    /// All independent mistakes at once, each with its place.
    pub fn decode_beside(
        packages: &Source,
        families: &Source,
        beside: &Beside<'_>,
    ) -> Result<Self, Problems> {
        decode::manifest(packages, families, Some(beside))
    }

    /// Packages that nothing installs but their own name: a warning for each.
    pub fn unoffered(&self) -> Problems {
        warnings::unoffered(self)
    }

    /// What is doubtful in it, though it can be meant.
    pub fn warnings(&self) -> Problems {
        warnings::of(self)
    }
}

/// What kind of thing a package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageKind {
    /// An sdist that picks the others (`kind="selector"`).
    Selector,
    /// A wheel with a platform directory (`kind="runtime"`).
    Runtime,
    /// A wheel with an archive of everything, expanded on first use (`kind="devel"`).
    Devel,
    /// A wheel without files of artifacts, which requires what a machine needs (`kind="choice"`).
    Choice,
}

impl PackageKind {
    /// The kind as manifests spell it.
    pub fn as_str(self) -> &'static str {
        decode::word(self)
    }
}

/// One package of the manifest; which distributions it becomes depends on mode and targets.
#[derive(Debug, Clone)]
pub struct Package {
    /// Its name in the manifest, and where it is declared.
    pub name: Spanned<PackageName>,
    /// What kind of thing it is.
    pub kind: PackageKind,
    /// Where it exists.
    pub when: Condition,
    /// Its distributions; at most one for each target. For a target without one it is not built.
    pub distributions: Vec<Distribution>,
    /// `Summary` in the metadata; may have `{isa}` or `{family}`.
    pub summary: Template,
    /// Its long description; without one it is made of what is known.
    pub readme: Option<Readme>,
    /// What index servers show of it, beside what they show of all packages.
    pub listing: Listing,
    /// `License-Expression` (SPDX); without one it is composed of the artifacts' ([`Project::licenses`]).
    pub license: Option<Spanned<LicenseExpression>>,
    /// Directory of the runtime's Python sources that go into the import package.
    pub template: Spanned<String>,
    /// The package whose platform directory this one's files go into.
    pub overlay: Option<Spanned<PackageName>>,
    /// Packages that this one requires, at the same version.
    pub requires: Vec<RequireRule>,
    /// Packages of others that it requires.
    pub requires_dist: Vec<RequireDistRule>,
    /// Extras (selectors only).
    pub extras: Vec<Extra>,
    /// Indexes in which it requires more (selectors only).
    pub indexes: Vec<IndexRule>,
    /// Wheels for single targets beside the plain one (choices only).
    pub variant: Option<VariantRule>,
    /// Packages all of whose artifacts this one takes too, with every component (devel only).
    pub artifacts_of: Vec<Spanned<PackageName>>,
    /// Artifacts it takes.
    pub artifacts: Vec<ArtifactRule>,
    /// Artifacts of which it takes what they have for single targets too (devel only).
    pub every_target_of: Vec<Spanned<ArtifactName>>,
    /// Artifacts it does not take after all.
    pub without_artifacts: Vec<Spanned<ArtifactName>>,
    /// Components it does not take after all.
    pub without_components: Vec<ComponentRule>,
    /// When there are any, only paths that one of them matches.
    pub includes: Rules<PathRule>,
    /// Paths it does not take; they win over includes.
    pub excludes: Rules<PathRule>,
    /// Paths that it must not take.
    pub forbids: Rules<ForbidRule>,
    /// Where its ELF files look for libraries, in this order.
    pub rpaths: Vec<RpathRule>,
    /// Names without a version that programs open.
    pub aliases: Vec<AliasRule>,
    /// Libraries that the runtime finds by short name.
    pub libraries: Vec<Library>,
    /// Console scripts.
    pub scripts: Vec<Script>,
    /// Search paths that the console scripts set for what they start.
    pub environment: Vec<Environment>,
    /// Installed paths that stay links when the archive is expanded (devel only).
    pub keep_links: Vec<KeepLinkRule>,
}

impl Package {
    /// Its distribution, of a manifest for one target ([`Manifest::for_target`]); nothing where it is not built.
    pub fn distribution(&self) -> Option<&Distribution> {
        self.distributions.first()
    }

    /// Its distribution for `target`, of a manifest for all.
    pub fn distribution_for(&self, target: Target) -> Option<&Distribution> {
        built_for(&self.distributions, self.when, target)
    }

    /// How many lines say what goes into it and what it relies on.
    pub fn rule_count(&self) -> usize {
        let names = self.requires.len()
            + self.artifacts_of.len()
            + self.every_target_of.len()
            + self.without_artifacts.len()
            + self.keep_links.len();
        let paths = self.includes.len()
            + self.excludes.len()
            + self.forbids.len()
            + self.rpaths.len()
            + self.aliases.len();
        let offers =
            self.extras.len() + self.libraries.len() + self.scripts.len() + self.environment.len();
        let indexes = self.indexes.len();
        self.artifacts.len() + self.without_components.len() + names + paths + offers + indexes
    }
}

/// The distribution that a package is for `target`; `when` is the package's own condition.
fn built_for(
    distributions: &[Distribution],
    when: Condition,
    target: Target,
) -> Option<&Distribution> {
    distributions.iter().find(|line| when.holds(target) && line.when.holds(target))
}

/// `distribution "rocm-sdk-core" module="…" per="…" mode="…"`.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// Its name, may have `{isa}` or `{family}`; the place is the node's.
    pub name: Spanned<Template>,
    /// The import package; the placeholders are made identifiers here (`-` becomes `_`).
    pub module: Template,
    /// How many there are and which artifacts each takes.
    pub per: Per,
    /// Where it counts.
    pub when: Condition,
}

/// `extra "devel" package="devel" offer="…" at-least=2 mode="…"`.
#[derive(Debug, Clone)]
pub struct Extra {
    /// Its name; has a placeholder when `pick` is [`Pick::Each`].
    pub name: Spanned<Template>,
    /// The package it installs.
    pub package: Spanned<PackageName>,
    /// Which of the package's distributions.
    pub pick: Pick,
    /// It is offered only when the package has at least this many distributions.
    pub at_least: usize,
    /// Where it counts.
    pub when: Condition,
}

/// Which distributions of a package an extra installs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The one there is (the default).
    Only,
    /// One extra for each.
    Each,
    /// All of them.
    All,
}

/// `artifact "base" "lib" "run" repeats="…" apart="…" subproject="…" optional="…" mode="…"`.
#[derive(Debug, Clone)]
pub struct ArtifactRule {
    /// The artifact.
    pub name: Spanned<ArtifactName>,
    /// The components taken; empty in a devel package, which takes all.
    pub components: Vec<Spanned<Component>>,
    /// Why another package can ship the same files too (runtime packages only).
    pub repeats: Option<String>,
    /// Why libraries of it can be apart from what belongs to them (runtime packages only).
    pub apart: Option<String>,
    /// The part of the build that it comes from: `families.kdl` says which ISAs it is not built for.
    pub subproject: Option<Spanned<String>>,
    /// Why it is no mistake when it matches nothing.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

/// `without-component "test" mode="kpack"`.
#[derive(Debug, Clone)]
pub struct ComponentRule {
    /// The component.
    pub component: Spanned<Component>,
    /// Why it is no mistake when it leaves out nothing.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

/// `include "bin/x-*"` or `exclude "**/cmake/**"`.
#[derive(Debug, Clone)]
pub struct PathRule {
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// Why it is no mistake when it matches nothing.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

impl HasGlob for PathRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}

/// `rpath "core" "lib/llvm/lib" optional="…"`.
#[derive(Debug, Clone)]
pub struct RpathRule {
    /// The package whose platform directory has the libraries.
    pub package: Spanned<PackageName>,
    /// The directory in it.
    pub directory: Spanned<RelPath>,
    /// Why it can be absent.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

/// `alias "lib/libx.so" as="forward" optional="…"`.
#[derive(Debug, Clone)]
pub struct AliasRule {
    /// The installed path that programs open.
    pub path: Spanned<RelPath>,
    /// What stands there.
    pub form: AliasForm,
    /// Why it is no mistake when there is no such library.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

/// What stands at the place of an alias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AliasForm {
    /// A library of a few KB that needs the real one.
    Forward,
    /// The real library once more.
    Copy,
}

/// `requires "core" offer="all" on="…"`.
#[derive(Debug, Clone)]
pub struct RequireRule {
    /// The package that is required.
    pub package: Spanned<PackageName>,
    /// Whether all its distributions are, and not the one that belongs to the requiring one.
    pub all: bool,
    /// Where it counts.
    pub when: Condition,
}

/// `requires-dist "numpy>=2" on="…"`.
#[derive(Debug, Clone)]
pub struct RequireDistRule {
    /// What is required.
    pub requirement: Spanned<python::Requirement>,
    /// Where it counts.
    pub when: Condition,
}

/// `keep-link "bin/cc" on="…"`.
#[derive(Debug, Clone)]
pub struct KeepLinkRule {
    /// The installed path.
    pub path: Spanned<RelPath>,
    /// Where it counts.
    pub when: Condition,
}

/// `find-library "amdhip64" so="lib/…" dll="bin/…" optional="…"`.
#[derive(Debug, Clone)]
pub struct Library {
    /// The short name.
    pub name: Spanned<String>,
    /// Where it is on Linux, below the platform directory; the last segment may have `*`.
    pub so: Option<String>,
    /// Where it is on Windows.
    pub dll: Option<String>,
    /// Why it can be absent.
    pub optional: Option<String>,
    /// Where it counts.
    pub when: Condition,
}

/// `script "hipcc" program="bin/hipcc" expand-devel=#true on="linux" optional="…"`.
#[derive(Debug, Clone)]
pub struct Script {
    /// The command's name.
    pub name: Spanned<String>,
    /// What it starts, and where that is said.
    pub target: Spanned<ScriptTarget>,
    /// Starts the program of the devel tree, expanding it first where it is installed.
    pub expand_devel: bool,
    /// Where it exists.
    pub when: Condition,
    /// Why its program can be absent; the command is then not registered.
    pub optional: Option<String>,
}

/// What a console script starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptTarget {
    /// A program below the platform directory.
    Program(RelPath),
    /// A function of the import package (`__main__:main`).
    Function(String),
}

/// `prepend-path "PYTHONPATH" { directory "profiler" "lib/python" }`.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The variable.
    pub variable: Spanned<String>,
    /// Directories that come first in it, in this order.
    pub directories: Vec<RpathRule>,
    /// Where it counts.
    pub when: Condition,
}

/// `drop "**" component="test" artifact="…" mode="…" everywhere=#true reason="…"`.
#[derive(Debug, Clone)]
pub struct DropRule {
    /// Paths.
    pub glob: Spanned<Glob>,
    /// It counts before what packages take, rather than for what none takes.
    pub everywhere: bool,
    /// Of this artifact only.
    pub artifact: Option<ArtifactName>,
    /// Of this component only.
    pub component: Option<Component>,
    /// Where it counts.
    pub when: Condition,
    /// Why.
    pub reason: String,
    /// Why it is no mistake when it drops nothing.
    pub optional: Option<String>,
}

impl HasGlob for DropRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}
