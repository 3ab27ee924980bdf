use serde::Serialize;

use super::Judged;
use base::names::Form;
use base::source::Severity;
use check::{Finding, Package};

/// Format number of [`Report`].
pub const REPORT_FORMAT: u32 = 1;

/// Output of `rockpack wheel verify --json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Report {
    /// Format number, [`REPORT_FORMAT`].
    #[cfg_attr(feature = "schemas", schemars(extend("const" = REPORT_FORMAT)))]
    pub format: u32,
    /// True without errors.
    pub fine: bool,
    /// Packages.
    pub packages: Vec<Checked>,
    /// Findings that count.
    pub findings: Vec<Finding>,
    /// Findings that the manifest accepts.
    pub ignored: Vec<IgnoredFinding>,
}

/// A package of a report.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Checked {
    /// File, as given.
    pub file: String,
    /// Form.
    pub form: Form,
    /// Normalized name of the distribution, if valid.
    pub name: Option<String>,
    /// Version, if valid.
    pub version: Option<String>,
    /// Number of files.
    pub files: usize,
    /// Unpacked size in bytes.
    pub size: u64,
    /// Number of ELF and PE files.
    pub binaries: usize,
    /// Number of entry points.
    pub entry_points: usize,
}

/// An accepted finding.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct IgnoredFinding {
    /// Finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Reason.
    pub reason: String,
    /// Manifest line that accepts it: `packages.kdl:12`.
    pub rule: String,
}

impl Report {
    /// All findings of these packages.
    pub fn new(packages: &[Package<'_>], judged: &Judged<'_>) -> Self {
        let ignored = judged.ignored.iter().map(|(finding, reason)| IgnoredFinding {
            finding: finding.clone(),
            reason: reason.text.to_owned(),
            rule: reason.place.to_string(),
        });
        Self {
            format: REPORT_FORMAT,
            fine: judged.findings.iter().all(|finding| finding.severity != Severity::Error),
            packages: packages.iter().map(checked).collect(),
            findings: judged.findings.clone(),
            ignored: ignored.collect(),
        }
    }
}

fn checked(package: &Package<'_>) -> Checked {
    Checked {
        file: package.file.clone(),
        form: package.form,
        name: package.name.clone(),
        version: package.version.as_ref().map(ToString::to_string),
        files: package.file_count(),
        size: package.size,
        binaries: package.binary_count(),
        entry_points: package.entry_points,
    }
}
