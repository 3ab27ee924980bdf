//! Executes a plan in parallel, with bounded memory. Bytes do not depend on the number of threads:
//! blocks are cut by size, and joined in order.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::wheel::archive::{Stage, StageError};
use base::event::{Event, Reporter, WorkKind};
use base::names::{DistName, RelPath};
use base::regular;
use cache;
use catalog::Source;
use plan::{Distribution, Form, Plan};
use record::provenance::{Inputs, Package};
use record::sbom::Document;

mod anonymous;
mod awaited;
mod buffers;
mod bytes;
mod cache_lookup;
mod cache_recorder;
mod conclusion;
mod content;
mod contents;
mod dedup;
mod digests;
mod elsewhere;
mod ends;
mod estimate;
mod expectation;
mod output;
mod pack;
mod pack_stream;
mod packing;
mod prepare;
mod running_hash;
mod sample;
mod sbom;
mod sdist;
mod timings;
mod unfinished;
mod variants;
mod wheel;
mod wheel_assembler;
mod wheel_queue;
mod work;
mod write_error;
mod writeback;

use anonymous::anonymous;
use buffers::Buffers;
use cache_lookup::CacheLookup;
use cache_recorder::CacheRecorder;
use conclusion::put_in_place;
use ends::Ends;
use output::{Disk, Keeper, Parts, WheelOutput};
use pack::Packer;
use running_hash::RunningHash;
use timings::{Recorder, Subject};
use unfinished::{Offers, Unfinished, failed};
use wheel_assembler::WheelAssembler;
use wheel_queue::WheelQueue;
use write_error::WriteError;

pub use conclusion::conclude;
pub use content::{compatible, package_contents};
pub use contents::contents;
pub use digests::Digests;
pub use elsewhere::Elsewhere;
pub use estimate::estimate;
pub use pack_stream::{PackStreamError, pack_stream};
pub use prepare::{check, output_path};
pub use timings::{Timings, Track};
pub use wheel::least_memory;

/// Package of a build; size, hash and duration are set when it is finished.
#[derive(Debug, Clone)]
pub struct Built {
    /// Distribution.
    pub name: DistName,
    /// Path below the destination.
    pub path: RelPath,
    /// Installed files.
    pub files: usize,
    /// Their bytes.
    pub installed: u64,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
    /// Duration of writing.
    pub took: Duration,
}

/// Documents about the packages.
#[derive(Debug)]
pub struct Attestations {
    /// Bills of materials in the plan's order: [`crate::sbom::sboms`].
    pub sboms: Vec<Option<Document>>,
    /// Inputs of the statement.
    pub inputs: Inputs,
}

/// Result of a build.
#[derive(Debug)]
pub struct Outcome {
    /// Written packages, in the plan's order.
    pub built: Vec<Built>,
    /// Changes to packages of earlier builds.
    pub earlier: Earlier,
    /// Waiting time for [`Elsewhere`] packages.
    pub waited: Duration,
    /// Time by kind of work.
    pub timings: Timings,
    /// Use of the cache.
    pub cache: Option<cache::Summary>,
}

/// Changes to packages of earlier builds.
#[derive(Debug, Default)]
pub struct Earlier {
    /// Removed packages.
    pub removed: Vec<RelPath>,
    /// Modified packages: kept, but not listed.
    pub changed: Vec<RelPath>,
}

/// Reason for a failed build.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    /// Unpackable files with reasons.
    #[error("{}", .0.join("\n"))]
    Files(Vec<String>),
    /// Packages above their limits.
    #[error("{}", .0.join("\n"))]
    TooLarge(Vec<String>),
    /// Unwritable destination.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Full disk.
    #[error("the disk of {} is full: {output} could not be written", .dest.display())]
    Full {
        /// Destination.
        dest: PathBuf,
        /// Unfinished output.
        output: RelPath,
    },
    /// Unreadable earlier package.
    #[error("cannot read the outputs of an earlier build")]
    Earlier(#[source] io::Error),
    /// An unrecorded file has the path of a package kept elsewhere.
    #[error("no build recorded {}, which differs from the new package", .0.display())]
    InTheWay(PathBuf),
    /// Failed output.
    #[error("cannot write {output}: {reason}")]
    Output {
        /// Path below the destination.
        output: RelPath,
        /// Error with its causes.
        reason: String,
    },
}

