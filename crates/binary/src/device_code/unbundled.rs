//! Extraction of code objects from offload bundles (clang's `ClangOffloadBundler` documentation).
//!
//! Compressed bundles of version 1 have no length of the bundle; version 2 has it in four bytes
//! after the method, version 3 in eight. The size of the content and a hash follow. The hash is not
//! checked, as the decompressor and the size detect damage.

use std::io::{self, BufReader, Read};

use flate2::read::ZlibDecoder;

use super::bundle::{self, COMPRESSED, Entry, MAGIC};
use super::elf::{AMDGPU, Cursor};
use crate::ReadAt;

/// Length of the longest header (version 3), and of the smallest plain bundle (magic and number of entries).
const HEADER_LEN: usize = 32;

/// Offload bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    at: u64,
    length: u64,
    form: Form,
    objects: Vec<Object>,
}

/// Code for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Target with features.
    pub target: String,
    /// Size in bytes.
    pub size: u64,
    /// Offset in the uncompressed bundle.
    offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// Sizes of the header and of the content.
    Zlib(u64, u64),
    Zstd(u64, u64),
}

/// Fault of a bundle. Positions are offsets in the file.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// No bundle at this position.
    #[error("no offload bundle at byte {0:#x}")]
    None(u64),
    /// Unknown version or compression method.
    #[error(
        "the offload bundle at byte {at:#x} has the unknown compression version {version}, \
         method {method}"
    )]
    Unknown {
        /// Position.
        at: u64,
        /// Version.
        version: u16,
        /// Compression method.
        method: u16,
    },
    /// Compressed bundle without a length (version 1).
    #[error(
        "the offload bundle at byte {0:#x} has compression version 1, which does not record its \
         size"
    )]
    Endless(u64),
    /// Bundle that does not end before the given end.
    #[error("the offload bundle at byte {0:#x} is longer than its section allows")]
    Long(u64),
    /// Invalid table or content.
    #[error("the offload bundle at byte {at:#x} is damaged: {what}")]
    Damaged {
        /// Position.
        at: u64,
        /// Fault.
        what: String,
    },
    /// Code for a target that is not a GPU, such as the host.
    #[error(
        "the offload bundle at byte {at:#x} has code for `{id}`, which archives of code cannot \
         hold"
    )]
    Foreign {
        /// Position.
        at: u64,
        /// Entry ID.
        id: String,
    },
    /// Entry that a loader would have to compile or link.
    #[error("the offload bundle at byte {at:#x} has no finished code object for {target}")]
    NoObject {
        /// Position.
        at: u64,
        /// Target.
        target: String,
    },
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Bundle {
    /// Reads the bundle at `at`, up to `end`, and checks its code.
    pub fn read(file: &impl ReadAt, at: u64, end: u64) -> Result<Self, BundleError> {
        let mut start = [0; HEADER_LEN];
        let room = end.checked_sub(at).ok_or(BundleError::None(at))?;
        if room < HEADER_LEN as u64 {
            return Err(BundleError::None(at));
        }
        file.read_exact_at(at, &mut start)?;
        let (form, length) = parse_header(&start, at)?;
        if length.is_some_and(|length| length > room) {
            return Err(BundleError::Long(at));
        }
        let mut bundle = Self { at, length: length.unwrap_or(room), form, objects: Vec::new() };
        let file = &Marked(file);
        let entries = bundle::entries(BufReader::new(bundle.content(file)?));
        let entries = entries.map_err(|error| {
            bundle.fault(error, |error| format!("its table cannot be read: {error}"))
        })?;
        bundle.objects = bundle.objects_of(&entries)?;
        if form == Form::Plain {
            let ends = entries.iter().map(|entry| entry.offset.saturating_add(entry.size));
            let table = MAGIC.len() + 8 + entries.iter().map(|e| 24 + e.id.len()).sum::<usize>();
            bundle.length = ends.max().unwrap_or(0).max(table as u64);
            if bundle.length > room {
                return Err(BundleError::Long(at));
            }
        }
        bundle.check(file)?;
        Ok(bundle)
    }

    /// Offset in the file.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Size in the file, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Code objects in table order.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// Calls `take` for each code object, in order of offsets, with its index in [`Bundle::objects`] and its bytes.
    pub fn each_code(
        &self,
        file: &impl ReadAt,
        mut take: impl FnMut(usize, &mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut order: Vec<(usize, &Object)> = self.objects.iter().enumerate().collect();
        order.sort_by_key(|(_, object)| object.offset);
        let mut content = self.content(file)?;
        let mut offset = 0;
        for (index, object) in order {
            // `check` rejected overlapping objects.
            let before = object.offset.saturating_sub(offset);
            io::copy(&mut content.by_ref().take(before), &mut io::sink())?;
            let mut code = content.by_ref().take(object.size);
            take(index, &mut code)?;
            io::copy(&mut code, &mut io::sink())?;
            offset = object.offset + object.size;
        }
        Ok(())
    }

    fn object_reader<'f>(&self, file: &'f impl ReadAt, object: &Object) -> Box<dyn Read + 'f> {
        let start = self.at + object.offset;
        Box::new(Cursor { file, at: start, len: start + object.size })
    }

    fn content<'f>(&self, file: &'f impl ReadAt) -> io::Result<Box<dyn Read + 'f>> {
        let from = |header: u64| {
            BufReader::new(Cursor { file, at: self.at + header, len: self.at + self.length })
        };
        Ok(match self.form {
            Form::Plain => Box::new(from(0)),
            Form::Zlib(header, _) => Box::new(ZlibDecoder::new(from(header))),
            Form::Zstd(header, _) => Box::new(bundle::zstd_decoder(from(header))?),
        })
    }

    /// Blames the file for its errors, and the bundle for those of its content.
    fn fault(&self, error: io::Error, message: impl FnOnce(io::Error) -> String) -> BundleError {
        match error.downcast::<FileError>() {
            Ok(FileError(error)) => BundleError::Io(error),
            Err(error) => self.damaged(&message(error)),
        }
    }

    fn damaged(&self, what: &str) -> BundleError {
        BundleError::Damaged { at: self.at, what: what.to_owned() }
    }

    fn objects_of(&self, entries: &[Entry]) -> Result<Vec<Object>, BundleError> {
        let mut objects: Vec<Object> = Vec::new();
        for Entry { offset, size, id } in entries.iter().filter(|entry| entry.size > 0) {
            let target = bundle::target(id);
            let foreign = || BundleError::Foreign { at: self.at, id: id.clone() };
            let target = target.ok_or_else(foreign)?.to_owned();
            if objects.iter().any(|object| object.target == target) {
                return Err(self.damaged(&format!("it has code for {target} twice")));
            }
            objects.push(Object { target, size: *size, offset: *offset });
        }
        Ok(objects)
    }

    fn check(&self, file: &impl ReadAt) -> Result<(), BundleError> {
        let mut objects: Vec<&Object> = self.objects.iter().collect();
        objects.sort_by_key(|object| object.offset);
        let (mut content, mut offset) = (self.content(file)?, 0);
        let read_error = |error: io::Error| self.fault(error, |error| error.to_string());
        for object in objects {
            let before = object.offset.checked_sub(offset);
            let before = before.ok_or_else(|| self.damaged("code objects overlap"))?;
            if self.form == Form::Plain {
                // `read` has compared the ends of all objects with the end of the file.
                content = self.object_reader(file, object);
            } else {
                let skipped = io::copy(&mut content.by_ref().take(before), &mut io::sink());
                if skipped.map_err(read_error)? != before {
                    return Err(self.damaged("it is shorter than its table records"));
                }
            }
            let mut start = Vec::new();
            let of_header = object.size.min(CODE_HEADER);
            content.by_ref().take(of_header).read_to_end(&mut start).map_err(read_error)?;
            if !is_code_object(&start) {
                let target = object.target.clone();
                return Err(BundleError::NoObject { at: self.at, target });
            }
            offset = object.offset + start.len() as u64;
            let rest = object.size.saturating_sub(start.len() as u64);
            if self.form != Form::Plain {
                offset += io::copy(&mut content.by_ref().take(rest), &mut io::sink())
                    .map_err(read_error)?;
            }
            let end = object.offset.saturating_add(object.size);
            if self.form != Form::Plain && offset != end {
                return Err(self.damaged("it is shorter than its table records"));
            }
            offset = end;
        }
        let (Form::Zlib(_, size) | Form::Zstd(_, size)) = self.form else { return Ok(()) };
        let more = size.saturating_sub(offset).saturating_add(1);
        offset += io::copy(&mut content.take(more), &mut io::sink()).map_err(read_error)?;
        if offset == size { Ok(()) } else { Err(self.damaged("the size of its content is wrong")) }
    }
}

