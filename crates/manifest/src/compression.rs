//! `compression`.

use super::Glob;
use base::names::Compression;
use base::source::Spanned;
use manifest_derive::Line;

/// Overrides `--compression` for files in wheels; the first line that matches counts.
#[derive(Debug, Clone, Line)]
#[line("compression", example = r#"compression "store" "share/videos/**" "**/*.zst""#)]
pub struct CompressionRule {
    /// store: no compression; fast, default and max: deflate, from fast to small. `--compression` overrides all levels
    /// except `store`.
    #[arg("LEVEL", "a level", shown = r#""store|fast|default|max""#)]
    pub level: Compression,
    /// Installed paths.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// The reason why the line may match nothing; without it, that is an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}
