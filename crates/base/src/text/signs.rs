use std::borrow::Cow;

/// Replaces the arrows, ellipses and dashes of messages by ASCII. Other characters remain, because
/// they are parts of names.
pub fn ascii_signs(text: &str) -> Cow<'_, str> {
    if !text.contains(['→', '…', '–']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('→', "->").replace('…', "...").replace('–', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_characters() {
        assert_eq!(ascii_signs("größe → x…"), "größe -> x...");
        assert!(matches!(ascii_signs("größe"), Cow::Borrowed(_)));
    }
}
