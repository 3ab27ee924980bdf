//! Names of nodes in other programs.

/// Other programs' names, and the nodes for them.
const NODES: &[(&str, &str)] = &[
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
    ("requirements", "build-requires"),
    ("requires", "build-requires"),
    ("run-dependencies", "requires"),
    ("scripts", "script"),
    ("urls", "url"),
];

/// Returns the node that another program's name means.
pub(super) fn meant_node(name: &str, is_node: impl Fn(&str) -> bool) -> Option<&'static str> {
    let word = name.to_ascii_lowercase().replace('_', "-");
    NODES
        .iter()
        .find(|(word_elsewhere, node)| *word_elsewhere == word && is_node(node))
        .map(|(_, node)| *node)
}
