//! What will be made: every file of every package, with its source, its step and its rule.
//!
//! [`resolve`] compiles a manifest and a catalog into a [`Plan`]. It is pure: no file
//! system, no clock, no host path; equal inputs give equal plans. `rockpack plan` prints
//! it, `rockpack build` carries out exactly it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, Origin};
use crate::elf::stub::StubMachine;
use crate::manifest::Manifest;
use crate::names::{Compression, DistName, Mode, ModuleName, PackageName, RelPath};
use crate::source::Problems;
use crate::version::Version;

mod aliases;
mod check;
mod closure;
mod compression;
mod describe;
mod devel;
pub mod diff;
mod directory;
mod empty;
mod expected;
pub mod explain;
mod facts;
mod html;
mod idle;
mod instance;
mod leftover;
mod licenses;
mod links;
mod markdown;
mod marker;
mod notes;
mod only;
mod ownership;
mod parted;
mod place;
mod platform;
mod programs;
mod project;
mod python;
mod read;
mod readme;
mod repeated;
mod request;
mod requires;
mod resolve;
mod rpath;
mod sbom;
mod select;
mod sources;
mod targets;
mod text;
mod view;

pub use closure::{Closure, Found, InArtifact, Need, Resolved};
pub use html::html_page;
pub use licenses::without_license_text;
pub use markdown::{MARKDOWN_LIMIT, markdown_text};
pub use only::{OnlyName, OnlyNameError};
pub use project::{DevelTree, ProjectBuild, Sources, TakenWheel};
pub use read::PlanReadError;
pub use request::Request;
pub use sbom::{Document, SBOM_PATH, sboms};
pub use text::{files_text, human_size, summary_text};

/// The number of the plan's own format, which its schema is published for.
///
/// It grows with the first change after a release that a reader of the number before would
/// stumble over: a field or a step that comes, goes or gets another name, another type or another
/// meaning. A field that comes counts too, since the schema is closed. The schema of each number
/// stays in `schema/`. Other words in a note or a reason don't count, nor does another plan of
/// equal inputs.
pub const FORMAT: u32 = 1;

/// The runtime's Python sources by template name: path below the template, and text.
pub type Templates = BTreeMap<String, Vec<(RelPath, String)>>;

/// Everything a build makes: what `rockpack plan --json` prints and `rockpack build` carries out.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plan {
    /// The number of this format. Readers refuse a plan of another.
    #[cfg_attr(test, schemars(extend("const" = FORMAT)))]
    pub format: u32,
    /// How device code is split.
    pub mode: Mode,
    /// The version of every package.
    pub version: Version,
    /// The platform tag of every wheel.
    pub platform_tag: String,
    /// What is made, in the order of the manifest.
    pub distributions: Vec<Distribution>,
    /// Python projects that are built after them, each behind those that it is built after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<ProjectBuild>,
    /// Finished wheels that are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wheels: Vec<TakenWheel>,
    /// How projects get the devel package's tree, where one of them wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devel: Option<DevelTree>,
    /// What drop rules leave out, a line for each that drops something.
    #[serde(default)]
    pub dropped: Vec<Dropped>,
    /// Files that no package takes and no rule drops.
    pub unowned: Vec<Unowned>,
    /// What is worth knowing though nothing is wrong.
    pub notes: Vec<Note>,
    /// What is doubtful, and may not stop a build.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// What is worth knowing though nothing is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// A sentence.
    pub text: String,
    /// The line of the manifest that expects it and gives the reason: `packages.kdl:12`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A warning, as messages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Warning {
    /// Its kind: `unresolved-library`.
    pub code: String,
    /// What is doubtful.
    pub message: String,
    /// The lines of the manifest that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Labelled>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Why it is expected, where a line of the manifest says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Note>,
}

/// A line of the manifest, and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Labelled {
    /// The line: `packages.kdl:12`.
    pub rule: String,
    /// What is said of it.
    pub text: String,
}

/// One file that a build writes: a wheel or an sdist.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The package of the manifest.
    pub package: PackageName,
    /// The ISA or family it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The distribution's name.
    pub name: DistName,
    /// A wheel or an sdist.
    pub form: Form,
    /// Where it is written: below the destination, without the file's name (`dist`, `dist/gfx94X-dcgpu`).
    pub directory: RelPath,
    /// The import package.
    pub module: ModuleName,
    /// The platform directory its files go into, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_dir: Option<ModuleName>,
    /// How a wheel's members are compressed.
    pub compression: Compression,
    /// Members that are compressed in another way, because a rule says so.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compressed_otherwise: BTreeMap<RelPath, Compression>,
    /// What its metadata says.
    pub metadata: Metadata,
    /// Console scripts and what they start (`module:function`).
    pub entry_points: BTreeMap<String, String>,
    /// Its files, sorted by path: below site-packages in a wheel, below the top directory in an sdist.
    pub members: Vec<Member>,
    /// Licence texts, by their path below the metadata's licence directory, or below the top directory of an sdist.
    pub licenses: Vec<Member>,
    /// The archive in a devel wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Archive>,
    /// What was selected and is not in it, with the reason.
    pub absent: Vec<Absent>,
    /// About how many bytes the file will have, where somebody took a sample; no part of what is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
}

/// What a distribution comes as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A wheel (PEP 427).
    Wheel,
    /// A source distribution (PEP 625).
    Sdist,
}

