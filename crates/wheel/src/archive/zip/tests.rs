use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use super::*;
use crate::archive::checksum::Checksum;
use crate::archive::deflate::{Encoder, Level, deflate};

fn path(text: &str) -> RelPath {
    text.parse().unwrap()
}

fn writer() -> ZipWriter<Cursor<Vec<u8>>> {
    ZipWriter::new(Cursor::default(), Timestamp::EARLIEST)
}

fn put(zip: &mut ZipWriter<Cursor<Vec<u8>>>, name: &str, data: &[u8]) -> Result<(), ZipError> {
    zip.entry(
        &path(name),
        false,
        Method::Store,
        data.len() as u64,
        Checksum::of(data).value(),
        data,
    )
}

/// Keeps short writes (headers) and reads as zeros otherwise.
#[derive(Debug, Default)]
struct Sparse {
    kept: BTreeMap<u64, Vec<u8>>,
    position: u64,
    length: u64,
}

impl Write for Sparse {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() < 4096 {
            self.kept.insert(self.position, bytes.to_vec());
        }
        self.position += bytes.len() as u64;
        self.length = self.length.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Sparse {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted =
            usize::try_from(self.length - self.position).unwrap_or(usize::MAX).min(out.len());
        let out = &mut out[..wanted];
        out.fill(0);
        let end = self.position + wanted as u64;
        for (start, bytes) in self.kept.range(self.position.saturating_sub(4096)..end) {
            for (at, byte) in
                (*start..).zip(bytes).filter(|(at, _)| (self.position..end).contains(at))
            {
                out[usize::try_from(at - self.position).unwrap()] = *byte;
            }
        }
        self.position = end;
        Ok(wanted)
    }
}

impl Seek for Sparse {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(by) => {
                self.length.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?
            }
            SeekFrom::Current(by) => {
                self.position.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?
            }
        };
        Ok(self.position)
    }
}

#[test]
fn whole_and_streamed_members_read_back() {
    let data = b"words and words and words ".repeat(10_000);
    let crc = Checksum::of(&data).value();
    let mut zip = writer();
    zip.entry(
        &path("a/whole"),
        false,
        Method::Deflate,
        data.len() as u64,
        crc,
        &deflate(&data, Level::Default),
    )
    .unwrap();
    let mut entry =
        zip.start(&path("a/streamed ü"), true, Method::Deflate, data.len() as u64).unwrap();
    let (head, tail) = data.split_at(100_000);
    zip.append(&mut entry, &Encoder::new(Level::Default).block(head, false)).unwrap();
    zip.append(&mut entry, &Encoder::new(Level::Default).block(tail, true)).unwrap();
    zip.end(entry, crc).unwrap();
    put(&mut zip, "empty", b"").unwrap();

    let mut archive = ::zip::ZipArchive::new(zip.finish().unwrap()).unwrap();
    let expected = [
        ("a/whole", 0o100_644, &data[..]),
        ("a/streamed ü", 0o100_755, &data),
        ("empty", 0o100_644, b""),
    ];
    assert_eq!(archive.len(), 3);
    for (i, (name, mode, content)) in expected.into_iter().enumerate() {
        let mut member = archive.by_index(i).unwrap();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).unwrap();
        assert_eq!((member.name(), member.unix_mode()), (name, Some(mode)));
        assert!(bytes == content, "{name}");
        assert_eq!(member.last_modified().unwrap().to_string(), "1980-01-01 00:00:00");
    }
}

