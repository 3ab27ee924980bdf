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

/// Difference of two letters that share a capital, such as σ and ς. Few file systems know it.
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
    fn paths_fold_to_the_same_where_a_file_system_could_take_them_for_one() {
        let same = |one: &str, other: &str| folded(one) == folded(other);
        assert!(matches!(folded("lib/a-b_1.so"), Cow::Borrowed("lib/a-b_1.so")));
        assert!(same("Lib/A", "lib/a") && !same("lib/a", "lib/b"));
        assert!(
            same("\u{3c3}", "\u{3c2}") && same("\u{3a3}", "\u{3c2}"),
            "both small letters of one"
        );
        assert!(same("\u{17f}", "s") && same("\u{1e9e}", "\u{df}") && same("\u{b5}", "\u{3bc}"));
        assert!(same("stra\u{df}e", "STRASSE"), "one letter for two");
        assert!(same("caf\u{e9}", "cafe\u{301}") && same("CAF\u{c9}", "cafe\u{301}"));
        assert!(
            !same("cafe", "caf\u{e9}") && !same("\u{b2}", "2"),
            "compatibility is not identity"
        );
        assert!(!same("\u{131}", "i"), "only Turkish has the capital letter of one");
        assert!(same("\u{212b}", "a\u{30a}"), "the sign of a unit is the letter");
        assert!(same("q\u{307}\u{323}", "q\u{323}\u{307}"), "the order of marks");
    }

    #[test]
    fn what_looks_the_same_is_escaped() {
        let told = Lookalikes::new("x/caf\u{e9}", "x/cafe\u{301}");
        assert_eq!(told.differ_in, "Unicode normalisation");
        assert_eq!((&*told.one, &*told.other), (r"x/caf\u{e9}", r"x/cafe\u{301}"));
        let told = Lookalikes::new("x/\u{c9}", "x/\u{e9}");
        assert_eq!((told.differ_in, &*told.one, &*told.other), ("case", "x/\u{c9}", "x/\u{e9}"));
        let told = Lookalikes::new("x/\u{3c3}", "x/\u{3c2}");
        assert_eq!(told.differ_in, LETTER_FORMS);
    }
}
