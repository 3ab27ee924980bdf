//! Packages from a build farm, in a program without the feature `remote`.

use base::source::Problem;

use super::given::{Farmed, Given};
use crate::cli::{BuildArgs, Outputs};
use crate::failure::Failure;
use crate::inputs::remote;

pub enum Farm {}

/// Returns no farm.
///
/// # Errors
/// Fails if the command line names one.
pub fn asked(args: &BuildArgs, _: usize) -> Result<Option<Farm>, Problem> {
    let minimal = args.remote.remote_download_outputs == Outputs::Minimal;
    if args.remote.artifacts_digest.is_some() || minimal { Err(remote::absent()) } else { Ok(None) }
}

impl Farm {
    pub fn build(self, _: Given<'_>) -> Result<Farmed, Failure> {
        match self {}
    }
}
