//! Recompression of a wheel's members. Names, contents, modes, times and RECORD stay.

use std::path::Path;

use crate::edit::{Edit, MakeError, Packing, Prepared};
use crate::package::Wheel;

/// Writes `wheel` into `into` under a temporary name, with all members but RECORD packed by
/// `packing`.
pub fn prepare(wheel: &Path, packing: Packing, into: &Path) -> Result<Prepared, MakeError> {
    let old = Wheel::open(wheel)?;
    let place = into.join(wheel.file_name().unwrap_or_default());
    let mut edit = Edit::of(&old).map_err(|error| MakeError::new(error, wheel, &place))?;
    edit.repack(packing);
    edit.prepare(place)
}
