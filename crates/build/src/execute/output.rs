use std::io;
use std::path::PathBuf;
use std::time::Instant;

use super::Built;
use super::running_hash::RunningHash;
use super::sbom::Bill;
use super::timings::{Recorder, Subject};
use super::wheel;
use super::wheel_assembler::WheelAssembler;
use super::wheel_queue::PackedBatch;
use super::work::Writer;
use super::write_error::WriteError;
use super::writeback::Writeback;
use ::wheel::archive::stage::StagedFile;
use base::activity;
use base::event::{Event, Reporter, WorkKind};
use base::names::Compression;
use cache;

pub(super) struct WheelOutput<'a> {
    /// Size and hash are set at the end.
    pub built: Built,
    /// `None` before the end.
    pub offer: Option<cache::Offer>,
    keeper: Option<Keeper<'a>>,
    wheel_assembler: Option<WheelAssembler<'a>>,
    bill: Option<&'a Bill<'a>>,
    compression: Compression,
    disk: Disk,
    start: Instant,
    recorder: &'a Recorder<'a>,
    reporter: &'a dyn Reporter,
}

pub(super) struct Parts<'a> {
    pub wheel_assembler: WheelAssembler<'a>,
    pub bill: Option<&'a Bill<'a>>,
    pub compression: Compression,
    pub disk: Disk,
    pub keeper: Option<Keeper<'a>>,
}

/// Cache for the streams of a finished wheel on the stage.
pub(super) struct Keeper<'a> {
    pub store: &'a dyn cache::Store,
    pub path: PathBuf,
}

pub(super) struct Disk {
    pub output: usize,
    pub file: StagedFile,
    pub writeback: Writeback,
    pub since: u64,
}

const BYTES_BETWEEN_WRITEBACKS: u64 = 128 << 20;

impl Disk {
    fn add_written(&mut self, bytes: u64) -> io::Result<()> {
        self.since += bytes;
        if self.since < BYTES_BETWEEN_WRITEBACKS {
            return Ok(());
        }
        self.since = 0;
        self.request_writeback()
    }

    fn request_writeback(&self) -> io::Result<()> {
        self.writeback.request(self.output, self.file.twin()?);
        Ok(())
    }
}

impl<'a> WheelOutput<'a> {
    pub fn new(
        built: Built,
        parts: Parts<'a>,
        recorder: &'a Recorder<'a>,
        reporter: &'a dyn Reporter,
    ) -> Self {
        let Parts { wheel_assembler, bill, compression, disk, keeper } = parts;
        Self {
            built,
            offer: None,
            keeper,
            wheel_assembler: Some(wheel_assembler),
            bill,
            compression,
            disk,
            start: Instant::now(),
            recorder,
            reporter,
        }
    }
}

impl<'a> Writer<'a> for WheelOutput<'a> {
    type Error = WriteError;
    type Follower = RunningHash<'a>;

    fn begin(&mut self) {
        self.start = Instant::now();
        let (path, bytes) = (self.built.path.clone(), self.built.installed);
        activity::during("begin", self.built.path.as_str(), "", || {
            self.reporter.report(Event::OutputStarted { path, bytes });
        });
    }

    fn write(&mut self, batch: PackedBatch<'a>) -> Result<(), WriteError> {
        let Some(wheel_assembler) = &mut self.wheel_assembler else { return Ok(()) };
        for packed in batch {
            let bytes = packed.block.progress();
            wheel_assembler.write(packed)?;
            self.disk.add_written(bytes)?;
            let path = self.built.path.clone();
            activity::during("write", self.built.path.as_str(), "", || {
                self.reporter.report(Event::Progress { path, bytes });
            });
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), WriteError> {
        let Some(wheel_assembler) = self.wheel_assembler.take() else { return Ok(()) };
        let (mut wheel, cache_recorder) = wheel_assembler.into_parts();
        self.offer = cache_recorder.into_offer();
        let subject = Subject::of_package(self.built.path.as_str());
        self.built.size = self.recorder.time(WorkKind::Write, 0, subject, || {
            self.bill.map_or(Ok(()), |bill| bill.write(&mut wheel, self.compression))?;
            wheel::end(wheel)
        })?;
        Ok(self.disk.request_writeback()?)
    }

    fn solid(&self) -> u64 {
        self.wheel_assembler.as_ref().map_or(self.built.size, WheelAssembler::solid)
    }

    fn finish(&mut self, running_hash: RunningHash<'a>) {
        self.built.sha256 = running_hash.sha256().to_string();
        if let (Some(Keeper { store, path }), Some(offer)) = (self.keeper.take(), self.offer.take())
        {
            let mut archive = cache::Archive { path, offer };
            let subject = Subject::of_package(self.built.path.as_str());
            self.recorder.time(WorkKind::Write, 0, subject, || store.keep(&mut archive));
            self.offer = Some(archive.offer);
        }
        self.built.took = self.start.elapsed();
        let Built { path, files, size, took, .. } = self.built.clone();
        self.reporter.report(Event::OutputFinished { path, files, size, took });
    }
}
