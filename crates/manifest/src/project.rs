//! `common`.

use super::{CompressionRule, LicenseOf, LicenseText, Listing, PlatformTag, Rules, SizeLimit};
use crate::line::inner;
use crate::text::{Specifier, WebAddress};
use manifest_derive::Line;

/// Holds lines for all packages.
#[derive(Debug, Clone, Default, Line)]
#[line(
    "common",
    within = inner,
    example = r#"common {
    author "The Example Project"
    home-page "https://example.org"
    requires-python ">=3.10"
    platform-tag env="EXAMPLE_PLATFORM_TAG"
    license-text "share/doc/*/LICENSE*"
}"#
)]
pub struct Project {
    /// Names the author, `Author` in every package's metadata.
    #[leaf("NAME", "a name", "The author's name.", example = r#"author "The Example Project""#)]
    pub author: String,
    /// Gives the home page, a `Project-URL` in every package's metadata.
    #[leaf(
        "https://…",
        "an address",
        "Its address.",
        via = WebAddress,
        example = r#"home-page "https://example.org""#
    )]
    pub home_page: Option<String>,
    /// Metadata that index servers show of every package.
    #[flat]
    pub listing: Listing,
    /// Gives the supported versions of Python, `Requires-Python` in the metadata.
    #[leaf(
        ">=3.10",
        "a version specifier",
        "A version specifier (PEP 440), in quotes.",
        via = Specifier,
        example = r#"requires-python ">=3.10, <3.15""#
    )]
    pub requires_python: String,
    /// Source of the wheels' platform tag, and its limit.
    #[child(default)]
    pub platform_tag: PlatformTag,
    /// Limits of installed paths on Windows.
    #[child(default)]
    pub windows_paths: WindowsPaths,
    /// Sizes of wheels.
    #[child]
    pub at_most: Vec<SizeLimit>,
    /// Installed paths of licence texts.
    #[child]
    pub license_texts: Rules<LicenseText>,
    /// Compression of single files.
    #[child]
    pub compression: Rules<CompressionRule>,
    /// Licences of artifacts.
    #[child]
    pub licenses: Vec<LicenseOf>,
}

/// Limits the paths that packages for Windows install.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Line)]
#[line("windows-paths", example = "windows-paths longest=259 site-packages=100")]
pub struct WindowsPaths {
    /// Characters of the whole path, 259 by default: programs that do not ask for long paths open
    /// no longer ones.
    #[prop(default = Self::default().longest, shown = "longest=259")]
    pub longest: usize,
    /// Characters of these for a user's site-packages, 75 by default.
    #[prop(default = Self::default().site_packages, shown = "site-packages=75")]
    pub site_packages: usize,
}

impl Default for WindowsPaths {
    /// `MAX_PATH` without its zero, and a site-packages below a user's profile.
    fn default() -> Self {
        Self { longest: 259, site_packages: 75 }
    }
}
