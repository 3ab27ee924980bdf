//! `store`.

use super::{argument, part, required};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// At the top of the packages' file.
pub const STORE: NodeSpec = NodeSpec::new(
    "store",
    Arity::Any,
    r#"store "NAME" url="SCHEME://…{external}{run}-{system}/" unsigned=#true"#,
    "Says where the artifacts of runs are kept: `--store NAME --run ID` stands for the address of one run.",
)
.with(&[
    argument("NAME", "What `--store` calls it."),
    required(
        "url",
        "The address of a run: s3://, gs://, az://, https:// or file:// (a directory of this machine). {run} is the value of `--run`, \
         {system} is linux or windows, and {external} that of `--external` with a `/` behind, or nothing.",
    ),
    part(ArgKind::Flag, "unsigned", "Do not sign requests: everybody may read the store."),
])
.example(r#"store "ci" url="s3://example-artifacts/{external}{run}-{system}/" unsigned=#true"#);
