//! Records of extended headers (POSIX pax): `LENGTH KEY=VALUE` lines.

use std::io::{self, ErrorKind};

#[derive(Debug, Default)]
pub(super) struct PaxRecords(Vec<(Vec<u8>, Vec<u8>)>);

/// Keys that GNU tar repeats: ranges of a sparse file.
const REPEATED: [&[u8]; 2] = [b"GNU.sparse.offset", b"GNU.sparse.numbytes"];

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

    pub fn of(member: &mut tar::Entry<'_, impl io::Read>) -> io::Result<Self> {
        let mut records = Self::default();
        for record in member.pax_extensions()?.into_iter().flatten() {
            let record = record?;
            records.0.push((record.key_bytes().to_vec(), record.value_bytes().to_vec()));
        }
        Ok(records)
    }

    pub fn get<'r>(&'r self, key: &'r [u8]) -> Option<&'r [u8]> {
        self.all(key).next()
    }

    pub fn all<'r>(&'r self, key: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
        self.0.iter().filter(move |(other, _)| other == key).map(|(_, value)| &**value)
    }

    pub fn has(&self, start: &[u8]) -> bool {
        self.0.iter().any(|(key, _)| key.starts_with(start))
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
        for size in ["-1", "+1", "", "1x"] {
            assert!(number("size", size.as_bytes()).is_err(), "{size}");
        }
    }
}
