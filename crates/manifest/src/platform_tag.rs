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
    /// auto: computes for each wheel the best tag that its ELF files allow, by the manylinux and
    /// musllinux policies; a wheel without ELF files has the tag of most wheels. common: computes
    /// one tag for all wheels. Defaults to auto.
    #[arg("auto|common", "a source")]
    pub(crate) source: Option<TagSource>,
    /// Environment variable with the tag of all wheels. If it is empty or not set, tags are
    /// computed.
    #[prop("VARIABLE", via = Variable)]
    pub env: Option<Spanned<String>>,
    /// The newest tag allowed, manylinux or musllinux without an architecture: an ELF file that
    /// needs more is an error, which names the file and its need.
    #[prop("manylinux_2_28", via = TagLevel)]
    pub at_most: Option<Spanned<String>>,
}

impl PlatformTag {
    /// Returns whether all wheels have one tag.
    pub fn is_common(&self) -> bool {
        self.source == Some(TagSource::AllWheels)
    }
}
