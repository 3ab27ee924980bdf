//! Random access to compressed streams: zstd frames with a table ([`super::seekable`]), and xz with
//! several blocks ([`xz_index`]).

use std::io::{self, Read, Seek, SeekFrom};

use super::layout::Storage;
use super::seekable::{CHECKSUM_KIND, CHECKSUMS, MOST_FRAMES, SEEKABLE, SKIPPABLE};
use super::xz_index;
use base::hash::Sha256;
use binary::ReadAt;

/// Limit of a frame in bytes, packed and unpacked, because a frame is decoded in memory.
const LARGEST_FRAME: u64 = 64 << 20;
/// Size of the last fields of the table: number of frames, descriptor and magic number.
const FOOTER: u64 = 9;
/// Size of the header of a skippable frame: magic number and size.
const HEADER: u64 = 8;
/// Bytes that one request reads from the end: checksums and table of 1,600 frames.
const BUFFERED_END: u64 = 64 << 10;

/// Zstd frame or xz block, packed (without padding) and unpacked.
#[derive(Debug, Clone, Copy)]
struct Frame {
    packed_at: u64,
    packed: u64,
    start: u64,
    len: u64,
    sha256: Option<Sha256>,
}

#[derive(Debug)]
pub(super) struct SeekTable {
    codec: Codec,
    frames: Vec<Frame>,
    len: u64,
}

#[derive(Debug)]
enum Codec {
    Zstd,
    /// The stream's header declares the check type of blocks.
    Xz([u8; 12]),
}

impl Codec {
    /// Alignment of packed frames: xz pads its blocks to a multiple of four bytes.
    fn alignment(&self) -> usize {
        match self {
            Self::Zstd => 1,
            Self::Xz(_) => 4,
        }
    }
}

impl SeekTable {
    /// Reads the table; `None` if it is missing or inconsistent.
    pub(super) fn read(stream: &dyn ReadAt, storage: Storage) -> io::Result<Option<Self>> {
        match storage {
            Storage::Zstd => Self::read_zstd(stream),
            Storage::Xz => Self::read_xz(stream),
            Storage::Directory => Ok(None),
        }
    }

    /// Reads the table and the checksums of all frames; `None` if the end of the stream, which has both,
    /// has another checksum than `sum_of_end`.
    pub(super) fn read_verified(
        stream: &dyn ReadAt,
        sum_of_end: &Sha256,
    ) -> io::Result<Option<Self>> {
        let stream = BufferedEnd::read(stream)?;
        let Some(mut table) = Self::read_zstd(&stream)? else { return Ok(None) };
        let Some((checksums, frames)) = table.frames.split_last_mut() else { return Ok(None) };
        let size =
            usize::try_from(stream.len()? - checksums.packed_at).map_err(io::Error::other)?;
        let mut end = vec![0; size];
        stream.read_exact_at(checksums.packed_at, &mut end)?;
        if Sha256::of(&end) != *sum_of_end {
            return Ok(None);
        }
        let packed = usize::try_from(checksums.packed).unwrap_or(usize::MAX);
        let content = end.get(8..packed).filter(|_| word(&end, 0) == CHECKSUMS);
        let sums = content.and_then(|content| content.strip_prefix(&CHECKSUM_KIND));
        let (sums, []) = sums.unwrap_or_default().as_chunks::<32>() else { return Ok(None) };
        if sums.len() != frames.len() {
            return Ok(None);
        }
        frames.iter_mut().zip(sums).for_each(|(frame, sum)| frame.sha256 = Some((*sum).into()));
        Ok(Some(table))
    }

    fn read_xz(stream: &dyn ReadAt) -> io::Result<Option<Self>> {
        let Some(blocks) = xz_index::blocks(stream)? else { return Ok(None) };
        // A single block must be decoded from its begin anyway.
        if blocks.len() < 2 {
            return Ok(None);
        }
        let mut header = [0; 12];
        stream.read_exact_at(0, &mut header)?;
        Ok(Self::new(Codec::Xz(header), xz_index::HEADER, blocks))
    }

