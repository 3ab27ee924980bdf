//! The platform tag, as the manifest speaks of it.

use base::source::Spanned;

/// `platform-tag "auto" env="…" at-most="manylinux_2_28"`.
#[derive(Debug, Clone, Default)]
pub struct PlatformTag {
    /// The environment variable that sets it when the command line does not; it is computed when neither does.
    pub env: Option<Spanned<String>>,
    /// A manylinux or musllinux tag without its architecture: files that need more are refused.
    pub at_most: Option<Spanned<String>>,
}
