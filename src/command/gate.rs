//! The gate that packages pass before a command puts them in place.

use base::source::Code;
use base::text::with_causes;
use check::report::Shown;
use check::{Command, Finding};
use manifest::Manifest;
use record::gate::{self, Gate, GateError};

use super::{Failure, environment};
use crate::ui;

pub fn of<'g>(command: Command, manifest: &'g Manifest, allowed: &'g [Code]) -> Gate<'g> {
    Gate { command, manifest, allowed, told: &warn }
}

pub fn warn(allowed: &[Finding]) {
    ui::show_problems(&gate::warnings(allowed, Shown::Few));
}

/// Blames the packages or the machine.
pub fn failure(error: &GateError) -> Failure {
    match error {
        GateError::Refused(findings) => gate::problems(findings).into(),
        GateError::Io(_) => environment(with_causes(error)),
    }
}
