//! Version of the packages.

use crate::Request;
use base::source::{Code, Problem};
use base::version::{Version, VersionError};
use catalog::Catalog;

/// Returns the requested version, otherwise the build's.
///
/// # Errors
///
/// Fails without a version, and for an invalid one (PEP 440).
pub(super) fn version(catalog: &Catalog, request: &Request) -> Result<Version, Problem> {
    if let Some(version) = &request.version {
        return Ok(version.clone());
    }
    let impossible = |file: &str, e: VersionError| {
        Problem::error(Code::ImpossibleVersion, format!("{file} of the build: {e}")).help(
            "correct the build, or give --version, such as 7.10.0, 7.10.0rc1 or 7.10.0.dev0+abc",
        )
    };
    // Builds state the version of their packages only in newer releases. The ROCm version alone can
    // be the version of a release, so it becomes a development version.
    if let Some(text) = &catalog.build.package_version {
        return text.parse().map_err(|e| impossible(catalog::BUILD_FLAGS, e));
    }
    let Some(text) = catalog.build.version.as_deref() else {
        return Err(Problem::usage(
            Code::ImpossibleVersion,
            "the artifacts do not state a version",
        )
        .help("add the version of the packages, such as --version 7.2.0"));
    };
    let version: Result<Version, VersionError> = text.parse();
    version.map(|v| v.development()).map_err(|e| impossible(catalog::BUILD_VERSION, e))
}
