//! Tar stream filter that rejects ambiguous and excessive headers.
//!
//! Readers keep names and pax records in memory and list all members, so a small compressed archive
//! could exhaust memory. Some readers seek backwards by a negative size in pax records.

use std::io::{self, Read, Seek, SeekFrom};

use super::Rules;
use super::pax::{self, PaxRecords};
use super::strict::Strict;

#[derive(Debug)]
pub(super) struct TarStream<R> {
    source: R,
    most_members: usize,
    /// `None` for archives that no installer reads.
    strict: Option<Strict>,
    members: usize,
    names: u64,
    place: Upcoming,
    extensions: Extensions,
}

#[derive(Debug)]
enum Upcoming {
    Header(Vec<u8>),
    Records(Records),
    /// Further block of sparse ranges, as far as read, and the size of the data.
    Places(Vec<u8>, u64),
    Content(u64),
    End,
}

#[derive(Debug)]
struct Records {
    read: Vec<u8>,
    missing: u64,
    fill: u64,
    local: bool,
}

#[derive(Debug, Default)]
struct Extensions {
    long_name: bool,
    long_link: bool,
    records: Option<PaxRecords>,
}

const BLOCK: u64 = 512;
/// Limit of one name or pax header.
const LONGEST: u64 = 1 << 20;
/// Average per member of names and pax records, which readers keep.
const USUAL: u64 = 512;
/// Keys of single members: readers disagree on global values.
const OF_ONE: [&[u8]; 4] = [b"path", b"linkpath", b"size", b"GNU.sparse."];
/// Offset of the flag for another block of sparse ranges.
const MORE_IN_HEADER: usize = 482;
const MORE_IN_BLOCK: usize = 504;

impl<R> TarStream<R> {
    pub fn new(source: R, rules: Rules) -> Self {
        let (place, extensions) = (Upcoming::Header(Vec::new()), Extensions::default());
        let strict = rules.installed.then(Strict::default);
        let most_members = rules.most_members;
        Self { source, most_members, strict, members: 0, names: 0, place, extensions }
    }

