use std::borrow::Cow;

use binary::elf::ElfFacts;
use binary::pe::PeFacts;
use binary::policy::Symbols;

use crate::Known;

/// What one binary needs of its loader, and what it offers others.
#[derive(Debug, Clone)]
pub struct Needs<'a> {
    /// Headers and names: machine, libraries, versions, search directories.
    pub facts: Facts<'a>,
    /// Imported and defined symbols. Too large for a catalog: a plan never knows them.
    pub symbols: Known<Symbols>,
    /// `e_flags` of an ELF file.
    pub flags: Known<u32>,
}

/// Facts by format; a plan borrows those of its catalog.
#[derive(Debug, Clone)]
pub enum Facts<'a> {
    /// Of an ELF file.
    Elf(Cow<'a, ElfFacts>),
    /// Of a PE file.
    Pe(Cow<'a, PeFacts>),
}

impl Needs<'_> {
    /// Facts of an ELF file.
    pub fn elf(&self) -> Option<&ElfFacts> {
        match &self.facts {
            Facts::Elf(facts) => Some(facts),
            Facts::Pe(_) => None,
        }
    }

    /// Facts of a PE file.
    pub fn pe(&self) -> Option<&PeFacts> {
        match &self.facts {
            Facts::Pe(facts) => Some(facts),
            Facts::Elf(_) => None,
        }
    }

    /// Facts that both formats have.
    pub fn common(&self) -> binary::Facts<'_> {
        match &self.facts {
            Facts::Elf(facts) => (&**facts).into(),
            Facts::Pe(facts) => (&**facts).into(),
        }
    }

    /// Returns whether Python imports the file.
    pub fn is_module(&self) -> bool {
        self.symbols.get().is_some_and(Symbols::is_module)
    }
}
