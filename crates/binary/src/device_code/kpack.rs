//! Writer of device code archives (`ROCm/rocm-systems`, `shared/kpack`: `runtime/src/toc_parser.cpp`,
//! `runtime/src/loader.cpp`, `python/rocm_kpack/kpack.py`).
//!
//! - The header has 16 bytes: `KPAK`, version 1 in four bytes, the offset of the table of contents
//!   in eight. Numbers outside the table are little-endian.
//! - With the scheme `zstd-per-kernel`, the number of pieces is at byte 64, followed by the pieces:
//!   each a length and a zstd frame that declares its content size. The table gives offset and size
//!   of this block as `zstd_offset` and `zstd_size`.
//! - The table is the rest of the file. `toc` maps `BINARY#INDEX` to a map from targets to
//!   `ordinal` (index of the piece), `original_size` and `type`.
//! - The runtime opens an archive only if `gfx_arches` lists a target compatible with the GPU: the
//!   GPU's ISA with any subset of the GPU's features (`for_each_compatible_target`). Older runtimes
//!   choose one listed target, the most specific, and look up every bundle under it. Therefore
//!   combinations of targets are listed too, and each bundle is listed for every target that it fits.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::archive::{HEADER, MAGIC, TABLE};
use super::compatible::{closed, most_specific};
use super::packer::Packer;
use base::names::offload::{CODE_OBJECT, FAMILY, TARGETS};

const VERSION: u32 = 1;
/// Offset of the number of pieces.
const PIECES_AT: usize = 64;
/// Compression level of ROCm's build tools (`kpack.py`); levels above 10 are many times slower.
const LEVEL: i32 = 3;

/// Compresses `size` bytes of code to a piece of an archive. Fails if `code` has another size.
pub fn compressed(code: &mut dyn Read, size: u64) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.set_pledged_src_size(Some(size))?;
    io::copy(code, &mut encoder)?;
    encoder.finish()
}

/// Archive under construction.
#[derive(Debug)]
pub struct Archiver<W> {
    out: W,
    group: String,
    /// ISA; the format calls it a family.
    isa: String,
    piece_count: u32,
    /// End of the last piece, where the table will begin.
    end: u64,
    targets: BTreeSet<String>,
    /// Index and unpacked size of each piece, by `BINARY#INDEX` and target.
    table: BTreeMap<String, BTreeMap<String, (u32, u64)>>,
}

impl<W: Write + Seek> Archiver<W> {
    /// Starts an archive on an empty `out`.
    pub fn new(mut out: W, group: &str, isa: &str) -> io::Result<Self> {
        // Placeholder: `finish` writes the header and the number of pieces, when they are known.
        out.write_all(&[0; PIECES_AT + size_of::<u32>()])?;
        Ok(Self {
            out,
            group: group.to_owned(),
            isa: isa.to_owned(),
            piece_count: 0,
            end: (PIECES_AT + size_of::<u32>()) as u64,
            targets: BTreeSet::new(),
            table: BTreeMap::new(),
        })
    }

