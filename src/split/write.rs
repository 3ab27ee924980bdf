//! Writes the wheels: members are copied as they are stored.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use super::division::{Division, Part};
use super::error::{SplitError, WriteError};
use super::hashed::Hashed;
use crate::archive::deflate::{Level, Packed};
use crate::archive::stage::StagedFile;
use crate::archive::wheel::record::{own_row, row};
use crate::archive::zip::{CopiedMember, ZipWriter};
use crate::archive::{Stage, Timestamp};
use crate::names::RelPath;
use crate::package::copied;
use crate::regular;

/// How much is read and written at once: it stays near the processor until it is hashed and written.
const BUFFER: usize = 256 << 10;

/// Something to do for a thread.
enum Job<'d> {
    /// A wheel is hashed that is split.
    Hash(&'d Path),
    /// A wheel is written.
    Write(&'d Division, &'d Part),
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
    let mut jobs: Vec<(u64, Job<'_>)> = Vec::new();
    for division in divisions {
        jobs.push((fs_err::metadata(&division.from)?.len(), Job::Hash(&division.from)));
        jobs.extend(division.parts.iter().map(|part| (part.packed, Job::Write(division, part))));
    }
    // The largest are taken first, from the end: no thread is left with one of them alone.
    jobs.sort_by_key(|(size, _)| *size);
    let (jobs, stopped) = (Mutex::new(jobs), AtomicBool::new(false));
    let take = || jobs.lock().map_or(None, |mut jobs| jobs.pop()).map(|(_, job)| job);
    let (disk, files) = channel::<StagedFile>();
    let work = |disk: Sender<StagedFile>| -> Result<Hashes, SplitError> {
        let mut hashes = Hashes::default();
        while let Some(job) = take().filter(|_| !stopped.load(Ordering::Relaxed)) {
            let done = done(&job, stage, &disk, &mut hashes);
            stopped.fetch_or(done.is_err(), Ordering::Relaxed);
            done?;
        }
        Ok(hashes)
    };
    let done: Vec<_> = std::thread::scope(|scope| {
        // What fails there fails again when the outputs are put in place, which tells of it.
        scope.spawn(move || files.into_iter().for_each(|file| drop(file.settle())));
        let work = &work;
        let start = |disk: Sender<StagedFile>| scope.spawn(move || work(disk));
        let workers: Vec<_> = (0..threads.max(1)).map(|_| start(disk.clone())).collect();
        drop(disk);
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect()
    });
    let mut all = Hashes::default();
    for hashes in done {
        let hashes = hashes?;
        all.inputs.extend(hashes.inputs);
        all.outputs.extend(hashes.outputs);
    }
    Ok(all)
}

fn done(
    job: &Job<'_>,
    stage: &Stage,
    disk: &Sender<StagedFile>,
    hashes: &mut Hashes,
) -> Result<(), SplitError> {
    match job {
        Job::Hash(path) => {
            hashes.inputs.insert((*path).to_owned(), regular::sha256(path)?);
        }
        Job::Write(division, part) => {
            let file = Hashed::new(stage.create(&part.output)?, disk);
            let failed = |source| SplitError::Write { output: part.output.to_string(), source };
            let hash = wheel(division, part, file).map_err(failed)?;
            hashes.outputs.insert(part.output.clone(), hash);
        }
    }
    Ok(())
}

/// Writes one wheel, and gives its hash.
fn wheel(division: &Division, part: &Part, file: Hashed) -> Result<String, WriteError> {
    let (wheel, mut record) = (&division.wheel, String::new());
    let mut zip = ZipWriter::new(BufWriter::with_capacity(BUFFER, file), Timestamp::EARLIEST);
    // Texts of ours bear the time of METADATA, so that all members have one time where they had.
    let metadata = wheel.zip().find(&format!("{}/METADATA", wheel.dist_info()));
    for (index, name) in &part.members {
        let entry = &wheel.entries()[*index];
        zip.copy(&name.parse()?, &copied(entry)?, &mut wheel.zip().packed(entry))?;
        record += &division.rows.same(&entry.name, name);
    }
    let time = match metadata {
        Some(index) => copied(&wheel.entries()[index])?.time,
        None => Timestamp::EARLIEST.dos(),
    };
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
    let described = CopiedMember::of(packed, 0o100_644, time);
    Ok(zip.copy(&name.parse()?, &described, &mut &packed.bytes[..])?)
}
