use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Archive, Limits, Member, Metadata, Step};
use base::names::{Compression, DistName, Form, ModuleName, PackageName, RelPath, VariantLabel};

/// One file that a build writes: a wheel or an sdist.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// Package in the manifest.
    pub package: PackageName,
    /// ISA or family, if the package is split by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Name on the index.
    pub name: DistName,
    /// Label and metadata of one of several wheels with this name (PEP 825).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheel_variant: Option<WheelVariant>,
    /// Text of the separate file that lists all wheel variants of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<String>,
    /// Separate index that this further selector belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<PackageName>,
    /// Wheel or sdist.
    pub form: Form,
    /// Directory below the destination, without the file name: `dist`, `dist/gfx94X-dcgpu`.
    pub directory: RelPath,
    /// Import package.
    pub module: ModuleName,
    /// Platform directory that receives the files, if the package has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_dir: Option<ModuleName>,
    /// Platform tag, if it is another than the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_tag: Option<String>,
    /// Compression of a wheel's members.
    pub compression: Compression,
    /// Exceptions from `compression`, set by rules, by member path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compressed_otherwise: BTreeMap<RelPath, Compression>,
    /// Content of the metadata file.
    pub metadata: Metadata,
    /// Console scripts and their targets (`module:function`).
    pub entry_points: BTreeMap<String, String>,
    /// Files, sorted by path: relative to site-packages, in an sdist to the top directory.
    pub members: Vec<Member>,
    /// Licence texts: relative to the metadata's licence directory, in an sdist to the top
    /// directory.
    pub licenses: Vec<Member>,
    /// Archive of a devel wheel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<Archive>,
    /// Selected entries that are not shipped, with the reason.
    pub absent: Vec<Absent>,
    /// Limits of its size.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// Estimated size of the file in bytes; no decision depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<u64>,
    /// SHA-256 of the content without the own version, with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Reason for which no earlier package has this content, with `--since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// One of several wheels with the same name and version (PEP 825).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WheelVariant {
    /// Last part of the file name.
    pub label: VariantLabel,
    /// Text of `variant.json` in the metadata directory.
    pub json: String,
}

/// An entry that was selected or named, but is not shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Installed path.
    pub path: RelPath,
    /// Reason.
    pub reason: String,
    /// Rule that selected it.
    pub rule: Arc<str>,
}

impl Distribution {
    /// Compression of the member `path`.
    pub fn compression_of(&self, path: &RelPath) -> Compression {
        self.compressed_otherwise.get(path).copied().unwrap_or(self.compression)
    }

    /// Returns true for a devel wheel whose archive is compressed with xz.
    pub fn has_xz_archive(&self) -> bool {
        self.archive.as_ref().is_some_and(|archive| archive.xz.is_some())
    }

    /// Members, licence texts and members of the archive.
    pub fn all_members(&self) -> impl Iterator<Item = &Member> {
        let archived = self.archive.iter().flat_map(|a| &a.members);
        self.members.iter().chain(&self.licenses).chain(archived)
    }

    /// Number of files and links.
    pub fn file_count(&self) -> usize {
        self.all_members().filter(|m| m.step != Step::Directory).count()
    }

    /// Installed bytes.
    pub fn size(&self) -> u64 {
        self.all_members().map(|m| m.size).sum()
    }
}
