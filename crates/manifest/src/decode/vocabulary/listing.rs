//! The nodes for what index servers show, in `common` and in a package.

use super::{argument, part};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// An address.
pub(super) const URL: NodeSpec = NodeSpec::new(
    "url",
    Arity::Any,
    r#"url "LABEL" "https://…""#,
    "Gives an address, a `Project-URL` in the metadata: documentation, source, changes.",
)
.with(&[
    argument("LABEL", "What index servers call it, in at most 32 characters; they know Documentation, Source, Changelog and others."),
    argument("https://…", "Its address."),
])
.example(r#"url "Documentation" "https://example.org/docs""#);

/// Classifiers.
pub(super) const CLASSIFIER: NodeSpec = NodeSpec::new(
    "classifier",
    Arity::Any,
    r#"classifier "A :: B" "A :: C""#,
    "Gives trove classifiers, `Classifier` in the metadata.",
)
.with(&[part(
    ArgKind::OneOrMore,
    "A :: B",
    "Classifiers that index servers know, but those of licences.",
)])
.example(r#"classifier "Operating System :: POSIX :: Linux""#);

/// Keywords.
pub(super) const KEYWORD: NodeSpec = NodeSpec::new(
    "keyword",
    Arity::Any,
    r#"keyword "WORD" "WORD""#,
    "Gives words to search for, `Keywords` in the metadata.",
)
.with(&[part(ArgKind::OneOrMore, "WORD", "Words, without commas.")])
.example(r#"keyword "gpu" "compiler""#);
