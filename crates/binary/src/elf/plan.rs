use object::elf;

use super::builder::{ElfBuilder, TablePlace};
use super::dynamic::{Dynamic, DynamicEntry, ENTRY_SIZE, Strings};
use super::edit_plan::EditPlan;
use super::edits::{DynamicChanges, Edits};
use super::error::ElfError;
use super::facts::ElfFacts;
use super::info::{ElfInfo, ElfKind};
use super::layout::{Growth, MOST_HEADERS};
use crate::Machine;
use crate::ReadAt;

/// Plans `edits`; [`super::edit()`] also verifies the plan.
pub fn plan_edit(
    file: &(impl ReadAt + ?Sized),
    info: &ElfInfo,
    edits: &Edits,
) -> Result<EditPlan, ElfError> {
    let (table_at, dynamic, strings) = info.editable()?;
    info.check_what_edits_rely_on(file)?;
    let resolved = edits.resolve(info, dynamic, strings)?;
    let mut plan = EditPlan {
        old_len: info.file_len,
        new_len: info.file_len,
        overlays: Vec::new(),
        steps: Vec::new(),
        edits: edits.clone(),
    };
    let stack = info.executable_stack().filter(|_| edits.clear_execstack);
    if resolved.entries == dynamic.entries && resolved.needs.is_empty() && stack.is_none() {
        return Ok(plan);
    }
    let mut builder = ElfBuilder::new(file, info, table_at, dynamic.place(), strings.place());
    if let Some(stack) = stack {
        builder.clear_executable_stack(stack)?;
    }
    builder.take(resolved, dynamic.capacity)?;
    (plan.overlays, plan.new_len, plan.steps) = builder.finish()?;
    Ok(plan)
}

impl ElfInfo {
    /// Returns [`ElfInfo::facts`] of editable files.
    pub fn editable_facts(&self) -> Result<ElfFacts, ElfError> {
        self.editable()?;
        self.facts()
    }

    pub(super) fn editable(&self) -> Result<(u64, &Dynamic, &Strings), ElfError> {
        match (self.kind, self.machine) {
            (ElfKind::CodeObject, _) => return Err(ElfError::CodeObject),
            (_, Machine::Other { number: machine, bits: 32, .. }) => {
                return Err(ElfError::Bits32 { machine });
            }
            (_, Machine::Other { number: machine, big_endian: true, .. }) => {
                return Err(ElfError::BigEndian { machine });
            }
            (_, Machine::Other { number: machine, .. }) => {
                return Err(ElfError::Machine { machine });
            }
            (ElfKind::Foreign, _) => return Err(ElfError::NotElf),
            (ElfKind::Relocatable, _) => return Err(ElfError::Relocatable),
            (ElfKind::Core, _) => return Err(ElfError::Core),
            (ElfKind::StaticExecutable, _) => return Err(ElfError::Static),
            (ElfKind::StaticPie, _) => return Err(ElfError::StaticPie),
            (ElfKind::Loader, _) => return Err(ElfError::Loader),
            (ElfKind::DebugOnly, _) => return Err(ElfError::DebugOnly),
            (ElfKind::SharedLibrary | ElfKind::Executable, _) => {}
        }
        let count = self.segments.len() as u64;
        if self.interpreter.is_some() && count > MOST_HEADERS {
            return Err(ElfError::TooManyHeaders { count });
        }
        let header = self.header.as_ref().ok_or(ElfError::NotElf)?;
        let dynamic = self.dynamic.as_ref().ok_or(ElfError::Static)?;
        let strings =
            self.strings.as_ref().ok_or(ElfError::Dynamic { field: "DT_STRTAB", value: 0 })?;
        Ok((header.segments_at, dynamic, strings))
    }
}

impl Dynamic {
    pub(super) fn place(&self) -> TablePlace {
        TablePlace { offset: self.offset, address: self.address, size: self.capacity * ENTRY_SIZE }
    }
}

impl Strings {
    pub(super) fn place(&self) -> TablePlace {
        TablePlace { offset: self.offset, address: self.address, size: self.bytes.len() as u64 }
    }
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    fn take(&mut self, changes: DynamicChanges, capacity: u64) -> Result<(), ElfError> {
        self.entries = changes.entries;
        self.steps.extend(changes.steps);
        let dynamic = !self.fit(capacity);
        self.grow(&Growth { added: changes.added, dynamic })?;
        for (at, file) in changes.needs {
            self.rename_need(at, file)?;
        }
        Ok(())
    }

    /// Drops `DT_RELACOUNT` if necessary: it is only an optimization for loaders.
    fn fit(&mut self, capacity: u64) -> bool {
        let fits = |entries: &[DynamicEntry]| (entries.len() as u64) < capacity;
        let hint = self.entries.iter().position(|entry| entry.tag == elf::DT_RELACOUNT);
        if let Some(hint) = hint.filter(|_| !fits(&self.entries) && fits(&self.entries[1..])) {
            self.entries.remove(hint);
            self.steps.push("the DT_RELACOUNT entry makes room".to_owned());
        }
        fits(&self.entries)
    }

    fn rename_need(&mut self, at: u64, file: u64) -> Result<(), ElfError> {
        const VN_FILE: u64 = 4;
        let tag = |entries: &[DynamicEntry]| {
            entries.iter().rfind(|entry| entry.tag == elf::DT_VERNEED).map(|entry| entry.value)
        };
        let address =
            tag(&self.entries).ok_or(ElfError::Dynamic { field: "DT_VERNEED", value: at })?;
        let offset = self
            .segments
            .iter()
            .filter(|load| load.is_load())
            .find_map(|load| load.offset_of(address, at + VN_FILE + 4));
        let offset = offset.ok_or(ElfError::NotFileBacked { field: "DT_VERNEED", address })?;
        let value = u32::try_from(file)
            .map_err(|_| ElfError::Dynamic { field: "DT_STRSZ", value: file })?;
        self.write(offset + at + VN_FILE, &value.to_le_bytes())
    }
}
