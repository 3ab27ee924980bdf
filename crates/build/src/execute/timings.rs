use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::activity;
use base::event::{Event, Reporter, Work, WorkKind};

#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub package: &'a str,
    pub file: &'a str,
}

impl<'a> Subject<'a> {
    pub fn of_package(package: &'a str) -> Self {
        Self { package, file: package }
    }
}

/// Work of one worker.
#[derive(Debug, Clone, Default)]
pub struct Track {
    /// Time by kind, in the order of [`WorkKind::ALL`].
    pub totals: [Duration; WorkKind::ALL.len()],
}

/// Work of all workers.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// Tracks by worker.
    pub tracks: Vec<Track>,
    /// Duration of the build.
    pub wall: Duration,
    /// Threads that packed: the memory limits them.
    pub packers: usize,
}

impl Timings {
    /// Total time of `kind`.
    pub fn total(&self, kind: WorkKind) -> Duration {
        self.tracks.iter().map(|track| track.totals[kind as usize]).sum()
    }
}

/// Each worker has its track: no contention.
pub(super) struct Recorder<'r> {
    start: Instant,
    tracks: Vec<Mutex<Track>>,
    packers: AtomicUsize,
    listener: Option<&'r dyn Reporter>,
}

impl<'r> Recorder<'r> {
    /// A listener gets every piece of work.
    pub fn new(listener: Option<&'r dyn Reporter>) -> Self {
        let tracks = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        Self { start: Instant::now(), tracks, packers: AtomicUsize::new(usize::MAX), listener }
    }

    pub fn time<T>(
        &self,
        kind: WorkKind,
        bytes: u64,
        subject: Subject<'_>,
        work: impl FnOnce() -> T,
    ) -> T {
        activity::during(kind.as_str(), subject.file, subject.package, || {
            let start = Instant::now();
            let result = work();
            self.add(kind, start, bytes, subject);
            result
        })
    }

    /// Records the number of threads that packed.
    pub fn packed_by(&self, threads: usize) {
        self.packers.store(threads, Ordering::Relaxed);
    }

    fn add(&self, kind: WorkKind, start: Instant, bytes: u64, subject: Subject<'_>) {
        let took = start.elapsed();
        // Work outside the pool counts for its idle first thread.
        let worker = rayon::current_thread_index().unwrap_or(0);
        let Some(track) = self.tracks.get(worker) else { return };
        track.lock().unwrap_or_else(PoisonError::into_inner).totals[kind as usize] += took;
        if let Some(listener) = self.listener {
            let (package, file) = (subject.package.to_owned(), subject.file.to_owned());
            let start = start.duration_since(self.start);
            listener.report(Event::Worked(Work {
                worker,
                kind,
                start,
                took,
                bytes,
                package,
                file,
            }));
        }
    }

    /// Unrecorded time is idle.
    pub fn finish(self) -> Timings {
        let wall = self.start.elapsed();
        let mut tracks: Vec<Track> = self
            .tracks
            .into_iter()
            .map(|t| t.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        for track in &mut tracks {
            track.totals[WorkKind::Idle as usize] = wall.saturating_sub(track.totals.iter().sum());
        }
        let packers = self.packers.into_inner().min(tracks.len());
        Timings { tracks, wall, packers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<Event>>);

    impl Reporter for Heard {
        fn report(&self, event: Event) {
            self.0.lock().unwrap().push(event);
        }
    }

    #[test]
    fn totals_of_a_track_equal_the_wall_time_and_each_work_is_reported() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let log = Heard::default();
        let timings = pool.install(|| {
            let recorder = Recorder::new(Some(&log));
            let subject = Subject { package: "p", file: "f" };
            let pause = || std::thread::sleep(Duration::from_millis(5));
            recorder.time(WorkKind::Hash, 7, subject, pause);
            recorder.finish()
        });
        assert!(timings.total(WorkKind::Hash) >= Duration::from_millis(5));
        assert_eq!(
            timings.tracks.iter().map(|t| t.totals.iter().sum::<Duration>()).sum::<Duration>(),
            2 * timings.wall
        );
        let log = log.0.into_inner().unwrap();
        let [Event::Worked(work)] = &log[..] else { panic!("{log:?}") };
        assert_eq!((work.kind, work.bytes), (WorkKind::Hash, 7));
        assert_eq!((work.package.as_str(), work.file.as_str()), ("p", "f"));
    }

    #[test]
    fn numbers_kinds_in_their_order() {
        assert!(WorkKind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
    }
}