    fn read_zstd(stream: &dyn ReadAt) -> io::Result<Option<Self>> {
        let end = stream.len()?;
        let Some(footer_at) = end.checked_sub(FOOTER) else { return Ok(None) };
        let mut footer = [0; 9];
        stream.read_exact_at(footer_at, &mut footer)?;
        let count = word(&footer, 0);
        let (descriptor, has_checksums) = (footer[4], footer[4] & 0x80 != 0);
        if word(&footer, 5) != SEEKABLE || descriptor & 0x7c != 0 || count as usize > MOST_FRAMES {
            return Ok(None);
        }
        let row = if has_checksums { 12 } else { 8 };
        let size = u64::from(count) * row + FOOTER;
        let Some(start) = end.checked_sub(size + HEADER) else { return Ok(None) };
        let mut header = [0; 8];
        stream.read_exact_at(start, &mut header)?;
        if word(&header, 0) != SKIPPABLE || u64::from(word(&header, 4)) != size {
            return Ok(None);
        }
        let row = usize::try_from(row).unwrap_or_default();
        let mut rows = vec![0; count as usize * row];
        stream.read_exact_at(start + HEADER, &mut rows)?;
        let sizes = rows.chunks_exact(row).map(|row| (word(row, 0).into(), word(row, 4).into()));
        let table = Self::new(Codec::Zstd, 0, sizes);
        // Bytes that belong to no frame would be skipped unread.
        Ok(table.filter(|table| table.packed_end() == start))
    }

    fn new(codec: Codec, begin: u64, sizes: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        let (mut frames, mut packed_at, mut start) = (Vec::new(), begin, 0);
        for (packed, len) in sizes {
            if packed > LARGEST_FRAME || len > LARGEST_FRAME {
                return None;
            }
            frames.push(Frame { packed_at, packed, start, len, sha256: None });
            packed_at += packed.next_multiple_of(codec.alignment() as u64);
            start += len;
        }
        Some(Self { codec, frames, len: start })
    }

    fn packed_end(&self) -> u64 {
        self.frames.last().map_or(0, |frame| frame.packed_at + frame.packed)
    }

    /// Index of the frame with the byte at `position` of the content; `None` at the end.
    fn find(&self, position: u64) -> Option<usize> {
        let after = self.frames.partition_point(|frame| frame.start <= position);
        let index = after.checked_sub(1)?;
        let frame = self.frames[index];
        (position < frame.start + frame.len).then_some(index)
    }
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    bytes
        .get(offset..offset + 4)
        .and_then(|four| four.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

/// A stream with its end in memory, so that several reads of it are one request.
struct BufferedEnd<'s> {
    stream: &'s dyn ReadAt,
    from: u64,
    bytes: Vec<u8>,
}

impl<'s> BufferedEnd<'s> {
    fn read(stream: &'s dyn ReadAt) -> io::Result<Self> {
        let len = stream.len()?;
        let count = len.min(BUFFERED_END);
        let (from, mut bytes) = (len - count, vec![0; usize::try_from(count).unwrap_or_default()]);
        stream.read_exact_at(from, &mut bytes)?;
        Ok(Self { stream, from, bytes })
    }
}

impl ReadAt for BufferedEnd<'_> {
    fn len(&self) -> io::Result<u64> {
        self.stream.len()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match offset.checked_sub(self.from) {
            Some(offset) => self.bytes.read_exact_at(offset, buf),
            None => self.stream.read_exact_at(offset, buf),
        }
    }
}

/// Reader of the unpacked content. Decodes only the frames of read positions, one at a time.
pub(super) struct SeekableReader<'s> {
    stream: &'s dyn ReadAt,
    table: SeekTable,
    position: u64,
    frame: Option<usize>,
    bytes: Vec<u8>,
    has_wrong_checksum: bool,
}

impl<'s> SeekableReader<'s> {
    pub(super) fn new(stream: &'s dyn ReadAt, table: SeekTable) -> Self {
        Self {
            stream,
            table,
            position: 0,
            frame: None,
            bytes: Vec::new(),
            has_wrong_checksum: false,
        }
    }

    /// True if the reader failed because of a frame with another checksum than in the verified end.
    pub(super) fn has_wrong_checksum(&self) -> bool {
        self.has_wrong_checksum
    }

