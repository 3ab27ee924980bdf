use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reads artifacts.
    Read,
    /// Plans and proves ELF edits.
    Edit,
    /// Computes CRC-32 and SHA-256.
    Hash,
    /// Deflates.
    Deflate,
    /// Compresses with xz.
    Xz,
    /// Writes archives.
    Write,
    /// Waits for work.
    Idle,
}

impl Kind {
    /// All kinds, in the order of processing.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Edit, Self::Hash, Self::Deflate, Self::Xz, Self::Write, Self::Idle];

    /// Name of the kind.
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

#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub package: &'a str,
    pub file: &'a str,
}

impl<'a> Subject<'a> {
    pub fn whole(package: &'a str) -> Self {
        Self { package, file: package }
    }
}

/// Continuous work of one worker.
#[derive(Debug, Clone)]
pub struct Span {
    /// Kind of work.
    pub kind: Kind,
    /// Start, relative to the build's.
    pub start: Duration,
    /// Duration.
    pub took: Duration,
    /// Processed bytes.
    pub bytes: u64,
    /// Path of the package below the destination.
    pub package: String,
    /// Path in the package, or the package's path.
    pub file: String,
}

/// Work of one worker.
#[derive(Debug, Clone, Default)]
pub struct Track {
    /// Time by kind, in the order of [`Kind::ALL`].
    pub totals: [Duration; Kind::ALL.len()],
    /// Spans, if requested.
    pub spans: Vec<Span>,
}

/// Work of all workers.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// Tracks by worker.
    pub tracks: Vec<Track>,
    /// Duration of the build.
    pub wall: Duration,
}

impl Timings {
    /// Total time of `kind`.
    pub fn total(&self, kind: Kind) -> Duration {
        self.tracks.iter().map(|track| track.totals[kind as usize]).sum()
    }
}

/// Each worker has its track: no contention.
#[derive(Debug)]
pub(super) struct Recorder {
    start: Instant,
    tracks: Vec<Mutex<Track>>,
    spans: bool,
}

impl Recorder {
    pub fn new(spans: bool) -> Self {
        let tracks = (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
        Self { start: Instant::now(), tracks, spans }
    }

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
        // Work outside the pool counts for its idle first thread.
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

    /// Unrecorded time is idle.
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
