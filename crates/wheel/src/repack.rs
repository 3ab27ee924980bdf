//! Another compression for the members of a finished wheel. Names, contents, modes, times and RECORD stay.

use std::path::Path;

use crate::edit::{Edit, MakeError, Packing, Prepared};
use crate::package::Wheel;

/// Writes `wheel` into the directory `into` with all members but RECORD packed by `packing`, under a temporary name.
///
/// # Errors
/// Fails if the wheel cannot be read, or the disk fails.
pub fn prepare(wheel: &Path, packing: Packing, into: &Path) -> Result<Prepared, MakeError> {
    let old = Wheel::open(wheel)?;
    let mut edit = Edit::of(&old);
    edit.repack(packing);
    edit.prepare(into.join(wheel.file_name().unwrap_or_default()))
}
