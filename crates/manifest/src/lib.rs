//! The manifest: `packages.kdl` and `families.kdl`, decoded, with the line of every rule.
//!
//! Takes KDL documents; returns a `Manifest` with valid names and globs, or every mistake with its
//! place. Never reads an artifact.

use indexmap::IndexMap;

use base::names::{PackageName, normalized};
use base::source::{Problems, Source};
use base::target::Condition;
use compose::{CHANGE, GROUP, INCLUDE, REMOVE};
use manifest_derive::Line;

mod at_most;
mod compose;
mod compression;
mod decode;
mod devel_layout;
mod drop_rule;
mod families;
mod finding;
mod for_target;
mod glob;
mod ignore;
pub mod kdl;
mod ledger;
mod library;
mod license;
mod line;
mod listing;
mod meant_kind;
mod node_spec;
mod package;
mod package_kind;
mod platform_tag;
mod project;
mod promote;
mod publishing;
mod python;
mod reader;
mod remote;
mod requirement;
mod retention;
pub mod setting;
mod split;
mod store;
mod template;
mod text;
mod warnings;

pub use at_most::SizeLimit;
pub use compose::include::includes;
pub use compression::CompressionRule;
pub use devel_layout::DevelLayout;
pub use drop_rule::DropRule;
pub use families::{Families, IsaFacts, Level, ProgramIsa, Wavefront};
pub use glob::{Glob, GlobError, HasGlob, Rules};
pub use ignore::{Excuses, IgnoreRule, UnownedRule};
pub use ledger::{AcceptRule, LedgerClass, ledger};
pub use library::{LibraryName, LibraryNameError, LibraryRule};
pub use license::{LicenseError, LicenseExpression, LicenseOf, LicenseText};
pub use listing::Listing;
pub use node_spec::{ArgKind, ArgSpec, Arity, KdlFile, NodeSpec};
pub use package::Package;
pub use package::artifact::{ArtifactRule, ComponentRule, PathRule};
pub use package::distribution::{Distribution, Extra, Pick};
pub use package::execstack::ExecstackRule;
pub use package::forbid::ForbidRule;
pub use package::index::IndexRule;
pub use package::readme::{BuiltIn, ManifestFiles, Readme, ReadmeFormat, most_bytes};
pub use package::requires::{RequireDistRule, RequireRule};
pub use package::runtime::{
    AliasForm, AliasRule, DriverRule, Environment, KeepLinkRule, Library, RpathRule,
};
pub use package::script::{Script, ScriptTarget};
pub use package::variant::VariantRule;
pub use package_kind::PackageKind;
pub use platform_tag::PlatformTag;
pub use project::{Project, WindowsPaths};
pub use promote::{PromoteRule, VersionFile};
pub use publishing::{Aggregate, Publishing, ShelfRule};
pub use python::lines::{Command, Need, ProjectSource, RunScript, Trial};
pub use python::project::{Cmake, EveryProject, Libraries, Native, SourceProject};
pub use python::wheel::{Prefetch, PrefetchSource, ReadyWheel, WheelSource};
pub use python::{Checkout, Python, PythonVersion, PythonVersionError, Selection};
pub use remote::address::{Address, AddressError};
pub use remote::{Credentials, Header, Machine, Outputs, RemoteRule, RemoteTls, Timeout};
pub use requirement::{Pin, Requirement, RequirementError};
pub use retention::{Dated, Keep, StreamRule};
pub use setting::{Filling, Setting};
pub use split::{ArchiveRuntime, DeviceBy, SplitFiles, SplitRule, TargetWord};
pub use store::{DOWNLOADS, RunName, StoreRule, StoreUrl, StoreUrlError};
pub use template::{Template, TemplateError};

/// Nodes of the files, packages first, then families.
pub const VOCABULARY: [KdlFile; 3] = [
    KdlFile {
        name: "packages.kdl",
        does: "Declares the packages and the files that each of them ships.",
        nodes: NODES_OF_PACKAGES,
    },
    KdlFile {
        name: "families.kdl",
        does: "Lists the ISAs and their families.",
        nodes: families::lines::NODES,
    },
    KdlFile {
        name: "parity.kdl",
        does: "Explains differences between packages of two makers, for `rockpack diff --ledger`.",
        nodes: ledger::NODES,
    },
];

