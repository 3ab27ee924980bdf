//! `shelf`, `aggregate`, `outside` and `stream`.

use super::{argument, optional, part, required};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// At the top of the packages' file.
pub const SHELF: NodeSpec = NodeSpec::new(
    "shelf",
    Arity::Any,
    r#"shelf "PATH" public="/PATH/" index="…" { … }"#,
    "Declares a part of a store that is an index by itself, for `rockpack index publish --layout v5`: packages go to `PATH/{project}/{file}`.",
)
.with(&[
    argument("PATH", "Where it is below the URL that `rockpack index publish` is given."),
    required("public", "Where clients see it: the path of a URL, with `/` at both ends."),
    optional("index", "The `index` of a selector that it belongs to: packages go there too, with the selector of that index. The aggregate has other shelves alone."),
])
.block(LINES)
.example(
    r#"shelf "v5/math/whl" public="/math/whl/" {
    project "example-math" "example-math-*"
}"#,
);

/// At the top of the packages' file.
pub const AGGREGATE: NodeSpec = NodeSpec::new(
    "aggregate",
    Arity::AtMostOnce,
    r#"aggregate "PATH" public="/PATH/" routes="FILE" validation="FILE""#,
    "Declares one index of the projects on all shelves, whose packages stay where they are: a page, and a document by which a server leads \
     from there to the shelf that has a project.",
)
.with(&[
    argument("PATH", "Where its page is below the URL that `rockpack index publish` is given."),
    required("public", "Where clients see it: the path of a URL, with `/` at both ends."),
    required("routes", "Where the document of routes is: JSON with a line for each project."),
    optional("validation", "Where a document goes that counts what is there and names projects that no shelf has yet."),
])
.example(r#"aggregate "v5/whl" public="/whl/" routes="v5/whl-routes.json""#);

/// At the top of the packages' file.
pub const OUTSIDE: NodeSpec = NodeSpec::new(
    "outside",
    Arity::Any,
    r#"outside "NAME" "NAME""#,
    "Names projects that users get elsewhere: `rockpack index publish` does not ask for them in the directory or the store.",
)
.with(&[PROJECTS])
.example(r#"outside "numpy" "setuptools""#);

/// At the top of the packages' file.
pub const STREAM: NodeSpec = NodeSpec::new(
    "stream",
    Arity::Any,
    r#"stream "NAME" keep="30 days" date="version""#,
    "Says how long the packages of a stream stay where they were published: `rockpack index prune --stream NAME` deletes those that are older, unless \
     something that stays needs them.",
)
.with(&[
    argument("NAME", "The stream's name, such as `nightly`."),
    required("keep", "How long they stay: `30 days`, `52 weeks`, `2 years` (of 365 days), or `for ever`."),
    optional(
        "date",
        "What says how old a package is: `upload`, when the store got it, or `version`, the date in its version (`7.2.0a20261122`); of a version without \
         one, the upload says it. Without `date`, it is `upload`.",
    ),
])
.example(r#"stream "nightly" keep="120 days" date="version""#);

const PROJECTS: crate::node_spec::ArgSpec = part(
    ArgKind::OneOrMore,
    "NAME",
    "A project's name, or a glob over such names, in an index's normal form (PEP 503).",
);

/// In `shelf`.
const LINES: &[NodeSpec] = &[NodeSpec::new(
    "project",
    Arity::Any,
    r#"project "NAME" "NAME""#,
    "Names projects that the shelf takes; a project goes to the first that takes it.",
)
.with(&[PROJECTS])
.example(r#"project "example-math" "example-math-*""#)];
