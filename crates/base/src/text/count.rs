/// Formats `1 file`, `2 files`, `3 libraries`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {}", plural(count, what))
}

/// Noun in the number for `count`.
pub fn plural(count: usize, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if count == 1 => what.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_go_by_their_number() {
        let texts = [(0, "file"), (1, "file"), (2, "entry"), (1, "entry"), (3, "key")]
            .map(|(count, what)| counted(count, what));
        assert_eq!(texts, ["0 files", "1 file", "2 entries", "1 entry", "3 keys"]);
    }
}
