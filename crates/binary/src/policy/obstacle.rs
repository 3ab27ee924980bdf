use std::fmt;

use serde::Serialize;

/// Requirement that a tag does not promise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Obstacle {
    /// Kind.
    pub kind: ObstacleKind,
    /// Name: `libdrm.so.2`, `GLIBC_2.34`, `uncompress2`, `x86-64-v3`.
    pub needs: String,
    /// Library of a version or symbol.
    pub library: Option<String>,
    /// Symbol with the version, if known.
    pub symbol: Option<String>,
    /// First such file.
    pub file: String,
    /// Number of such files.
    pub files: usize,
}

/// Kind of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ObstacleKind {
    /// Processor level above the baseline.
    Processor,
    /// Path of a program's loader that other systems lack.
    Loader,
    /// Library that some systems lack.
    Library,
    /// Symbol version newer than the systems.
    Version,
    /// Symbol that some systems lack.
    Symbol,
}

impl Obstacle {
    /// Describes the requirement: ``GLIBC_2.34 of libc.so.6 (`pthread_create`)``.
    pub fn requirement(&self) -> String {
        let origin =
            self.library.as_ref().map(|library| format!(" of {library}")).unwrap_or_default();
        let symbol =
            self.symbol.as_ref().map(|symbol| format!(" (`{symbol}`)")).unwrap_or_default();
        let kind = match self.kind {
            ObstacleKind::Processor => "a processor of level ",
            ObstacleKind::Loader => "the loader ",
            ObstacleKind::Library => "the library ",
            ObstacleKind::Symbol => "the symbol ",
            ObstacleKind::Version => "",
        };
        format!("{kind}{}{origin}{symbol}", self.needs)
    }
}

/// Files and requirement.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = match self.files {
            0 | 1 => String::new(),
            2 => " and 1 more file".to_owned(),
            many => format!(" and {} more files", many - 1),
        };
        let verb = if self.files > 1 { "need" } else { "needs" };
        write!(f, "`{}`{more} {verb} {}", self.file, self.requirement())
    }
}
