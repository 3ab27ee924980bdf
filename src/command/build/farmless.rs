//! Packages that a build farm builds, in a program without the feature `remote`.

use base::source::Problem;

use super::given::{Farmed, Given};
use crate::cli::{BuildArgs, Outputs};
use crate::failure::Failure;
use crate::inputs::remote;

/// A farm; there is none.
pub enum Farm {}

/// Says how to get a program that has it, where one is asked for.
///
/// # Errors
/// When a farm is to build packages.
pub fn asked(args: &BuildArgs, _: usize) -> Result<Option<Farm>, Problem> {
    let minimal = args.remote.remote_download_outputs == Outputs::Minimal;
    if args.remote.artifacts_digest.is_some() || minimal { Err(remote::absent()) } else { Ok(None) }
}

impl Farm {
    /// Nobody can call it.
    ///
    /// # Errors
    /// None.
    pub fn build(self, _: Given<'_>) -> Result<Farmed, Failure> {
        match self {}
    }
}
