//! Reading a package: once, whatever its size, until it changes.

use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;

use super::package::{Package, PackageError, check_sdist, check_wheel};
use crate::archive::checksum::{Hasher, Sha256};
use crate::archive::directory::MOST_MEMBERS;
use crate::archive::header::Header;
use crate::archive::zip_file::LONGEST_TEXT;
use crate::archive::{OpenWheel, TarStream, Timestamp};
use crate::regular;

/// How much is read at once.
const BUFFER: usize = 1 << 20;

/// Reads a package, and the METADATA of a wheel as it stands there.
pub(super) fn package(path: &Path) -> Result<(Package, Option<Vec<u8>>), PackageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match name.strip_suffix(".whl") {
        Some(_) => wheel(path).map(|(package, metadata)| (package, Some(metadata))),
        None => sdist(path, &name).map(|package| (package, None)),
    }
}

fn wheel(path: &Path) -> Result<(Package, Vec<u8>), PackageError> {
    let wheel = OpenWheel::open(path)?;
    let metadata = wheel.info_bytes("METADATA")?.unwrap_or_default();
    let header = Header::parse(&String::from_utf8_lossy(&metadata));
    let (name, version) = check_wheel(
        wheel.name(),
        field(&header, "Name")?.parse()?,
        field(&header, "Version")?.parse()?,
    )?;
    let mut whole = Hashed::new(regular::open(path)?);
    whole.drain()?;
    let package = Package {
        size: whole.size,
        sha256: whole.sha256(),
        metadata: Some(Sha256::of(&metadata).to_string()),
        project: name.normalized(),
        version,
        requires_python: header.first("Requires-Python").map(str::to_owned),
        time: newest(&wheel).seconds(),
    };
    Ok((package, metadata))
}

/// When the newest member is from.
fn newest(wheel: &OpenWheel) -> Timestamp {
    let times = wheel.entries().iter().filter_map(|entry| {
        let (day, time) = entry.time;
        Timestamp::from_dos(time, day)
    });
    times.max().unwrap_or_default()
}

/// Reads an sdist in one go: it is hashed while it is looked through.
fn sdist(path: &Path, file: &str) -> Result<Package, PackageError> {
    let mut gzip = GzDecoder::new(Hashed::new(regular::open(path)?));
    let (header, newest) = pkg_info(&mut gzip)?;
    let mut whole = gzip.into_inner();
    whole.drain()?;
    let (name, version) =
        check_sdist(file, field(&header, "Name")?.parse()?, field(&header, "Version")?.parse()?)?;
    Ok(Package {
        size: whole.size,
        sha256: whole.sha256(),
        metadata: None,
        project: name.normalized(),
        version,
        requires_python: header.first("Requires-Python").map(str::to_owned),
        time: newest.seconds(),
    })
}

/// The metadata of an sdist, and when its newest member is from.
fn pkg_info(tarball: impl Read) -> Result<(Header, Timestamp), PackageError> {
    let (mut header, mut newest) = (None, Timestamp::EARLIEST);
    let stream = TarStream::new(tarball, MOST_MEMBERS);
    for entry in tar::Archive::new(stream).entries()? {
        let entry = entry?;
        newest = newest.max(Timestamp::from_seconds(entry.header().mtime()?).unwrap_or_default());
        let path = entry.path()?.into_owned();
        if path.components().count() == 2 && path.ends_with("PKG-INFO") {
            let mut bytes = Vec::new();
            entry.take(LONGEST_TEXT).read_to_end(&mut bytes)?;
            header = Some(Header::parse(&String::from_utf8_lossy(&bytes)));
        }
    }
    Ok((header.ok_or(PackageError::NoPkgInfo)?, newest))
}

fn field<'a>(header: &'a Header, name: &'static str) -> Result<&'a str, PackageError> {
    header.first(name).ok_or(PackageError::NoField(name))
}

/// A file whose bytes are hashed as they are read.
struct Hashed {
    file: BufReader<fs_err::File>,
    hasher: Hasher,
    size: u64,
}

impl Hashed {
    fn new(file: fs_err::File) -> Self {
        Self { file: BufReader::with_capacity(BUFFER, file), hasher: Hasher::default(), size: 0 }
    }

    /// Reads what is left.
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        while self.read(&mut buffer)? > 0 {}
        Ok(())
    }

    fn sha256(self) -> String {
        self.hasher.finish().sha256.to_string()
    }
}

impl Read for Hashed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(out)?;
        self.hasher.update(&out[..length]);
        self.size += length as u64;
        Ok(length)
    }
}
