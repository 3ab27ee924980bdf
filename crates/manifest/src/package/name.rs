//! Names of directories.

use std::str::FromStr;

use base::names::{PathError, RelPath};

/// A path below a directory, kept as text.
pub(crate) struct Directory(pub String);

impl FromStr for Directory {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        text.parse::<RelPath>().map(|path| Self(path.into()))
    }
}
