//! Headers that every installer reads: of one format, with numbers in octal digits.

use std::ops::Range;

/// Format of a tar archive, by its magic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Pax,
    Gnu,
}

/// Checks the headers of one archive, in order.
#[derive(Debug, Default)]
pub(super) struct Strict {
    format: Option<Format>,
}

const MAGIC: Range<usize> = 257..265;
const KIND: usize = 156;
const TARGET: usize = 157;
/// Mode, user, group, size and time. uv skips numbers of devices.
const NUMBERS: [Range<usize>; 5] = [100..108, 108..116, 116..124, 124..136, 136..148];
/// Signature at the end of headers by star, which used the prefix for times.
const STAR: Range<usize> = 508..512;

impl Strict {
    /// Returns the reason why uv or another installer rejects a header.
    pub fn refusal(&mut self, header: &[u8]) -> Option<&'static str> {
        let format = match &header[MAGIC] {
            b"ustar\x0000" => Format::Pax,
            b"ustar  \0" => Format::Gnu,
            _ => return Some("a header has neither the magic of POSIX nor of GNU"),
        };
        if self.format.replace(format).is_some_and(|before| before != format) {
            return Some("headers of POSIX and of GNU follow each other");
        }
        let kind = header[KIND];
        match (format, kind) {
            (Format::Pax, b'L' | b'K' | b'S') => {
                return Some("a long name or sparse file of GNU has the magic of POSIX");
            }
            (Format::Gnu, b'x' | b'g') => return Some("pax records have the magic of GNU"),
            (Format::Pax, _) if &header[STAR] == b"tar\0" => {
                return Some("a header has the signature of star");
            }
            _ => {}
        }
        if !NUMBERS.into_iter().all(|number| is_octal(&header[number])) {
            return Some(
                "a number of a header is not of octal digits with a NUL or a blank after them",
            );
        }
        let is_file = matches!(kind, b'0' | b'\0' | b'7' | b'5');
        (is_file && header[TARGET] != 0).then_some("a file or directory has a link target")
    }
}

fn is_octal(field: &[u8]) -> bool {
    let digits = field.iter().take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let rest = &field[digits..];
    match digits {
        0 => rest.iter().all(|byte| *byte == 0),
        _ => rest.first().is_some_and(|byte| matches!(byte, 0 | b' ')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(edits: &[(usize, &[u8])]) -> [u8; 512] {
        let mut header = [0; 512];
        header[MAGIC].copy_from_slice(b"ustar\x0000");
        header[KIND] = b'0';
        for (at, bytes) in edits {
            header[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        header
    }

    #[test]
    fn refuses_headers_that_an_installer_rejects() {
        let refusal = |edits: &[(usize, &[u8])]| Strict::default().refusal(&header(edits));
        assert_eq!(refusal(&[]), None);
        assert_eq!(refusal(&[(136, b"01234567 \0  "), (100, b"0000644\0")]), None);
        assert_eq!(refusal(&[(257, b"ustar  \0"), (156, b"L")]), None);
        for edits in [
            &[(257, &b"xstar\x0000"[..])][..],
            &[(257, b"\0\0\0\0\0\0\0\0")],
            &[(257, b"ustar\0 \0")],
            &[(156, b"L")],
            &[(257, b"ustar  \0"), (156, b"x")],
            &[(508, b"tar\0")],
            &[(124, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")],
            &[(136, b"\x80\0\0\0\0\0\0\0\0\0\0\x01")],
            &[(108, b" 001750\0")],
            &[(136, b" 1234567 \0  ")],
            &[(108, b"77777777")],
            &[(157, b"x")],
        ] {
            assert!(refusal(edits).is_some(), "{edits:?}");
        }
        let mut archive = Strict::default();
        assert_eq!(archive.refusal(&header(&[])), None);
        assert!(archive.refusal(&header(&[(257, b"ustar  \0")])).is_some(), "a change of format");
    }
}
