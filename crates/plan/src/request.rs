//! What was asked for on the command line.

use super::{OnlyName, Sources};
use base::names::{Compression, DistName, Mode, PackageName, PlatformTags, System};
use base::version::Version;

/// What the command line says of a build, beside the manifest.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The version; without it the one that the build has for packages, else the artifacts' own as a
    /// development version: `7.2.0` gives `7.2.0.dev0`.
    pub version: Option<Version>,
    /// What is appended to the names of platform directories.
    pub suffix: String,
    /// The mode; what the build says without it.
    pub mode: Option<Mode>,
    /// The system; what the artifacts' binaries are for without it.
    pub system: Option<System>,
    /// Families or ISAs published for Linux.
    pub linux_families: Option<Vec<String>>,
    /// Families or ISAs published for Windows.
    pub windows_families: Option<Vec<String>>,
    /// The platform tag; computed from the binaries without it.
    pub platform_tag: Option<PlatformTags>,
    /// What is below the root of all sources; without it, nothing is built of sources.
    pub sources: Option<Sources>,
    /// Only these packages, distributions, projects and wheels are made; all when empty.
    pub only: Vec<OnlyName>,
    /// Values for variables of the manifest, in place of those that it gives them.
    pub variables: Vec<(String, String)>,
    /// Selections of libraries for projects, in place of those that the manifest makes.
    pub libraries: Vec<(PackageName, String)>,
    /// How wheels are compressed; as the manifest says without it.
    pub compression: Option<Compression>,
    /// The preset of xz for the devel archive, 0 to 6; without it the archive is a plain tar.
    pub xz_preset: Option<u8>,
    /// Files that no package takes and no rule drops are warnings, not errors.
    pub allow_unowned: bool,
}

impl Request {
    /// Whether something of this name in the manifest is to be made, whatever its distributions are called.
    pub fn wants(&self, name: &PackageName) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.matches(name.as_str()))
    }

    /// Whether a distribution of a package is to be made.
    pub fn wants_distribution(&self, package: &PackageName, name: &DistName) -> bool {
        self.wants(package) || self.only.iter().any(|only| only.matches(name.as_str()))
    }
}