/// Settings without effect on the bytes of packages.
#[derive(Debug)]
pub struct Settings {
    /// Limit of the process's memory in bytes.
    pub memory: u64,
    /// Report every piece of work.
    pub spans: bool,
    /// Digests, and the cache of packed members.
    pub digests: Digests,
    /// Packages of the same plan built elsewhere.
    pub elsewhere: Option<Elsewhere>,
}

/// Builds all outputs of `plan` in `dest`, with checksums and provenance. Removes selected earlier
/// packages.
///
/// # Errors
///
/// Fails with the plan's first faulty output, and leaves `dest` unchanged.
pub fn execute(
    plan: &Plan,
    attestations: &Attestations,
    artifacts: &dyn Source,
    dest: &Path,
    is_selected: impl Fn(&RelPath) -> bool,
    settings: Settings,
    reporter: &dyn Reporter,
) -> Result<Outcome, ExecuteError> {
    let recorder = Recorder::new(settings.spans.then_some(reporter));
    let waited = settings.elsewhere.as_ref().map_or(Duration::ZERO, |elsewhere| elsewhere.took);
    let parts = settings.elsewhere.map(Elsewhere::into_parts);
    let is_elsewhere =
        |index| parts.as_ref().is_some_and(|(_, built, _)| built.contains_key(&index));
    let outputs = prepare::outputs(plan, artifacts, is_elsewhere, &recorder)?;
    let (stage, elsewhere, unstaged) = match parts {
        Some(parts) => parts,
        None => (Stage::open(dest)?, BTreeMap::new(), Vec::new()),
    };
    let bytes = outputs.iter().map(prepare::Output::bytes).sum();
    let count = outputs.len().saturating_sub(elsewhere.len());
    if count > 0 || elsewhere.is_empty() {
        reporter.report(Event::BuildStarted { outputs: count, bytes });
    }
    let lookup = CacheLookup::new(&settings.digests);
    let execution = Build {
        plan,
        attestations,
        stage: &stage,
        recorder: &recorder,
        reporter,
        memory: settings.memory,
        lookup,
        elsewhere: &elsewhere,
    };
    let (built, offers) = match execution.build_outputs(outputs) {
        Ok(packages) => packages,
        Err(Unfinished { error, offers }) => {
            let archive = |(path, offer)| cache::Archive { path: stage.path(&path), offer };
            // The cache keeps finished packages of a failed build, so that the next one is faster.
            let cache = settings.digests.into_cache();
            cache.map(|cache| cache.finish(offers.into_iter().map(archive).collect()));
            return Err(error);
        }
    };
    let earlier = recorder.time(WorkKind::Write, 0, Subject::of_package(DIST), || {
        put_in_place(stage, plan, attestations, (&packages(&built), &unstaged), &[], is_selected)
    })?;
    let archive = |(path, offer): (RelPath, cache::Offer)| cache::Archive {
        path: dest.join(path.as_str()),
        offer,
    };
    let archives = offers.into_iter().map(archive).collect();
    let cache = settings.digests.into_cache().map(|cache| {
        recorder.time(WorkKind::Write, 0, Subject::of_package(DIST), || cache.finish(archives))
    });
    Ok(Outcome { built, earlier, waited, timings: recorder.finish(), cache })
}

const DIST: &str = "dist";

/// Packages of the plan that are larger than its limits, by the bytes of their files.
pub fn too_large(plan: &Plan, sizes: impl Iterator<Item = (usize, u64)>) -> Option<ExecuteError> {
    let excess = sizes.filter_map(|(index, size)| plan.distributions[index].is_too_large(size));
    let faults: Vec<String> = excess.map(|excess| excess.to_string()).collect();
    (!faults.is_empty()).then_some(ExecuteError::TooLarge(faults))
}

/// Paths and hashes for the attestations.
pub fn packages(built: &[Built]) -> Vec<Package<'_>> {
    built.iter().map(|b| Package { path: &b.path, sha256: &b.sha256 }).collect()
}

