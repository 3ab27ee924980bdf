//! `promote`, and what stands in it.

use super::{optional, part};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// At the top of the packages' file.
pub const PROMOTE: NodeSpec = NodeSpec::new(
    "promote",
    Arity::Any,
    r#"promote "NAME" "NAME" { … }"#,
    "Says what `rockpack wheel promote` changes of packages, beside what rockpack wrote into them: files that hold the version. Packages \
     that rockpack did not make are promoted only if they stand here, and carry the version at the end of the local part of their own \
     (`2.10.0+git1a2b.example7.10.0rc1`): only that part changes.",
)
.with(&[part(
    ArgKind::OneOrMore,
    "NAME",
    "A distribution's name, or a glob over such names, in an index's normal form (PEP 503). The first line with a name counts for it.",
)])
.block(LINES)
.example(
    r#"promote "example-torch" "example-torch-*" {
    version-file "*/version.py"
}"#,
);

/// In `promote`.
const LINES: &[NodeSpec] = &[NodeSpec::new(
    "version-file",
    Arity::Any,
    r#"version-file "GLOB" "GLOB" json="KEY" optional="WHY""#,
    "Names files that hold the version as a value: in Python (`.py`) string literals, in JSON the value of a key, else the whole text. A \
     value is replaced if it is the package's own version or that of the packages that rockpack made, and nothing else.",
)
.with(&[
    part(ArgKind::OneOrMore, "GLOB", "Paths in the wheel, or below its first directory; also in the archive of a devel package, which is read and packed anew then."),
    optional("json", "The key, of JSON files."),
    optional(
        "optional",
        "The reason why there may be no such file with the version; without it, that is an error in packages that rockpack did not make.",
    ),
])
.example(r#"version-file "example/version.py" "example/_init.py""#)];