const NODES_OF_PACKAGES: &[NodeSpec] = {
    const LISTS: &[&[NodeSpec]] =
        &[&[INCLUDE], <Manifest as line::Lines>::NODES, &[GROUP, CHANGE, REMOVE]];
    &node_spec::joined::<{ node_spec::count(LISTS) }>(LISTS)
};

/// A line that can be for some targets only.
pub trait HasCondition {
    /// Returns the condition.
    fn when(&self) -> Condition;
}

/// Packages to make, and the families that they can be made for.
#[derive(Debug, Clone, Line)]
#[line(
    check(decode::check_file(project, packages, python)),
    check(decode::refuse_contradiction(system_libraries, excuses))
)]
pub struct Manifest {
    /// Lines of `common`, which only packages need.
    #[child(default)]
    pub project: Project,
    /// Packages in the order of the file, which is the order of the build.
    #[child]
    pub packages: IndexMap<PackageName, Package>,
    /// Files that no package takes.
    #[child]
    pub drops: Rules<DropRule>,
    /// Source projects and finished wheels.
    #[flat(of = python::PythonLines)]
    pub python: Python,
    /// Changes by `rockpack wheel promote`.
    #[child]
    pub promotions: Vec<PromoteRule>,
    /// Shelves, and retention of streams.
    #[flat]
    pub publishing: Publishing,
    /// Stores of artifacts.
    #[child]
    pub stores: Vec<StoreRule>,
    /// Shared caches and build farms.
    #[child]
    pub remotes: Vec<RemoteRule>,
    /// Expected findings.
    #[flat]
    pub excuses: Excuses,
    /// Libraries of the system.
    #[child]
    pub system_libraries: Vec<LibraryRule>,
    /// ISAs and their families.
    pub families: Families,
    /// Texts of the two files, each followed by its included files.
    pub sources: Vec<Source>,
}

impl Manifest {
    /// Returns the name of the product: the selector's distribution.
    pub fn product(&self) -> Option<&str> {
        let selector = self.packages.values().find(|p| p.kind == PackageKind::Selector)?;
        selector.distributions.first().map(|d| d.name.as_str())
    }

    /// Returns every normalized name that a distribution can have, with its GPU target.
    pub fn distribution_names(&self) -> Vec<(String, Option<String>)> {
        let distributions = self.packages.values().flat_map(|package| &package.distributions);
        let names = distributions.flat_map(|distribution| {
            let variants = distribution.per.variants(&self.families);
            // Without a placeholder, the name has no target.
            let by_gpu = distribution.per.is_by_gpu() && distribution.name.has_placeholder();
            variants.into_iter().filter_map(move |variant| {
                let target = variant.as_str().filter(|_| by_gpu).map(str::to_owned);
                Some((normalized(&distribution.name.fill(&variant))?, target))
            })
        });
        names.collect()
    }

    /// Decodes the two files alone: a `readme` is an error.
    ///
    /// # Errors
    /// All independent mistakes, each with its place.
    pub fn decode(packages: &Source, families: &Source) -> Result<Self, Problems> {
        decode::manifest(packages, families, None)
    }

    /// Decodes the two files, and reads the files that they name.
    ///
    /// # Errors
    /// All independent mistakes, with unknown templates and unreadable readmes.
    pub fn decode_beside(
        packages: &Source,
        families: &Source,
        files: &ManifestFiles<'_>,
    ) -> Result<Self, Problems> {
        decode::manifest(packages, families, Some(files))
    }

    /// Warns of packages that nothing offers or requires.
    pub fn unoffered(&self) -> Problems {
        warnings::unoffered(self)
    }

    /// Warns of names that are nearly other names.
    pub fn misspellings(&self) -> Problems {
        warnings::misspellings(self)
    }

    /// Warns of doubtful lines.
    pub fn warnings(&self) -> Problems {
        warnings::collect(self)
    }
}
