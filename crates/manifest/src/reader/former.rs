//! Former spellings of nodes and properties.

/// Former and present names. One name can have become two, in different blocks.
const NODES: &[(&str, &str)] = &[
    ("environment", "env"),
    ("environment", "prepend-path"),
    ("libraries", "bindings"),
    ("library", "find-library"),
    ("project", "common"),
];

const FOREIGN: &[(&str, &str)] = &[
    ("authors", "author"),
    ("bin", "script"),
    ("classifiers", "classifier"),
    ("component", "artifact"),
    ("components", "artifact"),
    ("console-scripts", "script"),
    ("depend", "requires"),
    ("dependencies", "requires"),
    ("dependency", "requires"),
    ("depends", "requires"),
    ("depends-on", "requires"),
    ("description", "summary"),
    ("entry-points", "script"),
    ("export", "include"),
    ("exports", "include"),
    ("extras", "extra"),
    ("extras-require", "extra"),
    ("files", "include"),
    ("homepage", "home-page"),
    ("install-requires", "requires-dist"),
    ("keywords", "keyword"),
    ("license-files", "license-text"),
    ("long-description", "readme"),
    ("maintainer", "author"),
    ("module", "distribution"),
    ("name", "distribution"),
    ("optional-dependencies", "extra"),
    ("peer-dependencies", "requires"),
    ("python-requires", "requires-python"),
    ("requirements", "requires"),
    ("run-dependencies", "requires"),
    ("scripts", "script"),
    ("urls", "url"),
];

const PROPERTIES: &[(&str, &str)] = &[("pick", "offer"), ("split", "per")];

/// Returns the node that a name of another version or program means, with the label for it.
pub(super) fn meant_node(
    name: &str,
    known: impl Fn(&str) -> bool,
) -> Option<(&'static str, String)> {
    let find = |table: &[(&str, &'static str)], name: &str| {
        table.iter().find(|(other, new)| *other == name && known(new)).map(|(_, new)| *new)
    };
    if let Some(new) = find(NODES, name) {
        return Some((new, format!("renamed to `{new}`")));
    }
    let word = name.to_ascii_lowercase().replace('_', "-");
    find(FOREIGN, &word).map(|new| (new, format!("the node for it is `{new}`")))
}

pub(super) fn former_property(name: &str) -> Option<&'static str> {
    PROPERTIES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}
