//! A tar archive on its way to a reader, which is spared what no package has.
//!
//! Readers keep long names and pax records in memory, however long they are, and list every member.
//! Both are bounded here, where the headers pass by, so that a small compressed archive cannot ask
//! for memory without end. Sizes in pax records are held to what they are: readers in other
//! languages take a negative one for a place to jump to.

use std::io::{self, ErrorKind, Read};

/// The archive's bytes, with its headers looked at.
#[derive(Debug)]
pub struct TarStream<R> {
    source: R,
    most_members: usize,
    members: usize,
    /// Bytes of long names and pax records so far.
    names: u64,
    place: Upcoming,
    /// The size that pax records give the next member.
    size: Option<u64>,
}

/// What the next bytes are.
#[derive(Debug)]
enum Upcoming {
    /// A header, as far as it was read.
    Header(Vec<u8>),
    /// Pax records: as far as they were read, how many bytes are missing, how many fill the block, and
    /// whether they are for the next member alone.
    Records(Vec<u8>, u64, u64, bool),
    /// Bytes of a member, so many.
    Content(u64),
    /// What follows the archive.
    End,
}

const BLOCK: u64 = 512;
/// No name and no pax records are longer.
const LONGEST: u64 = 1 << 20;
/// Names and pax records are no longer than this for each member, all together: readers hold them.
const USUAL: u64 = 512;

impl<R: Read> TarStream<R> {
    /// An archive with at most so many members.
    pub fn new(source: R, most_members: usize) -> Self {
        Self {
            source,
            most_members,
            members: 0,
            names: 0,
            place: Upcoming::Header(Vec::new()),
            size: None,
        }
    }

    /// What the bytes come from.
    pub fn into_inner(self) -> R {
        self.source
    }

    /// Looks at bytes that pass by, part by part.
    fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let wanted = match &self.place {
                Upcoming::Header(head) => BLOCK - head.len() as u64,
                Upcoming::Records(_, missing, fill, _) => missing + fill,
                Upcoming::Content(left) => *left,
                Upcoming::End => return Ok(()),
            };
            let count = usize::try_from(wanted).unwrap_or(usize::MAX).min(bytes.len());
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
                    self.place = self.after(&head)?;
                }
            }
            Upcoming::Records(records, missing, fill, local) => {
                let own = usize::try_from(*missing).unwrap_or(usize::MAX).min(part.len());
                records.extend(&part[..own]);
                *missing -= own as u64;
                *fill -= (part.len() - own) as u64;
                if *missing + *fill == 0 {
                    self.size = size(records)?.filter(|_| *local);
                    self.place = Upcoming::Header(Vec::new());
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

    /// What follows a header.
    fn after(&mut self, head: &[u8]) -> io::Result<Upcoming> {
        let header = tar::Header::from_byte_slice(head);
        if head.iter().all(|byte| *byte == 0) {
            return Ok(Upcoming::End);
        }
        let kind = header.entry_type();
        if kind.is_gnu_longname() || kind.is_gnu_longlink() {
            return Ok(content(self.extension(header)?));
        }
        if kind.is_pax_local_extensions() || kind.is_pax_global_extensions() {
            let (size, all) = (header.entry_size()?, self.extension(header)?);
            let fill = all - size;
            return Ok(Upcoming::Records(Vec::new(), size, fill, kind.is_pax_local_extensions()));
        }
        if kind.is_gnu_sparse() {
            return Err(broken("it has a sparse file".to_owned()));
        }
        self.members += 1;
        if self.members > self.most_members {
            return Err(broken(format!("it has more than {} members", self.most_members)));
        }
        let size = self.size.take().map_or_else(|| header.entry_size(), Ok)?;
        Ok(content(padded(size)?))
    }

    /// How many bytes a long name or pax records have, with what fills the last block.
    fn extension(&mut self, header: &tar::Header) -> io::Result<u64> {
        let size = header.entry_size()?;
        self.names = self.names.saturating_add(size);
        if size == 0 {
            return Err(broken("it has an empty name or no pax records in their place".to_owned()));
        }
        if size > LONGEST {
            return Err(broken("it has a name or pax records longer than 1 MiB".to_owned()));
        }
        let most = LONGEST + self.most_members as u64 * USUAL;
        if self.names > most {
            let most = most >> 20;
            return Err(broken(format!(
                "its names and pax records are longer than {most} MiB in all"
            )));
        }
        padded(size)
    }
}

impl<R: Read> Read for TarStream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(out)?;
        self.pass(&out[..count])?;
        Ok(count)
    }
}

fn broken(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

fn content(bytes: u64) -> Upcoming {
    if bytes == 0 { Upcoming::Header(Vec::new()) } else { Upcoming::Content(bytes) }
}

/// The size with what fills the last block.
fn padded(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(BLOCK)
        .ok_or_else(|| broken("it has a member longer than any file".to_owned()))
}

/// The size in pax records, if they have one: readers differ in which of several they take.
fn size(records: &[u8]) -> io::Result<Option<u64>> {
    let mut size = None;
    for record in tar::PaxExtensions::new(records) {
        let record = record?;
        if record.key_bytes() == b"size" {
            let text = String::from_utf8_lossy(record.value_bytes());
            let number = text.parse().map_err(|_| broken(format!("its pax size is `{text}`")))?;
            if size.replace(number).is_some_and(|other| other != number) {
                return Err(broken("its pax records have two sizes".to_owned()));
            }
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of these headers: type, told size and content.
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

    /// What a reader of these bytes says, however few it is given at once.
    fn read(bytes: &[u8]) -> Result<usize, String> {
        let mut results = Vec::new();
        for step in [1, 511, 512, 4096] {
            let mut stream = TarStream::new(bytes, 2);
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
        let bytes = tar(&[(b'L', 700, &long), (b'0', 3, b"abc"), (b'g', 12, b"12 size=513\n")]);
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
            assert_eq!(said, "it has a name or pax records longer than 1 MiB");
        }
        let name = vec![b'n'; 1 << 20];
        let names = tar(&[(b'L', LONGEST, &name), (b'L', 4096, b"")]);
        assert_eq!(
            read(&names),
            Err("its names and pax records are longer than 1 MiB in all".to_owned())
        );
        let negative = tar(&[(b'x', 11, b"11 size=-1\n"), (b'0', 0, b"")]);
        assert_eq!(read(&negative), Err("its pax size is `-1`".to_owned()));
    }
}
