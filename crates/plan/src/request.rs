use super::{OnlyName, Since, Sources};
use base::names::{Compression, DistName, Mode, PackageName, PlatformTags, System};
use base::source::Code;
use base::version::Version;

/// Options that complete or override the manifest.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Version of all packages. Default: the build's package version, or its own as a development
    /// release (`7.2.0.dev0`).
    pub version: Option<Version>,
    /// Suffix for the names of platform directories.
    pub suffix: String,
    /// Mode. Default: the build's own.
    pub mode: Option<Mode>,
    /// Operating system. Default: the system of the binaries.
    pub system: Option<System>,
    /// Families or ISAs for Linux.
    pub linux_families: Option<Vec<String>>,
    /// Families or ISAs for Windows.
    pub windows_families: Option<Vec<String>>,
    /// Platform tag. Default: computed from the binaries.
    pub platform_tag: Option<PlatformTags>,
    /// Findings among the sources; `None` plans no source builds.
    pub sources: Option<Sources>,
    /// Nodes and distributions to make; empty for all.
    pub only: Vec<OnlyName>,
    /// Overridden manifest variables.
    pub variables: Vec<(String, String)>,
    /// Overridden libraries of projects.
    pub libraries: Vec<(PackageName, String)>,
    /// Compression of wheels. Default: the manifest's.
    pub compression: Option<Compression>,
    /// xz preset of the devel archive, 0 to 6; `None` for a plain tar.
    pub xz_preset: Option<u8>,
    /// Earlier packages that the set refers to.
    pub since: Option<Since>,
    /// Codes of errors that are only warnings.
    pub allowed: Vec<Code>,
}

impl Request {
    /// True if errors with this code are warnings.
    pub fn allows(&self, code: Code) -> bool {
        self.allowed.contains(&code)
    }

    /// True if `--only` selects this node.
    pub fn wants(&self, name: &PackageName) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only.matches(name.as_str()))
    }

    pub(crate) fn wants_distribution(&self, package: &PackageName, name: &DistName) -> bool {
        self.wants(package) || self.only.iter().any(|only| only.matches(name.as_str()))
    }
}
