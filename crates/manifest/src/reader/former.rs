//! Spellings that earlier manifests had, and those that took their place.

/// Nodes by the spelling that they had. One spelling can have become two: which one is meant depends on the block.
const NODES: &[(&str, &str)] = &[
    ("environment", "env"),
    ("environment", "prepend-path"),
    ("libraries", "bindings"),
    ("library", "find-library"),
    ("missing-library", "allow-missing"),
    ("project", "common"),
];

/// Properties by the spelling that they had.
const PROPERTIES: &[(&str, &str)] = &[("pick", "offer"), ("split", "per")];

/// How a node that was called `name` is spelled now, in a block where `known` nodes can stand.
pub(super) fn former_node(name: &str, known: impl Fn(&str) -> bool) -> Option<&'static str> {
    NODES.iter().find(|(old, new)| *old == name && known(new)).map(|(_, new)| *new)
}

/// How a property that was called `name` is spelled now.
pub(super) fn former_property(name: &str) -> Option<&'static str> {
    PROPERTIES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}
