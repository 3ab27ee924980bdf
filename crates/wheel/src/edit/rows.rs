use std::collections::BTreeMap;

use crate::package::directory::DirectoryEntry;
use crate::package::record::Rows;

/// Hash and size of each member.
#[derive(Debug)]
pub struct RecordRows(BTreeMap<String, (String, String)>);

/// Fault of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFault {
    /// Description.
    pub what: String,
    /// True for a malformed or missing row, which a new one repairs. False for a row with another
    /// size: the member may be damaged.
    pub is_malformed: bool,
}

/// Lengths are in base64 without padding (binary distribution format: SHA-256 or better).
const HASHES: [(&str, usize); 8] = [
    ("sha256=", 43),
    ("sha384=", 64),
    ("sha512=", 86),
    ("sha3_256=", 43),
    ("sha3_384=", 64),
    ("sha3_512=", 86),
    ("blake2b=", 86),
    ("blake2s=", 43),
];

impl RecordRows {
    /// Reads the rows.
    ///
    /// # Errors
    /// The fault of a row: another number of fields, or a duplicate path.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rows = BTreeMap::new();
        for row in Rows::new(text.as_bytes()) {
            let [path, hash, size] =
                row.map_err(|_| "a row does not have three fields".to_owned())?;
            if rows.insert(path.clone(), (hash, size)).is_some() {
                return Err(format!("`{path}` has two rows"));
            }
        }
        Ok(Self(rows))
    }

    /// Checks a member's row for a strong hash and the right size.
    ///
    /// # Errors
    /// The fault of the row.
    pub fn check(&self, entry: &DirectoryEntry) -> Result<(), RowFault> {
        let name = &entry.name;
        let form = |what: String| Err(RowFault { what, is_malformed: true });
        let Some((hash, size)) = self.0.get(name) else {
            return form(format!("`{name}` has no row"));
        };
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_hash = HASHES.iter().any(|(kind, length)| {
            hash.strip_prefix(kind)
                .is_some_and(|text| text.len() == *length && text.chars().all(is_base64))
        });
        if !is_hash {
            return form(format!(
                "the hash `{hash}` of `{name}` is not a SHA-256 or a stronger hash in base64"
            ));
        }
        if size.parse() != Ok(entry.size) {
            let message = format!("`{name}` has {} bytes, but its row has `{size}`", entry.size);
            return Err(RowFault { what: message, is_malformed: size.is_empty() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::checksum::Digest;
    use crate::archive::wheel::record::row;

    #[test]
    fn rows_that_can_be_copied_have_a_strong_hash_and_the_size() {
        let good = Digest::of(b"abc");
        let hex = good.sha256.to_string();
        let text = format!(
            "{}b,sha256={hex},3\nc,md5=abc,3\nd,{},4\ne,,\n",
            row("a", &good),
            good.sha256.for_record()
        );
        let rows = RecordRows::read(&text).unwrap();
        let check = |name: &str| {
            let size = 3;
            let entry = DirectoryEntry {
                name: name.to_owned(),
                utf8: true,
                flags: 0,
                needed: 20,
                method: 0,
                time: (0, 0),
                crc32: 0,
                compressed: size,
                size,
                mode: 0,
                is_unix: true,
                is_wide: false,
                header: 0,
                data: 0,
            };
            rows.check(&entry).map_err(|fault| fault.what.replace(&hex, "HEX"))
        };
        assert_eq!(check("a"), Ok(()));
        let wrong = ["b", "c", "d", "e", "f"].map(|name| check(name).unwrap_err());
        assert_eq!(
            wrong,
            [
                "the hash `sha256=HEX` of `b` is not a SHA-256 or a stronger hash in base64",
                "the hash `md5=abc` of `c` is not a SHA-256 or a stronger hash in base64",
                "`d` has 3 bytes, but its row has `4`",
                "the hash `` of `e` is not a SHA-256 or a stronger hash in base64",
                "`f` has no row",
            ]
        );
        assert_eq!(RecordRows::read("a,,\na,,\n").unwrap_err(), "`a` has two rows");
        assert_eq!(RecordRows::read("a,b\n").unwrap_err(), "a row does not have three fields");
    }
}
