//! Needs that are reported together.

use std::collections::BTreeSet;

use super::{LoadedFile, Need};

/// Needs of one package that share a ground.
pub(super) struct Group<'a> {
    /// The first of them.
    pub need: Need<'a>,
    /// The libraries that are needed.
    pub libraries: BTreeSet<&'a str>,
    /// The files that need them, each as often as it needs one.
    pub files: Vec<LoadedFile<'a>>,
}