#[derive(Clone, Copy)]
struct Build<'a> {
    plan: &'a Plan,
    attestations: &'a Attestations,
    stage: &'a Stage,
    recorder: &'a Recorder<'a>,
    reporter: &'a dyn Reporter,
    memory: u64,
    lookup: Option<CacheLookup<'a>>,
    elsewhere: &'a BTreeMap<usize, Built>,
}

impl<'b> Build<'b> {
    fn build_outputs(
        self,
        outputs: Vec<prepare::Output>,
    ) -> Result<(Vec<Built>, Offers), Unfinished> {
        let (mut built, mut wheels) = (Vec::new(), Vec::new());
        for (index, (distribution, output)) in
            self.plan.distributions.iter().zip(outputs).enumerate()
        {
            if let Some(package) = self.elsewhere.get(&index) {
                built.push((index, package.clone()));
                continue;
            }
            let entry = unwritten(distribution, &output);
            match distribution.form {
                Form::Sdist => built.push((index, self.sdist(distribution, output, entry)?)),
                Form::Wheel => wheels.push((index, distribution, entry, output)),
            }
        }
        let (packages, offers) = self.wheels(wheels)?;
        built.extend(packages);
        built.sort_by_key(|(index, _)| *index);
        let sizes = built.iter().map(|(index, built)| (*index, built.size));
        if let Some(error) = too_large(self.plan, sizes) {
            return Err(Unfinished { error, offers });
        }
        let mut built: Vec<Built> = built.into_iter().map(|(_, built)| built).collect();
        match variants::write(self.plan, self.stage) {
            Ok(variants) => built.extend(variants),
            Err(error) => return Err(Unfinished { error, offers }),
        }
        Ok((built, offers))
    }

