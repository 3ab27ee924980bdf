//! `CPython`'s stable ABI (PEP 384).

use std::collections::HashMap;
use std::sync::OnceLock;

const TABLE: &str = include_str!("stable_abi.tsv");

/// Release of Python.
pub type Release = (u32, u32);

/// Fault of a module for the stable ABI.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbiFault {
    /// The symbol is not of the stable ABI: a later release can lack it.
    Outside(String),
    /// A later Python than the wheel's oldest added the symbol.
    Later(String, Release),
}

/// Returns the release that added a symbol to the stable ABI.
pub fn added(symbol: &str) -> Option<Release> {
    static SYMBOLS: OnceLock<HashMap<&str, Release>> = OnceLock::new();
    let symbols = SYMBOLS.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| line.split_once('\t')).filter_map(parsed).collect()
    });
    symbols.get(symbol).copied()
}

fn parsed<'t>((name, release): (&'t str, &str)) -> Option<(&'t str, Release)> {
    let (major, minor) = release.split_once('.')?;
    Some((name, (major.parse().ok()?, minor.parse().ok()?)))
}

/// Returns whether Python's names begin so.
pub fn is_python(symbol: &str) -> bool {
    symbol.starts_with("Py") || symbol.starts_with("_Py")
}

/// Returns the oldest release with all of the symbols that are of the stable ABI.
pub fn newest<'s>(symbols: impl IntoIterator<Item = &'s str>) -> Option<Release> {
    symbols.into_iter().filter_map(added).max()
}

/// Judges the symbols of a module that runs on `oldest` and all later releases.
pub fn faults<'s>(symbols: impl IntoIterator<Item = &'s str>, oldest: Release) -> Vec<AbiFault> {
    let fault = |symbol: &str| match added(symbol) {
        None => Some(AbiFault::Outside(symbol.to_owned())),
        Some(release) if release > oldest => Some(AbiFault::Later(symbol.to_owned(), release)),
        Some(_) => None,
    };
    let mut faults: Vec<AbiFault> = symbols.into_iter().filter_map(fault).collect();
    faults.sort();
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_symbols_outside_of_the_abi_and_later_ones() {
        let used = ["PyList_New", "PyUnicode_FromKindAndData", "PyObject_Vectorcall"];
        let outside = AbiFault::Outside("PyUnicode_FromKindAndData".to_owned());
        let later = AbiFault::Later("PyObject_Vectorcall".to_owned(), (3, 12));
        assert_eq!(faults(used, (3, 9)), [outside.clone(), later]);
        assert_eq!(faults(used, (3, 12)), [outside]);
    }

    #[test]
    fn parses_every_line_of_the_table() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let (name, _) = line.split_once('\t').unwrap();
            assert!(added(name).is_some_and(|release| release >= (3, 2)), "{line}");
        }
    }
}
