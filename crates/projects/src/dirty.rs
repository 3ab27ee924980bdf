//! Marks wheels from dirty checkouts.

use std::path::{Path, PathBuf};

use super::workspace::Failed;
use base::text::with_causes;
use wheel::package::{Wheel, WheelName};
use wheel::retag;

/// Writes a wheel with `dirty` in the local version into `into`. Returns a wheel with such a
/// version unchanged.
pub fn marked(wheel: &Path, into: &Path) -> Result<PathBuf, Failed> {
    let failed = |error: &dyn std::error::Error| {
        Failed::new(format!("its version cannot get `+dirty`: {}", with_causes(error)))
    };
    let opened = Wheel::open(wheel).map_err(|error| failed(&error))?;
    let WheelName { version, .. } = opened.name();
    let dirty = version.dirty();
    if dirty == *version {
        return Ok(wheel.to_owned());
    }
    let renamed = retag::reversion(wheel, &dirty, into).map_err(|error| failed(&error))?;
    Ok(renamed.path)
}
