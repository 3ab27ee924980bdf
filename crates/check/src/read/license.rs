//! Licence expressions of core metadata (PEP 639).

use spdx::ParseMode;
use spdx::identifiers::{EXCEPTIONS, LICENSES};

const MODE: ParseMode =
    ParseMode { allow_deprecated: true, allow_postfix_plus_on_gpl: true, ..ParseMode::STRICT };
/// Limit in bytes, far beyond real expressions, because each word is compared with all identifiers.
const LONGEST: usize = 10_000;
const LICENSE_REF: &str = "LicenseRef-";

/// Returns the reason why a text is not an expression. Case does not matter.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return Some("it is longer than 10,000 bytes".to_owned());
    }
    spdx::Expression::parse_mode(&with_listed_case(text), MODE)
        .err()
        .map(|error| error.reason.to_string())
}

/// Writes identifiers in the spelling of the list, because the parser distinguishes case and PEP
/// 639 does not.
fn with_listed_case(text: &str) -> String {
    let is_delimiter = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
    let words = text.split_inclusive(is_delimiter).map(|part| {
        let word = part.trim_end_matches(is_delimiter);
        format!("{}{}", identifier(word), &part[word.len()..])
    });
    words.collect()
}

fn identifier(word: &str) -> String {
    let (bare, plus) = word.strip_suffix('+').map_or((word, ""), |bare| (bare, "+"));
    if bare.get(..LICENSE_REF.len()).is_some_and(|start| start.eq_ignore_ascii_case(LICENSE_REF)) {
        return format!("{LICENSE_REF}{}{plus}", &bare[LICENSE_REF.len()..]);
    }
    let names = LICENSES.iter().map(|one| one.name).chain(EXCEPTIONS.iter().map(|one| one.name));
    let name = names.into_iter().find(|name| name.eq_ignore_ascii_case(bare)).unwrap_or(bare);
    format!("{name}{plus}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_expressions_in_any_case() {
        for text in [
            "MIT",
            "mit or apache-2.0",
            "(MIT AND LicenseRef-Mine) OR bsd-3-clause",
            "licenseref-mine",
            "GPL-2.0-only WITH Classpath-exception-2.0",
            "GPL-2.0+",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
        let nested = "(".repeat(9_000);
        let long = "MIT AND ".repeat(2_000);
        for text in ["", "not a licence", "Foo-1.0", "MIT AND", "MIT, BSD", &nested, &long] {
            assert!(fault(text).is_some(), "{text}");
        }
    }
}