    fn load(&mut self, index: usize) -> io::Result<()> {
        let frame = self.table.frames[index];
        let [packed, len] =
            [frame.packed, frame.len].map(|size| usize::try_from(size).unwrap_or(0));
        let mut packed = vec![0; packed.next_multiple_of(self.table.codec.alignment())];
        self.stream.read_exact_at(frame.packed_at, &mut packed)?;
        if frame.sha256.is_some_and(|sum| sum != Sha256::of(&packed)) {
            self.has_wrong_checksum = true;
            let message = format!("the checksum of frame {index} differs from the table of frames");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.frame = None;
        self.bytes = match &self.table.codec {
            Codec::Zstd => zstd::bulk::decompress(&packed, len)?,
            Codec::Xz(header) => xz_index::decode(header, &packed, frame.packed, len)?,
        };
        if self.bytes.len() != len {
            let message = "the size of a frame differs from the table of frames";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.frame = Some(index);
        Ok(())
    }
}

impl Read for SeekableReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Some(index) = self.table.find(self.position) else { return Ok(0) };
        if out.is_empty() {
            return Ok(0);
        }
        if self.frame != Some(index) {
            self.load(index)?;
        }
        let start = usize::try_from(self.position - self.table.frames[index].start);
        let rest = &self.bytes[start.unwrap_or(usize::MAX).min(self.bytes.len())..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for SeekableReader<'_> {
    fn seek(&mut self, target: SeekFrom) -> io::Result<u64> {
        let position = match target {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(distance) => self.position.checked_add_signed(distance),
            SeekFrom::End(distance) => self.table.len.checked_add_signed(distance),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Write;

    use super::super::seekable::{FRAME, SeekableWriter};
    use super::*;

    fn packed(content: &[u8]) -> Vec<u8> {
        let mut writer = SeekableWriter::new(Vec::new(), 1);
        writer.write_all(content).unwrap();
        writer.finish().unwrap().0
    }

    struct Counted(Vec<u8>, Cell<usize>);

    impl ReadAt for Counted {
        fn len(&self) -> io::Result<u64> {
            ReadAt::len(&self.0)
        }

        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
            self.1.set(self.1.get() + buf.len());
            self.0.read_exact_at(offset, buf)
        }
    }

    #[test]
    fn seeks_without_reading_frames_between() {
        let mut random = 1_u32;
        let content: Vec<u8> = (0..4 * FRAME)
            .map(|_| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 24) as u8
            })
            .collect();
        let stream = Counted(packed(&content), Cell::new(0));
        let table = SeekTable::read(&stream, Storage::Zstd).unwrap().unwrap();
        let mut reader = SeekableReader::new(&stream, table);
        let mut bytes = [0; 9];
        for offset in [3 * FRAME + 5, 5, FRAME - 4] {
            reader.seek(SeekFrom::Start(offset as u64)).unwrap();
            reader.read_exact(&mut bytes).unwrap();
            assert_eq!(bytes, content[offset..offset + 9]);
        }
        assert!(stream.1.get() < 3 * FRAME + FRAME / 2, "three frames of four");
        reader.seek(SeekFrom::End(-3)).unwrap();
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, content[content.len() - 3..]);
    }

    #[test]
    fn trusts_frames_by_the_checksum_of_the_end() {
        let content: Vec<u8> = (0..FRAME + 999).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut writer = SeekableWriter::new(Vec::new(), 1);
        writer.write_all(&content).unwrap();
        let (good, sum_of_end) = writer.finish().unwrap();
        let read = |stream: &Vec<u8>| {
            let table = SeekTable::read_verified(stream, &sum_of_end).unwrap()?;
            let mut reader = SeekableReader::new(stream, table);
            let mut out = Vec::new();
            let is_read = reader.read_to_end(&mut out).is_ok();
            assert_ne!(is_read, reader.has_wrong_checksum(), "no other cause of a failure");
            Some(out)
        };
        assert_eq!(read(&good).unwrap(), content);
        let table = SeekTable::read_verified(&good, &sum_of_end).unwrap().unwrap();
        let end = usize::try_from(table.frames[2].packed_at).unwrap();
        for index in end..good.len() {
            let mut damaged = good.clone();
            damaged[index] ^= 4;
            assert!(read(&damaged).is_none(), "{index}");
        }
        for index in [0, end / 2, end - 1] {
            let mut damaged = good.clone();
            damaged[index] ^= 4;
            assert!(read(&damaged).unwrap().len() < content.len(), "{index}");
        }
        for cut in [0, 1, 9, end, good.len() - 1] {
            assert!(read(&good[..cut].to_vec()).is_none(), "{cut}");
        }
    }

