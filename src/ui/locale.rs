//! Characters that the locale can show (POSIX, "Environment Variables").

use std::borrow::Cow;
use std::sync::OnceLock;

use base::text::ascii_signs;

/// Returns true unless a locale without UTF-8 is set. An unset locale counts as UTF-8, because
/// containers set none and UTF-8 terminals show their output.
pub fn is_unicode() -> bool {
    static UNICODE: OnceLock<bool> = OnceLock::new();
    *UNICODE.get_or_init(|| is_unicode_in(|name| std::env::var(name).ok()))
}

fn is_unicode_in(value: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(value);
    let name = set.map(|name| name.to_ascii_lowercase()).find(|name| !name.is_empty());
    name.is_none_or(|name| name.contains("utf-8") || name.contains("utf8"))
}

pub fn in_locale(text: &str) -> Cow<'_, str> {
    if is_unicode() { Cow::Borrowed(text) } else { ascii_signs(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_with_a_value_is_the_locale() {
        let unicode = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(key, _)| *key == name);
            is_unicode_in(|name| value(name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(unicode(&[]));
        assert!(unicode(&[("LC_ALL", ""), ("LANG", "de_DE.UTF-8")]));
        assert!(unicode(&[("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!unicode(&[("LC_ALL", "C"), ("LANG", "C.UTF-8")]));
        assert!(!unicode(&[("LANG", "de_DE.ISO-8859-1")]));
    }
}
