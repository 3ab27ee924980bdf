//! `rockpack init --projects` in a program without the feature `projects`.

use std::path::Path;

use crate::cli::InitArgs;
use crate::failure::{Failure, absent};

pub fn run(_: &InitArgs, _: &Path) -> Result<(), Failure> {
    Err(absent("projects").into())
}
