//! Undefined symbols of ELF files with a complete set of libraries.

use super::{Finding, Package};
use base::source::Code;
use binary::policy::SymbolSet;
use binary::systems::PythonTags;

use crate::finding::listed;
use crate::stable_abi;

const NAMED: usize = 3;

pub(super) struct Defined<'p>(SymbolSet<'p>);

impl<'p> Defined<'p> {
    pub fn new(packages: &'p [Package]) -> Self {
        Self(SymbolSet::new(packages.iter().flat_map(|p| &p.symbols).map(|taken| &*taken.symbols)))
    }

    pub fn check(&self, package: &Package) -> Vec<Finding> {
        let files = package.symbols.iter().filter_map(|taken| {
            let missing = self.0.unresolved(&taken.symbols);
            let what = "neither the packages nor the system define symbols of a file";
            let finding = (!missing.is_empty()).then(|| {
                Finding::error(Code::UnresolvedSymbol, what).because(listed(&missing, NAMED))
            })?;
            Some(finding.of(&*taken.member).within(&package.file))
        });
        let python = PythonTags { python: &package.python.0, abi: &package.python.1 };
        let of_abi = package.symbols.iter().flat_map(|taken| {
            let found = stable_abi::findings(&python, self.0.of_python(&taken.symbols));
            found.into_iter().map(|finding| finding.of(&*taken.member).within(&package.file))
        });
        files.chain(of_abi).collect()
    }
}
