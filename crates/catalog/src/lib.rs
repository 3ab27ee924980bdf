//! Content of an artifact directory.
//!
//! A [`Catalog`] can be saved and planned elsewhere. A [`Source`] provides the bytes, on this
//! machine a [`Directory`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use base::names::{ArtifactName, Component, Family, RelPath};
use binary::elf::ElfFacts;
use binary::pe::{ImportLibrary, PeFacts};

mod archive;
mod checksum;
pub mod demo;
mod directory;
mod duplicates;
mod halt;
mod layout;
mod local_archive;
mod lock;
mod members;
mod names;
mod needed;
mod origin;
mod pack;
mod packed;
mod results;
mod saved;
mod scan;
mod scratch;
mod seek;
mod seekable;
mod source;
mod unpacked;
mod wanted;
mod xz_index;

pub use checksum::SIDECAR;
pub use directory::{Directory, archives};
pub use layout::{
    BUILD_FLAGS, BUILD_TARGETS, BUILD_VERSION, archive_names, archive_of, sidecar_of,
};
pub use lock::{LOCK_FORMAT, Lock, LockedArchive, ReadArchive, SavedLock};
pub use names::names;
pub use needed::{Demand, Missing, Needed};
pub use origin::{BuildOrigin, SourcePin};
pub use pack::{PackedArtifact, artifact_directories, pack};
pub use packed::{Demands, Expected, Locked, Packed, unchecked};
pub use saved::{CATALOG_FORMAT, CatalogError, SavedCatalog};
pub use scan::{confirm, read, scan};
pub use source::{Listed, ListedEntry, ListedKind, OpenFile, Source, SourceFile};
pub use wanted::Wanted;

/// Content of an artifact directory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Catalog {
    /// Artifacts, sorted by name, then component (lib, run, dev, dbg, doc, test), then family.
    pub artifacts: Vec<Artifact>,
    /// Children of the directory that are not artifacts.
    pub ignored: Vec<Ignored>,
    /// Facts about the build.
    pub build: BuildFacts,
}

impl Catalog {
    /// Returns the catalog with sorted lists, borrowed if they are sorted already.
    pub fn sorted(&self) -> Cow<'_, Self> {
        let has_sorted_artifacts = self.artifacts.is_sorted_by_key(|a| &a.id)
            && self.artifacts.iter().all(|a| a.entries.is_sorted_by_key(CatalogEntry::order));
        if has_sorted_artifacts && self.ignored.is_sorted_by_key(|i| &i.name) {
            return Cow::Borrowed(self);
        }
        let mut catalog = self.clone();
        catalog.sort();
        Cow::Owned(catalog)
    }

    /// Returns the artifacts of this name. The catalog must be sorted; otherwise some are missed.
    pub fn named(&self, name: &ArtifactName) -> &[Artifact] {
        let from = self.artifacts.partition_point(|artifact| artifact.id.name < *name);
        let rest = &self.artifacts[from..];
        &rest[..rest.partition_point(|artifact| artifact.id.name == *name)]
    }

    fn sort(&mut self) {
        self.artifacts.sort_by(|a, b| a.id.cmp(&b.id));
        self.ignored.sort_by(|a, b| a.name.cmp(&b.name));
        for artifact in &mut self.artifacts {
            artifact.entries.sort_by(|a, b| a.order().cmp(&b.order()));
        }
    }
}

/// Build facts, read from installed files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BuildFacts {
    /// Device code was split from host code.
    pub kpack_split: bool,
    /// Target ISAs, in the build's own spelling.
    pub targets: Vec<String>,
    /// ROCm version of the build.
    pub version: Option<String>,
    /// Version that the build declares for its packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_version: Option<String>,
    /// CI run and source commits of the build.
    #[serde(default, skip_serializing_if = "BuildOrigin::is_empty")]
    pub origin: BuildOrigin,
}

/// A child of the artifact directory that is not an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// File name.
    pub name: String,
    /// Reason, in words.
    pub reason: String,
}