fn parse_header(start: &[u8; HEADER_LEN], at: u64) -> Result<(Form, Option<u64>), BundleError> {
    if start.starts_with(MAGIC) {
        return Ok((Form::Plain, None));
    }
    if !start.starts_with(COMPRESSED) {
        return Err(BundleError::None(at));
    }
    let short = |at: usize| u16::from_le_bytes([start[at], start[at + 1]]);
    let number = |at: usize, width: usize| {
        let mut bytes = [0; 8];
        bytes[..width].copy_from_slice(&start[at..at + width]);
        u64::from_le_bytes(bytes)
    };
    let (version, method) = (short(4), short(6));
    let (length, size, header) = match version {
        1 if method <= 1 => return Err(BundleError::Endless(at)),
        2 => (number(8, 4), number(12, 4), 24),
        3 => (number(8, 8), number(16, 8), 32),
        _ => return Err(BundleError::Unknown { at, version, method }),
    };
    let form = match method {
        0 => Form::Zlib(header, size),
        1 => Form::Zstd(header, size),
        _ => return Err(BundleError::Unknown { at, version, method }),
    };
    if length < header {
        let message = "its recorded size is smaller than its header".to_owned();
        return Err(BundleError::Damaged { at, what: message });
    }
    Ok((form, Some(length)))
}

