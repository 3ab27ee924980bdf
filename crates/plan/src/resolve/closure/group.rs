use std::collections::BTreeSet;

use super::{LoadedFile, Need};

pub(super) struct Group<'a> {
    pub need: Need<'a>,
    pub libraries: BTreeSet<&'a str>,
    /// Repeated for each library.
    pub files: Vec<LoadedFile<'a>>,
}
