//! Where packages go when they are published.

use super::{Glob, StreamRule};
use base::names::{PackageName, RelPath};
use base::source::Spanned;

/// What `rockpack index publish` is told by the manifest.
#[derive(Debug, Clone, Default)]
pub struct Publishing {
    /// The parts of a store, each an index by itself. A project goes to the first that takes it.
    pub shelves: Vec<ShelfRule>,
    /// The index above all of them.
    pub aggregate: Option<Aggregate>,
    /// Projects that users get elsewhere.
    pub outside: Vec<Spanned<Glob>>,
    /// How long packages of each stream stay.
    pub streams: Vec<StreamRule>,
}

/// `shelf "v5/math/whl" public="/math/whl/" { project "example-math" "example-math-*" }`.
#[derive(Debug, Clone)]
pub struct ShelfRule {
    /// Where it is in a store.
    pub path: Spanned<RelPath>,
    /// Where clients see it.
    pub public: String,
    /// The index of a selector that it belongs to, if that is not the one of all packages.
    pub index: Option<Spanned<PackageName>>,
    /// The projects, as indexes compare them.
    pub projects: Vec<Spanned<Glob>>,
}

/// `aggregate "v5/whl" public="/whl/" routes="v5/routes.json"`: one index of what all shelves have.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Where it is in a store.
    pub path: RelPath,
    /// Where clients see it.
    pub public: String,
    /// The document that says on which shelf each project is.
    pub routes: RelPath,
    /// The document that says what was found; nothing when none is wanted.
    pub validation: Option<RelPath>,
}

impl ShelfRule {
    /// Whether it takes the project of this name, as indexes compare it.
    pub fn takes(&self, project: &str) -> bool {
        matches(&self.projects, project)
    }
}

impl Publishing {
    /// Whether users get the project of this name elsewhere.
    pub fn is_outside(&self, project: &str) -> bool {
        matches(&self.outside, project)
    }
}

fn matches(globs: &[Spanned<Glob>], name: &str) -> bool {
    name.parse::<RelPath>().is_ok_and(|path| globs.iter().any(|glob| glob.matches(&path)))
}