    fn sdist(
        self,
        distribution: &Distribution,
        output: prepare::Output,
        built: Built,
    ) -> Result<Built, ExecuteError> {
        let (path, start) = (built.path.clone(), Instant::now());
        let failed = |e: &(dyn std::error::Error + 'static)| failed(self.stage.dest(), &path, e);
        let bytes = built.installed;
        self.reporter.report(Event::OutputStarted { path: path.clone(), bytes });
        let file = self.stage.create(&path)?;
        let subject = Subject::of_package(path.as_str());
        let size = self.recorder.time(WorkKind::Write, built.installed, subject, || {
            sdist::write(self.plan, distribution, output, file, self.reporter)
        });
        let size = size.map_err(|e| failed(&e))?;
        let sha256 = regular::sha256(self.stage.path(&path)).map_err(|e| failed(&e))?;
        let took = start.elapsed();
        self.reporter.report(Event::OutputFinished {
            path: path.clone(),
            files: built.files,
            size,
            took,
        });
        Ok(Built { size, sha256, took, ..built })
    }

    /// Notes which members a shared cache may deliver.
    fn expect<'e>(self, wheels: &mut [Vec<pack::Packable<'e>>])
    where
        'b: 'e,
    {
        let Some(lookup) = self.lookup else { return };
        let Some(source) = lookup.0.source() else { return };
        for entry in wheels.iter_mut().flatten() {
            expectation::expect(entry, lookup, source);
        }
    }

    /// Fetches members from a shared cache, in the order in which the queues need them, until all arrived
    /// or the build is over.
    fn fetch_deliveries(self, wheels: &[Vec<pack::Packable<'_>>], is_over: &AtomicBool) {
        let Some(source) = self.lookup.and_then(|lookup| lookup.0.source()) else { return };
        let mut wheels: Vec<&[pack::Packable<'_>]> = wheels.iter().map(Vec::as_slice).collect();
        wheels.sort_by_key(|entries| Reverse(wheel_queue::Rank::new(entries)));
        let deliveries = wheels.into_iter().flatten().flat_map(|entry| &entry.deliveries);
        let deliveries: Vec<_> =
            deliveries.map(|delivery| delivery as &dyn cache::Awaited).collect();
        if !deliveries.is_empty() {
            source.bring(&deliveries, is_over);
        }
    }

    fn wheels(
        self,
        wheels: Vec<(usize, &Distribution, Built, prepare::Output)>,
    ) -> Result<Wheels, Unfinished> {
        let failed = |path: &RelPath, e: &WriteError| failed(self.stage.dest(), path, e);
        let (mut contents, mut wheels_to_pack) = (Vec::new(), Vec::new());
        for (index, distribution, built, output) in wheels {
            let sbom = self.attestations.sboms.get(index).and_then(Option::as_ref);
            contents.push(
                wheel::Contents::new(self.plan, distribution, sbom, output)
                    .map_err(|e| failed(&built.path, &e))?,
            );
            wheels_to_pack.push((index, distribution, built));
        }
        let entries =
            contents.iter().zip(&wheels_to_pack).map(|(contents, (_, distribution, built))| {
                contents
                    .entries(distribution, built.path.as_str(), self.lookup)
                    .map_err(|e| failed(&built.path, &e))
            });
        let (mut entries, buffers) = (entries.collect::<Result<Vec<_>, _>>()?, Buffers::default());
        self.expect(&mut entries);
        let (writeback, requests) = writeback::pair();
        let (mut outputs, mut trails) = (Vec::new(), Vec::new());
        for (output, ((_, distribution, built), contents)) in
            wheels_to_pack.iter().zip(&contents).enumerate()
        {
            let file = self.stage.create(&built.path)?;
            let twin = || file.twin().map_err(|e| failed(&built.path, &e.into()));
            let disk = Disk { output, file: twin()?, writeback: writeback.clone(), since: 0 };
            trails.push(RunningHash::new(twin()?, built.path.as_str(), self.recorder));
            let wheel =
                wheel::begin(self.plan, distribution, file).map_err(|e| failed(&built.path, &e))?;
            let cache_recorder =
                CacheRecorder::new(self.lookup.map(|CacheLookup(cache, _)| cache.offer()));
            let wheel_assembler =
                WheelAssembler::new(wheel, cache_recorder, &buffers, self.recorder);
            let parts = Parts {
                wheel_assembler,
                bill: contents.bill.as_ref(),
                compression: distribution.compression,
                disk,
                keeper: self.lookup.map(|CacheLookup(store, _)| Keeper {
                    store,
                    path: self.stage.path(&built.path),
                }),
            };
            outputs.push(WheelOutput::new(built.clone(), parts, self.recorder, self.reporter));
        }
        // The thread of the writeback ends with its last sender.
        drop(writeback);
        let with_path =
            |(output, error): (usize, WriteError)| failed(&wheels_to_pack[output].2.path, &error);
        let is_over = AtomicBool::new(false);
        let (result, packages): (_, Vec<(Built, Option<cache::Offer>)>) =
            std::thread::scope(|scope| {
                let writeback_thread = scope.spawn(|| requests.serve());
                scope.spawn(|| self.fetch_deliveries(&entries, &is_over));
                let _ends = Ends(&is_over);
                let queues = entries.iter().zip(&mut outputs).zip(trails);
                let queues = queues
                    .map(|((entries, output), running_hash)| {
                        (WheelQueue::new(entries), output, running_hash)
                    })
                    .collect();
                let packer = || Packer::new(self.lookup, &buffers, self.recorder);
                let outcome = work::run(queues, self.memory, anonymous, packer);
                let outcome =
                    outcome.map(|threads| self.recorder.packed_by(threads)).map_err(with_path);
                let packages =
                    outputs.into_iter().map(|output| (output.built, output.offer)).collect();
                // The outputs are gone, and with them the last sender: the thread ends.
                let written = writeback_thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (
                    outcome
                        .and(written.map_err(|(output, error)| with_path((output, error.into())))),
                    packages,
                )
            });
        let (mut built, mut offers) = (Vec::new(), Vec::new());
        for (package, offer) in packages {
            // Only finished packages have a hash, because it is the last step.
            if !package.sha256.is_empty() {
                offers.extend(offer.map(|offer| (package.path.clone(), offer)));
            }
            built.push(package);
        }
        if let Err(error) = result {
            return Err(Unfinished { error, offers });
        }
        let indexes = wheels_to_pack.iter().map(|(index, ..)| *index);
        Ok((indexes.zip(built).collect(), offers))
    }
}

type Wheels = (Vec<(usize, Built)>, Offers);

fn unwritten(distribution: &Distribution, output: &prepare::Output) -> Built {
    Built {
        name: distribution.name.clone(),
        path: output.path.clone(),
        files: distribution.file_count(),
        installed: output.bytes(),
        size: 0,
        sha256: String::new(),
        took: Duration::ZERO,
    }
}
