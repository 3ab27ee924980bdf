//! What an artifact directory holds: paths, sizes, types and facts of binaries, no bytes.
//!
//! A [`Catalog`] is sorted and knows nothing of the host, so that it can be saved and
//! planned from elsewhere; a [`Source`] knows where the bytes are: [`Directory`] on this machine.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use base::names::{ArtifactName, Component, Family, RelPath};
use binary::elf::ElfFacts;
use binary::pe::{ImportLibrary, PeFacts};

mod archive;
mod checksum;
mod directory;
mod duplicates;
mod layout;
mod local_archive;
mod lock;
mod members;
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
pub(crate) use checksum::sha256_of_writing;
pub use directory::{Directory, archives};
pub use layout::{archive_names, archive_of, sidecar_of};
pub use lock::{LOCK_FORMAT, Lock, LockedArchive, SavedLock, Taken};
pub use origin::{BuildOrigin, SourcePin};
pub use pack::{PackedArtifact, artifact_directories, pack};
pub use packed::{Demands, Expected, Locked, Packed, unchecked};
pub use saved::{CATALOG_FORMAT, CatalogError, SavedCatalog};
pub use scan::{confirm, read, scan};
pub use source::{Listed, ListedEntry, ListedKind, OpenFile, Source, SourceFile};
pub use wanted::Wanted;

/// Everything an artifact directory holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Catalog {
    /// The artifacts, sorted by their directories' names.
    pub artifacts: Vec<Artifact>,
    /// Children of the directory that are no artifacts.
    pub ignored: Vec<Ignored>,
    /// Facts about the build.
    pub build: BuildFacts,
}

impl Catalog {
    /// The catalog with everything in its order; one that was put together by other means than
    /// [`scan`] may need sorting.
    pub fn in_order(&self) -> Cow<'_, Self> {
        let sorted = self.artifacts.is_sorted_by_key(|a| &a.id)
            && self.artifacts.iter().all(|a| a.entries.is_sorted_by_key(CatalogEntry::order));
        if sorted && self.ignored.is_sorted_by_key(|i| &i.name) {
            return Cow::Borrowed(self);
        }
        let mut catalog = self.clone();
        catalog.sort();
        Cow::Owned(catalog)
    }

    /// Puts everything in its order; what is in it already costs one look.
    fn sort(&mut self) {
        self.artifacts.sort_by(|a, b| a.id.cmp(&b.id));
        self.ignored.sort_by(|a, b| a.name.cmp(&b.name));
        for artifact in &mut self.artifacts {
            artifact.entries.sort_by(|a, b| a.order().cmp(&b.order()));
        }
    }
}

/// Facts about the build, in files that an artifact installs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BuildFacts {
    /// Device code was split from host code.
    pub kpack_split: bool,
    /// The ISAs that it was built for, as it spells them.
    pub targets: Vec<String>,
    /// Its version.
    pub version: Option<String>,
    /// The version that it has for packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_version: Option<String>,
    /// The run and the sources that it is from.
    #[serde(default, skip_serializing_if = "BuildOrigin::is_empty")]
    pub origin: BuildOrigin,
}

/// A child of the artifact directory that is no artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ignored {
    /// The child's name.
    pub name: String,
    /// Why it is not an artifact.
    pub reason: String,
}

/// Which artifact: the fields of `{name}_{component}_{family}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ArtifactId {
    /// The artifact's name.
    pub name: ArtifactName,
    /// Which part of it.
    pub component: Component,
    /// What it was built for.
    pub family: Family,
}

impl std::fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{}_{}_{}", self.name, self.component, self.family))
    }
}

/// One artifact directory or archive.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Artifact {
    /// Which one.
    pub id: ArtifactId,
    /// Base directories that its manifest lists and that are not there; that is allowed.
    pub absent_bases: Vec<RelPath>,
    /// What it installs, sorted by path, then by base.
    pub entries: Vec<CatalogEntry>,
}

/// One thing that an artifact installs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CatalogEntry {
    /// Where it is installed, below the installation's root.
    pub path: RelPath,
    /// The base directory it lies in.
    pub base: RelPath,
    /// What it is.
    pub kind: EntryKind,
    /// SHA-256 in hexadecimal, of files that another artifact installs at the same path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// What an entry is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// Its size in bytes.
        size: u64,
        /// Whether anybody may execute it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        executable: bool,
        /// What its bytes are.
        content: Content,
    },
    /// A symbolic link, not followed.
    Symlink {
        /// The link's text.
        target: String,
    },
}

/// What the bytes of a file are, as far as packaging minds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// An ELF file.
    Elf(Box<ElfFacts>),
    /// It starts like an ELF file and cannot be read as one.
    BrokenElf(String),
    /// A PE file.
    Pe(Box<PeFacts>),
    /// It has the signature of a PE file and cannot be read as one.
    BrokenPe(String),
    /// A library that tells linkers which DLLs have which functions.
    ImportLibrary(Box<ImportLibrary>),
    /// It tells so, and cannot be read to its end.
    BrokenImportLibrary(String),
    /// Starts with `#!`.
    Script,
    /// Anything else.
    Data,
}

impl CatalogEntry {
    /// What entries are sorted by: the path, then the base.
    fn order(&self) -> (&RelPath, &RelPath) {
        (&self.path, &self.base)
    }

    /// Whether it is a file that may be executed.
    pub fn is_executable(&self) -> bool {
        matches!(self.kind, EntryKind::File { executable: true, .. })
    }

    /// Its size in bytes: of a file its content's, else 0.
    pub fn size(&self) -> u64 {
        match self.kind {
            EntryKind::File { size, .. } => size,
            EntryKind::Directory | EntryKind::Symlink { .. } => 0,
        }
    }

    /// What it is and what it needs, when it is a binary that can be read.
    pub fn binary(&self) -> Option<binary::Facts<'_>> {
        match &self.kind {
            EntryKind::File { content: Content::Elf(facts), .. } => Some((&**facts).into()),
            EntryKind::File { content: Content::Pe(facts), .. } => Some((&**facts).into()),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// The PE facts, when it is a PE file that can be read.
    pub fn pe(&self) -> Option<&PeFacts> {
        match &self.kind {
            EntryKind::File { content: Content::Pe(facts), .. } => Some(facts),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// What it leads to, when it is an import library that can be read.
    pub fn import_library(&self) -> Option<&ImportLibrary> {
        match &self.kind {
            EntryKind::File { content: Content::ImportLibrary(library), .. } => Some(library),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }

    /// The ELF facts, when it is an ELF file that can be read: what an edit needs.
    pub fn elf(&self) -> Option<&ElfFacts> {
        match &self.kind {
            EntryKind::File { content: Content::Elf(facts), .. } => Some(facts),
            EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
        }
    }
}

/// Which file of which artifact: where bytes come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Origin {
    /// The artifact.
    pub artifact: ArtifactId,
    /// The base directory in it.
    pub base: RelPath,
    /// The path below the base directory.
    pub path: RelPath,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.artifact, self.base, self.path)
    }
}
