use std::borrow::Cow;

use binary::elf::ElfFacts;
use binary::pe::{PeFacts, PeSymbols};
use binary::policy;

use crate::Known;

/// Needs of one binary, and its offers to other files.
#[derive(Debug, Clone)]
pub struct Needs<'a> {
    /// Headers and names: machine, libraries, versions, search directories.
    pub facts: Facts<'a>,
    /// Imported and defined symbols, if a host loads the file. Too large for a catalog: a plan
    /// never knows them.
    pub symbols: Known<Symbols>,
    /// `e_flags` of an ELF file.
    pub flags: Known<u32>,
}

/// Facts by format, in a plan borrowed from its catalog.
#[derive(Debug, Clone)]
pub enum Facts<'a> {
    /// Of an ELF file.
    Elf(Cow<'a, ElfFacts>),
    /// Of a PE file.
    Pe(Cow<'a, PeFacts>),
}

/// Symbols by format.
#[derive(Debug, Clone)]
pub enum Symbols {
    /// Of an ELF file.
    Elf(policy::Symbols),
    /// Of a PE file.
    Pe(PeSymbols),
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

    /// Symbols of an ELF file.
    pub fn elf_symbols(&self) -> Option<&policy::Symbols> {
        match self.symbols.get()? {
            Symbols::Elf(symbols) => Some(symbols),
            Symbols::Pe(_) => None,
        }
    }

    /// Functions that a PE file imports and exports.
    pub fn pe_symbols(&self) -> Option<&PeSymbols> {
        match self.symbols.get()? {
            Symbols::Pe(symbols) => Some(symbols),
            Symbols::Elf(_) => None,
        }
    }

    /// Returns whether Python imports the file.
    pub fn is_module(&self) -> bool {
        self.elf_symbols().is_some_and(policy::Symbols::is_module)
    }
}
