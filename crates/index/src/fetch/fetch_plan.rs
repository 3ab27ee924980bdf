//! What a fetch would do, as data.

use serde::Serialize;

use super::selection::{Selection, Unneeded};
use base::names::{Mode, PackageName, System};
use plan::catalog::Demands;
use plan::resolve::Missing;

/// The number of the format, which its schema is published for.
pub const FETCH_PLAN_FORMAT: u32 = 1;

/// What `rockpack artifact fetch --dry-run --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FetchPlan {
    /// The number of this format.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = FETCH_PLAN_FORMAT)))]
    pub format: u32,
    /// The address of the run.
    pub address: String,
    /// The modes that the archives can be packaged in; none where all archives are fetched.
    pub modes: Vec<Mode>,
    /// The system that the packages are for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<System>,
    /// Archives that are fetched, sorted by key.
    pub archives: Vec<NeededArchive>,
    /// Archives that are not, sorted by key.
    pub unneeded: Vec<Unneeded>,
    /// What packages need and the run does not have.
    pub missing: Vec<Missing>,
}

/// An archive that is fetched.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NeededArchive {
    /// Its key below the address.
    pub key: String,
    /// Its size in bytes.
    pub size: u64,
    /// Whether something says its checksum: a file beside it, or the lock file.
    pub checksum: bool,
    /// The packages of the manifest that take it. There can be none: a rule that leaves something out has to match.
    pub packages: Vec<PackageName>,
}

impl FetchPlan {
    /// What is made of a selection.
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
