//! Findings of plans that `ignore` accepts by names or files, and the usage of a line for each.

use base::source::Code;

/// In addition to `Code::OF_PLANS`.
pub(crate) const OF_LINES: [Code; 3] =
    [Code::MisplacedCode, Code::UnownedFiles, Code::MissingArtifact];

/// Returns the usage of an `ignore` line with this code.
pub(crate) fn usage(code: Option<&str>) -> &'static str {
    match code {
        Some("unowned-files") => {
            r#"ignore "unowned-files" in="GLOB" artifact="…" component="…" reason="WHY" optional="WHY" mode="…" on="…""#
        }
        Some("misplaced-code") => {
            r#"ignore "misplaced-code" in="GLOB" package="PACKAGE" reason="WHY" optional="WHY" mode="…" on="…""#
        }
        Some("unresolved-library") => {
            r#"ignore "unresolved-library" "SONAME" "SONAME" reason="WHY""#
        }
        Some("missing-artifact") => {
            r#"ignore "missing-artifact" "ARTIFACT" "ARTIFACT" component="…" reason="WHY""#
        }
        _ => r#"ignore "CODE" package="PACKAGE" in="GLOB" to="GLOB" reason="WHY" optional="WHY""#,
    }
}