    /// Source, and whether the final zero block was read.
    pub fn into_inner(self) -> (R, bool) {
        (self.source, matches!(self.place, Upcoming::End))
    }

    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = match &self.place {
                Upcoming::Header(block) | Upcoming::Places(block, _) => BLOCK - block.len() as u64,
                Upcoming::Records(records) => records.missing + records.fill,
                Upcoming::Content(left) => *left,
                Upcoming::End => return Ok(()),
            };
            let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
            let (part, rest) = bytes.split_at(count);
            self.take(part)?;
            bytes = rest;
        }
        Ok(())
    }

    fn take(&mut self, part: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Upcoming::Header(head) => {
                head.extend(part);
                if head.len() as u64 == BLOCK {
                    let head = std::mem::take(head);
                    self.place = self.read_header(&head)?;
                }
            }
            Upcoming::Places(block, size) => {
                block.extend(part);
                if block.len() as u64 == BLOCK {
                    let (more, size) = (is_more(block[MORE_IN_BLOCK])?, *size);
                    self.place = self.places(more, size)?;
                }
            }
            Upcoming::Records(records) => {
                if records.take(part) {
                    let records = std::mem::take(&mut records.read);
                    self.records(&records)?;
                }
            }
            Upcoming::Content(left) => {
                *left -= part.len() as u64;
                if *left == 0 {
                    self.place = Upcoming::Header(Vec::new());
                }
            }
            Upcoming::End => {}
        }
        Ok(())
    }

    fn read_header(&mut self, head: &[u8]) -> io::Result<Upcoming> {
        let header = tar::Header::from_byte_slice(head);
        if head.iter().all(|byte| *byte == 0) {
            return Ok(Upcoming::End);
        }
        if let Some(reason) = self.strict.as_mut().and_then(|strict| strict.refusal(head)) {
            let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
            return Err(broken(&format!("`{}`: {reason}", name.escape_debug())));
        }
        let kind = header.entry_type();
        if kind.is_gnu_longname() || kind.is_gnu_longlink() {
            self.extensions.long_name |= kind.is_gnu_longname();
            self.extensions.long_link |= kind.is_gnu_longlink();
            return Ok(content(self.extension(header)?));
        }
        if kind.is_pax_local_extensions() || kind.is_pax_global_extensions() {
            let (missing, length) = (header.entry_size()?, self.extension(header)?);
            let (fill, local) = (length - missing, kind.is_pax_local_extensions());
            if !local && !self.extensions.is_empty() {
                return Err(broken("it has global pax records between a member and its name"));
            }
            return Ok(Upcoming::Records(Records { read: Vec::new(), missing, fill, local }));
        }
        self.members += 1;
        if self.members > self.most_members {
            return Err(broken(&format!("it has more than {} members", self.most_members)));
        }
        let extensions = std::mem::take(&mut self.extensions);
        extensions.check()?;
        let recorded =
            extensions.records.as_ref().map(|records| records.number("size")).transpose()?;
        let size = recorded.flatten().map_or_else(|| header.entry_size(), Ok)?;
        let more = kind.is_gnu_sparse() && is_more(head[MORE_IN_HEADER])?;
        self.places(more, padded(size)?)
    }

    fn places(&mut self, more: bool, size: u64) -> io::Result<Upcoming> {
        if !more {
            return Ok(content(size));
        }
        self.count(BLOCK)?;
        Ok(Upcoming::Places(Vec::new(), size))
    }

    fn records(&mut self, bytes: &[u8]) -> io::Result<()> {
        let records = PaxRecords::parse(bytes)?;
        let local = matches!(self.place, Upcoming::Records(Records { local: true, .. }));
        if !local && OF_ONE.iter().any(|key| records.has_prefix(key)) {
            return Err(broken("its global pax records give all members the same name or size"));
        }
        if let Some(reason) = self.strict.as_ref().and_then(|_| records.rejected()) {
            return Err(broken(reason));
        }
        if local {
            self.extensions.records = Some(records);
        }
        self.place = Upcoming::Header(Vec::new());
        Ok(())
    }

    fn extension(&mut self, header: &tar::Header) -> io::Result<u64> {
        let size = header.entry_size()?;
        if size == 0 {
            return Err(broken("it has an empty name, or its pax records are missing"));
        }
        if size > LONGEST {
            return Err(broken("it has a name or pax records longer than the limit of 1 MiB"));
        }
        self.count(size)?;
        padded(size)
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        self.names = self.names.saturating_add(bytes);
        let most = LONGEST + self.most_members as u64 * USUAL;
        if self.names > most {
            let most = most >> 20;
            return Err(broken(&format!(
                "its names and pax records exceed the limit of {most} MiB"
            )));
        }
        Ok(())
    }
}

impl Records {
    fn take(&mut self, part: &[u8]) -> bool {
        let length = usize::try_from(self.missing).unwrap_or(usize::MAX).min(part.len());
        self.read.extend(&part[..length]);
        self.missing -= length as u64;
        self.fill -= (part.len() - length) as u64;
        self.missing + self.fill == 0
    }
}

impl Extensions {
    fn is_empty(&self) -> bool {
        !self.long_name && !self.long_link && self.records.is_none()
    }

    /// Readers choose different ones of two names.
    fn check(&self) -> io::Result<()> {
        let has_key =
            |key: &[u8]| self.records.as_ref().is_some_and(|records| records.get(key).is_some());
        if self.long_name && (has_key(b"path") || has_key(b"GNU.sparse.name")) {
            return Err(broken("a member has two long names"));
        }
        if self.long_link && has_key(b"linkpath") {
            return Err(broken("a member has two long link targets"));
        }
        Ok(())
    }
}

impl<R: Read> Read for TarStream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(out)?;
        self.pass(&out[..count])?;
        Ok(count)
    }
}