    /// Adds a bundle's code. `index` counts the bundles of `binary` from 0; `size` is the unpacked
    /// size of `frame`, made by [`compressed`].
    ///
    /// # Errors
    /// If writing fails, the piece exists, or it has 4 GiB or more (its length has four bytes).
    pub fn add(
        &mut self,
        binary: &str,
        index: usize,
        target: &str,
        size: u64,
        frame: &[u8],
    ) -> io::Result<()> {
        let bundle = self.table.entry(format!("{binary}#{index}")).or_default();
        if bundle.insert(target.to_owned(), (self.piece_count, size)).is_some() {
            let message = format!("bundle {index} of {binary} has code for {target} twice");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let length = u32::try_from(frame.len()).map_err(|_| {
            io::Error::other(format!(
                "bundle {index} of {binary}: the code for {target} has {} bytes after \
                 compression; the format allows less than 4 GiB",
                frame.len()
            ))
        })?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(frame)?;
        self.end += frame.len() as u64 + size_of::<u32>() as u64;
        self.piece_count += 1;
        self.targets.insert(target.to_owned());
        Ok(())
    }

    /// Writes table and header, and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&self.contents())?;
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&self.end.to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.seek(SeekFrom::Start(PIECES_AT as u64))?;
        self.out.write_all(&self.piece_count.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn contents(&self) -> Vec<u8> {
        let targets = closed(&self.targets);
        let mut table = Packer::default();
        table.map(8);
        table.text("format_version");
        table.number(VERSION.into());
        for (key, value) in [("group_name", &self.group), (FAMILY, &self.isa)] {
            table.text(key);
            table.text(value);
        }
        table.text(TARGETS);
        table.array(targets.len());
        for target in &targets {
            table.text(target);
        }
        table.text("compression_scheme");
        table.text("zstd-per-kernel");
        let start = PIECES_AT as u64;
        for (key, value) in [("zstd_offset", start), ("zstd_size", self.end - start)] {
            table.text(key);
            table.number(value);
        }
        table.text(TABLE);
        table.map(self.table.len());
        for (bundle, pieces) in &self.table {
            let pieces = targets.iter().map(|target| (target, most_specific(target, pieces)));
            let entries: Vec<_> =
                pieces.filter_map(|(target, piece)| Some((target, piece?))).collect();
            table.text(bundle);
            table.map(entries.len());
            for (target, (piece, size)) in entries {
                table.text(target);
                table.map(3);
                table.text("type");
                table.text(CODE_OBJECT);
                for (key, value) in [("ordinal", u64::from(*piece)), ("original_size", *size)] {
                    table.text(key);
                    table.number(value);
                }
            }
        }
        table.finish()
    }
}

/// Marker that replaces a bundle in a binary (`loader.cpp`). In `path`, relative to the binary,
/// the runtime replaces `@GFXARCH@` with each compatible target.
pub fn marker(binary: &str, path: &str) -> Vec<u8> {
    let mut marker = Packer::default();
    marker.map(2);
    marker.text("kpack_search_paths");
    marker.array(1);
    marker.text(path);
    marker.text("kernel_name");
    marker.text(binary);
    marker.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::archive::{table_offset, targets};
    use super::*;

    fn archive() -> Vec<u8> {
        let mut archiver = Archiver::new(Cursor::new(Vec::new()), "frame", "gfx942").unwrap();
        let mut add = |index, target: &str, code: &[u8]| {
            let size = code.len() as u64;
            let frame = compressed(&mut &*code, size).unwrap();
            archiver.add("lib/libx.so", index, target, size, &frame).unwrap();
        };
        add(0, "gfx942", b"one");
        add(1, "gfx942:xnack+", &[7; 1000]);
        add(11, "gfx942", b"three");
        archiver.finish().unwrap().into_inner()
    }

    /// Returns the numbers behind each occurrence of a key, in the order of the table.
    fn numbers(table: &[u8], key: &str) -> Vec<u64> {
        let places = table.windows(key.len()).enumerate();
        let ends = places.filter(|(_, text)| *text == key.as_bytes()).map(|(at, _)| at + key.len());
        ends.map(|end| match table[end] {
            small @ 0..=127 => small.into(),
            lead => {
                assert_eq!(lead, 0xcf, "{key}");
                u64::from_be_bytes(table[end + 1..end + 9].try_into().unwrap())
            }
        })
        .collect()
    }

    #[test]
    fn the_table_has_place_number_and_size_of_each_piece() {
        let archive = archive();
        assert_eq!(archive[4..8], [1, 0, 0, 0]);
        let at = usize::try_from(table_offset(&archive).unwrap()).unwrap();
        let expected = ["gfx942", "gfx942:xnack+"].map(str::to_owned).into();
        assert_eq!(targets(&archive[at..]), Some(expected));
        // Bare code is also listed for the target with features, without another piece.
        let table = String::from_utf8_lossy(&archive[at..]);
        assert_eq!(table.matches("gfx942:xnack+").count(), 1 + 3);
        // Bundles 0, 1 and 11, each for both targets, if it fits.
        assert_eq!(numbers(&archive[at..], "ordinal"), [0, 0, 1, 2, 2]);
        assert_eq!(numbers(&archive[at..], "original_size"), [3, 3, 1000, 5, 5]);
        let (start, size) =
            (numbers(&archive[at..], "zstd_offset"), numbers(&archive[at..], "zstd_size"));
        assert_eq!((&*start, &*size), (&[64][..], &[at as u64 - 64][..]));
        let mut rest = &archive[64..at];
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let (count, mut pieces) = (number(rest), Vec::new());
        rest = &rest[4..];
        for _ in 0..count {
            let (frame, after) = rest[4..].split_at(number(rest));
            let piece = zstd::decode_all(frame).unwrap();
            let declared_size = zstd::zstd_safe::get_frame_content_size(frame).unwrap();
            assert_eq!(declared_size, Some(piece.len() as u64));
            pieces.push(piece);
            rest = after;
        }
        assert!(rest.is_empty());
        assert_eq!(pieces, [b"one".to_vec(), vec![7; 1000], b"three".to_vec()]);
    }

    #[test]
    fn refuses_wrong_sizes_and_repeated_code() {
        assert!(compressed(&mut &b"abc"[..], 4).is_err());
        assert!(compressed(&mut &b"abc"[..], 2).is_err());
        let mut archiver = Archiver::new(Cursor::new(Vec::new()), "frame", "gfx942").unwrap();
        archiver.add("a", 0, "gfx942", 3, b"frame").unwrap();
        let twice = archiver.add("a", 0, "gfx942", 3, b"frame").unwrap_err();
        assert_eq!(twice.to_string(), "bundle 0 of a has code for gfx942 twice");
    }

    #[test]
    fn markers_have_a_search_path_and_a_kernel_name() {
        let marker = marker("lib/libx.so", "../.kpack/frame_@GFXARCH@.kpack");
        let expected = b"\x82\xb2kpack_search_paths\x91\xbf../.kpack/frame_@GFXARCH@.kpack\xabkernel_name\xablib/libx.so";
        assert_eq!(marker, expected);
    }
}
