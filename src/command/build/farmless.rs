//! Packages from a build farm, in a program without the feature `remote`.

use base::source::Problem;

use super::given::{Farmed, Given};
use crate::cli::BuildArgs;
use crate::failure::Failure;
use crate::inputs::{Shared, remote};

pub enum Farm {}

pub fn asked(args: &BuildArgs, shared: &Shared<'_>, _: usize) -> Result<Option<Farm>, Problem> {
    let is_asked = args.remote.artifacts_digest.is_some() || shared.address().is_some();
    if is_asked { Err(remote::absent()) } else { Ok(None) }
}

impl Farm {
    pub fn build(self, _: Given<'_>) -> Result<Farmed, Failure> {
        match self {}
    }
}
