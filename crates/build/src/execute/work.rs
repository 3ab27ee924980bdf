//! Scheduler of a build: packs all blocks of all wheels in one pool.
//!
//! Each thread takes the most urgent task: write blocks, hash written bytes, pack the next block of
//! the highest-ranked wheel below its limit of batches in flight, or wait. Small wheels rank low to
//! fill the cores at the end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::pack::{PackError, Packer};
use super::wheel_queue::{Batch, PackedBatch, WheelQueue};
use wheel::archive::deflate::Level;

pub(super) trait Writer<'a>: Send {
    type Error: From<PackError> + Send;
    type Follower: Follower<Error = Self::Error>;

    fn begin(&mut self);
    fn write(&mut self, batch: PackedBatch<'a>) -> Result<(), Self::Error>;
    fn end(&mut self) -> Result<(), Self::Error>;
    fn solid(&self) -> u64;
    fn finish(&mut self, follower: Self::Follower);
}

pub(super) trait Follower: Send {
    type Error;

    fn follow(&mut self, end: u64) -> Result<(), Self::Error>;
}

/// Step that leaves little work for the end.
const STRETCH: u64 = 16 << 20;

/// A wheel's single writer does not keep up with more.
const MOST: u64 = 16;

/// Interval of checks for delivered streams.
const SHORT: Duration = Duration::from_millis(5);

/// Interval of checks of the memory.
const CHECK: Duration = Duration::from_millis(20);

fn in_flight(threads: usize) -> u64 {
    (2 * threads as u64 + 2).min(MOST)
}

/// Divides the memory: threads that pack, each with an encoder, and bytes of blocks.
fn shares(threads: usize, memory: u64, encoder: u64) -> (usize, u64) {
    let packers = (memory / 2).checked_div(encoder).map_or(threads, |packers| {
        usize::try_from(packers).unwrap_or(usize::MAX).clamp(1, threads)
    });
    (packers, memory.saturating_sub(encoder.saturating_mul(packers as u64)))
}

/// Runs on every thread of the current pool until all queues are finished, and returns the number
/// of threads that packed. `memory` limits the process, whose current bytes `used` returns; a
/// larger block is packed alone.
///
/// # Errors
///
/// Fails with the first error in queue order, and its wheel's index.
pub(super) fn run<'a, W: Writer<'a>>(
    queues: Vec<(WheelQueue<'a>, &mut W, W::Follower)>,
    memory: u64,
    used: impl Fn() -> u64 + Sync,
    packer: impl Fn() -> Packer<'a> + Sync,
) -> Result<usize, (usize, W::Error)> {
    let mut runs: Vec<Run<'a, '_, W>> = queues
        .into_iter()
        .map(|(wheel_queue, writer, follower)| Run::new(wheel_queue, writer, follower))
        .collect();
    for (index, run) in runs.iter_mut().enumerate() {
        run.index = index;
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.wheel_queue.rank()));
    let threads = rayon::current_num_threads();
    let is_used = |level: &Level| runs.iter().any(|run| run.wheel_queue.needs(*level));
    let encoder = Level::ALL.into_iter().filter(is_used).map(Level::memory).sum();
    // The allocator and the ends of wheels take the last quarter.
    let rest = memory.saturating_sub(used());
    let (packers, blocks) = shares(threads, rest - rest / 4, encoder);
    let state = State {
        runs,
        most: in_flight(threads),
        held: 0,
        checked: Instant::now(),
        is_full: false,
        hoping: false,
        faults: Vec::new(),
        over: false,
    };
    let work = Work { state: Mutex::new(state), changed: Condvar::new(), memory: blocks };
    let is_full = || used() > memory;
    rayon::broadcast(|thread| {
        let _bell = Bell(&work);
        let mut packer = packer();
        while let Some(task) = work.next(thread.index() < packers, &is_full) {
            work.carry_out(task, &mut packer);
        }
    });
    let State { mut faults, .. } = work.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    faults.sort_by_key(|(index, _)| *index);
    faults.into_iter().next().map_or(Ok(packers), Err)
}

struct Run<'a, 'w, W: Writer<'a>> {
    wheel_queue: WheelQueue<'a>,
    writer: Option<&'w mut W>,
    follower: Option<W::Follower>,
    solid: u64,
    followed: u64,
    stage: Stage,
    index: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Waiting,
    Begun,
    Ended,
    Finished,
}

