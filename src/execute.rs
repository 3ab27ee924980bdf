//! Carries a plan out: reads, edits, packs and writes, in parallel, in bounded memory.
//!
//! Bytes stream from the artifacts into the archives. The same plan gives the same bytes for
//! any number of threads: work is cut into blocks by size alone, and put together in order.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::archive::{Stage, StageError};
use crate::catalog::{Tree, sha256_of_file};
use crate::event::{Event, Reporter};
use crate::names::{DistName, RelPath};
use crate::plan::{Distribution, Form, Plan};

mod bytes;
mod estimate;
mod pack;
mod prepare;
mod sample;
mod sdist;
mod tar_image;
mod wheel;

pub use estimate::estimate;

/// One file that was written.
#[derive(Debug, Clone)]
pub struct Built {
    /// The distribution it is of.
    pub name: DistName,
    /// Where it is, below the destination.
    pub path: RelPath,
    /// How many files are installed with it.
    pub files: usize,
    /// How many bytes are installed with it.
    pub installed: u64,
    /// Its own size in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
    /// How long it took to write.
    pub took: Duration,
}

/// What a build left in the destination.
#[derive(Debug)]
pub struct Outcome {
    /// What was written, in the plan's order.
    pub built: Vec<Built>,
    /// Packages of earlier builds that were removed.
    pub removed: Vec<RelPath>,
}

/// Why a build stopped. Nothing it wrote is left behind.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// Files of the plan cannot be packed: every one, with its reason.
    #[error("{}", .0.join("\n"))]
    Files(Vec<String>),
    /// The destination cannot be written.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The disk of the destination has no room.
    #[error("the disk of {} is full: {output} could not be written", .dest.display())]
    Full {
        /// The destination.
        dest: PathBuf,
        /// What was being written, below the destination.
        output: RelPath,
    },
    /// An output could not be written.
    #[error("cannot write {output}: {reason}")]
    Output {
        /// Its path below the destination.
        output: RelPath,
        /// Why, with all causes.
        reason: String,
    },
}

/// Makes everything that `plan` promises in the directory `dest`.
///
/// `is_ours` tells files of earlier builds, which are removed, from files of others, which
/// stay. Runs on the current rayon pool.
///
/// # Errors
/// On the first output, in the plan's order, that cannot be made. `dest` is then as it was.
pub fn execute(
    plan: &Plan,
    tree: &Tree,
    dest: &Path,
    is_ours: impl Fn(&RelPath) -> bool,
    reporter: &dyn Reporter,
) -> Result<Outcome, ExecuteError> {
    let prepared = prepare::all(plan, tree)?;
    let stage = Stage::open(dest)?;
    let bytes = prepared.iter().map(prepare::Output::bytes).sum();
    reporter.report(Event::BuildStarted { outputs: prepared.len(), bytes });
    let mut built = Vec::new();
    for (distribution, output) in plan.distributions.iter().zip(prepared) {
        built.push(write(plan, distribution, output, &stage, reporter)?);
    }
    // Headers are completed after their members, so a hash over all can only be taken at the end.
    let digests: Vec<_> = built.par_iter().map(|b| sha256_of_file(&stage.path(&b.path))).collect();
    for (built, digest) in built.iter_mut().zip(digests) {
        built.sha256 = digest.map_err(|e| failed(dest, &built.path, &e))?;
    }
    let paths: Vec<RelPath> = built.iter().map(|b| b.path.clone()).collect();
    let removed = stage.commit(&paths, is_ours)?;
    Ok(Outcome { built, removed })
}

fn write(
    plan: &Plan,
    distribution: &Distribution,
    output: prepare::Output,
    stage: &Stage,
    reporter: &dyn Reporter,
) -> Result<Built, ExecuteError> {
    let (path, files, bytes, start) = (output.path.clone(), distribution.file_count(), output.bytes(), Instant::now());
    reporter.report(Event::OutputStarted { path: path.clone() });
    let file = stage.create(&path)?;
    let size = match distribution.form {
        Form::Wheel => wheel::write(plan, distribution, output, file, reporter).map_err(|e| failed(stage.dest(), &path, &e))?,
        Form::Sdist => sdist::write(plan, distribution, output, file, reporter).map_err(|e| failed(stage.dest(), &path, &e))?,
    };
    let took = start.elapsed();
    reporter.report(Event::OutputFinished { path: path.clone(), files, size, took });
    Ok(Built { name: distribution.name.clone(), path, files, installed: bytes, size, sha256: String::new(), took })
}

fn failed(dest: &Path, output: &RelPath, error: &(dyn std::error::Error + 'static)) -> ExecuteError {
    if is_full(error) {
        return ExecuteError::Full { dest: dest.to_owned(), output: output.clone() };
    }
    ExecuteError::Output { output: output.clone(), reason: chain(error) }
}

/// Whether the disk is at fault, wherever among the causes that is said.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let kind = |e: &(dyn std::error::Error + 'static)| e.downcast_ref::<io::Error>().map(io::Error::kind);
    let full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
    std::iter::successors(Some(error), |e| e.source()).filter_map(kind).any(full)
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |e| e.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
