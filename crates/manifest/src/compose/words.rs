//! Nodes about other lines, carried out before anything is decoded.

use crate::NodeSpec;
use crate::line::Line as _;
use crate::line::Scope;
use crate::reader::Node;
use base::names::{ArtifactName, Component, Mode, System};
use base::source::Spanned;
use manifest_derive::Line;

pub(crate) const INCLUDE: NodeSpec = Include::SPEC;
pub(crate) const CHANGE: NodeSpec = Change::SPEC;
pub(crate) const REMOVE: NodeSpec = Remove::SPEC;
pub(crate) const GROUP: NodeSpec = Group::SPEC;

/// Puts the nodes of another file here: of the built-in manifest, or of a file next to this one.
#[derive(Line)]
#[line("include", example = r#"include "built-in""#)]
pub(super) struct Include {
    /// `built-in` for the built-in file of this name; otherwise the path of a KDL file, from the directory of
    /// packages.kdl.
    #[arg("FILE", "a file", shown = r#""built-in""#)]
    pub file: Spanned<String>,
}

/// Adds lines to the block of a node that an included file has. A line that can occur once replaces
/// the existing one; the block can have `remove` and `change`.
#[derive(Line)]
#[line(
    "change",
    check(has_lines()),
    usage = r#"change "NODE" "NAME" { … }"#,
    example = r#"change "package" "core" {
    remove "script" "example-debug"
    artifact "example-extra" "lib"
}"#
)]
pub(super) struct Change {
    /// The node's first word: `package`, `common`, `isa`.
    #[arg("NODE", "a node name")]
    pub word: Spanned<String>,
    /// The node's first argument, except for `common`.
    #[arg("NAME", "a name")]
    pub name: Option<Spanned<String>>,
}

fn has_lines(node: &mut Node<'_>, _: &Scope<'_, '_>) {
    if node.block().is_empty() {
        node.fault("`change` has no lines", "add a block with lines");
    }
}

/// Removes lines of an included file. Of a line with a list of names, the given names are removed,
/// and the line with the last of them.
#[derive(Line)]
#[line("remove", example = r#"remove "package" "profiler""#)]
pub(super) struct Remove {
    /// The line's first word: `script`, `rpath`, `package`.
    #[arg("NODE", "a node name")]
    pub word: Spanned<String>,
    /// The line's first argument, and names of its list.
    #[arg("NAME", "a name", many)]
    pub names: Vec<Spanned<String>>,
    /// Only lines with this `mode`.
    #[prop]
    pub mode: Option<String>,
    /// Only lines with this `on`.
    #[prop]
    pub on: Option<String>,
    /// Only lines with this `component`.
    #[prop]
    pub component: Option<String>,
    /// Only lines with this `artifact`.
    #[prop]
    pub artifact: Option<String>,
    /// Only lines with this `package`.
    #[prop]
    pub package: Option<String>,
    /// Only lines with this `in`.
    #[prop(name = "in")]
    pub within: Option<String>,
}

/// `ignore "missing-artifact"`: names artifacts that a build can lack.
#[derive(Line)]
#[line(
    "ignore",
    usage = r#"ignore "missing-artifact" "ARTIFACT" "ARTIFACT" component="…" reason="WHY""#
)]
pub(super) struct AbsentArtifacts {
    /// Code.
    #[arg("CODE", "the code of a finding")]
    #[expect(dead_code, reason = "lines with this code alone are read")]
    pub code: Spanned<String>,
    /// An artifact of an `artifact` or `drop` line.
    #[arg("ARTIFACT", "an artifact")]
    pub names: Vec<Spanned<ArtifactName>>,
    /// Only this component can be absent: lib, run, dev, dbg, doc or test.
    #[prop]
    pub component: Option<Component>,
    /// Reason, the `optional` of lines without one.
    #[prop("WHY")]
    pub reason: String,
}

/// Gives properties to each line in its block; a line's own ones win.
#[derive(Line)]
#[line(
    "group",
    check(holds_lines()),
    usage = r#"group mode="…" on="…" optional="WHY" reason="WHY" expand-devel=#true { … }"#,
    example = r#"group on="linux" optional="debug tools are a build option" {
    artifact "example-debug" "run"
    script "example-debug"
}"#
)]
pub(super) struct Group {
    /// `mode` of the lines.
    #[prop]
    pub mode: Option<Mode>,
    /// `on` of the lines.
    #[prop]
    pub on: Option<System>,
    /// Reason why the lines may match nothing; without it, an error.
    #[prop]
    pub optional: Option<String>,
    /// `reason` of the lines.
    #[prop]
    pub reason: Option<String>,
    /// `expand-devel` of the lines.
    #[prop]
    pub expand_devel: bool,
}

fn holds_lines(node: &mut Node<'_>, _: &Scope<'_, '_>) {
    node.forgive();
    if node.block().is_empty() {
        node.fault("`group` has no lines", "add a block with lines");
    } else if node.is_bare() {
        node.fault("`group` has no property for its lines", "add a property");
    }
}
