//! RECORD: members with hash and size (binary distribution format, "The .dist-info directory").

use std::io::Read;

use super::algorithm::Algorithm;
use super::member::Member;
use crate::Finding;
use base::source::Code;
use base::text::base64_url;
use wheel::package::directory::Directory;
use wheel::package::record::{NotThree, Rows, is_signature};
use wheel::package::zip_file::LONGEST_RECORD;

#[derive(Debug, PartialEq, Eq)]
struct Row {
    hash: String,
    size: String,
}

#[derive(Debug, Default)]
pub(super) struct Record {
    rows: Vec<Option<Row>>,
    absent: Vec<String>,
    whole: bool,
    pub findings: Vec<Finding>,
}

const MOST_WRONG: usize = 1000;

impl Record {
    /// Keeps rows of members in `directory`; malformed rows become findings. Errors of unpacking
    /// are reported with the members.
    pub fn read(text: impl Read, directory: &Directory) -> Self {
        let rows = directory.entries.iter().map(|_| None).collect();
        let mut record = Self { rows, ..Self::default() };
        let mut reader = Rows::new(text.take(LONGEST_RECORD + 1));
        for row in reader.by_ref() {
            record.add(row, directory);
            if record.findings.len() + record.absent.len() >= MOST_WRONG {
                let message = "RECORD has over 1,000 wrong rows; rockpack did not read the others";
                record.findings.push(Finding::error(Code::RecordForm, message));
                return record;
            }
        }
        if reader.bytes() > LONGEST_RECORD {
            let message = "RECORD is longer than the limit of 32 MiB";
            record.findings.push(Finding::error(Code::RecordForm, message));
            return record;
        }
        let fault = reader.unreadable().map(|message| Finding::error(Code::RecordForm, message));
        record.findings.extend(fault.map(|finding| finding.of("RECORD")));
        record.whole = true;
        record
    }

    fn add(&mut self, row: Result<[String; 3], NotThree>, directory: &Directory) {
        let Ok([path, hash, size]) = row else {
            let message = "RECORD has a row without exactly three fields";
            return self.findings.push(Finding::error(Code::RecordForm, message));
        };
        let row = Row { hash, size };
        match directory.find(&path).map(|index| &mut self.rows[index]) {
            Some(place @ None) => *place = Some(row),
            Some(Some(first)) if *first == row => {
                let message = "listed twice in RECORD";
                self.findings.push(Finding::warning(Code::RecordForm, message).of(path));
            }
            Some(Some(_)) => {
                let message = "listed twice in RECORD, with different values";
                self.findings.push(Finding::error(Code::RecordForm, message).of(path));
            }
            None => self.absent.push(path),
        }
    }

    /// Findings that need no member: malformed rows, and rows of absent files.
    pub fn alone(&self) -> Vec<Finding> {
        self.findings.iter().cloned().chain(self.absent()).collect()
    }

    fn absent(&self) -> impl Iterator<Item = Finding> {
        self.absent.iter().map(|path| {
            Finding::error(Code::OnlyInRecord, "listed in RECORD, but not in the wheel").of(path)
        })
    }

    fn row(&self, index: usize) -> Option<&Row> {
        self.rows.get(index)?.as_ref()
    }

    pub(crate) fn algorithm(&self, index: usize) -> Algorithm {
        let row = self.row(index).and_then(|row| Algorithm::by_name(row.hash.split_once('=')?.0));
        row.unwrap_or_default()
    }

    /// `own` is the path of RECORD.
    pub fn compare(
        &self,
        record_path: &str,
        directory: &Directory,
        members: &[Member],
    ) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (entry, member) in directory.entries.iter().zip(members) {
            let info = record_path.strip_suffix("RECORD").unwrap_or_default();
            let signature = entry.name.strip_prefix(info).is_some_and(is_signature);
            // All members with the same name share the row.
            match directory.find(&entry.name).and_then(|index| self.row(index)) {
                Some(row) if entry.name == record_path => {
                    findings.extend(own_row(row).map(|f| f.of(record_path)));
                }
                Some(_) if signature => {
                    let message = "a signature of RECORD is listed in it";
                    findings.push(Finding::error(Code::RecordForm, message).of(&*entry.name));
                }
                Some(row) => {
                    findings
                        .extend(differences(row, member).into_iter().map(|f| f.of(&*entry.name)));
                }
                None if signature || entry.is_directory() || !self.whole => {}
                None => {
                    findings.push(
                        Finding::error(Code::NotInRecord, "not listed in RECORD").of(&*entry.name),
                    );
                }
            }
        }
        findings.extend(self.absent());
        findings
    }
}

fn own_row(row: &Row) -> Option<Finding> {
    let blank = row.hash.is_empty() && row.size.is_empty();
    (!blank).then(|| Finding::error(Code::RecordForm, "RECORD has a hash or size for itself"))
}

fn differences(row: &Row, member: &Member) -> Vec<Finding> {
    if member.content.fault.is_some() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    match row.hash.split_once('=').map(|(name, digest)| (Algorithm::by_name(name), digest)) {
        Some((Some(_), digest)) if digest == base64_url(&member.digest) => {}
        Some((Some(_), _)) => {
            findings.push(Finding::error(Code::RecordHash, "wrong hash in RECORD"));
        }
        Some((None, _)) => {
            let message = "hash in RECORD that is malformed or weaker than SHA-256";
            findings.push(Finding::error(Code::RecordForm, message).because(row.hash.clone()));
        }
        None => findings.push(Finding::error(Code::RecordForm, "no hash in RECORD")),
    }
    if row.size.is_empty() {
        findings.push(Finding::error(Code::RecordForm, "no size in RECORD"));
    } else if row.size.parse() != Ok(member.size) {
        let detail = format!("{} bytes, in RECORD {}", member.size, row.size);
        findings.push(Finding::error(Code::RecordHash, "wrong size in RECORD").because(detail));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_longer_hashes() {
        let row = |hash: &str| Some(Row { hash: hash.to_owned(), size: String::new() });
        let record =
            Record { rows: vec![row("sha512=x"), row("md5=x"), None], ..Record::default() };
        assert_eq!(
            [0, 1, 2, 3].map(|index| record.algorithm(index)),
            [Algorithm::Sha512, Algorithm::Sha256, Algorithm::Sha256, Algorithm::Sha256]
        );
        assert_eq!(Algorithm::Sha384.hasher().output_size(), 48);
    }
}
