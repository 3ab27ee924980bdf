use std::path::Path;

use wheel::archive::variants;

/// Facts that a reader takes of files; all others are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Facts that rules ask for.
    Rules,
    /// Sizes, CRC-32, search paths of ELF files, and small texts.
    Comparison,
    /// Sizes, CRC-32, and the texts that [`is_outlined`] names: a wheel can have holes elsewhere.
    Outline,
    /// Sizes and SHA-256.
    Digests,
}

/// Files of the metadata directory that facts of a package describe.
pub const METADATA: [&str; 5] =
    ["METADATA", "WHEEL", "RECORD", "entry_points.txt", variants::MEMBER];

/// Returns whether a member is read for an outline: metadata, facts for the runtime, the lists of
/// `sys.path` and of links of the devel tree, which have the version.
pub fn is_outlined(name: &str) -> bool {
    let (directory, file) = name.split_once('/').unwrap_or(("", name));
    let is_list = directory.is_empty()
        && Path::new(file).extension().is_some_and(|extension| extension == "pth");
    let is_metadata = directory.ends_with(".dist-info") && METADATA.contains(&file);
    let is_links = name.contains("/.devel_links/");
    is_list || is_metadata || is_links || file == "_dist_info.py"
}

impl Depth {
    pub(super) fn has_texts(self) -> bool {
        matches!(self, Self::Comparison | Self::Outline)
    }
}
