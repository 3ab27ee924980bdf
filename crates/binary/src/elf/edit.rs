use super::edit_plan::EditPlan;
use super::edited::Edited;
use super::edits::Edits;
use super::error::ElfError;
use super::info::inspect;
use super::plan::plan_edit;
use super::verify::verify;
use crate::ReadAt;

/// Plans and verifies `edits`, without writing.
///
/// # Errors
/// If the result would violate an invariant that the file satisfies.
pub fn edit(file: &(impl ReadAt + ?Sized), edits: &Edits) -> Result<EditPlan, ElfError> {
    let info = inspect(file)?;
    let plan = plan_edit(file, &info, edits)?;
    verify(&file, &Edited::new(&file, &plan), &plan).map_err(ElfError::Verification)?;
    Ok(plan)
}
