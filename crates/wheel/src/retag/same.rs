use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err as fs;

use crate::package::{Header, OpenError, Wheel, WheelName};

pub(super) fn is_one_file(a: &Path, b: &Path) -> bool {
    let id = |path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    id(a).is_some_and(|found| id(b) == Some(found))
}

pub(super) fn has_tags(wheel: &Wheel, name: &WheelName) -> Result<bool, OpenError> {
    let tags: BTreeSet<String> =
        Header::parse(&wheel.info("WHEEL")?).all("Tag").into_iter().collect();
    Ok(tags == name.tags().collect())
}
