//! `rockpack index serve` of a program without the feature of that name.

use super::{Failure, environment};
use crate::cli::ServeArgs;

/// Says how to get a program that serves.
pub fn run(_: &ServeArgs) -> Result<(), Failure> {
    Err(environment(
        "this rockpack was built without the feature `serve`: build it with \
         `cargo build --features serve`, or take a released program, which has it",
    ))
}
