//! `shelf`, `aggregate`, `outside` and `stream`.

use super::{Glob, StreamRule};
use crate::line::Scope;
use crate::reader::Node;
use crate::text::checked_text;
use base::names::{PackageName, RelPath};
use base::source::{Code, Problem, Spanned};
use manifest_derive::Line;

/// Input of `rockpack index publish`.
#[derive(Debug, Clone, Default, Line)]
pub struct Publishing {
    /// Parts of a store. A project is in the first that takes it.
    #[child]
    pub shelves: Vec<ShelfRule>,
    /// Index of all shelves.
    #[child]
    pub aggregate: Option<Aggregate>,
    /// Names projects that users get elsewhere: `rockpack index publish` does not require them in
    /// the directory or the store.
    #[leaf(
        "NAME",
        "a project",
        "A project's name, or a glob over such names, in an index's normal form (PEP 503).",
        check = check_projects,
        example = r#"outside "numpy" "setuptools""#
    )]
    pub outside: Vec<Spanned<Glob>>,
    /// Retention of each stream.
    #[child]
    pub streams: Vec<StreamRule>,
}

/// Declares a part of a store with a separate index, for `rockpack index publish --layout v5`:
/// packages are at `PATH/{project}/{file}`.
#[derive(Debug, Clone, Line)]
#[line(
    "shelf",
    once,
    example = r#"shelf "v5/math/whl" public="/math/whl/" {
    project "example-math" "example-math-*"
}"#
)]
pub struct ShelfRule {
    /// Path below the URL of `rockpack index publish`.
    #[arg("PATH", "a path in a store")]
    pub path: Spanned<RelPath>,
    /// Path for clients: the path of a URL, with `/` at both ends.
    #[prop("/PATH/", via = PublicPath)]
    pub public: String,
    /// The `index` of a selector that it belongs to: it gets the packages too, with the selector of
    /// that index. The aggregate has only other shelves.
    #[prop]
    pub index: Option<Spanned<PackageName>>,
    /// Names projects of the shelf; the first shelf that takes a project has it.
    #[leaf(
        "NAME",
        "a project",
        "A project's name, or a glob over such names, in an index's normal form (PEP 503).",
        name = "project",
        check = check_projects,
        example = r#"project "example-math" "example-math-*""#
    )]
    pub projects: Vec<Spanned<Glob>>,
}

/// Declares one index of the projects on all shelves, without copies of packages: a page, and a
/// document by which a server redirects to a project's shelf.
#[derive(Debug, Clone, Line)]
#[line("aggregate", example = r#"aggregate "v5/whl" public="/whl/" routes="v5/whl-routes.json""#)]
pub struct Aggregate {
    /// Path of its page below the URL of `rockpack index publish`.
    #[arg("PATH", "a path in a store")]
    pub path: RelPath,
    /// Path for clients: the path of a URL, with `/` at both ends.
    #[prop("/PATH/", via = PublicPath)]
    pub public: String,
    /// Path of the document of routes: JSON with a line for each project.
    #[prop("FILE")]
    pub routes: RelPath,
    /// Path of a document that counts the packages and names projects without a shelf.
    #[prop("FILE")]
    pub validation: Option<RelPath>,
}

checked_text!(
    PublicPath,
    |text: &str| text.starts_with('/') && text.ends_with('/'),
    "is not a URL path of a directory",
    "begin and end it with `/`"
);

fn check_projects(node: &Node<'_>, _: &Scope<'_, '_>, names: &[Spanned<Glob>]) {
    let is_name = |c: char| !c.is_ascii_uppercase() && !matches!(c, '/' | '_' | '.');
    for name in names.iter().filter(|name| !name.as_str().chars().all(is_name)) {
        let message = format!("`{}` is not a project name", name.value);
        let label = "use lower case, with `-` between words";
        node.report(Problem::error(Code::InvalidText, message).label(&name.place, label));
    }
}

impl ShelfRule {
    /// Returns whether it takes this project, as indexes compare it.
    pub fn takes(&self, project: &str) -> bool {
        matches(&self.projects, project)
    }
}

impl Publishing {
    /// Returns whether users get this project elsewhere.
    pub fn is_outside(&self, project: &str) -> bool {
        matches(&self.outside, project)
    }
}

fn matches(globs: &[Spanned<Glob>], name: &str) -> bool {
    name.parse::<RelPath>().is_ok_and(|path| globs.iter().any(|glob| glob.matches(&path)))
}
