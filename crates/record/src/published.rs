use crate::content::PackageContent;
use base::version::Version;

/// A published package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Version.
    pub version: Version,
    /// File name.
    pub file: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Content.
    pub content: PackageContent,
}
