//! Where the time of a build went, by worker and kind of work.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a worker does at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reading artifacts.
    Read,
    /// Planning and proving ELF edits.
    Edit,
    /// Taking CRC-32 and SHA-256.
    Hash,
    /// Deflating.
    Deflate,
    /// Compressing with xz.
    Xz,
    /// Writing archives.
    Write,
    /// Waiting for something to do.
    Idle,
}

impl Kind {
    /// All of them, in the order in which bytes meet them.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Edit, Self::Hash, Self::Deflate, Self::Xz, Self::Write, Self::Idle];

    /// The kind in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Hash => "hash",
            Self::Deflate => "deflate",
            Self::Xz => "xz",
            Self::Write => "write",
            Self::Idle => "idle",
        }
    }
}

/// What work is done on: a file of a package. Work on a package as a whole names its own file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The package's path below the destination.
    pub package: &'a str,
    /// The file's path in it.
    pub file: &'a str,
}

impl<'a> Subject<'a> {
    /// All of a package.
    pub fn whole(package: &'a str) -> Self {
        Self { package, file: package }
    }
}

/// A stretch of one worker's time.
#[derive(Debug, Clone)]
pub struct Span {
    /// What it did.
    pub kind: Kind,
    /// When it began, counted from the build's start.
    pub start: Duration,
    /// How long it took.
    pub took: Duration,
    /// How many bytes it dealt with.
    pub bytes: u64,
    /// The package's path below the destination.
    pub package: String,
    /// The file's path in the package; the package's own where all of it is concerned.
    pub file: String,
}

/// What one worker did.
#[derive(Debug, Clone, Default)]
pub struct Track {
    /// Time by kind, in the order of [`Kind::ALL`].
    pub totals: [Duration; Kind::ALL.len()],
    /// Each stretch, where they were asked for.
    pub spans: Vec<Span>,
}

/// What all workers did, each in its place.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// By worker.
    pub tracks: Vec<Track>,
    /// From the first moment to the last.
    pub wall: Duration,
}

impl Timings {
    /// The time that all workers together spent on a kind of work.
    pub fn total(&self, kind: Kind) -> Duration {
        self.tracks.iter().map(|track| track.totals[kind as usize]).sum()
    }
}

/// Takes down what workers do. Each writes its own track, so that none waits for another.
#[derive(Debug)]
pub(super) struct Recorder {
    start: Instant,
    tracks: Vec<Mutex<Track>>,
    spans: bool,
}

impl Recorder {
    /// For the threads of the current pool; keeps each stretch when `spans` are wanted.
    pub fn new(spans: bool) -> Self {
        let tracks = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        Self { start: Instant::now(), tracks, spans }
    }

    /// Does some work of this kind with so many bytes of this.
    pub fn time<T>(
        &self,
        kind: Kind,
        bytes: u64,
        subject: Subject<'_>,
        work: impl FnOnce() -> T,
    ) -> T {
        let start = Instant::now();
        let done = work();
        self.add(kind, start, bytes, subject);
        done
    }

    fn add(&self, kind: Kind, start: Instant, bytes: u64, subject: Subject<'_>) {
        let took = start.elapsed();
        // Work outside of the pool counts for its first thread, which waits for it.
        let Some(track) = self.tracks.get(rayon::current_thread_index().unwrap_or(0)) else {
            return;
        };
        let mut track = track.lock().unwrap_or_else(PoisonError::into_inner);
        track.totals[kind as usize] += took;
        if self.spans {
            let (package, file) = (subject.package.to_owned(), subject.file.to_owned());
            let start = start.duration_since(self.start);
            track.spans.push(Span { kind, start, took, bytes, package, file });
        }
    }

    /// Everything so far; what no worker took down was idle.
    pub fn finish(self) -> Timings {
        let wall = self.start.elapsed();
        let mut tracks: Vec<Track> = self
            .tracks
            .into_iter()
            .map(|t| t.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        for track in &mut tracks {
            track.totals[Kind::Idle as usize] = wall.saturating_sub(track.totals.iter().sum());
        }
        Timings { tracks, wall }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_adds_up_to_the_wall() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let timings = pool.install(|| {
            let recorder = Recorder::new(true);
            let subject = Subject { package: "p", file: "f" };
            recorder.time(Kind::Hash, 7, subject, || std::thread::sleep(Duration::from_millis(5)));
            recorder.finish()
        });
        assert!(timings.total(Kind::Hash) >= Duration::from_millis(5));
        assert_eq!(
            timings.tracks.iter().map(|t| t.totals.iter().sum::<Duration>()).sum::<Duration>(),
            2 * timings.wall
        );
        let spans: Vec<_> = timings.tracks.iter().flat_map(|t| &t.spans).collect();
        let [span] = spans[..] else { panic!("{spans:?}") };
        assert_eq!((span.kind, span.bytes), (Kind::Hash, 7));
        assert_eq!((span.package.as_str(), span.file.as_str()), ("p", "f"));
    }

    #[test]
    fn kinds_are_numbered_in_their_order() {
        assert!(Kind::ALL.iter().enumerate().all(|(index, kind)| *kind as usize == index));
    }
}
