use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::{self, Read};

use super::archive::{UnpackError, Unpacking};
use super::checksum::{of_end, of_sidecar};
use super::layout::Storage;
use super::lock::{Lock, LockedArchive, ReadArchive};
use super::members::Members;
use super::scratch::ScratchFile;
use super::seek::{SeekTable, SeekableReader};
use super::unpacked::{Proof, UnpackedArchive};
use base::hash::{self, Hashed, Sha256, Sum};
use base::names::RelPath;
use base::source::{Code, Problem};
use base::text::with_causes;
use binary::ReadAt;

/// An artifact's archive at any location.
pub trait Packed: Debug + Send + Sync {
    /// File name: `{name}_{component}_{family}.tar.zst` or `.tar.xz`.
    fn key(&self) -> &str;

    /// Path or address for messages.
    fn place(&self) -> String;

    /// Size in bytes, if known before reading.
    fn size(&self) -> u64;

    /// Opens the archive for sequential reading. All errors, also of later reads, name it.
    fn open(&self) -> io::Result<Box<dyn Read + Send + '_>>;

    /// Opens the archive for random access at the cost of sequential reading; `None` if
    /// unsupported.
    fn at_random(&self) -> io::Result<Option<Box<dyn ReadAt + Send + '_>>> {
        Ok(None)
    }

    /// Like [`Self::at_random`], with one request per read.
    fn ranges(&self) -> io::Result<Option<Box<dyn ReadAt + Send + '_>>> {
        self.at_random()
    }

    /// Text of the sidecar, if any. Fails if one may exist but is unreadable.
    fn sidecar(&self) -> io::Result<Option<String>>;
}

/// Demands on archives.
#[derive(Debug, Clone, Default)]
pub struct Demands {
    /// Each archive must have a checksum in sidecar or lock file.
    pub checksums: bool,
    /// Archives must match this lock file.
    pub lock: Option<Locked>,
}

/// A lock file in force.
#[derive(Debug, Clone)]
pub struct Locked {
    /// Name for messages.
    pub file: String,
    /// Content.
    pub lock: Lock,
    /// Rejects archives that the lock file lacks.
    pub exact: bool,
    /// Keys that no requested package uses.
    pub spare: BTreeSet<String>,
}

impl Locked {
    /// Keys that must exist.
    pub fn needed(&self) -> impl Iterator<Item = &str> {
        self.lock.keys().filter(|key| !self.spare.contains(*key))
    }
}

/// Checksums known before reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expected {
    /// Checksum of the whole archive.
    pub archive: Option<Sha256>,
    /// Checksum of the end ([`super::seekable`]).
    end: Option<Sha256>,
}

impl Demands {
    /// Checksums of lock file and sidecar.
    ///
    /// # Errors
    ///
    /// If a demanded checksum is missing, the two differ, or the sidecar is unreadable.
    pub fn expected(&self, packed: &dyn Packed) -> Result<Expected, Problem> {
        let key = packed.key();
        let locked = self.locked(key)?;
        let text = packed.sidecar().map_err(|e| {
            Problem::error(Code::UnreadableArtifact, format!("cannot read a checksum: {e}"))
        })?;
        let sums = text.map(|text| Ok((of_sidecar(&text, key)?, of_end(&text)?))).transpose();
        let sidecar = sums.map_err(|reason: String| {
            let message = format!("the checksum file of {} is malformed: {reason}", packed.place());
            Problem::error(Code::WrongChecksum, message).help(format!(
                "if the archive is known to be right, write a new one: `sha256sum \
                    {key} > {key}.sha256sum`"
            ))
        })?;
        match (locked, sidecar) {
            (Some(locked), Some((sidecar, _))) if locked.sha256 != sidecar => {
                Err(self.not_as_locked(packed, locked, &sidecar.to_string()))
            }
            (Some(locked), _) => Ok(Expected { archive: Some(locked.sha256), end: None }),
            (None, None) if self.checksums => Err(unchecked(&[packed.key()], true)),
            (None, Some((archive, end))) => Ok(Expected { archive: Some(archive), end }),
            (None, None) => Ok(Expected::default()),
        }
    }

