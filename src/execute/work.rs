//! The one place where a build works in parallel: all blocks of all wheels, in one pool.
//!
//! Every thread of the pool does whatever is the most urgent at the moment: write what is ready,
//! else pack the next block of the wheel of highest rank that may have one more in flight, else
//! wait. Wheels with much for their writer and large ones rank high, so that at the end there are
//! small ones to fill the cores with. Each wheel has one writer at a time, and its blocks come in order, so that
//! the bytes are the same however the threads take turns.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::lane::{Batch, Lane, PackedBatch};
use super::pack::{PackError, Packer};

/// Writes one wheel.
pub(super) trait Writer<'a>: Send {
    /// What can go wrong.
    type Error: From<PackError> + Send;

    /// The first block was taken.
    fn begin(&mut self);
    /// The next blocks, in order.
    fn write(&mut self, batch: PackedBatch<'a>) -> Result<(), Self::Error>;
    /// All blocks were written.
    fn finish(&mut self) -> Result<(), Self::Error>;
}

/// How many batches of one wheel may be packed or wait to be written, at most: as many as its one writer keeps up with.
const MOST: u64 = 16;

/// As many as keep `threads` busy, and one more for each to go on with.
fn in_flight(threads: usize) -> u64 {
    (2 * threads as u64 + 2).min(MOST)
}

/// Works until all lanes are written and finished by their writers, on every thread of the current pool.
///
/// `memory` bounds the bytes of blocks in flight; a block that is larger goes alone.
///
/// # Errors
/// The first in the order of the lanes among those that came up, with its lane; the others stop then.
pub(super) fn run<'a, W: Writer<'a>>(
    lanes: Vec<(Lane<'a>, &mut W)>,
    memory: u64,
    packer: impl Fn() -> Packer<'a> + Sync,
) -> Result<(), (usize, W::Error)> {
    let mut runs: Vec<Run<'a, '_, W>> = lanes.into_iter().map(|(lane, writer)| Run::new(lane, writer)).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        run.index = index;
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.lane.rank()));
    let most = in_flight(rayon::current_num_threads());
    let state = State { runs, most, held: 0, faults: Vec::new(), over: false };
    let work = Work { state: Mutex::new(state), changed: Condvar::new(), memory };
    rayon::broadcast(|_| {
        let _bell = Bell(&work);
        let mut packer = packer();
        while let Some(task) = work.next() {
            work.carry_out(task, &mut packer);
        }
    });
    let State { mut faults, .. } = work.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    faults.sort_by_key(|(index, _)| *index);
    faults.into_iter().next().map_or(Ok(()), Err)
}

/// A wheel, and its writer when nobody writes.
struct Run<'a, 'w, W> {
    lane: Lane<'a>,
    writer: Option<&'w mut W>,
    begun: bool,
    finished: bool,
    index: usize,
}

impl<'a, 'w, W> Run<'a, 'w, W> {
    fn new(lane: Lane<'a>, writer: &'w mut W) -> Self {
        Self { lane, writer: Some(writer), begun: false, finished: false, index: 0 }
    }
}

struct State<'a, 'w, W: Writer<'a>> {
    runs: Vec<Run<'a, 'w, W>>,
    /// Batches in flight of each.
    most: u64,
    /// Bytes of memory that blocks hold.
    held: u64,
    faults: Vec<(usize, W::Error)>,
    /// Nobody shall begin anything.
    over: bool,
}

