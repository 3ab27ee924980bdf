//! Properties of PE files and import libraries, for any bytes.

use binary::pe::{PeError, facts, import_library};

/// Maximum length of a file name.
const LONGEST_NAME: usize = 260;

/// Reads bytes in both ways. Returns whether one of them found something.
///
/// # Panics
/// Panics if the result is impossible, or the error is a read error.
pub fn look(bytes: &[u8]) -> bool {
    let (facts, library) = (facts(bytes), import_library(bytes));
    for error in [facts.as_ref().err(), library.as_ref().err()].into_iter().flatten() {
        assert!(!matches!(error, PeError::Read { .. }), "{error}");
        assert!(!error.to_string().is_empty());
    }
    let (facts, library) = (facts.ok().flatten(), library.ok().flatten());
    if let Some(facts) = &facts {
        for name in facts.imports.iter().chain(&facts.delayed).chain(&facts.name) {
            named(name);
        }
        for text in facts.version.iter().flat_map(|version| [&version.file, &version.product]) {
            assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
        }
    }
    if let Some(library) = &library {
        assert!(!library.dlls.is_empty());
        library.dlls.iter().for_each(|name| named(name));
    }
    assert!(facts.is_none() || library.is_none(), "both are found");
    facts.is_some() || library.is_some()
}

fn named(name: &str) {
    assert!((1..=LONGEST_NAME).contains(&name.len()), "{} bytes", name.len());
    assert!(name.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name:?}");
}
