//! An edit that is checked before anybody uses it.

use super::edit_plan::EditPlan;
use super::edited::Edited;
use super::edits::Edits;
use super::error::ElfError;
use super::info::inspect;
use super::plan::plan_edit;
use super::verify::verify;
use crate::ReadAt;

/// Plans `edits` for `file` and checks the result; the file itself is only read.
///
/// # Errors
/// When the file is not one that can be edited, there is no room, or the result would break
/// an invariant that the file keeps.
pub fn edit(file: &(impl ReadAt + ?Sized), edits: &Edits) -> Result<EditPlan, ElfError> {
    let info = inspect(file)?;
    let plan = plan_edit(file, &info, edits)?;
    verify(&file, &Edited::new(&file, &plan), &plan).map_err(ElfError::Verification)?;
    Ok(plan)
}
