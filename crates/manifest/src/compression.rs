//! How files are compressed, where not as the others are.

use super::{Glob, HasGlob};
use base::names::Compression;
use base::source::Spanned;

/// One glob of `compression "max" "lib/**" optional="…"`.
#[derive(Debug, Clone)]
pub struct CompressionRule {
    /// How its files are compressed.
    pub level: Compression,
    /// The glob over installed paths.
    pub glob: Spanned<Glob>,
    /// Why it is no mistake when it matches nothing.
    pub optional: Option<String>,
}

impl HasGlob for CompressionRule {
    fn glob(&self) -> &Glob {
        &self.glob
    }
}
