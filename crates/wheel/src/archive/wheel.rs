//! Writer of wheels: a zip with RECORD at its end (binary distribution format; PEP 427, PEP 376).

use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Seek, Write};
use std::ops::Range;

use super::Timestamp;
use super::checksum::Digest;
use super::deflate::{Level, Method, Packed};
use super::zip::{ZipEntry, ZipError, ZipWriter};
use base::hash::Sha256;
use base::names::{DistName, PathError, RelPath, VariantLabel};
use base::version::Version;

pub(crate) mod record;

use record::Record;

/// `my_dist-1.0-py3-none-linux_x86_64.whl`; `.` separates several tags.
pub fn wheel_file_name(dist: &DistName, version: &Version, platform: &str) -> String {
    format!("{}-{version}-py3-none-{platform}.whl", dist.file_stem())
}

/// File name with a label (PEP 825: `…-linux_x86_64-gpu1.whl`).
pub fn variant_file_name(
    dist: &DistName,
    version: &Version,
    platform: &str,
    label: &VariantLabel,
) -> String {
    wheel_file_name(dist, version, &format!("{platform}-{label}"))
}

/// Metadata directory (`my_dist-1.0.dist-info`).
pub fn dist_info_dir(dist: &DistName, version: &Version) -> Result<RelPath, PathError> {
    format!("{}-{version}.dist-info", dist.file_stem()).parse()
}

/// `WHEEL`, with a `Tag` line for each tag in `platform`.
pub fn wheel_file(platform: &str) -> String {
    let mut out = format!(
        "Wheel-Version: 1.0\nGenerator: rockpack {}\nRoot-Is-Purelib: false\n",
        env!("CARGO_PKG_VERSION")
    );
    for tag in platform.split('.') {
        out.extend(["Tag: py3-none-", tag, "\n"]);
    }
    out
}

