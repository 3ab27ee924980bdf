//! What keeps files from a tag.

use std::fmt;

use serde::Serialize;

/// Something that files need and a tag does not promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Obstacle {
    /// What kind of thing it is.
    pub kind: ObstacleKind,
    /// Its name: `libdrm.so.2`, `GLIBC_2.34`, `uncompress2`, `x86-64-v3`.
    pub needs: String,
    /// The library that has it, of versions and symbols.
    pub library: Option<String>,
    /// A symbol of that version, where it is known.
    pub symbol: Option<String>,
    /// The first file that needs it.
    pub file: String,
    /// How many files need it.
    pub files: usize,
}

/// The kinds of things that a tag promises or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ObstacleKind {
    /// A processor of a higher level than the baseline.
    Processor,
    /// A library that not every such system has.
    Library,
    /// A symbol version that is newer than such systems.
    Version,
    /// A symbol that not every such system's library has.
    Symbol,
}

impl Obstacle {
    /// What is needed, in words: ``GLIBC_2.34 of libc.so.6 (`pthread_create`)``.
    pub fn what(&self) -> String {
        let of = self.library.as_ref().map(|library| format!(" of {library}")).unwrap_or_default();
        let symbol =
            self.symbol.as_ref().map(|symbol| format!(" (`{symbol}`)")).unwrap_or_default();
        let kind = match self.kind {
            ObstacleKind::Processor => "a processor of level ",
            ObstacleKind::Library => "the library ",
            ObstacleKind::Symbol => "the symbol ",
            ObstacleKind::Version => "",
        };
        format!("{kind}{}{of}{symbol}", self.needs)
    }
}

/// A whole sentence's worth: file and need.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = match self.files {
            0 | 1 => String::new(),
            2 => " and 1 more file".to_owned(),
            many => format!(" and {} more files", many - 1),
        };
        let verb = if self.files > 1 { "need" } else { "needs" };
        write!(f, "`{}`{more} {verb} {}", self.file, self.what())
    }
}
