//! RECORD: every member, with its hash and size (binary distribution format, "The .dist-info directory").

use std::collections::{HashMap, HashSet};

use sha2::digest::DynDigest;

use super::Finding;
use super::directory::Entry;
use super::member::Member;
use crate::archive::checksum::base64_url;
use crate::source::Code;

/// A hash that RECORD may have: the weakest is SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Algorithm {
    #[default]
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    fn of(name: &str) -> Option<Self> {
        match name {
            "sha256" => Some(Self::Sha256),
            "sha384" => Some(Self::Sha384),
            "sha512" => Some(Self::Sha512),
            _ => None,
        }
    }

    pub fn hasher(self) -> Box<dyn DynDigest> {
        match self {
            Self::Sha256 => Box::new(sha2::Sha256::default()),
            Self::Sha384 => Box::new(sha2::Sha384::default()),
            Self::Sha512 => Box::new(sha2::Sha512::default()),
        }
    }
}

/// A row.
#[derive(Debug)]
struct Row {
    hash: String,
    size: String,
}

/// The rows by path.
#[derive(Debug, Default)]
pub(super) struct Record {
    rows: HashMap<String, Row>,
    order: Vec<String>,
    pub findings: Vec<Finding>,
}

/// What signs RECORD, and so cannot be in it.
const SIGNATURES: [&str; 2] = ["RECORD.jws", "RECORD.p7s"];

impl Record {
    /// Reads the file; what is no row of it is a finding.
    pub fn parse(text: &str) -> Self {
        let mut record = Self::default();
        for line in rows(text) {
            let Ok([path, hash, size]) = <[String; 3]>::try_from(line) else {
                record.findings.push(Finding::error(Code::RecordForm, "RECORD has a row without exactly three fields"));
                continue;
            };
            let row = Row { hash, size };
            if record.rows.insert(path.clone(), row).is_some() {
                record.findings.push(Finding::error(Code::RecordForm, "twice in RECORD").of(path));
            } else {
                record.order.push(path);
            }
        }
        record
    }

    /// By what a member is hashed: what its row says, where that is known.
    pub fn algorithm(&self, name: &str) -> Algorithm {
        let row = self.rows.get(name).and_then(|row| Algorithm::of(row.hash.split_once('=')?.0));
        row.unwrap_or_default()
    }

    /// Compares rows with members. `own` is RECORD's own name.
    pub fn compare(&self, own: &str, entries: &[Entry], members: &[Member]) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut there = HashSet::with_capacity(entries.len());
        for (entry, member) in entries.iter().zip(members) {
            there.insert(&*entry.name);
            let signature = own.strip_suffix("RECORD").is_some_and(|dir| SIGNATURES.iter().any(|s| entry.name == [dir, s].concat()));
            match self.rows.get(&entry.name) {
                Some(row) if entry.name == own => found.extend(own_row(row).map(|f| f.of(own))),
                Some(_) if signature => {}
                Some(row) => found.extend(differences(row, member).into_iter().map(|f| f.of(&*entry.name))),
                None if signature || entry.is_directory() => {}
                None => found.push(Finding::error(Code::NotInRecord, "not in RECORD").of(&*entry.name)),
            }
        }
        let absent = self.order.iter().filter(|path| !there.contains(&***path));
        found.extend(absent.map(|path| Finding::error(Code::OnlyInRecord, "in RECORD, and not in the wheel").of(path)));
        found
    }
}

/// A file cannot have its own hash.
fn own_row(row: &Row) -> Option<Finding> {
    let blank = row.hash.is_empty() && row.size.is_empty();
    (!blank).then(|| Finding::error(Code::RecordForm, "RECORD states a hash or size of itself"))
}

fn differences(row: &Row, member: &Member) -> Vec<Finding> {
    if member.fault.is_some() {
        // Its bytes are not what was packed, so there is nothing to compare.
        return Vec::new();
    }
    let mut found = Vec::new();
    match row.hash.split_once('=').map(|(name, digest)| (Algorithm::of(name), digest)) {
        Some((Some(_), digest)) if digest == base64_url(&member.digest) => {}
        Some((Some(_), _)) => found.push(Finding::error(Code::RecordHash, "RECORD has another hash")),
        Some((None, _)) => {
            let what = "RECORD has a hash that is none, or weaker than SHA-256";
            found.push(Finding::error(Code::RecordForm, what).because(row.hash.clone()));
        }
        None => found.push(Finding::error(Code::RecordForm, "RECORD has no hash of it")),
    }
    // A size can be left out.
    if !row.size.is_empty() && row.size.parse() != Ok(member.size) {
        let detail = format!("{} bytes, and RECORD says {}", member.size, row.size);
        found.push(Finding::error(Code::RecordHash, "RECORD has another size").because(detail));
    }
    found
}

/// The rows of a CSV text and their fields (RFC 4180); blank lines are none.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                field.push('"');
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted && rest.peek() == Some(&'\n') => {}
            c => field.push(c),
        }
    }
    if !field.is_empty() || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows.retain(|row| row.len() > 1 || !row[0].is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_csv() {
        let read = rows("a,b,c\r\n\"x, \"\"y\"\"\",,\n\n\"l\nm\",h,1");
        assert_eq!(read, [vec!["a", "b", "c"], vec!["x, \"y\"", "", ""], vec!["l\nm", "h", "1"]]);
    }

    #[test]
    fn the_longer_hashes_are_known() {
        let record = Record::parse("a,sha512=x,1\nb,md5=x,1\n");
        assert_eq!(
            (record.algorithm("a"), record.algorithm("b"), record.algorithm("c")),
            (Algorithm::Sha512, Algorithm::Sha256, Algorithm::Sha256)
        );
        assert_eq!(Algorithm::Sha384.hasher().output_size(), 48);
    }
}
