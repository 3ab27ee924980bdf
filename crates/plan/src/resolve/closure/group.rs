use std::collections::BTreeSet;

use super::{LoadedFile, Need};

/// Needs of one package with a common remedy.
pub(super) struct Group<'a> {
    /// The first one.
    pub need: Need<'a>,
    /// Needed libraries.
    pub libraries: BTreeSet<&'a str>,
    /// Files in need, repeated for each library.
    pub files: Vec<LoadedFile<'a>>,
}
