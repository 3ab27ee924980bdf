/// Shortens a name to `most` characters by `…` after its middle, because names differ at both ends,
/// and most in the first half.
pub fn cut_middle(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let room = most.saturating_sub(1);
    let tail = room / 3;
    let head = room - tail;
    let first = name.chars().take(head);
    first.chain(std::iter::once('…')).chain(name.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_long_names_in_their_middle() {
        assert_eq!(cut_middle("abcdefghij", 10), "abcdefghij");
        assert_eq!(cut_middle("abcdefghij", 5), "abc…j");
        assert_eq!(cut_middle("äöüäöüäöü", 6), "äöüä…ü");
    }
}