    /// Compares the archive with checksum and lock file.
    pub fn check(
        &self,
        packed: &dyn Packed,
        expected: Expected,
        actual: &LockedArchive,
    ) -> Result<(), Problem> {
        if let Some(locked) = self.locked(packed.key())?
            && locked != actual
        {
            let actual = format!("{} and {} bytes", actual.sha256, actual.size);
            return Err(self.not_as_locked(packed, locked, &actual));
        }
        match expected.archive.filter(|expected| *expected != actual.sha256) {
            Some(expected) => Err(wrong(packed, &expected, &actual.sha256)),
            None => Ok(()),
        }
    }

    /// Reports needed archives that the lock file lists, but `place` lacks.
    pub fn missing(&self, place: &str, present: &BTreeSet<&str>) -> Option<Problem> {
        let locked = self.lock.as_ref()?;
        let missing: Vec<&str> = locked.needed().filter(|key| !present.contains(key)).collect();
        let first = missing.first()?;
        let (more, pronoun) = match missing.len() - 1 {
            0 => (String::new(), "it"),
            more => (format!(" and {more} more archives"), "them"),
        };
        let message = format!("{} lists `{first}`{more}, but {place} lacks {pronoun}", locked.file);
        Some(Problem::error(Code::NotAsLocked, message).help(remedy(&locked.file)))
    }

    /// Problem of an archive that is not in an exact lock file.
    pub fn unlisted(&self, key: &str) -> Option<Problem> {
        self.locked(key).err()
    }

    fn locked(&self, key: &str) -> Result<Option<&LockedArchive>, Problem> {
        let Some(locked) = &self.lock else { return Ok(None) };
        let archive = locked.lock.get(key);
        if archive.is_none() && locked.exact {
            let message = format!("`{key}` is missing from {}", locked.file);
            let problem = Problem::error(Code::NotAsLocked, message);
            return Err(problem.help("run without --locked to add missing archives"));
        }
        Ok(archive)
    }

    fn not_as_locked(&self, packed: &dyn Packed, locked: &LockedArchive, actual: &str) -> Problem {
        let file = self.lock.as_ref().map_or("the lock file", |lock| &lock.file);
        let message = format!(
            "{} does not match {file}: expected {} and {} bytes, found {actual}",
            packed.place(),
            locked.sha256,
            locked.size
        );
        Problem::error(Code::NotAsLocked, message).help(remedy(file))
    }
}

fn remedy(file: &str) -> String {
    format!("give the locked run, or remove {file} to lock this run")
}

fn wrong(packed: &dyn Packed, expected: &Sha256, actual: &Sha256) -> Problem {
    let place = packed.place();
    let message =
        format!("{place} does not match its .sha256sum file: expected {expected}, found {actual}");
    Problem::error(Code::WrongChecksum, message).help(DAMAGED)
}

const DAMAGED: &str =
    "get the archive and its .sha256sum again: one is damaged or of another build";

/// Reports missing checksums: an error if demanded.
pub fn unchecked(keys: &[&str], demanded: bool) -> Problem {
    const SHOWN: usize = 3;
    let first =
        keys.iter().take(SHOWN).map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let more = match keys.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (verb, clause) = if keys.len() == 1 { ("has", "it is") } else { ("have", "they are") };
    let message = format!(
        "{first}{more} {verb} no .sha256sum file, so rockpack cannot check whether {clause} \
         complete"
    );
    let problem = if demanded {
        Problem::error(Code::NoChecksum, message)
    } else {
        Problem::warning(Code::NoChecksum, message)
    };
    let key = keys.first().unwrap_or(&"NAME.tar.zst");
    problem.help(format!("write it where the archive is made: `sha256sum {key} > {key}.sha256sum`"))
}

/// Archive writers do not make chains of hard links.
const CHAIN: usize = 4;