/// What the core metadata says, without name and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Metadata {
    /// `Summary`.
    pub summary: String,
    /// `Description`, the text that index servers show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// `License-Expression`.
    pub license: String,
    /// `Author`.
    pub author: String,
    /// `Project-URL: Homepage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_page: Option<String>,
    /// `Requires-Python`.
    pub requires_python: String,
    /// `Requires-Dist`, verbatim.
    pub requires_dist: Vec<String>,
    /// Requirements and extras are computed at installation (`Dynamic`, PEP 643).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub computed: bool,
}

/// The long description of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Description {
    /// `Description-Content-Type`, without parameters: `text/markdown`, `text/x-rst` or `text/plain`.
    pub content_type: String,
    /// The text, with a line feed at its end.
    pub text: String,
}

/// One file of an archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Member {
    /// Where it goes.
    pub path: RelPath,
    /// How it comes about.
    #[serde(flatten)]
    pub step: Step,
    /// Whether it may be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
    /// Installed bytes; of what is edited, those of its source.
    pub size: u64,
    /// The rule that placed it: `packages.kdl:12`, or `rockpack` for what every package has.
    pub rule: Arc<str>,
}

/// How a file comes about. Data only; the executor matches all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "lowercase")]
pub enum Step {
    /// The source's bytes.
    Copy {
        /// Whose bytes.
        source: Origin,
    },
    /// The source's bytes with this `DT_RPATH` and no `DT_RUNPATH`.
    Relink {
        /// Whose bytes.
        source: Origin,
        /// The whole new value, entries with `:` between.
        rpath: String,
    },
    /// A program that starts another relative to its own place.
    Stub {
        /// The other, relative to the stub's directory.
        target: String,
        /// What it runs on.
        machine: StubMachine,
    },
    /// A library without code of its own that needs another.
    Alias {
        /// Its SONAME.
        soname: String,
        /// The SONAME of the other.
        needed: String,
        /// Where the other is, as a `DT_RPATH`.
        rpath: String,
        /// What it is for.
        machine: StubMachine,
    },
    /// A symbolic link (in archives that can hold one).
    Link {
        /// The link's text.
        target: String,
    },
    /// An empty place to put files in (in archives that can hold one).
    Directory,
    /// Text that the plan made.
    Render {
        /// The text.
        text: String,
    },
}

/// The archive of a devel wheel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Archive {
    /// Where it is in the wheel.
    pub path: RelPath,
    /// The preset of xz that it is compressed with, 0 to 6; a plain tar without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xz: Option<u8>,
    /// Its members, sorted so that no link comes before what it leads to.
    pub members: Vec<Member>,
}

/// Something that was selected or named and is not shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Absent {
    /// The installed path.
    pub path: RelPath,
    /// Why it is not shipped.
    pub reason: String,
    /// The rule that selected it.
    pub rule: Arc<str>,
}

/// What one drop rule leaves out on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Dropped {
    /// The rule: `packages.kdl:12`.
    pub rule: String,
    /// Why, as it says.
    pub reason: String,
    /// How many files and links; each counts for the first rule that drops it.
    pub files: usize,
    /// Their size in bytes, all together.
    pub size: u64,
}

/// A file that no package takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unowned {
    /// The file.
    #[serde(flatten)]
    pub origin: Origin,
    /// Its size in bytes.
    pub size: u64,
}

impl Step {
    /// The file whose bytes it takes, if any.
    pub fn source(&self) -> Option<&Origin> {
        match self {
            Self::Copy { source } | Self::Relink { source, .. } => Some(source),
            Self::Stub { .. }
            | Self::Alias { .. }
            | Self::Link { .. }
            | Self::Directory
            | Self::Render { .. } => None,
        }
    }

    /// The step's name as plans show it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Copy { .. } => "copy",
            Self::Relink { .. } => "relink",
            Self::Stub { .. } => "stub",
            Self::Alias { .. } => "alias",
            Self::Link { .. } => "link",
            Self::Directory => "directory",
            Self::Render { .. } => "render",
        }
    }
}

impl Distribution {
    /// How the member `path` of a wheel is compressed.
    pub fn compression_of(&self, path: &RelPath) -> Compression {
        self.compressed_otherwise.get(path).copied().unwrap_or(self.compression)
    }

    /// Everything that is installed with it: members, licence texts, and the archive's members.
    pub fn all_members(&self) -> impl Iterator<Item = &Member> {
        let archived = self.archive.iter().flat_map(|a| &a.members);
        self.members.iter().chain(&self.licenses).chain(archived)
    }

    /// How many files are installed with it, directories not counted.
    pub fn file_count(&self) -> usize {
        self.all_members().filter(|m| m.step != Step::Directory).count()
    }

    /// How many bytes are installed with it.
    pub fn size(&self) -> u64 {
        self.all_members().map(|m| m.size).sum()
    }
}

/// Compiles `manifest` and `catalog` into a plan: targets, selection, ownership, placement,
/// links, metadata, checks.
///
/// # Errors
/// Everything that would break a package, collected. Warnings come with the plan.
pub fn resolve(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
    request: &Request,
) -> Result<(Plan, Problems), Problems> {
    match resolve::plan(manifest, catalog, templates, request) {
        Ok((mut plan, warnings)) => {
            let warnings = warnings.in_order();
            plan.warnings = warnings.iter().map(expected::warning).collect();
            Ok((plan, warnings))
        }
        Err(problems) => Err(problems.in_order()),
    }
}
