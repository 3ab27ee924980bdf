//! Writer of tar archives, including invalid ones.

use tar::{EntryType, Header};

/// Archive as bytes; its members are below one directory.
pub struct Tar {
    top: &'static str,
    bytes: Vec<u8>,
}

impl Tar {
    pub fn new(top: &'static str) -> Self {
        Self { top, bytes: Vec::new() }
    }

    pub fn top(&self) -> &'static str {
        self.top
    }

    /// Adds a header changed by `change`, with content.
    pub fn header(mut self, content: &[u8], change: impl FnOnce(&mut Header)) -> Self {
        let mut header = Header::new_ustar();
        header.set_mode(0o644);
        header.set_mtime(315_532_800);
        header.set_size(content.len() as u64);
        header.set_entry_type(EntryType::Regular);
        change(&mut header);
        header.set_cksum();
        self.bytes.extend(header.as_bytes());
        self.bytes.extend(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self
    }

    /// Adds a member of any kind and name.
    pub fn member(self, name: &[u8], kind: EntryType, content: &[u8], target: &[u8]) -> Self {
        self.header(content, |header| {
            let old = header.as_old_mut();
            old.name[..name.len()].copy_from_slice(name);
            old.linkname[..target.len()].copy_from_slice(target);
            header.set_entry_type(kind);
        })
    }

    /// Adds a file of any name.
    pub fn file_at(self, name: &str, content: &[u8]) -> Self {
        self.member(name.as_bytes(), EntryType::Regular, content, b"")
    }

    /// Adds a file below the top directory.
    pub fn file(self, path: &str, content: &str) -> Self {
        let name = format!("{}/{path}", self.top);
        self.file_at(&name, content.as_bytes())
    }

    pub fn directory(self, path: &str) -> Self {
        let name = format!("{}/{path}/", self.top);
        self.member(name.as_bytes(), EntryType::Directory, b"", b"")
    }

    pub fn link(self, path: &str, target: &str) -> Self {
        let name = format!("{}/{path}", self.top);
        self.member(name.as_bytes(), EntryType::Symlink, b"", target.as_bytes())
    }

    /// Adds a hard link; its target is relative to the archive's root.
    pub fn hard_link(self, path: &str, target: &str) -> Self {
        let name = format!("{}/{path}", self.top);
        self.member(name.as_bytes(), EntryType::Link, b"", target.as_bytes())
    }

    /// Adds pax records for the next member.
    pub fn pax(self, records: &[(&str, &str)]) -> Self {
        let records: String = records.iter().map(|(key, value)| record(key, value)).collect();
        self.member(b"pax", EntryType::XHeader, records.as_bytes(), b"")
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 1024, 0);
        self.bytes
    }
}

/// Returns a pax record, which begins with its length.
pub fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let is_length = |len: &usize| len.to_string().len() + rest.len() == *len;
    let len = (1..100_000).find(is_length).unwrap();
    format!("{len}{rest}")
}