/// Smaller archives are read whole: one request is faster than several.
const SMALL: u64 = 4 << 20;

/// Unpacks wanted files and verifies the checksum, beforehand at random access. Of a `partial`ly
/// wanted archive with a known checksum of its end, only end and frames are read and verified.
pub(super) fn unpack(
    packed: &dyn Packed,
    storage: Storage,
    file: &mut ScratchFile,
    demands: &Demands,
    wanted: Option<&BTreeSet<RelPath>>,
    partial: bool,
) -> Result<UnpackedArchive, Problem> {
    let expected = demands.expected(packed)?;
    let (name, mut members) = (packed.key(), Members::default());
    let reading = Reading { packed, storage, demands, expected, partial };
    let mut unpack_members = |wanted: Option<&BTreeSet<RelPath>>| {
        let members = &mut members;
        reading.unpack(&mut Unpacking {
            name,
            packed: packed.size(),
            unpacked: 0,
            file: &mut *file,
            members,
            wanted,
        })
    };
    let Outcome { archive, proof, mut missed } = unpack_members(wanted)?;
    for _ in 0..CHAIN {
        if missed.is_empty() {
            break;
        }
        // The skipped target of a hard link.
        missed = unpack_members(Some(&missed))?.missed;
    }
    if !missed.is_empty() {
        return Err(broken(&UnpackError::Chain { archive: packed.key().to_owned() }));
    }
    let archive = ReadArchive { locked: archive, is_verified: expected.archive.is_some() };
    Ok(UnpackedArchive { members, archive, proof })
}

struct Reading<'r> {
    packed: &'r dyn Packed,
    storage: Storage,
    demands: &'r Demands,
    expected: Expected,
    partial: bool,
}

struct Outcome {
    archive: LockedArchive,
    proof: Proof,
    missed: BTreeSet<RelPath>,
}

impl Reading<'_> {
    fn unpack(&self, unpacking: &mut Unpacking<'_>) -> Result<Outcome, Problem> {
        let Self { packed, storage, demands, expected, .. } = *self;
        if let Some(unpacked) = self.unpack_part(unpacking)? {
            return Ok(unpacked);
        }
        match seekable(packed, storage, unpacking.wanted.is_some())? {
            Some((stream, table)) => {
                let archive = hashed(packed, &*stream)?;
                demands.check(packed, expected, &archive)?;
                let reader = SeekableReader::new(&*stream, table);
                let missed = unpacking.unpack_seekable(reader).map_err(|e| broken(&e))?;
                Ok(Outcome { proof: Proof::Whole(archive.sha256), archive, missed })
            }
            None => unpack_stream(packed, storage, unpacking, demands, expected),
        }
    }

    /// Reads only the frames of wanted members, which the checksums in the archive's end prove. `None` if
    /// the sidecar has no checksum of the end, or if the archive is too small to gain anything.
    fn unpack_part(&self, unpacking: &mut Unpacking<'_>) -> Result<Option<Outcome>, Problem> {
        let (Some(sha256), Some(end)) = (self.expected.archive, self.expected.end) else {
            return Ok(None);
        };
        if !self.partial || self.storage != Storage::Zstd {
            return Ok(None);
        }
        let Some(stream) = self.packed.ranges().map_err(|e| unread(&e))? else { return Ok(None) };
        let size = stream.len().map_err(|e| unread(&e))?;
        if size < SMALL {
            return Ok(None);
        }
        let table = SeekTable::read_verified(&*stream, &end).map_err(|e| unread(&e))?;
        let table = table.ok_or_else(|| self.mismatch("its end has"))?;
        let mut reader = SeekableReader::new(&*stream, table);
        let missed = unpacking.unpack_seekable(&mut reader).map_err(|error| {
            if reader.has_wrong_checksum() { self.mismatch("a frame has") } else { broken(&error) }
        })?;
        let archive = LockedArchive { key: self.packed.key().to_owned(), size, sha256 };
        Ok(Some(Outcome { archive, proof: Proof::End(end), missed }))
    }

    fn mismatch(&self, part: &str) -> Problem {
        let place = self.packed.place();
        let message =
            format!("{place} does not match its .sha256sum file: {part} another checksum");
        Problem::error(Code::WrongChecksum, message).help(DAMAGED)
    }
}