#[test]
fn a_streamed_member_gives_the_bytes_of_a_whole_one() {
    let bytes = |streamed: bool| {
        let mut zip = writer();
        let crc = Checksum::of(b"same").value();
        if streamed {
            let mut entry = zip.start(&path("m"), false, Method::Store, 4).unwrap();
            zip.append(&mut entry, b"same").unwrap();
            zip.end(entry, crc).unwrap();
        } else {
            zip.entry(&path("m"), false, Method::Store, 4, crc, b"same").unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    assert_eq!(bytes(true), bytes(false));
}

#[test]
fn writes_only_members_and_the_central_directory() {
    let mut zip = writer();
    put(&mut zip, "ab", b"xyz").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    // Local header and name, content, directory entry and name, end record.
    assert_eq!(bytes.len(), 30 + 2 + 3 + 46 + 2 + 22);
    let flags = u16::from_le_bytes([bytes[6], bytes[7]]);
    assert_eq!(flags, 0, "no data descriptor, not encrypted, ASCII name");
}

#[test]
fn refuses_a_second_member_of_a_name() {
    let mut zip = writer();
    put(&mut zip, "a", b"1").unwrap();
    let error = put(&mut zip, "a", b"2").unwrap_err();
    assert_eq!(error.to_string(), "the archive already has a member `a`");
    put(&mut zip, "b", b"3").unwrap();
    let archive = ::zip::ZipArchive::new(zip.finish().unwrap()).unwrap();
    assert_eq!(archive.file_names().collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn an_archive_with_an_unfinished_member_cannot_be_finished() {
    let mut zip = writer();
    drop(zip.start(&path("a"), false, Method::Store, 3).unwrap());
    assert!(matches!(put(&mut zip, "b", b""), Err(ZipError::Torn { .. })));
    assert!(matches!(zip.finish(), Err(ZipError::Torn { name }) if name.as_str() == "a"));
}

#[test]
fn refuses_a_stored_member_with_another_size() {
    let mut zip = writer();
    let mut entry = zip.start(&path("a"), false, Method::Store, 3).unwrap();
    zip.append(&mut entry, b"ab").unwrap();
    assert_eq!(
        zip.end(entry, 0).unwrap_err().to_string(),
        "`a` has 2 bytes instead of the announced 3"
    );
    assert!(matches!(zip.finish(), Err(ZipError::Torn { .. })));
}

#[test]
fn refuses_a_name_longer_than_65_535_bytes() {
    let error = put(&mut writer(), &"n".repeat(65_536), b"").unwrap_err();
    assert!(matches!(error, ZipError::NameTooLong { length: 65_536 }));
    put(&mut writer(), &"n".repeat(65_535), b"").unwrap();
}

#[test]
fn writes_zip64_from_65_535_members_on() {
    for count in [65_534, 65_535, 65_536, 70_000] {
        let mut zip = writer();
        for i in 0..count {
            put(&mut zip, &format!("{i}"), b"").unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        let zip64 = bytes.windows(4).any(|w| w == 0x0606_4b50_u32.to_le_bytes());
        assert_eq!(zip64, count >= 65_535, "{count}");
        let archive = ::zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(archive.len(), count);
        assert_eq!(archive.name_for_index(count - 1), Some(format!("{}", count - 1).as_str()));
    }
}

fn put_zeros(zip: &mut ZipWriter<Sparse>, name: &str, size: u64) {
    let zeros = vec![0; 16 << 20];
    let mut entry = zip.start(&path(name), false, Method::Store, size).unwrap();
    let mut left = size;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
        zip.append(&mut entry, &zeros[..part]).unwrap();
        left -= part as u64;
    }
    zip.end(entry, 0xdead_beef).unwrap();
}

#[test]
fn members_and_archives_may_exceed_4_gib() {
    let sizes = [(1 << 32) + 5, u64::from(u32::MAX), u64::from(u32::MAX) - 1, 3];
    let mut zip = ZipWriter::new(Sparse::default(), Timestamp::EARLIEST);
    for (i, size) in sizes.into_iter().enumerate() {
        put_zeros(&mut zip, &format!("m{i}"), size);
    }
    let sink = zip.finish().unwrap();
    let local: Vec<Vec<u8>> =
        sink.kept.values().filter(|b| b.starts_with(b"PK\x03\x04")).cloned().collect();
    let mut archive = ::zip::ZipArchive::new(sink).unwrap();
    assert_eq!(local.len(), sizes.len());
    for (i, size) in sizes.into_iter().enumerate() {
        let member = archive.by_index_raw(i).unwrap();
        assert_eq!(
            (member.size(), member.compressed_size(), member.crc32()),
            (size, size, 0xdead_beef)
        );
        drop(member);
        check_local(&local[i], size);
    }
}

fn check_local(header: &[u8], size: u64) {
    let u32_at = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
    // A local header has the CRC at 14, the compressed size at 18 and the size at 22.
    assert_eq!(u32_at(14), 0xdead_beef);
    if size < u64::from(u32::MAX) {
        assert_eq!((u64::from(u32_at(18)), u64::from(u32_at(22)), header.len()), (size, size, 32));
    } else {
        assert_eq!((u32_at(18), u32_at(22), header.len()), (u32::MAX, u32::MAX, 32 + 20));
        // Extra field of zip64: number 1, 16 bytes.
        assert_eq!(&header[32..36], [1, 0, 16, 0]);
        assert_eq!((u64_at(36), u64_at(44)), (size, size));
    }
}

#[test]
fn possible_growth_beyond_32_bits_gets_zip64_in_the_local_header() {
    let mut zip = ZipWriter::new(Sparse::default(), Timestamp::EARLIEST);
    for (name, size) in [("might", u64::from(u32::MAX) - 4096), ("cannot", 1 << 31)] {
        let mut entry = zip.start(&path(name), false, Method::Deflate, size).unwrap();
        zip.append(&mut entry, b"1234567").unwrap();
        zip.end(entry, 1).unwrap();
    }
    let sink = zip.finish().unwrap();
    let lengths: Vec<usize> =
        sink.kept.values().filter(|b| b.starts_with(b"PK\x03\x04")).map(Vec::len).collect();
    assert_eq!(lengths, [30 + 5 + 20, 30 + 6]);
    let mut archive = ::zip::ZipArchive::new(sink).unwrap();
    assert_eq!(archive.by_index_raw(0).unwrap().compressed_size(), 7);
}

#[test]
fn complete_bytes_do_not_change() {
    let mut zip = writer();
    let mut seen = Vec::new();
    let mut complete_len = |zip: &ZipWriter<Cursor<Vec<u8>>>| {
        let complete = &zip.sink().get_ref()[..usize::try_from(zip.complete()).unwrap()];
        assert!(complete.starts_with(&seen));
        seen = complete.to_vec();
        seen.len()
    };
    assert_eq!(complete_len(&zip), 0);
    put(&mut zip, "a", b"first").unwrap();
    let first = complete_len(&zip);
    assert_eq!(first as u64, zip.position());
    let mut open = zip.start(&path("b"), false, Method::Store, 6).unwrap();
    zip.append(&mut open, b"second").unwrap();
    assert_eq!(complete_len(&zip), first, "its header is not complete");
    zip.end(open, Checksum::of(b"second").value()).unwrap();
    assert_eq!(complete_len(&zip) as u64, zip.position());
}
