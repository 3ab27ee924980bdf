use base::names::PackageName;
use catalog::SourcePath;

/// File or name that users of a package lose with a change.
#[derive(Debug, Clone, Copy)]
pub struct LossSubject<'l> {
    /// Old package in the manifest.
    pub package: Option<&'l PackageName>,
    /// Path below the platform directory, or a name.
    pub name: &'l str,
    /// File of an artifact.
    pub source: Option<&'l SourcePath>,
}
