//! Base64 (RFC 4648).

/// Digits common to both alphabets.
const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Encodes base64 with padding (section 4).
pub fn base64(bytes: &[u8]) -> String {
    let mut text = encoded(bytes, ['+', '/']);
    text.extend(std::iter::repeat_n('=', text.len().next_multiple_of(4) - text.len()));
    text
}

/// Encodes URL-safe base64 without padding (section 5).
pub fn base64_url(bytes: &[u8]) -> String {
    encoded(bytes, ['-', '_'])
}

fn encoded(bytes: &[u8], last: [char; 2]) -> String {
    let digit = |value: usize| DIGITS.get(value).map_or_else(|| last[value - 62], |d| (*d).into());
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| usize::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        text.extend((0..=group.len()).map(|at| digit(bits >> (18 - 6 * at) & 63)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_follow_the_vectors_of_rfc_4648() {
        let vectors = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
            assert_eq!(base64_url(plain.as_bytes()), coded.trim_end_matches('='));
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
        assert_eq!(base64_url(&[0xfb, 0xff, 0xfe]), "-__-");
    }
}
