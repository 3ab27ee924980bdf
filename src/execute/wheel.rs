//! Writing one wheel.

use std::io::{self, BufWriter, Seek, Write};
use std::num::NonZero;

use rayon::prelude::*;

use super::bytes::Bytes;
use super::pack::{self, Entry, PackError, Sink};
use super::prepare::{Content, Output, Ready, core_metadata};
use super::sample::shrinks;
use super::tar_image::TarImage;
use crate::archive::checksum::{Digest, Hasher};
use crate::archive::deflate::Method;
use crate::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint, EntryPointError, entry_points};
use crate::archive::sdist::SdistError;
use crate::archive::tarball::{self, Preset, TarError, Xz, XzError};
use crate::archive::wheel::{WheelError, WheelMember, WheelWriter, dist_info_dir, wheel_file};
use crate::archive::{Timestamp, metadata};
use crate::event::{Event, Reporter};
use crate::names::{PathError, RelPath};
use crate::plan::{Archive, Distribution, Plan};

/// Why a wheel could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error(transparent)]
    Wheel(#[from] WheelError),
    #[error("cannot read `{name}`")]
    Read { name: RelPath, source: io::Error },
    #[error("cannot lay out the archive in the wheel")]
    Tar(#[from] TarError),
    #[error("cannot compress `{name}`")]
    Compress { name: RelPath, source: io::Error },
    #[error("cannot write the metadata")]
    Metadata(#[from] metadata::MetadataError),
    #[error("cannot write the console scripts")]
    EntryPoints(#[from] EntryPointError),
    #[error(transparent)]
    Xz(#[from] XzError),
    #[error(transparent)]
    Sdist(#[from] SdistError),
    #[error("cannot name the metadata directory")]
    Path(#[from] PathError),
    #[error("cannot write to the disk")]
    Io(#[from] io::Error),
}

impl From<PackError<WheelError>> for WriteError {
    fn from(error: PackError<WheelError>) -> Self {
        match error {
            PackError::Read { name, source } => Self::Read { name, source },
            PackError::Sink(error) => Self::Wheel(error),
        }
    }
}

/// How much of a wheel is buffered before it goes to the disk.
const BUFFER: usize = 1 << 20;

/// Writes the wheel of `distribution` into `file` and tells its size.
pub(super) fn write<W: Write + Seek + Send>(
    plan: &Plan,
    distribution: &Distribution,
    output: Output,
    file: W,
    reporter: &dyn Reporter,
) -> Result<u64, WriteError> {
    let method = if distribution.compress { Method::Deflate } else { Method::Store };
    let mut wheel = WheelWriter::new(BufWriter::with_capacity(BUFFER, file), &distribution.name, &plan.version, Timestamp::EARLIEST)?;
    pack_into(&mut wheel, &entries(&output.members, method)?, reporter)?;
    if let Some(archive) = &distribution.archive {
        write_archive(archive, output.archive, method, &mut wheel, reporter)?;
    }
    let info = dist_info(plan, distribution, output.licenses)?;
    pack_into(&mut wheel, &entries(&info, method)?, reporter)?;
    let mut file = wheel.finish()?;
    file.flush()?;
    Ok(file.stream_position()?)
}

pub(super) fn entries(members: &[Ready], method: Method) -> Result<Vec<Entry<'_>>, WriteError> {
    let made = members.par_iter().filter_map(|member| match &member.content {
        Content::File(bytes) => Some(entry(member, bytes, method)),
        Content::Link(_) | Content::Directory => None,
    });
    made.collect::<Vec<_>>().into_iter().collect()
}

/// A member, stored where compressing it would be in vain.
fn entry<'a>(member: &'a Ready, bytes: &'a Bytes, method: Method) -> Result<Entry<'a>, WriteError> {
    let name = &member.path;
    let in_vain = method == Method::Deflate && !shrinks(bytes).map_err(|source| WriteError::Read { name: name.clone(), source })?;
    Ok(Entry { name, executable: member.executable, bytes, method: if in_vain { Method::Store } else { method } })
}

/// The members of the metadata directory, but RECORD.
fn dist_info(plan: &Plan, distribution: &Distribution, licenses: Vec<Ready>) -> Result<Vec<Ready>, WriteError> {
    let directory = dist_info_dir(&distribution.name, &plan.version)?;
    let text = |name: &str, text: String| -> Result<Ready, PathError> {
        Ok(Ready { path: directory.join(&name.parse()?), executable: false, content: Content::File(Bytes::Memory(text.into_bytes())) })
    };
    let license_files = licenses.iter().map(|l| l.path.clone()).collect();
    let mut members =
        vec![text("METADATA", core_metadata(plan, distribution, license_files).render()?)?, text("WHEEL", wheel_file(&plan.platform_tag))?];
    if !distribution.entry_points.is_empty() {
        members.push(text("entry_points.txt", console_scripts(distribution)?)?);
    }
    let below: RelPath = "licenses".parse()?;
    members.extend(licenses.into_iter().map(|l| Ready { path: directory.join(&below).join(&l.path), ..l }));
    Ok(members)
}

/// `entry_points.txt` of a distribution.
pub(super) fn console_scripts(distribution: &Distribution) -> Result<String, EntryPointError> {
    let group = || CONSOLE_SCRIPTS.to_owned();
    let script = |(name, object): (&String, &String)| EntryPoint { group: group(), name: name.clone(), object: object.clone() };
    entry_points(&distribution.entry_points.iter().map(script).collect::<Vec<_>>())
}

/// Writes the archive in a devel wheel: as it is through the wheel's own packing, or
/// compressed and then stored, since xz leaves deflate nothing to do.
fn write_archive<W: Write + Seek + Send>(
    archive: &Archive,
    members: Vec<Ready>,
    method: Method,
    wheel: &mut WheelWriter<W>,
    reporter: &dyn Reporter,
) -> Result<(), WriteError> {
    let image = Bytes::Tar(layout(members)?);
    if !archive.compress {
        let entry = Entry { name: &archive.path, executable: false, bytes: &image, method };
        return pack_into(wheel, &[entry], reporter);
    }
    let mut member = wheel.start_up_to(&archive.path, tarball::xz_worst_case(image.len()))?;
    let digest = compress(&image, &archive.path, &mut Hashing { wheel, member: &mut member, hasher: Hasher::default() }, reporter)?;
    Ok(wheel.end(member, &digest)?)
}

/// Where each member of the archive is.
pub(super) fn layout(members: Vec<Ready>) -> Result<TarImage, WriteError> {
    let mut image = TarImage::default();
    for Ready { path, executable, content } in members {
        let time = Timestamp::EARLIEST;
        match content {
            Content::File(bytes) => image.push(tarball::file_headers(&path, executable, bytes.len(), time), bytes),
            Content::Link(target) => image.push(tarball::symlink_headers(&path, &target, time)?, Bytes::Memory(Vec::new())),
            Content::Directory => image.push(tarball::directory_headers(&path, time), Bytes::Memory(Vec::new())),
        }
    }
    image.end();
    Ok(image)
}

/// How much of the archive is read at once.
const CHUNK: u64 = 4 << 20;

/// Compresses the archive into the member that was begun, and gives the digest of what was written.
fn compress<W: Write + Seek>(
    image: &Bytes,
    name: &RelPath,
    sink: &mut Hashing<'_, W>,
    reporter: &dyn Reporter,
) -> Result<Digest, WriteError> {
    let failed = |source| WriteError::Compress { name: name.clone(), source };
    let mut xz = Xz::new(&mut *sink, Preset::DEFAULT, threads())?;
    let mut offset = 0;
    while offset < image.len() {
        let count = CHUNK.min(image.len() - offset);
        let mut buffer = vec![0; usize::try_from(count).unwrap_or_default()];
        image.read_exact_at(offset, &mut buffer).map_err(|source| WriteError::Read { name: name.clone(), source })?;
        xz.write_all(&buffer).map_err(failed)?;
        reporter.report(Event::Progress { bytes: count });
        offset += count;
    }
    xz.finish().map_err(failed)?;
    Ok(std::mem::take(&mut sink.hasher).finish())
}

/// As many as the current pool has.
fn threads() -> NonZero<u32> {
    u32::try_from(rayon::current_num_threads()).ok().and_then(NonZero::new).unwrap_or(NonZero::<u32>::MIN)
}

/// Writes into a member of the wheel and hashes what goes by.
struct Hashing<'w, W> {
    wheel: &'w mut WheelWriter<W>,
    member: &'w mut WheelMember,
    hasher: Hasher,
}

impl<W: Write + Seek> Write for Hashing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.wheel.append(self.member, bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes packed members into a wheel.
struct WheelSink<'w, W> {
    wheel: &'w mut WheelWriter<W>,
    member: Option<WheelMember>,
}

impl<W: Write + Seek + Send> Sink for WheelSink<'_, W> {
    type Error = WheelError;

    fn begin(&mut self, entry: &Entry<'_>) -> Result<(), WheelError> {
        self.member = Some(self.wheel.start(entry.name, entry.executable, entry.method, entry.bytes.len())?);
        Ok(())
    }

    fn write(&mut self, packed: &[u8]) -> Result<(), WheelError> {
        self.member.as_mut().map_or(Ok(()), |member| self.wheel.append(member, packed))
    }

    fn end(&mut self, digest: &Digest) -> Result<(), WheelError> {
        self.member.take().map_or(Ok(()), |member| self.wheel.end(member, digest))
    }
}

fn pack_into<W: Write + Seek + Send>(wheel: &mut WheelWriter<W>, entries: &[Entry<'_>], reporter: &dyn Reporter) -> Result<(), WriteError> {
    Ok(pack::pack(entries, &mut WheelSink { wheel, member: None }, reporter)?)
}
