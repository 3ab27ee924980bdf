use base::names::PackageName;
use catalog::Origin;

/// A file or named thing that users of a package lose with a change.
#[derive(Debug, Clone, Copy)]
pub struct Lost<'l> {
    /// Old package in the manifest.
    pub package: Option<&'l PackageName>,
    /// Path below the platform directory, or a name.
    pub name: &'l str,
    /// Artifact file.
    pub origin: Option<&'l Origin>,
}
