//! Numbers in tar headers: Python ends an archive at a malformed one, GNU tar skips it with an
//! error.

use std::ops::Range;

/// Mode, user, group, size, time, and numbers of a device (POSIX ustar).
const FIELDS: [Range<usize>; 7] =
    [100..108, 108..116, 116..124, 124..136, 136..148, 329..337, 337..345];
/// First bytes of binary numbers: positive, negative.
const BINARY: [u8; 2] = [0x80, 0xff];

pub(super) fn are_sound(header: &[u8; 512]) -> bool {
    FIELDS.into_iter().all(|field| is_sound(&header[field]))
}

/// Accepts an empty field, but not one of spaces.
fn is_sound(field: &[u8]) -> bool {
    if field.first().is_some_and(|first| BINARY.contains(first)) {
        return true;
    }
    let text = field.split(|&byte| byte == 0).next().unwrap_or_default();
    let digits = text.trim_ascii();
    text.is_empty()
        || (!digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0'..=b'7')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        for sound in
            [&b"0000644\0"[..], b"    644 ", b"644\0junk", b"\0\0\0", b"\x80\0\0\x01", b"\xff\xff"]
        {
            assert!(is_sound(sound), "{sound:?}");
        }
        for malformed in
            [&b"00008zz\0"[..], b"        ", b"-1\0", b"0o17\0", b"1_7\0", b"\x81\0", b"6 44\0"]
        {
            assert!(!is_sound(malformed), "{malformed:?}");
        }
    }
}