impl<R: Seek> Seek for TarStream<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Current(by) = to else { return Err(io::ErrorKind::Unsupported.into()) };
        let distance = by.try_into().map_err(io::Error::other)?;
        match self.place {
            _ if distance == 0 => {}
            Upcoming::Content(left) if left >= distance => self.place = content(left - distance),
            _ => return Err(io::ErrorKind::Unsupported.into()),
        }
        self.source.seek(to)
    }
}

fn broken(why: &str) -> io::Error {
    pax::broken(why)
}

fn content(bytes: u64) -> Upcoming {
    if bytes == 0 { Upcoming::Header(Vec::new()) } else { Upcoming::Content(bytes) }
}

fn padded(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(BLOCK)
        .ok_or_else(|| broken("it has a member that is longer than a file can be"))
}

fn is_more(byte: u8) -> io::Result<bool> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(broken("it has a malformed sparse file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tar(parts: &[(u8, u64, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (kind, told, content) in parts {
            let mut header = tar::Header::new_ustar();
            header.set_path("x").unwrap();
            header.set_entry_type(tar::EntryType::new(*kind));
            header.set_size(*told);
            header.set_mode(0o644);
            header.set_cksum();
            bytes.extend(header.as_bytes());
            bytes.extend(*content);
            bytes.resize(bytes.len().next_multiple_of(512), 0);
        }
        bytes.extend([0; 1024]);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<usize, String> {
        let mut results = Vec::new();
        for step in [1, 511, 512, 4096] {
            let mut stream = TarStream::new(bytes, Rules { most_members: 2, ..Rules::ARTIFACT });
            let (mut buffer, mut all) = (vec![0; step], 0);
            results.push(loop {
                match stream.read(&mut buffer) {
                    Ok(0) => break Ok(all),
                    Ok(count) => all += count,
                    Err(error) => break Err(error.to_string()),
                }
            });
        }
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
        results.swap_remove(0)
    }

    #[test]
    fn sound_archives_pass_whole() {
        let long = [b'n'; 700];
        let bytes = tar(&[(b'L', 700, &long), (b'0', 3, b"abc"), (b'g', 13, b"13 comment=a\n")]);
        assert_eq!(read(&bytes), Ok(bytes.len()));
        let records = b"12 size=700\n";
        let bytes = tar(&[(b'x', 12, records), (b'0', 0, &long), (b'0', 3, b"abc")]);
        assert_eq!(read(&bytes), Ok(bytes.len()), "the size in pax records is the one that counts");
    }

    #[test]
    fn what_asks_for_memory_is_refused() {
        let many = tar(&[(b'0', 0, b""), (b'0', 0, b""), (b'0', 0, b"")]);
        assert_eq!(read(&many), Err("it has more than 2 members".to_owned()));
        for kind in *b"LKxg" {
            let bomb = tar(&[(kind, LONGEST + 1, b"")]);
            let said = read(&bomb).unwrap_err();
            assert_eq!(said, "it has a name or pax records longer than the limit of 1 MiB");
        }
        let name = vec![b'n'; 1 << 20];
        let names = tar(&[(b'L', LONGEST, &name), (b'L', 4096, b"")]);
        assert_eq!(
            read(&names),
            Err("its names and pax records exceed the limit of 1 MiB".to_owned())
        );
        let twice = tar(&[(b'L', 3, b"a/b"), (b'x', 12, b"12 path=b/a\n"), (b'0', 0, b"")]);
        assert_eq!(read(&twice), Err("a member has two long names".to_owned()));
        let global = tar(&[(b'g', 9, b"9 path=a\n"), (b'0', 0, b"")]);
        let all = "its global pax records give all members the same name or size";
        assert_eq!(read(&global), Err(all.to_owned()));
        let between =
            tar(&[(b'x', 9, b"9 path=a\n"), (b'g', 13, b"13 comment=a\n"), (b'0', 0, b"")]);
        let said = "it has global pax records between a member and its name";
        assert_eq!(read(&between), Err(said.to_owned()));
        let negative = tar(&[(b'x', 11, b"11 size=-1\n"), (b'0', 0, b"")]);
        assert_eq!(read(&negative), Err("its pax size is `-1`".to_owned()));
    }
}
