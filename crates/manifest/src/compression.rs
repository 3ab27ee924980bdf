//! `compression`.

use super::Glob;
use base::names::Compression;
use base::source::Spanned;
use manifest_derive::Line;

/// Sets the compression of files in wheels; the first line that matches counts. With `--compression`,
/// only lines with `store` apply.
#[derive(Debug, Clone, Line)]
#[line("compression", once, example = r#"compression "store" "share/videos/**" "**/*.zst""#)]
pub struct CompressionRule {
    /// store: not at all; fast, default and max: deflated, from fast to small. `store` overrides
    /// every `--compression`; the other levels do not override it.
    #[arg("LEVEL", "a level", shown = r#""store|fast|default|max""#)]
    pub level: Compression,
    /// Installed paths.
    #[each("GLOB", "a glob")]
    pub glob: Spanned<Glob>,
    /// Reason why the line may match nothing; without it, an error.
    #[prop("WHY")]
    pub optional: Option<String>,
}
