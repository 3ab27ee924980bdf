//! `platform-tag`.

use crate::text::{TagLevel, TagSource, Variable};
use base::source::Spanned;
use manifest_derive::Line;

/// Chooses the platform tag of wheels without `--platform-tag`, and limits it.
#[derive(Debug, Clone, Default, Line)]
#[line(
    "platform-tag",
    example = r#"platform-tag "auto" env="EXAMPLE_PLATFORM_TAG" at-most="manylinux_2_28""#
)]
pub struct PlatformTag {
    /// Computes the best tag that all shipped ELF files allow, by the manylinux and musllinux
    /// policies. The default.
    #[arg("auto", "a source")]
    #[expect(dead_code, reason = "the word names the default")]
    pub(crate) source: Option<TagSource>,
    /// Environment variable with the tag. If it is empty or not set, the tag is computed.
    #[prop("VARIABLE", via = Variable)]
    pub env: Option<Spanned<String>>,
    /// The newest tag allowed, manylinux or musllinux without an architecture: an ELF file that
    /// needs more is an error, which names the file and its need.
    #[prop("manylinux_2_28", via = TagLevel)]
    pub at_most: Option<Spanned<String>>,
}
