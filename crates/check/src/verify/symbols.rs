//! Undefined symbols of ELF files with a complete set of libraries.

use super::{Finding, Package};
use base::source::Code;
use binary::policy::SymbolSet;

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
            let finding = (!missing.is_empty())
                .then(|| Finding::error(Code::UnresolvedSymbol, what).because(named(&missing)))?;
            Some(finding.of(&*taken.member).within(&package.file))
        });
        files.collect()
    }
}

fn named(symbols: &[String]) -> String {
    let mut text: Vec<String> =
        symbols.iter().take(NAMED).map(|symbol| format!("`{symbol}`")).collect();
    if symbols.len() > NAMED {
        text.push(format!("{} more", symbols.len() - NAMED));
    }
    match text.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => text.concat(),
    }
}
