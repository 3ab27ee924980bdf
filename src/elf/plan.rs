//! The plan of an edit: which bytes differ, and why.

use object::elf;

use super::builder::{ElfBuilder, Place};
use super::dynamic::{Dynamic, ENTRY_SIZE, Entry, Strings};
use super::edited::Edited;
use super::edits::{Edits, Wanted};
use super::error::ElfError;
use super::facts::ElfFacts;
use super::info::{ElfInfo, ElfKind, inspect};
use super::layout::{Growth, MOST_HEADERS};
use super::verify::verify;
use crate::binary::Machine;
use crate::binary::ReadAt;

/// Bytes that differ from the old file, or follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// Where they go.
    pub offset: u64,
    /// What goes there.
    pub bytes: Vec<u8>,
}

/// What makes the edited file of the old one: its bytes, with the overlays over them, and
/// zeros where it is longer and no overlay says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditPlan {
    old_len: u64,
    new_len: u64,
    overlays: Vec<Overlay>,
    steps: Vec<String>,
    edits: Edits,
}

impl Overlay {
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    /// What is left of it when bytes that the file has already are cut off at both ends.
    pub(super) fn without_what_is_there(
        mut self,
        file: &(impl ReadAt + ?Sized),
    ) -> Result<Option<Self>, ElfError> {
        let mut old = vec![0; self.bytes.len()];
        let read = file.read_exact_at(self.offset, &mut old);
        read.map_err(|source| ElfError::Read { what: "the bytes to change", source })?;
        let differs = |(a, b): (&u8, &u8)| a != b;
        let Some(first) = self.bytes.iter().zip(&old).position(differs) else { return Ok(None) };
        let last = self.bytes.iter().zip(&old).rposition(differs).unwrap_or(first);
        self.bytes = self.bytes[first..=last].to_vec();
        self.offset += first as u64;
        Ok(Some(self))
    }
}

impl EditPlan {
    /// Whether the file is as wanted already.
    pub fn is_noop(&self) -> bool {
        self.overlays.is_empty() && self.old_len == self.new_len
    }

    /// What is done, one sentence each, for people.
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// The length of the file it is made for.
    pub fn old_len(&self) -> u64 {
        self.old_len
    }

    /// The edited file's length.
    pub fn new_len(&self) -> u64 {
        self.new_len
    }

    /// The bytes that differ, in order; those behind the old file come last.
    pub fn overlay(&self) -> &[Overlay] {
        &self.overlays
    }

    /// What it was made for.
    pub fn edits(&self) -> &Edits {
        &self.edits
    }
}

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

/// Plans `edits` for `file`, whose headers are `info`. See [`edit`], which also checks the plan.
///
/// # Errors
/// When the file is not one that can be edited, or there is no room.
pub fn plan_edit(
    file: &(impl ReadAt + ?Sized),
    info: &ElfInfo,
    edits: &Edits,
) -> Result<EditPlan, ElfError> {
    let (table_at, dynamic, strings) = info.editable()?;
    info.check_what_edits_rely_on(file)?;
    let wanted = edits.wanted(info, dynamic, strings)?;
    let mut plan = EditPlan {
        old_len: info.file_len,
        new_len: info.file_len,
        overlays: Vec::new(),
        steps: Vec::new(),
        edits: edits.clone(),
    };
    if wanted.entries == dynamic.entries && wanted.needs.is_empty() {
        return Ok(plan);
    }
    let mut builder = ElfBuilder::new(file, info, table_at, dynamic.place(), strings.place());
    builder.take(wanted, dynamic.capacity)?;
    (plan.overlays, plan.new_len, plan.steps) = builder.finish()?;
    Ok(plan)
}

impl ElfInfo {
    /// The facts of a file that can be edited.
    ///
    /// # Errors
    /// The refusal for files that can't, or as [`ElfInfo::facts`].
    pub fn editable_facts(&self) -> Result<ElfFacts, ElfError> {
        self.editable()?;
        self.facts()
    }

    /// What an edit starts from; the refusal for files that can't be edited.
    fn editable(&self) -> Result<(u64, &Dynamic, &Strings), ElfError> {
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
    fn place(&self) -> Place {
        Place { offset: self.offset, address: self.address, size: self.capacity * ENTRY_SIZE }
    }
}

impl Strings {
    fn place(&self) -> Place {
        Place { offset: self.offset, address: self.address, size: self.bytes.len() as u64 }
    }
}

impl<R: ReadAt + ?Sized> ElfBuilder<'_, R> {
    /// Makes the dynamic section what is wanted, with room for it.
    fn take(&mut self, wanted: Wanted, capacity: u64) -> Result<(), ElfError> {
        self.entries = wanted.entries;
        self.steps = wanted.steps;
        let dynamic = !self.fit(capacity);
        self.grow(&Growth { added: wanted.added, dynamic })?;
        for (at, file) in wanted.needs {
            self.rename_need(at, file)?;
        }
        Ok(())
    }

    /// Whether the entries and a `DT_NULL` fit, if need be without `DT_RELACOUNT`: it only
    /// tells loaders which relocations they may take a short way for.
    fn fit(&mut self, capacity: u64) -> bool {
        let fits = |entries: &[Entry]| (entries.len() as u64) < capacity;
        let hint = self.entries.iter().position(|entry| entry.tag == elf::DT_RELACOUNT);
        if let Some(hint) = hint.filter(|_| !fits(&self.entries) && fits(&self.entries[1..])) {
            self.entries.remove(hint);
            self.steps.push("the DT_RELACOUNT entry makes room".to_owned());
        }
        fits(&self.entries)
    }

    /// Points `vn_file` of the need at `at` of its table, wherever the table is by now.
    fn rename_need(&mut self, at: u64, file: u64) -> Result<(), ElfError> {
        const VN_FILE: u64 = 4;
        let tag = |entries: &[Entry]| {
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
