use std::io::{self, Read, Write};

use base::partial::PartialFile;
use fs_err::File;

use super::directory::Directory;
use super::read::PackedBytes;
use super::store::PIECE;
use super::table::{Row, Table};
use wheel::archive::checksum::Checksum;

const BUFFER: usize = 256 << 10;

/// Copier of streams into new segments, which dropping removes before [`Directory::publish`]. Skips
/// streams on a full disk or over the budget.
#[derive(Debug)]
pub(super) struct Writer {
    directory: Directory,
    cap: u64,
    budget: u64,
    growing: Option<Growing>,
    sealed: Vec<Sealed>,
    stopped: Option<StopReason>,
    piece: Vec<u8>,
}

#[derive(Debug)]
enum StopReason {
    Full,
    Failed(io::Error),
}

enum NotCopied {
    Damaged,
    Failed(io::Error),
}

#[derive(Debug)]
pub(super) struct Sealed {
    pub file: PartialFile,
    pub table: Table,
}

#[derive(Debug, Default)]
pub(super) struct WriterEnd {
    pub sealed: Vec<Sealed>,
    pub trouble: Option<io::Error>,
}

impl Writer {
    pub fn new(directory: Directory, cap: u64, budget: u64) -> Self {
        Self {
            directory,
            cap,
            budget,
            growing: None,
            sealed: Vec::new(),
            stopped: None,
            piece: Vec::new(),
        }
    }

    /// Skips a stream with a wrong checksum.
    pub fn copy(&mut self, file: &File, row: &Row) {
        if self.stopped.is_some() {
            return;
        }
        // A smaller stream may fit, but then the cached ones would depend on order.
        let Some(budget) = self.budget.checked_sub(row.packed_len) else {
            self.stopped = Some(StopReason::Full);
            return;
        };
        match self.append(file, row) {
            Ok(()) => self.budget = budget,
            Err(NotCopied::Damaged) => {}
            // The disk may be full.
            Err(NotCopied::Failed(error)) => self.fail(error),
        }
    }

    fn append(&mut self, file: &File, row: &Row) -> Result<(), NotCopied> {
        let mut piece = std::mem::take(&mut self.piece);
        piece.resize(PIECE, 0);
        let growing = self.grow().map_err(NotCopied::Failed)?;
        let appended = growing.append(file, row, &mut piece);
        self.piece = piece;
        appended
    }

    fn grow(&mut self) -> io::Result<&mut Growing> {
        if self.growing.as_ref().is_some_and(|growing| growing.length() >= self.cap) {
            self.seal()?;
        }
        let growing =
            self.growing.take().map_or_else(|| self.directory.temporary().map(Growing::new), Ok)?;
        Ok(self.growing.insert(growing))
    }

    fn seal(&mut self) -> io::Result<()> {
        let sealed = self.growing.take().map(Growing::seal).transpose()?;
        self.sealed.extend(sealed.filter(|sealed| !sealed.table.rows.is_empty()));
        Ok(())
    }

    fn fail(&mut self, error: io::Error) {
        self.growing = None;
        self.sealed.clear();
        self.stopped = Some(StopReason::Failed(error));
    }

    pub(crate) fn finish(mut self) -> WriterEnd {
        if let Err(error) = self.seal() {
            self.fail(error);
        }
        let trouble = match self.stopped {
            Some(StopReason::Failed(error)) => Some(error),
            Some(StopReason::Full) | None => None,
        };
        WriterEnd { sealed: self.sealed, trouble }
    }
}

#[derive(Debug)]
struct Growing {
    file: PartialFile,
    rows: Vec<Row>,
    flushed: u64,
    buffer: Vec<u8>,
}

impl Growing {
    fn new(file: PartialFile) -> Self {
        Self { file, rows: Vec::new(), flushed: 0, buffer: Vec::new() }
    }