impl<'a, 'w, W: Writer<'a>> Run<'a, 'w, W> {
    fn new(wheel_queue: WheelQueue<'a>, writer: &'w mut W, follower: W::Follower) -> Self {
        Self {
            wheel_queue,
            writer: Some(writer),
            follower: Some(follower),
            solid: 0,
            followed: 0,
            stage: Stage::Waiting,
            index: 0,
        }
    }

    fn ahead(&self) -> Option<u64> {
        let (bytes, least) =
            (self.solid - self.followed, if self.stage == Stage::Ended { 1 } else { STRETCH });
        (bytes >= least && self.follower.is_some()).then_some(self.followed + bytes.min(STRETCH))
    }

    fn is_complete(&self) -> bool {
        self.stage == Stage::Ended && self.writer.is_some() && self.followed == self.solid
    }
}

struct State<'a, 'w, W: Writer<'a>> {
    runs: Vec<Run<'a, 'w, W>>,
    most: u64,
    held: u64,
    /// Time of the last check of the memory.
    checked: Instant,
    /// The process exceeds its memory: one batch at a time.
    is_full: bool,
    /// A block was skipped because its delivery is near.
    hoping: bool,
    faults: Vec<(usize, W::Error)>,
    over: bool,
}

enum Task<'a, 'w, W: Writer<'a>> {
    Begin(usize, &'w mut W),
    Pack { run: usize, number: u64, batch: Batch<'a>, ahead: Batch<'a>, memory: u64 },
    Write { run: usize, writer: &'w mut W, batch: PackedBatch<'a>, memory: u64 },
    End(usize, &'w mut W),
    Follow { run: usize, follower: W::Follower, end: u64 },
    Finish(&'w mut W, W::Follower),
}

impl<'a, 'w, W: Writer<'a>> State<'a, 'w, W> {
    fn task(&mut self, limit: u64, packs: bool) -> Option<Task<'a, 'w, W>> {
        self.write()
            .or_else(|| self.end())
            .or_else(|| self.follow())
            .or_else(|| self.finish())
            .or_else(|| if packs { self.pack(limit) } else { None })
    }

    fn write(&mut self) -> Option<Task<'a, 'w, W>> {
        let (index, run) = self
            .runs
            .iter_mut()
            .enumerate()
            .find(|(_, run)| run.writer.is_some() && run.wheel_queue.is_ready())?;
        let (batch, memory) = run.wheel_queue.take_ready()?;
        Some(Task::Write { run: index, writer: run.writer.take()?, batch, memory })
    }

    fn find(
        &mut self,
        fits: impl Fn(&mut Run<'a, 'w, W>) -> bool,
    ) -> Option<(usize, &mut Run<'a, 'w, W>)> {
        self.runs.iter_mut().enumerate().find_map(|(index, run)| fits(run).then_some((index, run)))
    }

    fn end(&mut self) -> Option<Task<'a, 'w, W>> {
        let (index, run) = self.find(|run| {
            run.stage < Stage::Ended && run.writer.is_some() && run.wheel_queue.is_over()
        })?;
        run.stage = Stage::Ended;
        // Nothing is complete before the end is written.
        Some(Task::End(index, run.writer.take()?))
    }

    fn follow(&mut self) -> Option<Task<'a, 'w, W>> {
        let (index, run) = self.find(|run| run.ahead().is_some())?;
        let end = run.ahead()?;
        Some(Task::Follow { run: index, end, follower: run.follower.take()? })
    }

    fn finish(&mut self) -> Option<Task<'a, 'w, W>> {
        let (_, run) = self.find(|run| run.is_complete())?;
        run.stage = Stage::Finished;
        Some(Task::Finish(run.writer.take()?, run.follower.take()?))
    }

    fn pack(&mut self, limit: u64) -> Option<Task<'a, 'w, W>> {
        self.hoping = false;
        for (index, run) in self
            .runs
            .iter_mut()
            .enumerate()
            .filter(|(_, run)| run.wheel_queue.in_flight() < self.most)
        {
            let Some(memory) = run.wheel_queue.next_memory() else { continue };
            if run.wheel_queue.is_held() {
                self.hoping = true;
                continue;
            }
            if self.held > 0 && (self.is_full || self.held + memory > limit) {
                continue;
            }
            if run.stage == Stage::Waiting {
                run.stage = Stage::Begun;
                return Some(Task::Begin(index, run.writer.take()?));
            }
            let ((number, batch), ahead) = (run.wheel_queue.take(), run.wheel_queue.ahead());
            let memory = batch.iter().map(super::pack::Block::memory).sum();
            self.held += memory;
            return Some(Task::Pack { run: index, number, batch, ahead, memory });
        }
        None
    }

    fn is_over(&self) -> bool {
        self.over || self.runs.iter().all(|run| run.stage == Stage::Finished)
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

    fn next(&self, packs: bool, is_full: &impl Fn() -> bool) -> Option<Task<'a, 'w, W>> {
        let mut state = self.lock();
        loop {
            if state.is_over() {
                return None;
            }
            if packs && state.checked.elapsed() >= CHECK {
                (state.is_full, state.checked) = (is_full(), Instant::now());
            }
            if let Some(task) = state.task(self.memory, packs) {
                return Some(task);
            }
            // A delivered stream does not signal the condition variable.
            let time = if state.hoping { SHORT } else { Duration::MAX };
            let waited = self.changed.wait_timeout(state, time);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
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
                let results: Result<PackedBatch<'a>, _> =
                    batch.into_iter().map(|block| packer.pack(block)).collect();
                let mut state = self.lock();
                match results {
                    Ok(batch) => state.runs[run].wheel_queue.add_packed(number, batch, memory),
                    Err(fault) => state.fail(run, fault.into()),
                }
            }
            Task::Write { run, writer, batch, memory } => {
                let result = writer.write(batch);
                self.give_back(run, writer, result, memory);
            }
            Task::End(run, writer) => {
                let ended = writer.end();
                self.give_back(run, writer, ended, 0);
            }
            Task::Follow { run, mut follower, end } => {
                let followed = follower.follow(end);
                let mut state = self.lock();
                (state.runs[run].follower, state.runs[run].followed) = (Some(follower), end);
                if let Err(fault) = followed {
                    state.fail(run, fault);
                }
            }
            Task::Finish(writer, follower) => writer.finish(follower),
        }
        self.changed.notify_all();
    }

    fn give_back(&self, run: usize, writer: &'w mut W, result: Result<(), W::Error>, memory: u64) {
        let mut state = self.lock();
        state.held -= memory;
        state.runs[run].solid = writer.solid();
        state.runs[run].writer = Some(writer);
        if let Err(fault) = result {
            state.fail(run, fault);
        }
    }
}

/// Wakes waiting threads when a thread ends, also by a panic.
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
    use super::super::pack::{Body, Packable};
    use super::super::packing::Packing;
    use super::super::timings::Recorder;
    use super::*;
    use base::names::RelPath;
    use wheel::archive::deflate::BLOCK;

    #[derive(Default)]
    struct Eyes(u64);

    impl Follower for Eyes {
        type Error = Fault;

        fn follow(&mut self, end: u64) -> Result<(), Fault> {
            assert!(self.0 < end && end - self.0 <= STRETCH, "from {} to {end}", self.0);
            self.0 = end;
            Ok(())
        }
    }

    #[derive(Default)]
    struct Seen {
        content: Vec<u8>,
        begun: usize,
        finished: usize,
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
        type Follower = Eyes;

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

        fn end(&mut self) -> Result<(), Fault> {
            self.content.extend(END);
            Ok(())
        }

        fn solid(&self) -> u64 {
            self.content.len() as u64
        }

        fn finish(&mut self, Eyes(hashed): Eyes) {
            assert_eq!(hashed, self.content.len() as u64, "what was followed");
            self.finished += 1;
        }
    }

    const END: &[u8] = b"end";

    fn contents(wheels: &[&[usize]]) -> Vec<Vec<Bytes>> {
        let member = |wheel: usize, size: usize| {
            Bytes::Memory(
                (0..size).map(|index| ((index / 1000 + wheel) % 251).to_le_bytes()[0]).collect(),
            )
        };
        wheels
            .iter()
            .enumerate()
            .map(|(wheel, sizes)| sizes.iter().map(|size| member(wheel, *size)).collect())
            .collect()
    }

    fn build(
        contents: &[Vec<Bytes>],
        writers: &mut [Seen],
        (threads, memory, packing): (usize, u64, Packing<'static>),
    ) -> Result<usize, (usize, Fault)> {
        let name: RelPath = "a".parse().unwrap();
        let entry = |bytes| Packable::new(&name, false, bytes, packing);
        let entries: Vec<Vec<Packable<'_>>> =
            contents.iter().map(|wheel| wheel.iter().map(entry).collect()).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (buffers, recorder) = (Buffers::default(), Recorder::new(None));
            let queues = entries
                .iter()
                .map(|entries| WheelQueue::new(entries))
                .zip(writers)
                .map(|(wheel_queue, writer)| (wheel_queue, writer, Eyes::default()))
                .collect();
            run(queues, memory, || 0, || Packer::new(None, &buffers, &recorder))
        })
    }

    const WHEELS: [&[usize]; 5] =
        [&[10; 300], &[12 * BLOCK + 7], &[], &[BLOCK, 0, 1, 3 * BLOCK], &[5]];

    #[test]
    fn writes_bytes_of_each_wheel_in_order() {
        let contents = contents(&WHEELS);
        for (threads, memory) in
            [(1, u64::MAX), (2, u64::MAX), (7, u64::MAX), (3, 1), (2, 3 * BLOCK as u64)]
        {
            let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
            build(&contents, &mut writers, (threads, memory, Packing::Store)).unwrap();
            for (writer, wheel) in writers.iter().zip(&contents) {
                let whole: Vec<u8> = wheel
                    .iter()
                    .flat_map(
                        |b| if let Bytes::Memory(bytes) = b { bytes.clone() } else { Vec::new() },
                    )
                    .collect();
                assert!(
                    writer.content == [&whole, END].concat(),
                    "{threads} threads, {memory} bytes"
                );
                assert_eq!((writer.begun, writer.finished), (usize::from(!wheel.is_empty()), 1));
            }
        }
    }

    #[test]
    fn limits_encoders_to_half_of_the_memory_but_one_packs() {
        let encoder = Level::Default.memory();
        assert_eq!(shares(64, 256_000_000, encoder), (46, 256_000_000 - 46 * encoder));
        assert_eq!(shares(4, 256_000_000, encoder), (4, 256_000_000 - 4 * encoder));
        assert_eq!(shares(64, 1, encoder), (1, 0));
        assert_eq!(shares(64, 100, 0), (64, 100));
        let packing = Packing::Deflate(Level::Fast);
        for memory in [1, 3 * Level::Fast.memory(), 1 << 30] {
            let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
            build(&contents(&WHEELS), &mut writers, (8, memory, packing)).unwrap();
            assert!(writers.iter().all(|writer| writer.finished == 1));
        }
    }

    #[test]
    fn above_its_memory_a_build_packs_one_batch_at_a_time() {
        let (name, contents): (RelPath, _) = ("a".parse().unwrap(), contents(&WHEELS[1..2]));
        let entries: Vec<Packable<'_>> = contents[0]
            .iter()
            .map(|bytes| Packable::new(&name, false, bytes, Packing::Store))
            .collect();
        let mut writer = Seen::default();
        let mut first = Run::new(WheelQueue::new(&entries), &mut writer, Eyes::default());
        first.stage = Stage::Begun;
        let (checked, faults) = (Instant::now(), Vec::new());
        let mut state = State {
            runs: vec![first],
            most: MOST,
            held: 0,
            checked,
            is_full: true,
            hoping: false,
            faults,
            over: false,
        };
        assert!(state.pack(u64::MAX).is_some() && state.pack(u64::MAX).is_none());
        state.is_full = false;
        assert!(state.pack(u64::MAX).is_some());
    }

    #[test]
    fn a_fault_ends_the_build_and_names_its_wheel() {
        for threads in [1, 4] {
            let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
            writers[1].fails = Some(6);
            let (wheel, fault) =
                build(&contents(&WHEELS), &mut writers, (threads, u64::MAX, Packing::Store))
                    .unwrap_err();
            assert_eq!((wheel, fault.to_string()), (1, "the disk".to_owned()));
            assert_eq!(writers[1].finished, 0);
        }
    }

    #[test]
    fn ends_when_a_thread_panics() {
        let (sender, finished) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let built = std::panic::catch_unwind(|| {
                let mut writers: Vec<Seen> = WHEELS.iter().map(|_| Seen::default()).collect();
                writers[1].panics = Some(3);
                let _ = build(&contents(&WHEELS), &mut writers, (4, u64::MAX, Packing::Store));
            });
            sender.send(built.is_err())
        });
        assert!(finished.recv_timeout(Duration::from_mins(1)).unwrap(), "the panic came through");
    }
}