/// File of which errors are marked, because decoders pass them on between errors of the content.
struct Marked<'f, F>(&'f F);

/// Error of the file, not of the bundle.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct FileError(io::Error);

impl<F: ReadAt> ReadAt for Marked<'_, F> {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        let read = self.0.read_exact_at(offset, buf);
        read.map_err(|error| io::Error::new(error.kind(), FileError(error)))
    }
}

/// Length of an ELF file's beginning with magic and machine.
const CODE_HEADER: u64 = 20;

fn is_code_object(start: &[u8]) -> bool {
    start.len() as u64 == CODE_HEADER
        && start.starts_with(b"\x7fELF")
        && u16::from_le_bytes([start[18], start[19]]) == AMDGPU
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn object(fill: u8, size: usize) -> Vec<u8> {
        let mut object = [&b"\x7fELF"[..], &[fill; 1000][..size - 4]].concat();
        object[18..20].copy_from_slice(&AMDGPU.to_le_bytes());
        object
    }

    fn plain(code: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut entries = Vec::new();
        let mut content = Vec::new();
        for (target, bytes) in code {
            content.resize(content.len().next_multiple_of(4096), 0);
            entries.push((*target, 4096 + content.len(), bytes.len()));
            content.extend(bytes);
        }
        with_table(&entries, &content)
    }

    /// Bundle of an empty entry of the host and these entries (target, offset and size), with content at 4096.
    fn with_table(code: &[(&str, usize, usize)], content: &[u8]) -> Vec<u8> {
        let mut entries = vec![("host-x86_64-unknown-linux-gnu-".to_owned(), 4096, 0)];
        entries.extend(code.iter().map(|(target, offset, size)| {
            (format!("hipv4-amdgcn-amd-amdhsa--{target}"), *offset, *size)
        }));
        let mut bundle = [&MAGIC[..], &(entries.len() as u64).to_le_bytes()].concat();
        for (id, offset, size) in entries {
            for number in [offset, size, id.len()] {
                bundle.extend((number as u64).to_le_bytes());
            }
            bundle.extend(id.as_bytes());
        }
        bundle.resize(4096, 0);
        bundle.extend(content);
        bundle
    }

    fn packed(version: u8, method: u8, bundle: &[u8]) -> Vec<u8> {
        let stream = if method == 1 {
            zstd::encode_all(bundle, 1).unwrap()
        } else {
            let level = flate2::Compression::fast();
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(bundle).unwrap();
            encoder.finish().unwrap()
        };
        let mut out = [&COMPRESSED[..], &[version, 0, method, 0]].concat();
        let (width, header) = if version == 2 { (4, 24) } else { (8, 32) };
        for number in [header + stream.len(), bundle.len()] {
            out.extend(&(number as u64).to_le_bytes()[..width]);
        }
        out.extend([0x55; 8]);
        out.extend(stream);
        out
    }

    fn code() -> [(&'static str, Vec<u8>); 3] {
        [("gfx942:xnack+", object(1, 900)), ("gfx90a", object(2, 30)), ("gfx1100", object(3, 20))]
    }

    #[test]
    fn unbundles_code_unchanged() {
        let bundle = plain(&code());
        let forms = [
            bundle.clone(),
            packed(2, 0, &bundle),
            packed(2, 1, &bundle),
            packed(3, 0, &bundle),
            packed(3, 1, &bundle),
        ];
        for form in forms {
            let file = [vec![9; 64], form.clone(), vec![0; 5000]].concat();
            let read = Bundle::read(&file, 64, file.len() as u64).unwrap();
            assert_eq!((read.offset(), read.length()), (64, form.len() as u64));
            let mut read_code = Vec::new();
            let all = read.each_code(&file, |index, code| {
                let (object, mut bytes) = (&read.objects()[index], Vec::new());
                code.read_to_end(&mut bytes)?;
                assert_eq!(bytes.len() as u64, object.size);
                read_code.push((object.target.clone(), bytes));
                Ok(())
            });
            all.unwrap();
            let expected = code().map(|(target, bytes)| (target.to_owned(), bytes));
            assert_eq!(read_code, expected);
        }
    }

    #[test]
    fn code_has_the_order_of_offsets_and_not_of_the_table() {
        // Between the objects are bytes of none.
        let (first, second) = (object(1, 900), object(2, 30));
        let content = [&first[..], b"unused", &second].concat();
        let entries = [("gfx942", 4096 + 906, 30), ("gfx90a", 4096, 900)];
        let bundle = with_table(&entries, &content);
        for file in [bundle.clone(), packed(2, 0, &bundle), packed(3, 1, &bundle)] {
            let read = Bundle::read(&file, 0, file.len() as u64).unwrap();
            assert_eq!(read.objects()[0].target, "gfx942");
            let mut read_code = Vec::new();
            let all = read.each_code(&file, |index, code| {
                let mut bytes = Vec::new();
                code.read_to_end(&mut bytes)?;
                read_code.push((index, bytes));
                Ok(())
            });
            all.unwrap();
            assert_eq!(read_code, [(1, first.clone()), (0, second.clone())]);
        }
    }

    #[test]
    fn refuses_overlapping_code() {
        let content = [object(1, 900), object(2, 30)].concat();
        let bundle = with_table(&[("gfx942", 4096 + 899, 30), ("gfx90a", 4096, 900)], &content);
        for file in [bundle.clone(), packed(3, 1, &bundle)] {
            assert!(
                refusal(&file).ends_with("is damaged: code objects overlap"),
                "{}",
                refusal(&file)
            );
        }
    }

    #[test]
    fn a_short_object_is_no_code_whatever_follows_it() {
        let stub = b"\x7fELF and no machine".to_vec();
        let bundle = plain(&[("gfx90a", stub[..18].to_vec()), ("gfx942", object(1, 30))]);
        for file in [bundle.clone(), packed(3, 0, &bundle), packed(3, 1, &bundle)] {
            let error = refusal(&file);
            assert!(error.ends_with("no finished code object for gfx90a"), "{error}");
        }
    }

    /// Number of the error of a disk.
    const EIO: i32 = 5;

    /// File of which bytes from an offset on cannot be read.
    struct Failing(Vec<u8>, u64);

    impl ReadAt for Failing {
        fn len(&self) -> io::Result<u64> {
            ReadAt::len(&self.0)
        }

        fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
            if offset + buf.len() as u64 > self.1 {
                return Err(io::Error::from_raw_os_error(EIO));
            }
            self.0.read_exact_at(offset, buf)
        }
    }

    #[test]
    fn errors_of_the_file_are_not_damage_of_the_bundle() {
        let bundle = plain(&[("gfx942", object(1, 900))]);
        for form in [bundle.clone(), packed(2, 0, &bundle), packed(3, 1, &bundle)] {
            let len = form.len() as u64;
            // Header, table and code.
            for end in [0, 40, 4100.min(len - 1)] {
                let error = Bundle::read(&Failing(form.clone(), end), 0, len).unwrap_err();
                let BundleError::Io(io) = &error else { panic!("{end}: {error}") };
                assert_eq!(io.raw_os_error(), Some(EIO), "{end}: {error}");
            }
        }
    }

    fn refusal(file: &Vec<u8>) -> String {
        Bundle::read(file, 0, file.len() as u64).unwrap_err().to_string()
    }

    #[test]
    fn refuses_unknown_formats() {
        let bundle = plain(&code());
        let version = |version: u8, method: u8| {
            let mut start = packed(3, 1, &bundle);
            (start[4], start[6]) = (version, method);
            refusal(&start)
        };
        let at = "the offload bundle at byte 0x0";
        assert_eq!(refusal(&vec![0; 64]), "no offload bundle at byte 0x0");
        assert_eq!(
            version(1, 1),
            format!("{at} has compression version 1, which does not record its size")
        );
        for (a, b) in [(4, 1), (3, 2)] {
            let expected = format!("{at} has the unknown compression version {a}, method {b}");
            assert_eq!(version(a, b), expected);
        }
        let bitcode = plain(&[("gfx90a", b"BC\xc0\xde of no use".to_vec())]);
        assert!(
            refusal(&bitcode).contains("has no finished code object for gfx90a"),
            "{}",
            refusal(&bitcode)
        );
        let twice = plain(&[("gfx90a", object(1, 30)), ("gfx90a", object(1, 30))]);
        assert!(refusal(&twice).contains("code for gfx90a twice"));
        let mut host = bundle.clone();
        host[40] = 20;
        assert!(refusal(&host).contains("has code for `host-x86_64-unknown-linux-gnu-`"));
    }

    #[test]
    fn reports_damage_and_wrong_lengths() {
        let bundle = plain(&code());
        let too_long = "is longer than its section allows";
        for (cut, expected) in [
            (40, "is damaged: its table cannot be read: failed to fill whole buffer"),
            (4000, too_long),
            (bundle.len() - 1, too_long),
        ] {
            let error = refusal(&bundle[..cut].to_vec());
            assert!(error.ends_with(expected), "{cut}: {error}");
        }
        let mut far = bundle.clone();
        far[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(refusal(&far).contains("longer than its section allows"));
        let whole = packed(3, 1, &bundle);
        assert!(
            refusal(&whole[..whole.len() - 1].to_vec()).contains("longer than its section allows")
        );
        let mut short = whole.clone();
        short.truncate(whole.len() - 9);
        short[8..16].copy_from_slice(&((whole.len() - 9) as u64).to_le_bytes());
        assert!(refusal(&short).contains("is damaged"));
        for size in [bundle.len() as u64 - 1, bundle.len() as u64 + 1] {
            let mut other = whole.clone();
            other[16..24].copy_from_slice(&size.to_le_bytes());
            assert!(refusal(&other).contains("the size of its content is wrong"), "{size}");
        }
    }
}
