//! Facts of a finished file.

use binary::elf::ElfFacts;
use binary::elf::stub::StubMachine;
use check::{Bytes, File, Made};
use plan::Step;

/// Finished file.
#[derive(Debug, Clone, Copy)]
pub struct Built<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) bytes: &'a Bytes,
}

impl<'a> Built<'a> {
    pub(crate) fn text(self) -> Option<&'a str> {
        self.bytes.text.get().map(String::as_str)
    }

    /// Facts of an ELF file whose search path an edit can change.
    pub(super) fn search(self) -> Option<&'a ElfFacts> {
        let is_edited = |facts: &&ElfFacts| {
            facts.kind.is_editable() && StubMachine::of(facts.machine).is_some()
        };
        self.file.needs()?.elf().filter(is_edited)
    }

    /// The step that makes these bytes.
    pub(crate) fn made(self) -> Option<Step> {
        match self.bytes.made.as_ref()? {
            Made::Stub(machine, target) => {
                Some(Step::Stub { target: target.clone(), machine: *machine })
            }
            Made::Forward(machine) => {
                let facts = self.file.needs()?.elf()?;
                Some(Step::Alias {
                    soname: facts.soname.clone()?,
                    needed: facts.needed.first()?.clone(),
                    rpath: facts.rpath.clone()?,
                    machine: *machine,
                })
            }
        }
    }
}
