//! The Python projects of a build, in a program without the feature `projects`.

use build::provenance::{Inputs, Package};
use manifest::Manifest;
use plan::Plan;

use crate::cli::BuildArgs;
use crate::failure::{Failure, absent};

pub enum Settings {}

pub fn settings(
    _: &BuildArgs,
    _: &Manifest,
    plan: &Plan,
    _: usize,
) -> Result<Option<Settings>, Failure> {
    let is_needed = !plan.projects.is_empty() || !plan.wheels.is_empty();
    if is_needed { Err(absent("projects").into()) } else { Ok(None) }
}

pub fn check(_: &BuildArgs, _: &Plan, settings: &Settings) -> Result<(), Failure> {
    match *settings {}
}

pub fn prefetch(_: &BuildArgs, _: &Manifest, _: &Plan, settings: &Settings) -> Result<(), Failure> {
    match *settings {}
}

pub fn build(
    _: &BuildArgs,
    _: &Manifest,
    _: &Plan,
    settings: &Settings,
    _: (&Inputs, &[Package<'_>]),
) -> Result<(), Failure> {
    match *settings {}
}
