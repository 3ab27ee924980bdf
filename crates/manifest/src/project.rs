//! What all packages share.

use super::{CompressionRule, LicenseOf, LicenseText, Listing, PlatformTag, Rules};

/// What all packages share.
#[derive(Debug, Clone)]
pub struct Project {
    /// `Author` in the metadata.
    pub author: String,
    /// The home page, `Project-URL` in the metadata.
    pub home_page: Option<String>,
    /// What index servers show of every package.
    pub listing: Listing,
    /// `Requires-Python`, a PEP 440 specifier in the author's own spelling.
    pub requires_python: String,
    /// Where the wheels' platform tag comes from, and how new it may be.
    pub platform_tag: PlatformTag,
    /// How long installed paths may be on Windows.
    pub windows_paths: WindowsPaths,
    /// Installed paths of licence texts: those of the artifacts that a package ships files of go into its metadata.
    pub license_texts: Rules<LicenseText>,
    /// Installed paths whose files are compressed in another way than the rest of their wheels.
    pub compression: Rules<CompressionRule>,
    /// The terms of artifacts, of which the licence of a package is composed that has no own.
    pub licenses: Vec<LicenseOf>,
}

/// How long installed paths may be on Windows, in words of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowsPaths {
    /// The whole path, from the drive on.
    pub longest: usize,
    /// What a user's site-packages may take of it.
    pub site_packages: usize,
}

impl Default for WindowsPaths {
    /// What programs open that do not ask for long paths (`MAX_PATH` and its final zero), and a
    /// site-packages below a user's profile.
    fn default() -> Self {
        Self { longest: 259, site_packages: 75 }
    }
}