/// Error of writing a wheel.
#[derive(Debug, thiserror::Error)]
pub enum WheelError {
    /// Error of the zip.
    #[error(transparent)]
    Zip(#[from] ZipError),
    /// Member after the metadata directory.
    #[error("`{name}` follows members of `{dist_info}`, which must be the last ones of a wheel")]
    AfterMetadata {
        /// Member.
        name: RelPath,
        /// Metadata directory.
        dist_info: RelPath,
    },
    /// Member of the writer.
    #[error("rockpack writes `{name}`; it cannot be another member")]
    Reserved {
        /// Member.
        name: RelPath,
    },
    /// Missing required file.
    #[error("the wheel has no `{name}`")]
    Missing {
        /// File.
        name: RelPath,
    },
    /// Wrong size.
    #[error("the digest of `{name}` is of {digested} bytes instead of the announced {announced}")]
    Size {
        /// Member.
        name: RelPath,
        /// Announced bytes.
        announced: u64,
        /// Digested bytes.
        digested: u64,
    },
    /// Invalid path.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// Writer of a wheel in order of calls, metadata directory last.
#[derive(Debug)]
pub struct WheelWriter<W> {
    zip: ZipWriter<W>,
    record: Record,
    dist_info: RelPath,
    metadata: BTreeSet<RelPath>,
}

impl<W: Write + Seek> WheelWriter<W> {
    /// Creates a wheel.
    pub fn new(
        sink: W,
        dist: &DistName,
        version: &Version,
        time: Timestamp,
    ) -> Result<Self, PathError> {
        let dist_info = dist_info_dir(dist, version)?;
        Ok(Self {
            zip: ZipWriter::new(sink, time),
            record: Record::default(),
            dist_info,
            metadata: BTreeSet::new(),
        })
    }

    /// Position of the next byte.
    pub fn position(&self) -> u64 {
        self.zip.position()
    }

    /// See [`ZipWriter::complete`].
    pub fn complete(&self) -> u64 {
        self.zip.complete()
    }

    /// Returns the output.
    pub fn sink(&self) -> &W {
        self.zip.sink()
    }

    /// Writes a complete member.
    pub fn member(
        &mut self,
        name: &RelPath,
        executable: bool,
        packed: &Packed,
    ) -> Result<(), WheelError> {
        self.place(name)?;
        let Packed { method, digest, bytes } = packed;
        self.zip.entry(name, executable, *method, digest.size, digest.crc, bytes)?;
        self.record.add(name, digest);
        Ok(())
    }

    /// Position of a complete member's flushed bytes.
    pub fn flushed_place(&mut self, name: &RelPath) -> Result<Range<u64>, WheelError> {
        self.zip.flush()?;
        self.zip.place(name).ok_or_else(|| WheelError::Missing { name: name.clone() })
    }

    /// `source` reads bytes of `first`.
    pub fn repeat(
        &mut self,
        name: &RelPath,
        executable: bool,
        first: &RelPath,
        source: &mut impl Read,
    ) -> Result<(), WheelError> {
        self.place(name)?;
        let digest =
            self.record.digest(first).ok_or_else(|| WheelError::Missing { name: first.clone() })?;
        self.zip.repeat(name, executable, first, source)?;
        self.record.add(name, &digest);
        Ok(())
    }

    /// Starts a member; end it before other calls.
    pub fn start(
        &mut self,
        name: &RelPath,
        executable: bool,
        method: Method,
        size: u64,
    ) -> Result<WheelMember, WheelError> {
        self.place(name)?;
        let entry = self.zip.start(name, executable, method, size)?;
        Ok(WheelMember { entry, name: name.clone(), size: Some(size) })
    }

    /// Starts a stored, non-executable member.
    pub fn start_up_to(&mut self, name: &RelPath, most: u64) -> Result<WheelMember, WheelError> {
        self.place(name)?;
        let entry = self.zip.start_up_to(name, false, most)?;
        Ok(WheelMember { entry, name: name.clone(), size: None })
    }

    /// Appends bytes.
    pub fn append(&mut self, member: &mut WheelMember, bytes: &[u8]) -> Result<(), WheelError> {
        Ok(self.zip.append(&mut member.entry, bytes)?)
    }

    /// Ends the member.
    pub fn end(&mut self, member: WheelMember, digest: &Digest) -> Result<(), WheelError> {
        let WheelMember { entry, name, size } = member;
        if let Some(announced) = size.filter(|size| *size != digest.size) {
            return Err(WheelError::Size { name, announced, digested: digest.size });
        }
        self.zip.end(entry, digest.crc)?;
        self.record.add(&name, digest);
        Ok(())
    }

    /// Writes RECORD and directory; flushes.
    pub fn finish(mut self) -> Result<W, WheelError> {
        for needed in ["METADATA", "WHEEL"] {
            let name = self.dist_info.join(&needed.parse()?);
            if !self.metadata.contains(&name) {
                return Err(WheelError::Missing { name });
            }
        }
        let name = self.record_name()?;
        let Packed { method, digest, bytes } =
            Packed::new(self.record.render(&name).as_bytes(), Level::Default);
        self.zip.entry(&name, false, method, digest.size, digest.crc, &bytes)?;
        Ok(self.zip.finish()?)
    }

    /// Hashes by name, unordered.
    pub fn hashes(&self) -> HashMap<&RelPath, Sha256> {
        self.record.hashes()
    }

    fn record_name(&self) -> Result<RelPath, PathError> {
        Ok(self.dist_info.join(&"RECORD".parse()?))
    }

    fn place(&mut self, name: &RelPath) -> Result<(), WheelError> {
        if name.segments().next() != Some(self.dist_info.as_str()) {
            return if self.metadata.is_empty() {
                Ok(())
            } else {
                Err(WheelError::AfterMetadata {
                    name: name.clone(),
                    dist_info: self.dist_info.clone(),
                })
            };
        }
        if *name == self.record_name()? {
            return Err(WheelError::Reserved { name: name.clone() });
        }
        self.metadata.insert(name.clone());
        Ok(())
    }
}

/// Open member.
#[derive(Debug)]
pub struct WheelMember {
    entry: ZipEntry,
    name: RelPath,
    size: Option<u64>,
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    fn path(text: &str) -> RelPath {
        text.parse().unwrap()
    }

    fn names() -> (DistName, Version) {
        ("My-Dist.x".parse().unwrap(), "1.0-RC1+Loc-al".parse().unwrap())
    }

    fn writer() -> WheelWriter<Cursor<Vec<u8>>> {
        let (dist, version) = names();
        WheelWriter::new(Cursor::default(), &dist, &version, Timestamp::EARLIEST).unwrap()
    }

    fn put(
        wheel: &mut WheelWriter<Cursor<Vec<u8>>>,
        name: &str,
        content: &str,
    ) -> Result<(), WheelError> {
        wheel.member(&path(name), false, &Packed::new(content.as_bytes(), Level::Default))
    }

    const INFO: &str = "my_dist_x-1.0rc1+loc.al.dist-info";

    #[test]
    fn file_names_are_escaped() {
        let (dist, version) = names();
        assert_eq!(
            wheel_file_name(&dist, &version, "linux_x86_64"),
            "my_dist_x-1.0rc1+loc.al-py3-none-linux_x86_64.whl"
        );
        assert_eq!(dist_info_dir(&dist, &version).unwrap().as_str(), INFO);
    }

    #[test]
    fn a_compressed_tag_set_gives_a_line_for_each() {
        let text = wheel_file("manylinux_2_28_x86_64.linux_x86_64");
        assert!(
            text.ends_with("\nTag: py3-none-manylinux_2_28_x86_64\nTag: py3-none-linux_x86_64\n"),
            "{text}"
        );
        assert!(text.starts_with("Wheel-Version: 1.0\nGenerator: rockpack "), "{text}");
    }

    #[test]
    fn record_is_last_and_lists_everything() {
        let mut wheel = writer();
        put(&mut wheel, "pkg/a, \"b\".py", "").unwrap();
        let mut member = wheel.start(&path("pkg/tool"), true, Method::Store, 3).unwrap();
        wheel.append(&mut member, b"xyz").unwrap();
        wheel.end(member, &Digest::of(b"xyz")).unwrap();
        put(&mut wheel, &format!("{INFO}/METADATA"), "m").unwrap();
        put(&mut wheel, &format!("{INFO}/WHEEL"), "w").unwrap();
        let mut zip = ::zip::ZipArchive::new(wheel.finish().unwrap()).unwrap();
        assert_eq!(zip.name_for_index(zip.len() - 1), Some(format!("{INFO}/RECORD").as_str()));
        let mut record = String::new();
        zip.by_index(zip.len() - 1).unwrap().read_to_string(&mut record).unwrap();
        let lines: Vec<&str> = record.lines().collect();
        assert_eq!(
            lines[0],
            "\"pkg/a, \"\"b\"\".py\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0"
        );
        assert_eq!(lines[1], "pkg/tool,sha256=Ngi8oeROpsTSaOttsCJgJpiSwLQrhrvx53pvoWw8koI,3");
        assert_eq!(lines[4], format!("{INFO}/RECORD,,"));
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn metadata_comes_last_and_record_is_ours() {
        let mut wheel = writer();
        let record = put(&mut wheel, &format!("{INFO}/RECORD"), "").unwrap_err();
        assert!(matches!(record, WheelError::Reserved { .. }));
        put(&mut wheel, &format!("{INFO}/WHEEL"), "w").unwrap();
        let late = put(&mut wheel, "pkg/late.py", "").unwrap_err();
        assert_eq!(
            late.to_string(),
            format!(
                "`pkg/late.py` follows members of `{INFO}`, which must be the last ones of a wheel"
            )
        );
        let missing = wheel.finish().unwrap_err();
        assert_eq!(missing.to_string(), format!("the wheel has no `{INFO}/METADATA`"));
    }

    #[test]
    fn a_member_is_what_was_announced() {
        let mut wheel = writer();
        let mut member = wheel.start(&path("a"), false, Method::Deflate, 3).unwrap();
        wheel
            .append(&mut member, &crate::archive::deflate::deflate(b"four", Level::Default))
            .unwrap();
        let error = wheel.end(member, &Digest::of(b"four")).unwrap_err();
        assert_eq!(error.to_string(), "the digest of `a` is of 4 bytes instead of the announced 3");
        assert!(matches!(put(&mut wheel, "b", ""), Err(WheelError::Zip(ZipError::Torn { .. }))));
    }

    #[test]
    fn a_member_repeats_one_that_is_there() {
        let mut wheel = writer();
        put(&mut wheel, "a", "text text text").unwrap();
        let place = wheel.flushed_place(&path("a")).unwrap();
        let bytes = wheel.sink().get_ref()[usize::try_from(place.start).unwrap()..].to_vec();
        wheel.repeat(&path("b"), true, &path("a"), &mut bytes.as_slice()).unwrap();
        assert_eq!(wheel.hashes()[&path("b")], Digest::of(b"text text text").sha256);
        let short = wheel.repeat(&path("c"), false, &path("a"), &mut &bytes[1..]).unwrap_err();
        assert!(matches!(short, WheelError::Zip(ZipError::Size { .. })), "{short}");
        let unknown =
            writer().repeat(&path("b"), false, &path("a"), &mut bytes.as_slice()).unwrap_err();
        assert_eq!(
            (unknown.to_string(), writer().flushed_place(&path("a")).is_err()),
            ("the wheel has no `a`".to_owned(), true)
        );
    }
}