    fn length(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    fn append(&mut self, file: &File, row: &Row, piece: &mut [u8]) -> Result<(), NotCopied> {
        let (offset, mut crc) = (self.length(), Checksum::default());
        let mut packed = PackedBytes::new(file, row.offset, row.packed_len);
        while let Ok(count @ 1..) = packed.read(piece) {
            crc.update(&piece[..count]);
            self.write(&piece[..count]).map_err(NotCopied::Failed)?;
        }
        if !packed.is_at_end() || crc.value() != row.packed_crc {
            self.truncate(offset).map_err(NotCopied::Failed)?;
            return Err(NotCopied::Damaged);
        }
        self.rows.push(Row { offset, ..row.clone() });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() > BUFFER {
            self.file.write_all(bytes)?;
            self.flushed += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if let Some(buffered) = length.checked_sub(self.flushed) {
            self.buffer.truncate(usize::try_from(buffered).unwrap_or(usize::MAX));
            return Ok(());
        }
        self.buffer.clear();
        self.flushed = length;
        self.file.as_file().set_len(length)?;
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(length)).map(|_| ())
    }

    fn seal(mut self) -> io::Result<Sealed> {
        self.flush()?;
        let table = Table { length: self.flushed, rows: self.rows, memos: Vec::new() };
        Ok(Sealed { file: self.file, table })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use wheel::archive::checksum::Digest;
    use wheel::archive::deflate::Method;

    const SIZE: usize = 300;

    fn writer(
        cap: u64,
        budget: u64,
        sizes: &[usize],
    ) -> (tempfile::TempDir, Writer, File, Vec<Row>) {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::below(dir.path());
        directory.create().unwrap();
        let (mut bytes, mut rows) = (b"before".to_vec(), Vec::new());
        for (number, &size) in (1..).zip(sizes) {
            let stream = vec![number; size];
            let (digest, packed_crc) = (Digest::of(&stream), Checksum::of(&stream).value());
            let (packed_len, offset) = (size as u64, bytes.len() as u64);
            rows.push(Row {
                key: key(number),
                digest,
                method: Method::Store,
                packed_len,
                packed_crc,
                offset,
            });
            bytes.extend(stream);
        }
        fs_err::write(dir.path().join("archive"), bytes).unwrap();
        let file = File::open(dir.path().join("archive")).unwrap();
        (dir, Writer::new(directory, cap, budget), file, rows)
    }

    fn key(number: u8) -> Key {
        Key::from([number; 32])
    }

    fn streams(writer: Writer) -> Vec<Vec<(Key, u64)>> {
        let result = writer.finish();
        assert!(result.trouble.is_none(), "{:?}", result.trouble);
        let segment = |sealed: &Sealed| {
            let bytes = fs_err::read(sealed.file.path()).unwrap();
            assert_eq!(bytes.len() as u64, sealed.table.length);
            let row = |row: &Row| {
                let start = usize::try_from(row.offset).unwrap();
                let packed = &bytes[start..start + usize::try_from(row.packed_len).unwrap()];
                assert_eq!(
                    (Digest::of(packed), Checksum::of(packed).value()),
                    (row.digest, row.packed_crc)
                );
                (row.key, row.offset)
            };
            sealed.table.rows.iter().map(row).collect()
        };
        result.sealed.iter().map(segment).collect()
    }

    #[test]
    fn ends_a_segment_after_its_cap() {
        let (_dir, mut writer, file, rows) = writer(500, u64::MAX, &[SIZE; 3]);
        for row in &rows {
            writer.copy(&file, row);
        }
        assert_eq!(streams(writer), [vec![(key(1), 0), (key(2), 300)], vec![(key(3), 0)]]);
    }

    #[test]
    fn discards_damaged_streams() {
        let (_dir, mut writer, file, mut rows) =
            writer(u64::MAX, u64::MAX, &[SIZE, 3 * PIECE, 10, SIZE, 20]);
        rows[1].packed_crc ^= 1;
        rows[2].packed_crc ^= 1;
        rows[4].packed_len += 1;
        for row in &rows {
            writer.copy(&file, row);
        }
        assert_eq!(streams(writer), [vec![(key(1), 0), (key(4), 300)]]);
    }

    #[test]
    fn writes_at_most_the_limit() {
        let (_dir, mut writer, file, rows) = writer(u64::MAX, 1000, &[SIZE, 500, SIZE, 10]);
        for row in &rows {
            writer.copy(&file, row);
        }
        assert_eq!(
            streams(writer),
            [vec![(key(1), 0), (key(2), 300)]],
            "the last would fit and comes too late"
        );
    }
}
