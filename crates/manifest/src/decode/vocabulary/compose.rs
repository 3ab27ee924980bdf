//! The nodes that are about other lines: they are carried out before anything is decoded.

use super::{WHY, argument, optional, part, required};
use crate::node_spec::{ArgKind, Arity, NodeSpec};

/// At the top of both files.
pub(in crate) const INCLUDE: NodeSpec = NodeSpec::new(
    "include",
    Arity::Any,
    r#"include "built-in""#,
    "Puts the nodes of another file here: of the built-in manifest, or of a file beside this one.",
)
.with(&[argument(
    "FILE",
    "`built-in`: the file of this name that the program carries; else the path of a KDL file, from the directory of packages.kdl.",
)])
.example(r#"include "built-in""#);

/// At the top of both files, and in the block of another `change`.
pub(in crate) const CHANGE: NodeSpec = NodeSpec::new(
    "change",
    Arity::Any,
    r#"change "NODE" "NAME" { … }"#,
    "Adds lines to the block of a node that an included file has. A line that can stand there once replaces the one that is there; \
     `remove` and `change` in the block take lines away and change blocks in it.",
)
.with(&[
    argument("NODE", "The word that the node starts with: `package`, `common`, `isa`."),
    part(ArgKind::OptionalArgument, "NAME", "The node's first argument; `common` has none."),
])
.example(
    r#"change "package" "core" {
    remove "script" "example-debug"
    artifact "example-extra" "lib"
}"#,
);

/// At the top of both files, and in the block of a `change`.
pub(in crate) const REMOVE: NodeSpec = NodeSpec::new(
    "remove",
    Arity::Any,
    r#"remove "NODE" "NAME" "NAME" mode="…" on="…" component="…" artifact="…" package="…" in="…""#,
    "Takes away lines that an included file has. Of a line with a list of names, those named go, and the line with the last of them.",
)
.with(&[
    argument("NODE", "The word that the line starts with: `script`, `rpath`, `package`."),
    part(ArgKind::Arguments, "NAME", "The line's first argument, and names of its list."),
    optional("mode", "Only lines with this `mode`."),
    optional("on", "Only lines with this `on`."),
    optional("component", "Only lines with this `component`."),
    optional("artifact", "Only lines with this `artifact`."),
    optional("package", "Only lines with this `package`."),
    optional("in", "Only lines with this `in`."),
])
.example(r#"remove "package" "profiler""#);

/// At the top of packages.kdl.
pub(in crate) const ALLOW_ABSENT: NodeSpec = NodeSpec::new(
    "allow-absent",
    Arity::Any,
    r#"allow-absent "ARTIFACT" "ARTIFACT" component="…" reason="WHY""#,
    "Names artifacts that a build can lack: `artifact` and `drop` lines about them are optional, in this file and in those that it includes.",
)
.with(&[
    part(ArgKind::OneOrMore, "ARTIFACT", "An artifact that some `artifact` or `drop` line names."),
    optional("component", "A build can lack this component of it only: lib, run, dev, dbg, doc or test."),
    required("reason", "The reason, `optional` of the lines that have none."),
])
.example(r#"allow-absent "example-debug" reason="debug tools are a build option""#);

/// At the top of packages.kdl, and in the block of a package.
pub(crate) const GROUP: NodeSpec = NodeSpec::new(
    "group",
    Arity::Any,
    r#"group mode="…" on="…" optional="WHY" reason="WHY" expand-devel=#true { … }"#,
    "Says the same properties for each line in its block; a line can still say its own.",
)
.with(&[
    optional("mode", "`mode` of the lines."),
    optional("on", "`on` of the lines."),
    WHY,
    optional("reason", "`reason` of the lines."),
    part(ArgKind::Flag, "expand-devel", "`expand-devel` of the lines."),
])
.example(
    r#"group on="linux" optional="debug tools are a build option" {
    artifact "example-debug" "run"
    script "example-debug"
}"#,
);
