//! Detection of device code in passing bytes.

use std::io::{self, Write};

use aho_corasick::AhoCorasick;

use super::archive::LARGEST_TABLE;
use super::{Code, archive, bundle};

/// Enough for a bundle's table.
const START_OF_BUNDLE: usize = 1 << 20;
const LONGEST_NAME: usize = 32;
const MOST_TEXTS: usize = 4096;

/// Detector of device code.
#[derive(Debug)]
pub struct Reading {
    prefixes: AhoCorasick,
}

impl Reading {
    /// Creates a detector; `prefixes` are the starts of ISA names, such as `gfx`.
    pub fn new<'p>(prefixes: impl Iterator<Item = &'p str>) -> Self {
        let prefixes: Vec<&str> = prefixes.filter(|prefix| prefix.len() < LONGEST_NAME).collect();
        let empty = || AhoCorasick::new([""; 0]).unwrap_or_else(|_| unreachable!("no pattern"));
        Self { prefixes: AhoCorasick::new(prefixes).unwrap_or_else(|_| empty()) }
    }

    /// Returns a sink for a file; `texts` enables the search for ISA names.
    pub fn sink(&self, texts: bool) -> Sink<'_> {
        let prefixes = texts.then_some(&self.prefixes);
        Sink { prefixes, kind: FileKind::Unknown, kept: Vec::new(), at: 0, code: Code::default() }
    }
}

/// Writer that keeps only the bytes it needs.
#[derive(Debug)]
pub struct Sink<'r> {
    prefixes: Option<&'r AhoCorasick>,
    kind: FileKind,
    /// Start of a bundle, table of an archive, or last bytes of any other file.
    kept: Vec<u8>,
    at: u64,
    code: Code,
}

#[derive(Debug, Clone, Copy)]
enum FileKind {
    Unknown,
    Bundle,
    /// Offset of the table of contents.
    Archive(u64),
    Other,
}

impl Sink<'_> {
    /// Returns the targets found in the written bytes.
    pub fn finish(mut self) -> Code {
        if matches!(self.kind, FileKind::Unknown) {
            self.decide();
        }
        match self.kind {
            FileKind::Bundle => match bundle::targets(&self.kept[..]) {
                Some(targets) => self.code.ids = targets,
                None => self.code.unread = Some(bundle::UNREAD),
            },
            FileKind::Archive(_) => match archive::targets(&self.kept) {
                Some(targets) => self.code.ids = targets,
                None => self.code.unread = Some(archive::UNREAD),
            },
            FileKind::Unknown | FileKind::Other => self.look(0),
        }
        self.code
    }

    fn decide(&mut self) {
        let start = std::mem::take(&mut self.kept);
        self.kind = match archive::table_offset(&start) {
            Some(offset) => FileKind::Archive(offset),
            None if bundle::is_one(&start) => FileKind::Bundle,
            None => FileKind::Other,
        };
        self.at = 0;
        self.pass(&start);
    }

    fn pass(&mut self, bytes: &[u8]) {
        match self.kind {
            FileKind::Unknown => self.kept.extend(bytes),
            FileKind::Bundle => {
                let room = START_OF_BUNDLE.saturating_sub(self.kept.len());
                self.kept.extend(&bytes[..bytes.len().min(room)]);
            }
            FileKind::Archive(table) => {
                let before = usize::try_from(table.saturating_sub(self.at)).unwrap_or(usize::MAX);
                let room = LARGEST_TABLE.saturating_sub(self.kept.len());
                let bytes = bytes.get(before..).unwrap_or_default();
                self.kept.extend(&bytes[..bytes.len().min(room)]);
            }
            FileKind::Other if self.prefixes.is_some() => {
                self.kept.extend(bytes);
                self.look(LONGEST_NAME);
            }
            FileKind::Other => {}
        }
        self.at += bytes.len() as u64;
    }

    /// Collects ISA names that begin before the last `less` bytes.
    fn look(&mut self, less: usize) {
        let Some(prefixes) = self.prefixes else { return };
        let end = self.kept.len().saturating_sub(less);
        for found in prefixes.find_iter(&self.kept).take_while(|found| found.start() < end) {
            let name = &self.kept[found.start()..];
            let fine = |b: &u8| b.is_ascii_alphanumeric() || b"_:+-".contains(b);
            let name: String = name
                .iter()
                .take(LONGEST_NAME)
                .take_while(|b| fine(b))
                .map(|b| *b as char)
                .collect();
            if self.code.texts.len() < MOST_TEXTS {
                self.code.texts.insert(name);
            }
        }
        self.kept.drain(..end);
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass(bytes);
        if matches!(self.kind, FileKind::Unknown) && self.kept.len() >= 24 {
            self.decide();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::tests::archive;
    use super::super::bundle::tests::{bundle, compressed};
    use super::super::{START, of_container};
    use super::*;

    fn code_of(bytes: &[u8], texts: bool) -> Code {
        let reading = Reading::new(["gfx"].into_iter());
        let all = [1, 7, 24, 100, bytes.len().max(1)].map(|size| {
            let mut sink = reading.sink(texts);
            bytes.chunks(size).for_each(|chunk| sink.write_all(chunk).unwrap());
            sink.finish()
        });
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        let start = &bytes[..bytes.len().min(START)];
        if let Some(whole) = of_container(bytes, start).unwrap() {
            assert_eq!(whole, all[0]);
        }
        all[0].clone()
    }

    fn names<const N: usize>(names: [&str; N]) -> std::collections::BTreeSet<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn detects_bundles_and_archives_by_first_bytes() {
        let ids = ["hipv4-amdgcn-amd-amdhsa--gfx942"];
        assert_eq!(code_of(&bundle(&ids), false).ids, names(["gfx942"]));
        assert_eq!(code_of(&compressed(3, 1, &bundle(&ids)), true).ids, names(["gfx942"]));
        assert_eq!(code_of(&archive(&["gfx90a:xnack-"]), true).ids, names(["gfx90a:xnack-"]));
        assert!(code_of(&[0; 100], true).is_empty() && code_of(b"", true).is_empty());
    }

    #[test]
    fn reports_unreadable_code() {
        let whole = archive(&["gfx942"]);
        for cut in [20, 127, 128, whole.len() - 1] {
            let code = code_of(&whole[..cut], false);
            assert_eq!(code.unread, Some("the table of contents of an archive of code"), "{cut}");
        }
        let mut beyond = whole;
        beyond[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(code_of(&beyond, false).unread.is_some());
        let cut = &bundle(&["hipv4-amdgcn-amd-amdhsa--gfx942"])[..40];
        assert_eq!(code_of(cut, false).unread, Some("the table of an offload bundle"));
    }

    #[test]
    fn finds_texts_on_request() {
        let text = "\u{82}arch gfx942\0 -mcpu=gfx906:sramecc+:xnack- x".repeat(40) + "gfx90a";
        let expected = names(["gfx90a", "gfx906:sramecc+:xnack-", "gfx942"]);
        assert_eq!(code_of(text.as_bytes(), true).texts, expected);
        assert!(code_of(text.as_bytes(), false).is_empty());
    }
}
