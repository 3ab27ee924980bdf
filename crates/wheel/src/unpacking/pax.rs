//! Records of extended headers (POSIX pax): `LENGTH KEY=VALUE` lines.

use std::io::{self, ErrorKind};

#[derive(Debug, Default)]
pub(super) struct PaxRecords(Vec<(Vec<u8>, Vec<u8>)>);

/// Keys that GNU tar repeats: ranges of a sparse file.
const REPEATED: [&[u8]; 2] = [b"GNU.sparse.offset", b"GNU.sparse.numbytes"];

/// Keys of POSIX.
const KNOWN: [&[u8]; 13] = [
    b"atime",
    b"charset",
    b"comment",
    b"ctime",
    b"gid",
    b"gname",
    b"hdrcharset",
    b"linkpath",
    b"mtime",
    b"path",
    b"size",
    b"uid",
    b"uname",
];
/// Character sets of POSIX.
const CHARSETS: [&[u8]; 2] = [b"ISO-IR 10646 2000 UTF-8", b"BINARY"];
/// Beginnings of other keys, which installers skip.
const VENDORS: [&[u8]; 2] = [b"SCHILY.", b"LIBARCHIVE."];

impl PaxRecords {
    /// Parses records. Programs split them by length or by line, so only records with the same
    /// result are accepted.
    pub fn parse(bytes: &[u8]) -> io::Result<Self> {
        let mut records = Self::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (key, value) =
                record(line).ok_or_else(|| broken("its pax records are malformed"))?;
            if !REPEATED.contains(&key) && records.get(key).is_some() {
                return Err(broken("its pax records have a key twice"));
            }
            records.0.push((key.to_vec(), value.to_vec()));
        }
        Ok(records)
    }

    pub fn from_member(member: &mut tar::Entry<'_, impl io::Read>) -> io::Result<Self> {
        let mut records = Self::default();
        for record in member.pax_extensions()?.into_iter().flatten() {
            let record = record?;
            records.0.push((record.key_bytes().to_vec(), record.value_bytes().to_vec()));
        }
        Ok(records)
    }

    pub fn get<'r>(&'r self, key: &'r [u8]) -> Option<&'r [u8]> {
        self.values(key).next()
    }

    pub fn values<'r>(&'r self, key: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
        self.0.iter().filter(move |(other, _)| other == key).map(|(_, value)| &**value)
    }

    pub fn has_prefix(&self, start: &[u8]) -> bool {
        self.0.iter().any(|(key, _)| key.starts_with(start))
    }

    pub fn rejected(&self) -> Option<&'static str> {
        let is_wrong = |(key, value): &(Vec<u8>, Vec<u8>)| match &key[..] {
            b"mtime" | b"atime" | b"ctime" => !is_time(value),
            b"uid" | b"gid" => !is_owner(value),
            b"size" => value.len() > 1 && value.starts_with(b"0"),
            b"hdrcharset" => !CHARSETS.contains(&&value[..]),
            _ => false,
        };
        if self.0.iter().any(is_wrong) {
            return Some(
                "a number or character set in its pax records is malformed or out of range",
            );
        }
        let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
        if !self.0.iter().all(|(key, value)| is_text(key) && is_text(value)) {
            return Some("its pax records are not UTF-8");
        }
        let is_known = |(key, _): &(Vec<u8>, Vec<u8>)| {
            KNOWN.contains(&&key[..]) || VENDORS.iter().any(|vendor| key.starts_with(vendor))
        };
        let are_known = self.0.iter().all(is_known);
        (!are_known).then_some("its pax records have a key that some installers reject")
    }

    pub fn number(&self, key: &str) -> io::Result<Option<u64>> {
        let name = key.rsplit('.').next().unwrap_or(key);
        self.get(key.as_bytes()).map(|value| number(name, value)).transpose()
    }
}

pub(super) fn number(name: &str, value: &[u8]) -> io::Result<u64> {
    let text = std::str::from_utf8(value).unwrap_or_default();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|_| digits);
    read.ok_or_else(|| {
        let value = String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned();
        broken(&format!("its pax {name} is `{}`", value.escape_debug()))
    })
}

/// Last second of the last year that fits into a C `int`; Python fails at later times.
const LAST_TIME: u64 = 67_768_036_191_676_799;

/// An empty value removes a record.
fn is_time(value: &[u8]) -> bool {
    let whole = value.split(|byte| *byte == b'.').next().unwrap_or_default();
    let is_early = || number("time", whole).is_ok_and(|seconds| seconds <= LAST_TIME);
    value.is_empty() || (is_decimal(value) && is_early())
}

fn is_owner(value: &[u8]) -> bool {
    value.is_empty() || number("owner", value).is_ok()
}

/// Installers reject negative times.
fn is_decimal(value: &[u8]) -> bool {
    let (whole, part) = match value.iter().position(|byte| *byte == b'.') {
        Some(at) => (&value[..at], &value[at + 1..]),
        None => (value, &b"0"[..]),
    };
    [whole, part].iter().all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

fn record(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let blank = line.iter().position(|byte| *byte == b' ')?;
    if std::str::from_utf8(&line[..blank]).ok()? != line.len().to_string() {
        return None;
    }
    let text = line[blank + 1..].strip_suffix(b"\n")?;
    let equals = text.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
    Some((&text[..equals], &text[equals + 1..]))
}

pub(super) fn broken(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_if_every_program_splits_them_alike() {
        let records = PaxRecords::parse(b"12 path=a=b\n11 size=12\n").unwrap();
        assert_eq!(records.get(b"path"), Some(&b"a=b"[..]));
        assert_eq!(records.number("size").unwrap(), Some(12));
        for wrong in [
            &b"11 path=a=b\n"[..],
            b"+9 path=a\n",
            b"09 path=a\n",
            b"9 path=a\n\n",
            b"9 path=a\n\n9 path=b\n",
            b"29 comment=a\n12 path=../../b\n",
            b"9 path=a\n9 path=b\n",
            b"5 =a\n",
            b"8 path=a",
        ] {
            assert!(PaxRecords::parse(wrong).is_err(), "{}", String::from_utf8_lossy(wrong));
        }
        for (time, is) in
            [("1", true), ("1.5", true), ("-1", false), ("x", false), ("1.", false), ("", false)]
        {
            assert_eq!(is_decimal(time.as_bytes()), is, "{time}");
        }
        for time in ["", "0", "67768036191676799", "1.99999999999999999999"] {
            assert!(is_time(time.as_bytes()), "{time}");
        }
        for time in ["1e400", "nan", "99999999999999999999", "9223372036854775807"] {
            assert!(!is_time(time.as_bytes()), "{time}");
        }
        assert!(is_owner(b"4294967296") && !is_owner(b"-1") && !is_owner(b"1.5"));
        for size in ["-1", "+1", "", "1x"] {
            assert!(number("size", size.as_bytes()).is_err(), "{size}");
        }
    }
}
