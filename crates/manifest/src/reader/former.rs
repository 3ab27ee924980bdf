//! Former spellings of nodes and properties.

/// Former and present names. One name can have become two, in different blocks.
const NODES: &[(&str, &str)] = &[
    ("environment", "env"),
    ("environment", "prepend-path"),
    ("libraries", "bindings"),
    ("library", "find-library"),
    ("missing-library", "allow-missing"),
    ("project", "common"),
];

const PROPERTIES: &[(&str, &str)] = &[("pick", "offer"), ("split", "per")];

pub(super) fn former_node(name: &str, known: impl Fn(&str) -> bool) -> Option<&'static str> {
    NODES.iter().find(|(old, new)| *old == name && known(new)).map(|(_, new)| *new)
}

pub(super) fn former_property(name: &str) -> Option<&'static str> {
    PROPERTIES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}
