//! The run that a statement names.

use std::convert::Infallible;

use base::source::Problem;
use record::provenance::{BuilderId, ProgramSources, Run};

use super::variable::{BUILDER_ID, INVOCATION_ID, variable};

/// Returns this run, by the variables of CI.
/// Fails if the builder is not a URI.
pub fn run() -> Result<Run, Problem> {
    let invocation = variable(INVOCATION_ID, |text| Ok::<_, Infallible>(text.to_owned()))?;
    let builder = variable(BUILDER_ID, str::parse::<BuilderId>)?.unwrap_or_default();
    Ok(Run { builder, invocation, program: program(env!("ROCKPACK_SOURCE")) })
}

fn program(text: &str) -> ProgramSources {
    match text.split_once(' ') {
        Some(("commit", commit)) => ProgramSources::Commit(commit.to_owned()),
        Some(("sources", digest)) => ProgramSources::Digest(digest.to_owned()),
        _ => ProgramSources::Unknown,
    }
}