/// What a thread does next.
enum Task<'a, 'w, W> {
    Begin(usize, &'w mut W),
    Pack { run: usize, number: u64, batch: Batch<'a>, ahead: Batch<'a>, memory: u64 },
    Write { run: usize, writer: &'w mut W, batch: PackedBatch<'a>, memory: u64 },
    Finish(usize, &'w mut W),
}

impl<'a, 'w, W: Writer<'a>> State<'a, 'w, W> {
    /// The most urgent task, if there is one at the moment.
    fn task(&mut self, limit: u64) -> Option<Task<'a, 'w, W>> {
        self.write().or_else(|| self.finish()).or_else(|| self.pack(limit))
    }

    fn write(&mut self) -> Option<Task<'a, 'w, W>> {
        let (index, run) = self.runs.iter_mut().enumerate().find(|(_, run)| run.writer.is_some() && run.lane.is_ready())?;
        let (batch, memory) = run.lane.take_ready()?;
        Some(Task::Write { run: index, writer: run.writer.take()?, batch, memory })
    }

    fn finish(&mut self) -> Option<Task<'a, 'w, W>> {
        let ready = |run: &mut Run<'a, 'w, W>| !run.finished && run.writer.is_some() && run.lane.is_over();
        let (index, run) = self.runs.iter_mut().enumerate().find_map(|(index, run)| ready(run).then_some((index, run)))?;
        run.finished = true;
        Some(Task::Finish(index, run.writer.take()?))
    }

    fn pack(&mut self, limit: u64) -> Option<Task<'a, 'w, W>> {
        for (index, run) in self.runs.iter_mut().enumerate().filter(|(_, run)| run.lane.in_flight() < self.most) {
            let Some(memory) = run.lane.next_memory() else { continue };
            if self.held > 0 && self.held + memory > limit {
                continue;
            }
            if !run.begun {
                run.begun = true;
                return Some(Task::Begin(index, run.writer.take()?));
            }
            let ((number, batch), ahead) = (run.lane.take(), run.lane.ahead());
            let memory = batch.iter().map(super::pack::Block::memory).sum();
            self.held += memory;
            return Some(Task::Pack { run: index, number, batch, ahead, memory });
        }
        None
    }

    fn is_over(&self) -> bool {
        self.over || self.runs.iter().all(|run| run.finished)
    }

    fn fail(&mut self, run: usize, fault: W::Error) {
        self.faults.push((self.runs[run].index, fault));
        self.over = true;
    }
}

struct Work<'a, 'w, W: Writer<'a>> {
    state: Mutex<State<'a, 'w, W>>,
    changed: Condvar,
    memory: u64,
}

impl<'a, 'w, W: Writer<'a>> Work<'a, 'w, W> {
    fn lock(&self) -> MutexGuard<'_, State<'a, 'w, W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to do; `None` when all is done.
    fn next(&self) -> Option<Task<'a, 'w, W>> {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return None;
            }
            if let Some(task) = state.task(self.memory) {
                return Some(task);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn carry_out(&self, task: Task<'a, 'w, W>, packer: &mut Packer<'a>) {
        match task {
            Task::Begin(run, writer) => {
                writer.begin();
                self.lock().runs[run].writer = Some(writer);
            }
            Task::Pack { run, number, batch, ahead, memory } => {
                packer.read_ahead(&ahead);
                let done: Result<PackedBatch<'a>, _> = batch.into_iter().map(|block| packer.pack(block)).collect();
                let mut state = self.lock();
                match done {
                    Ok(batch) => state.runs[run].lane.put(number, batch, memory),
                    Err(fault) => state.fail(run, fault.into()),
                }
            }
            Task::Write { run, writer, batch, memory } => {
                let written = writer.write(batch);
                self.give_back(run, writer, written, memory);
            }
            Task::Finish(run, writer) => {
                let finished = writer.finish();
                self.give_back(run, writer, finished, 0);
            }
        }
        self.changed.notify_all();
    }

    fn give_back(&self, run: usize, writer: &'w mut W, done: Result<(), W::Error>, memory: u64) {
        let mut state = self.lock();
        state.held -= memory;
        state.runs[run].writer = Some(writer);
        if let Err(fault) = done {
            state.fail(run, fault);
        }
    }
}

