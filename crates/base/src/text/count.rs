/// Formats `1 file`, `2 files`, `3 libraries`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// Noun in the plural, unless `count` is 1.
pub fn plural(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_plurals() {
        let texts = [(0, "file"), (1, "file"), (2, "entry"), (1, "entry"), (3, "key")]
            .map(|(count, noun)| counted(count, noun));
        assert_eq!(texts, ["0 files", "1 file", "2 entries", "1 entry", "3 keys"]);
    }
}
