//! Bundles of the units of a fat file, the same in libraries and DLLs.

use crate::code_object::{bundle, code, compressed};

/// Linkers begin a bundle at a page.
const PAGE: usize = 4096;

/// Returns the bundles of two units with code for three ISAs, one of them with other features.
pub fn two() -> [Vec<u8>; 2] {
    let one = [("gpu90", code(0x21, 3000)), ("gpu100", code(0x23, 5000))];
    let two = [
        ("gpu90:x+", code(0x21, 700)),
        ("gpu90:x-", code(0x21, 800)),
        ("gpu91-strict", code(0x22, 100)),
    ];
    [bundle(&one), compressed(&bundle(&two))]
}

/// Returns the address of each bundle, if the section begins at `first`.
pub fn starts(bundles: &[Vec<u8>], first: usize) -> Vec<usize> {
    let next = |at: &mut usize, bundle: &Vec<u8>| {
        let start = *at;
        *at = (start + bundle.len()).next_multiple_of(PAGE);
        Some(start)
    };
    bundles.iter().scan(first, next).collect()
}

/// Returns the bytes of the section.
pub fn section(bundles: &[Vec<u8>]) -> Vec<u8> {
    let mut section = Vec::new();
    for bundle in bundles {
        section.resize(section.len().next_multiple_of(PAGE), 0);
        section.extend(bundle);
    }
    section
}
