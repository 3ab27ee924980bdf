//! Writes the wheels: members are copied as they are stored.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use super::division::{Division, Part};
use super::error::{SplitError, WriteError};
use super::hashed::Hashed;
use super::packed_code::PackedCode;
use super::spooled::Spooled;
use base::names::RelPath;
use base::regular;
use wheel::archive::deflate::{Level, Packed};
use wheel::archive::stage::{self, StagedFile};
use wheel::archive::wheel::record::{own_row, row};
use wheel::archive::zip::{CopiedMember, ZipWriter};
use wheel::archive::{Stage, Timestamp};
use wheel::package::copied;

/// How much is read and written at once: it stays near the processor until it is hashed and written.
const BUFFER: usize = 256 << 10;

/// The mode of files that no wheel had before.
const MODE: u32 = 0o100_644;

/// Something to do for a thread.
enum Job<'d> {
    /// A wheel is hashed that is split.
    Hash(&'d Path),
    /// A wheel is written.
    Write(&'d Division, &'d PackedCode, &'d Part),
}

/// Hashes, in hexadecimal.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    /// Of the wheels that were split.
    pub inputs: BTreeMap<PathBuf, String>,
    /// Of those that were made.
    pub outputs: BTreeMap<RelPath, String>,
}

/// Writes all wheels to the stage, on so many threads.
pub(super) fn all(
    divisions: &[Division],
    stage: &Stage,
    threads: usize,
) -> Result<Hashes, SplitError> {
    let packed = divisions.iter().map(|division| PackedCode::new(&division.fats, threads));
    let packed = packed.collect::<io::Result<Vec<_>>>()?;
    let mut jobs: Vec<(u64, Job<'_>)> = Vec::new();
    for (division, packed) in divisions.iter().zip(&packed) {
        jobs.push((fs_err::metadata(&division.from)?.len(), Job::Hash(&division.from)));
        let size = |part: &Part| part.packed + part.fresh;
        let job = |part| (size(part), Job::Write(division, packed, part));
        jobs.extend(division.parts.iter().map(job));
    }
    let done = stage::written(&jobs, threads, |job, disk| hash(job, stage, disk))?;
    let mut hashes = Hashes::default();
    for ((_, job), hash) in jobs.into_iter().zip(done) {
        match job {
            Job::Hash(path) => drop(hashes.inputs.insert(path.to_owned(), hash)),
            Job::Write(_, _, part) => drop(hashes.outputs.insert(part.output.clone(), hash)),
        }
    }
    Ok(hashes)
}

/// Does something, and gives the hash of the wheel.
fn hash(job: &Job<'_>, stage: &Stage, disk: &Sender<StagedFile>) -> Result<String, SplitError> {
    match job {
        Job::Hash(path) => Ok(regular::sha256(path)?),
        Job::Write(division, packed, part) => {
            let file = Hashed::new(stage.create(&part.output)?, disk);
            let failed = |source| SplitError::Write { output: part.output.to_string(), source };
            wheel(division, packed, part, file).map_err(failed)
        }
    }
}

/// Writes one wheel, and gives its hash.
fn wheel(
    division: &Division,
    packed: &PackedCode,
    part: &Part,
    file: Hashed,
) -> Result<String, WriteError> {
    let (wheel, mut record) = (&division.wheel, String::new());
    let mut zip = ZipWriter::new(BufWriter::with_capacity(BUFFER, file), Timestamp::EARLIEST);
    // Texts of ours bear the time of METADATA, so that all members have one time where they had.
    let metadata = wheel.zip().find(&format!("{}/METADATA", wheel.dist_info()));
    let time = match metadata {
        Some(index) => copied(&wheel.entries()[index])?.time,
        None => Timestamp::EARLIEST.dos(),
    };
    for archive in &part.archives {
        let (out, frame) = (tempfile::tempfile()?, |piece| packed.frame(piece));
        let file = archive.write(&division.fats, frame, &division.group, out)?;
        record += &spool(&mut zip, &archive.path, Spooled::stored(file)?, MODE, time)?;
    }
    for (index, name) in &part.members {
        let entry = &wheel.entries()[*index];
        let described = copied(entry)?;
        if let Some(fat) = division.fats.iter().find(|fat| fat.member == *index) {
            let made = Spooled::deflated(fat.reader(), described.size)?;
            record += &spool(&mut zip, name, made, described.mode, described.time)?;
            continue;
        }
        zip.copy(&name.parse()?, &described, &mut wheel.zip().packed(entry))?;
        record += &division.rows.same(&entry.name, name);
    }
    for (name, text) in &part.texts {
        let packed = Packed::new(text.as_bytes(), Level::Default);
        record += &row(name, &packed.digest);
        put(&mut zip, name, &packed, time)?;
    }
    record += &own_row(&part.record);
    let packed = Packed::new(record.as_bytes(), Level::Default);
    put(&mut zip, &part.record, &packed, time)?;
    let file = zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(file.finish()?)
}

fn put(
    zip: &mut ZipWriter<impl Write + Seek>,
    name: &str,
    packed: &Packed,
    time: (u16, u16),
) -> Result<(), WriteError> {
    let described = CopiedMember::of(packed, MODE, time);
    Ok(zip.copy(&name.parse()?, &described, &mut &packed.bytes[..])?)
}

/// Puts a member that was made into a wheel, and gives its row of RECORD.
fn spool(
    zip: &mut ZipWriter<impl Write + Seek>,
    name: &str,
    mut member: Spooled,
    mode: u32,
    time: (u16, u16),
) -> Result<String, WriteError> {
    let described = member.described(mode, time);
    zip.copy(&name.parse()?, &described, member.bytes()?)?;
    Ok(row(name, &member.digest))
}
