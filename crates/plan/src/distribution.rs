//! A distribution: one file that a build writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Archive, Member, Metadata, Step};
use base::names::{Compression, DistName, Form, ModuleName, PackageName, RelPath, VariantLabel};

/// One file that a build writes: a wheel or an sdist.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Distribution {
    /// The package of the manifest.
    pub package: PackageName,
    /// The ISA or family it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The distribution's name.
    pub name: DistName,
    /// Which of several wheels of its name it is (PEP 825).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wheel_variant: Option<WheelVariant>,
    /// The text of the file beside it that tells of all variants of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<String>,
    /// The index of its own that a further selector of its name is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<PackageName>,
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

/// One of several wheels of a name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WheelVariant {
    /// The last part of its file name.
    pub label: VariantLabel,
    /// The text of `variant.json` in its metadata directory.
    pub json: String,
}

/// Something that was selected or named and is not shipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Absent {
    /// The installed path.
    pub path: RelPath,
    /// Why it is not shipped.
    pub reason: String,
    /// The rule that selected it.
    pub rule: Arc<str>,
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