/// Identity of an artifact: the fields of its directory name `{name}_{component}_{family}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ArtifactId {
    /// First field, such as `blas`.
    pub name: ArtifactName,
    /// Kind of files, such as `lib` or `dev`.
    pub component: Component,
    /// Family or ISA it was built for, or `generic`.
    pub family: Family,
}

impl std::fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}_{}_{}", self.name, self.component, self.family))
    }
}

/// One artifact: a directory or an archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// Identity of the artifact.
    pub id: ArtifactId,
    /// Base directories that `artifact_manifest.txt` lists but the artifact lacks, which is
    /// allowed.
    pub absent_bases: Vec<RelPath>,
    /// Installed entries, sorted by path, then by base directory.
    pub entries: Vec<CatalogEntry>,
}

/// One file, link or directory that an artifact installs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// Installed path, relative to the root of the ROCm installation.
    pub path: RelPath,
    /// Base directory of the entry, such as `stage`.
    pub base: RelPath,
    /// Type of the entry.
    pub kind: EntryKind,
    /// SHA-256 in hexadecimal, if another artifact installs the same path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Type of an entry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Size in bytes.
        size: u64,
        /// Any execute bit is set.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        executable: bool,
        /// File type, detected from the bytes.
        content: FileType,
    },
    /// A symbolic link, not followed.
    Symlink {
        /// Text of the link.
        target: String,
    },
}

/// File type, as far as packaging depends on it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FileType {
    /// An ELF file.
    Elf(Box<ElfFacts>),
    /// A file with ELF magic that cannot be parsed; the reason.
    BrokenElf(String),
    /// A PE file.
    Pe(Box<PeFacts>),
    /// A file with the PE signature that cannot be parsed; the reason.
    BrokenPe(String),
    /// An import library: maps functions to DLLs for the linker.
    ImportLibrary(Box<ImportLibrary>),
    /// An import library that cannot be parsed; the reason.
    BrokenImportLibrary(String),
    /// An offload bundle or code archive; the targets that its table lists.
    DeviceCode(Vec<String>),
    /// A file that begins with `#!`.
    Script,
    /// Any other file.
    Data,
}

impl CatalogEntry {
    fn order(&self) -> (&RelPath, &RelPath) {
        (&self.path, &self.base)
    }

    /// True for an executable regular file.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, EntryKind::File { executable: true, .. })
    }

    /// Size in bytes; 0 for directories and links.
    pub fn size(&self) -> u64 {
        match self.kind {
            EntryKind::File { size, .. } => size,
            EntryKind::Directory | EntryKind::Symlink { .. } => 0,
        }
    }

    /// Facts of readable binaries.
    pub fn binary(&self) -> Option<binary::Facts<'_>> {
        match &self.kind {
            EntryKind::File { content: FileType::Elf(facts), .. } => Some((&**facts).into()),
            EntryKind::File { content: FileType::Pe(facts), .. } => Some((&**facts).into()),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// Facts of readable PE files.
    pub fn pe(&self) -> Option<&PeFacts> {
        match &self.kind {
            EntryKind::File { content: FileType::Pe(facts), .. } => Some(facts),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// Content of readable import libraries.
    pub fn import_library(&self) -> Option<&ImportLibrary> {
        match &self.kind {
            EntryKind::File { content: FileType::ImportLibrary(library), .. } => Some(library),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// Facts of readable ELF files.
    pub fn elf(&self) -> Option<&ElfFacts> {
        match &self.kind {
            EntryKind::File { content: FileType::Elf(facts), .. } => Some(facts),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }
}

/// Source of a member: artifact, base directory and path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
// `Origin` is the name in the published schemas.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(rename = "Origin"))]
#[serde(deny_unknown_fields)]
pub struct SourcePath {
    /// Artifact that has the file.
    pub artifact: ArtifactId,
    /// Base directory in the artifact.
    pub base: RelPath,
    /// Path below the base directory.
    pub path: RelPath,
}

impl std::fmt::Display for SourcePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.artifact, self.base, self.path)
    }
}
