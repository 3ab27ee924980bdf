//! Result of a dry run of `fetch`, as data.

use serde::Serialize;

use super::selection::{Selection, Unneeded};
use base::names::{Mode, PackageName, System};
use catalog::{Demands, Missing};

/// Format number of [`FetchPlan`], also in the name of its schema.
pub const FETCH_PLAN_FORMAT: u32 = 1;

/// Output of `rockpack artifact fetch --dry-run --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FetchPlan {
    /// Format number.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FETCH_PLAN_FORMAT)))]
    pub format: u32,
    /// Address of the run.
    pub address: String,
    /// Modes that the archives allow; empty for all archives.
    pub modes: Vec<Mode>,
    /// System of the packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// Archives to fetch, sorted by key.
    pub archives: Vec<NeededArchive>,
    /// Other archives, sorted by key.
    pub unneeded: Vec<Unneeded>,
    /// Required components that the run does not contain.
    pub missing: Vec<Missing>,
}

/// An archive to fetch.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NeededArchive {
    /// Key below the address.
    pub key: String,
    /// Size in bytes.
    pub size: u64,
    /// True if a sidecar or the lock file has its checksum.
    pub checksum: bool,
    /// Packages that take it; empty if only a rule must match it.
    pub packages: Vec<PackageName>,
}

impl FetchPlan {
    /// Converts a selection; the lock file in `demands` supplies further checksums.
    pub fn new(address: &str, selection: &Selection, demands: &Demands) -> Self {
        let bare = selection.without_checksum(demands);
        let needed = selection.needed.as_ref();
        let archives = selection.selected.iter().map(|selected| {
            let key = selected.object.key.as_str();
            NeededArchive {
                key: key.to_owned(),
                size: selected.object.size,
                checksum: !bare.contains(&key),
                packages: selected.packages.iter().cloned().collect(),
            }
        });
        Self {
            format: FETCH_PLAN_FORMAT,
            address: address.to_owned(),
            modes: needed.map(|needed| needed.modes.clone()).unwrap_or_default(),
            system: needed.map(|needed| needed.system),
            archives: archives.collect(),
            unneeded: selection.unneeded.clone(),
            missing: needed.map(|needed| needed.missing.clone()).unwrap_or_default(),
        }
    }
}
