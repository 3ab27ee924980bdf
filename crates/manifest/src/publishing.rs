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
    /// Parts of a store, each an index. A project goes to the first that takes it.
    #[child]
    pub shelves: Vec<ShelfRule>,
    /// Index above all of them.
    #[child]
    pub aggregate: Option<Aggregate>,
    /// Names projects that users get elsewhere: `rockpack index publish` does not ask for them in the directory or the store.
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

/// Declares a part of a store that is a separate index, for `rockpack index publish --layout v5`: packages have the key
/// `PATH/{project}/{file}`.
#[derive(Debug, Clone, Line)]
#[line(
    "shelf",
    once,
    example = r#"shelf "v5/math/whl" public="/math/whl/" {
    project "example-math" "example-math-*"
}"#
)]
pub struct ShelfRule {
    /// Its path below the URL that `rockpack index publish` is given.
    #[arg("PATH", "a path in a store")]
    pub path: Spanned<RelPath>,
    /// Its path for clients: the path of a URL, with `/` at both ends.
    #[prop("/PATH/", via = PublicPath)]
    pub public: String,
    /// The `index` of a selector that it belongs to: packages go there too, with the selector of that index. The
    /// aggregate has other shelves alone.
    #[prop]
    pub index: Option<Spanned<PackageName>>,
    /// Names projects that the shelf takes; a project goes to the first that takes it.
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

/// Declares one index of the projects on all shelves, without copies of packages: a page, and a document for servers
/// with the shelf of each project.
#[derive(Debug, Clone, Line)]
#[line("aggregate", example = r#"aggregate "v5/whl" public="/whl/" routes="v5/whl-routes.json""#)]
pub struct Aggregate {
    /// The path of its page below the URL that `rockpack index publish` is given.
    #[arg("PATH", "a path in a store")]
    pub path: RelPath,
    /// Its path for clients: the path of a URL, with `/` at both ends.
    #[prop("/PATH/", via = PublicPath)]
    pub public: String,
    /// The path of the document of routes: JSON with a line for each project.
    #[prop("FILE")]
    pub routes: RelPath,
    /// The path of a document that counts the packages and names projects that no shelf has yet.
    #[prop("FILE")]
    pub validation: Option<RelPath>,
}

checked_text!(
    /// The path of a URL that leads to a directory.
    PublicPath,
    |text: &str| text.starts_with('/') && text.ends_with('/'),
    "is not a URL path of a directory",
    "begin and end it with `/`"
);

/// Reports names that are not in an index's normal form.
fn check_projects(node: &Node<'_>, _: &Scope<'_, '_>, names: &[Spanned<Glob>]) {
    let is_name = |c: char| !c.is_ascii_uppercase() && !matches!(c, '/' | '_' | '.');
    for name in names.iter().filter(|name| !name.as_str().chars().all(is_name)) {
        let message = format!("`{}` is not a project name", name.value);
        let label = "use lower case, with `-` between words";
        node.report(Problem::error(Code::InvalidText, message).label(&name.place, label));
    }
}

impl ShelfRule {
    /// Returns whether it takes the project of this name, as indexes compare it.
    pub fn takes(&self, project: &str) -> bool {
        matches(&self.projects, project)
    }
}

impl Publishing {
    /// Returns whether users get the project of this name elsewhere.
    pub fn is_outside(&self, project: &str) -> bool {
        matches(&self.outside, project)
    }
}

fn matches(globs: &[Spanned<Glob>], name: &str) -> bool {
    name.parse::<RelPath>().is_ok_and(|path| globs.iter().any(|glob| glob.matches(&path)))
}
