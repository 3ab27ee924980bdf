//! Former spellings of nodes and properties.

/// Former and present names of nodes. One name can have become two, in different blocks.
const NODES: &[(&str, &str)] = &[
    ("environment", "env"),
    ("environment", "prepend-path"),
    ("libraries", "bindings"),
    ("library", "find-library"),
    ("missing-library", "allow-missing"),
    ("project", "common"),
];

/// Former and present names of properties.
const PROPERTIES: &[(&str, &str)] = &[("pick", "offer"), ("split", "per")];

/// Returns the present name of a node that was called `name`, in a block of `known` nodes.
pub(super) fn former_node(name: &str, known: impl Fn(&str) -> bool) -> Option<&'static str> {
    NODES.iter().find(|(old, new)| *old == name && known(new)).map(|(_, new)| *new)
}

/// Returns the present name of a property that was called `name`.
pub(super) fn former_property(name: &str) -> Option<&'static str> {
    PROPERTIES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}