/// Wakes those that wait when a thread ends: of a thread that panics they would wait for ever.
struct Bell<'r, 'a, 'w, W: Writer<'a>>(&'r Work<'a, 'w, W>);

impl<'a, W: Writer<'a>> Drop for Bell<'_, 'a, '_, W> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().over = true;
        }
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::buffers::Buffers;
    use super::super::bytes::Bytes;
    use super::super::pack::{Body, Entry, Packing};
    use super::super::timings::Recorder;
    use super::*;
    use crate::archive::deflate::BLOCK;
    use crate::names::RelPath;

    /// Remembers what it was given.
    #[derive(Default)]
    struct Seen {
        content: Vec<u8>,
        begun: usize,
        finished: usize,
        /// The block at which to fail or to panic.
        fails: Option<usize>,
        panics: Option<usize>,
        blocks: usize,
    }

    #[derive(Debug, thiserror::Error)]
    enum Fault {
        #[error("the disk")]
        Disk,
        #[error(transparent)]
        Pack(#[from] PackError),
    }

    impl<'a> Writer<'a> for Seen {
        type Error = Fault;

        fn begin(&mut self) {
            self.begun += 1;
        }

        fn write(&mut self, batch: PackedBatch<'a>) -> Result<(), Fault> {
            for packed in batch {
                assert_ne!(self.panics, Some(self.blocks), "as the test wants");
                if self.fails == Some(self.blocks) {
                    return Err(Fault::Disk);
                }
                self.blocks += 1;
                let Body::Bytes { packed, .. } = packed.body else { panic!("nothing here is xz") };
                self.content.extend(packed);
            }
            Ok(())
        }

        fn finish(&mut self) -> Result<(), Fault> {
            self.finished += 1;
            Ok(())
        }
    }

    /// Wheels whose members have these sizes, each filled with what tells it from the others.
    fn contents(wheels: &[&[usize]]) -> Vec<Vec<Bytes>> {
        let member = |wheel: usize, size: usize| Bytes::Memory((0..size).map(|at| ((at / 1000 + wheel) % 251).to_le_bytes()[0]).collect());
        wheels.iter().enumerate().map(|(wheel, sizes)| sizes.iter().map(|size| member(wheel, *size)).collect()).collect()
    }

    fn build(contents: &[Vec<Bytes>], writers: &mut [Seen], threads: usize, memory: u64) -> Result<(), (usize, Fault)> {
        let name: RelPath = "a".parse().unwrap();
        let entry = |bytes| Entry::new(&name, false, bytes, Packing::Store);
        let entries: Vec<Vec<Entry<'_>>> = contents.iter().map(|wheel| wheel.iter().map(entry).collect()).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (buffers, recorder) = (Buffers::default(), Recorder::new(false));
            let lanes = entries.iter().map(|entries| Lane::new(entries)).zip(writers).collect();
            run(lanes, memory, || Packer::new(None, &buffers, &recorder))
        })
    }

    const WHEELS: [&[usize]; 5] = [&[10; 300], &[40 * BLOCK + 7], &[], &[BLOCK, 0, 1, 3 * BLOCK], &[5]];

    #[test]
    fn every_wheel_gets_its_bytes_in_order() {
        let contents = contents(&WHEELS);
        for (threads, memory) in [(1, u64::MAX), (2, u64::MAX), (7, u64::MAX), (3, 1), (2, 3 * BLOCK as u64)] {
            let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
            build(&contents, &mut writers, threads, memory).unwrap();
            for (seen, wheel) in writers.iter().zip(&contents) {
                let whole: Vec<u8> =
                    wheel.iter().flat_map(|b| if let Bytes::Memory(bytes) = b { bytes.clone() } else { Vec::new() }).collect();
                assert!(seen.content == whole, "{threads} threads, {memory} bytes");
                assert_eq!((seen.begun, seen.finished), (usize::from(!wheel.is_empty()), 1));
            }
        }
    }

    #[test]
    fn a_fault_ends_the_build_and_names_its_wheel() {
        for threads in [1, 4] {
            let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
            writers[1].fails = Some(20);
            let (wheel, fault) = build(&contents(&WHEELS), &mut writers, threads, u64::MAX).unwrap_err();
            assert_eq!((wheel, fault.to_string()), (1, "the disk".to_owned()));
            assert_eq!(writers[1].finished, 0);
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_panicked() {
        let (done, finished) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let built = std::panic::catch_unwind(|| {
                let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
                writers[1].panics = Some(3);
                let _ = build(&contents(&WHEELS), &mut writers, 4, u64::MAX);
            });
            done.send(built.is_err())
        });
        assert!(finished.recv_timeout(Duration::from_mins(1)).unwrap(), "the panic came through");
    }
}