    #[test]
    fn refuses_an_end_with_other_checksums() {
        let good = packed(b"abc");
        let table = SeekTable::read(&good, Storage::Zstd).unwrap().unwrap();
        let end = usize::try_from(table.frames[1].packed_at).unwrap();
        let is_accepted = |change: &dyn Fn(&mut [u8])| {
            let mut changed = good.clone();
            change(&mut changed[end..]);
            let sum = Sha256::of(&changed[end..]);
            SeekTable::read_verified(&changed, &sum).unwrap().is_some()
        };
        assert!(is_accepted(&|_| ()));
        assert!(
            is_accepted(&|bytes| bytes[16] ^= 1),
            "only the reader compares the checksums with frames"
        );
        assert!(!is_accepted(&|bytes| bytes[0] ^= 1), "another frame");
        assert!(!is_accepted(&|bytes| bytes[8] ^= 1), "another kind of checksums");
        let plain = zstd::bulk::compress(b"abc", 1).unwrap();
        assert!(SeekTable::read_verified(&plain, &Sha256::of(&plain)).unwrap().is_none());
    }

    #[test]
    fn seeks_in_blocks_of_xz() {
        let content: Vec<u8> =
            (0..40_000_u32).map(|n| (n.wrapping_mul(n) >> 9).to_le_bytes()[0]).collect();
        let pack = |block| {
            let mut builder = liblzma::stream::MtStreamBuilder::new();
            builder.threads(1).block_size(block).preset(0);
            let encoder = builder.encoder().unwrap();
            let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), encoder);
            encoder.write_all(&content).unwrap();
            encoder.finish().unwrap()
        };
        let stream = Counted(pack(10_000), Cell::new(0));
        let table = SeekTable::read(&stream, Storage::Xz).unwrap().unwrap();
        let mut reader = SeekableReader::new(&stream, table);
        let mut bytes = [0; 9];
        for offset in [30_005, 5, 9_996] {
            reader.seek(SeekFrom::Start(offset)).unwrap();
            reader.read_exact(&mut bytes).unwrap();
            let offset = usize::try_from(offset).unwrap();
            assert_eq!(bytes, content[offset..offset + 9]);
        }
        assert!(stream.1.get() < stream.0.len(), "three blocks of four");
        assert!(SeekTable::read(&pack(100_000), Storage::Xz).unwrap().is_none(), "one block");
    }

    #[test]
    fn reads_no_table_from_damaged_streams() {
        let good = packed(b"abc");
        assert!(SeekTable::read(&good, Storage::Zstd).unwrap().is_some());
        assert!(SeekTable::read(&packed(b""), Storage::Zstd).unwrap().is_some());
        assert!(
            SeekTable::read(&zstd::encode_all(&b"abc"[..], 1).unwrap(), Storage::Zstd)
                .unwrap()
                .is_none()
        );
        for cut in 0..good.len() {
            assert!(
                SeekTable::read(&good[..cut].to_vec(), Storage::Zstd).unwrap().is_none(),
                "{cut}"
            );
        }
        let end = good.len();
        for index in [end - 9, end - 5, end - 1, end - 33, end - 29, end - 25] {
            let mut damaged = good.clone();
            damaged[index] ^= 0x40;
            assert!(SeekTable::read(&damaged, Storage::Zstd).unwrap().is_none(), "{index}");
        }
        // Only decoding shows a wrong unpacked size.
        let mut damaged = good.clone();
        damaged[end - 21] ^= 1;
        let table = SeekTable::read(&damaged, Storage::Zstd).unwrap().unwrap();
        let error = SeekableReader::new(&damaged, table).read(&mut [0; 9]).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}
