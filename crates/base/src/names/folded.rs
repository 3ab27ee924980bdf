//! Paths on file systems that ignore case and Unicode normalization.

use std::borrow::Cow;

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

/// Returns the canonical caseless form (Unicode, section 3.13).
pub fn folded(path: &str) -> Cow<'_, str> {
    if path.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        return Cow::Borrowed(path);
    }
    if path.is_ascii() {
        return Cow::Owned(path.to_ascii_lowercase());
    }
    // Folding can compose letters again.
    Cow::Owned(path.nfd().default_case_fold().nfd().collect())
}

/// Difference in letters with equal case folding but different lower case, such as σ and ς, or ß
/// and ss. Few file systems treat them as equal.
pub const LETTER_FORMS: &str = "forms of a letter";

/// Different paths with equal folded form, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookalikes {
    /// Kind of the difference: `case`, [`LETTER_FORMS`] or `Unicode normalisation`.
    pub differ_in: &'static str,
    /// First path.
    pub one: String,
    /// Second path.
    pub other: String,
}

impl Lookalikes {
    /// Escapes non-ASCII characters if both look the same.
    pub fn new(one: &str, other: &str) -> Self {
        if one.nfc().eq(other.nfc()) {
            let differ_in = "Unicode normalisation";
            return Self { differ_in, one: escaped(one), other: escaped(other) };
        }
        let alike = one.nfc().collect::<String>().to_lowercase();
        let differs_in_case = alike == other.nfc().collect::<String>().to_lowercase();
        let differ_in = if differs_in_case { "case" } else { LETTER_FORMS };
        Self { differ_in, one: one.to_owned(), other: other.to_owned() }
    }
}

fn escaped(path: &str) -> String {
    let escape =
        |c: char| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() };
    path.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_paths_that_a_file_system_can_confuse() {
        let alike = |one: &str, other: &str| folded(one) == folded(other);
        assert!(matches!(folded("lib/a-b_1.so"), Cow::Borrowed("lib/a-b_1.so")));
        assert!(alike("Lib/A", "lib/a") && !alike("lib/a", "lib/b"));
        assert!(
            alike("\u{3c3}", "\u{3c2}") && alike("\u{3a3}", "\u{3c2}"),
            "σ and ς fold to one letter"
        );
        assert!(alike("\u{17f}", "s") && alike("\u{1e9e}", "\u{df}") && alike("\u{b5}", "\u{3bc}"));
        assert!(alike("stra\u{df}e", "STRASSE"), "ß folds to ss");
        assert!(alike("caf\u{e9}", "cafe\u{301}") && alike("CAF\u{c9}", "cafe\u{301}"));
        assert!(
            !alike("cafe", "caf\u{e9}") && !alike("\u{b2}", "2"),
            "compatibility is not identity"
        );
        assert!(!alike("\u{131}", "i"), "dotless ı is not i outside Turkish");
        assert!(alike("\u{212b}", "a\u{30a}"), "the angstrom sign folds to å");
        assert!(alike("q\u{307}\u{323}", "q\u{323}\u{307}"), "the order of marks");
    }

    #[test]
    fn escapes_paths_that_look_equal() {
        let pair = Lookalikes::new("x/caf\u{e9}", "x/cafe\u{301}");
        assert_eq!(pair.differ_in, "Unicode normalisation");
        assert_eq!((&*pair.one, &*pair.other), (r"x/caf\u{e9}", r"x/cafe\u{301}"));
        let pair = Lookalikes::new("x/\u{c9}", "x/\u{e9}");
        assert_eq!((pair.differ_in, &*pair.one, &*pair.other), ("case", "x/\u{c9}", "x/\u{e9}"));
        let pair = Lookalikes::new("x/\u{3c3}", "x/\u{3c2}");
        assert_eq!(pair.differ_in, LETTER_FORMS);
    }
}
