//! Whether what was asked for is there already.

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fs_err as fs;

use crate::package::{Header, OpenError, Wheel, WheelName};
use crate::regular;

/// Whether both paths lead to one file.
pub(super) fn is_one_file(a: &Path, b: &Path) -> bool {
    let id = |path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    id(a).is_some_and(|found| id(b) == Some(found))
}

/// Whether `WHEEL` has the tags that `name` stands for, and no others.
pub(super) fn has_tags(wheel: &Wheel, name: &WheelName) -> Result<bool, OpenError> {
    let tags: BTreeSet<String> =
        Header::parse(&wheel.info("WHEEL")?).all("Tag").into_iter().collect();
    Ok(tags == name.tags().collect())
}

/// Whether two files have the same bytes.
pub(super) fn content(a: &Path, b: &Path) -> io::Result<bool> {
    let (a, b) = (regular::open(a)?, regular::open(b)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (BufReader::new(a), BufReader::new(b));
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let length = a.read(&mut left)?;
        if length == 0 {
            return Ok(true);
        }
        b.read_exact(&mut right[..length])?;
        if left[..length] != right[..length] {
            return Ok(false);
        }
    }
}