type Stream<'p> = Box<dyn ReadAt + Send + 'p>;

fn seekable(
    packed: &dyn Packed,
    storage: Storage,
    saves: bool,
) -> Result<Option<(Stream<'_>, SeekTable)>, Problem> {
    if !saves {
        return Ok(None);
    }
    let Some(stream) = packed.at_random().map_err(|e| unread(&e))? else { return Ok(None) };
    let table = SeekTable::read(&*stream, storage).map_err(|e| unread(&e))?;
    Ok(table.map(|table| (stream, table)))
}

fn hashed(packed: &dyn Packed, stream: &(dyn ReadAt + Send)) -> Result<LockedArchive, Problem> {
    let bytes = Bytes { stream, position: 0 };
    let Sum { sha256, size } = hash::of_reader(bytes).map_err(|e| unread(&e))?;
    Ok(LockedArchive { key: packed.key().to_owned(), size, sha256 })
}

struct Bytes<'s> {
    stream: &'s (dyn ReadAt + Send),
    position: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let remaining = self.stream.len()?.saturating_sub(self.position);
        let count = usize::try_from(remaining).unwrap_or(usize::MAX).min(out.len());
        self.stream.read_exact_at(self.position, &mut out[..count])?;
        self.position += count as u64;
        Ok(count)
    }
}

fn unpack_stream(
    packed: &dyn Packed,
    storage: Storage,
    unpacking: &mut Unpacking<'_>,
    demands: &Demands,
    expected: Expected,
) -> Result<Outcome, Problem> {
    let mut bytes = Hashed::new(packed.open().map_err(|e| unread(&e))?);
    let unpacked = unpacking.unpack_stream(&mut bytes, storage);
    if let Err(error) = &unpacked
        && (bytes.has_failed() || is_of_this_machine(error))
    {
        return Err(broken(error));
    }
    // Damage is likely, which the checksum describes best.
    let Sum { sha256, size } = match bytes.read_to_end() {
        Ok(read) => read,
        Err(error) => return Err(unpacked.err().map_or_else(|| unread(&error), |e| broken(&e))),
    };
    let archive = LockedArchive { key: packed.key().to_owned(), size, sha256 };
    demands.check(packed, expected, &archive)?;
    let missed = unpacked.map_err(|e| broken(&e))?;
    Ok(Outcome { proof: Proof::Whole(archive.sha256), archive, missed })
}

fn broken(error: &UnpackError) -> Problem {
    let text = with_causes(error);
    if is_of_this_machine(error) {
        return of_this_machine(text);
    }
    let problem = Problem::error(Code::BrokenArchive, text);
    match error {
        UnpackError::Member { .. } => problem.help(REFUSED),
        UnpackError::Dense { archive, .. } => problem.help(replaced(archive)),
        _ => problem,
    }
}

const REFUSED: &str =
    "pack the artifact again without this member, or get the archive again from its builder";

fn replaced(archive: &str) -> String {
    let dir = archive.split('.').next().unwrap_or(archive);
    format!(
        "if its content is right, put a directory in its place: `mkdir {dir} && tar -xf {archive} \
         -C {dir} && rm {archive}`"
    )
}

/// Makes one problem for all archives: a full disk is reported once.
pub(super) fn of_this_machine(text: String) -> Problem {
    Problem::usage(Code::Environment, text)
        .of_fact("disk space for unpacked archives")
        .help("set TMPDIR to a directory with enough space for the unpacked archives")
}

fn unread(error: &io::Error) -> Problem {
    Problem::error(Code::UnreadableArtifact, error.to_string())
}

fn is_of_this_machine(error: &UnpackError) -> bool {
    matches!(error, UnpackError::Write { .. } | UnpackError::Room { .. })
}
