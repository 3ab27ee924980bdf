use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base::version::Version;
use wheel::package::{ReadError, WheelName, distribution_of, packages};

#[derive(Debug, Default)]
pub(super) struct PresentPackages(BTreeMap<String, BTreeSet<String>>);

impl PresentPackages {
    /// Fails if the directory has no packages.
    pub fn read(dir: &Path) -> Result<Self, ReadError> {
        let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for found in packages(dir)? {
            let file = found.path.file_name().unwrap_or_default().to_string_lossy();
            let Some(name) = distribution_of(&file) else { continue };
            let version = file.parse::<WheelName>().map(|name| name.version.to_string());
            versions.entry(name).or_default().extend(version.ok());
        }
        Ok(Self(versions))
    }

    pub fn versions(&self, name: &str) -> Option<&BTreeSet<String>> {
        self.0.get(name)
    }
}

pub(super) fn fits(requirement: &base::names::Requirement, version: &str) -> bool {
    let Some(wanted) = &requirement.versions else { return true };
    version.parse::<pep440_rs::Version>().is_ok_and(|version| wanted.contains(&version))
}

pub(super) fn fits_version(requirement: &base::names::Requirement, version: &Version) -> bool {
    fits(requirement, version.as_str())
}
