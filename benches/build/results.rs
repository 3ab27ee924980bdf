//! What was measured, by subject.

use std::collections::BTreeMap;

use super::measured::Measured;
use super::program::Compression;
use super::table::Quantity;

/// Something that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Today's flow.
    Today,
    /// Every byte read.
    Cat,
    /// And hashed.
    Hash,
    /// And written.
    Write,
    /// A build with an empty cache.
    Build(Compression),
    /// Every byte deflated in memory.
    Deflate(Compression),
    /// The same of what the default build deflates: some large files it stores.
    DeflatePart,
    /// What the default build has in its wheels, in zlib's level 6: a size, not a time.
    Zlib,
    /// A build without cache by so many threads.
    Jobs(usize),
    /// A build without cache.
    Uncached,
    /// The devel archive in xz by one core.
    OneXz(u32),
    /// The devel package alone.
    Devel,
    /// The same with its archive in xz.
    Xz(u32),
    /// The artifacts' own archives, decoded.
    Decode,
    /// A build of these archives, without cache.
    Archives,
    /// A copy of the archives.
    Copy,
    /// The same, down to the disk.
    CopyToDisk,
    /// The archives as those of another version.
    Promote,
    /// A build with everything in the cache.
    Unchanged,
    /// A library's reading, hashing and deflating.
    LibraryWork,
    /// A build in which that library is another.
    Library,
    /// The same of all files of one variant.
    VariantWork,
    /// A build in which they are others.
    Variant,
    /// The tree walked, its ELF headers read.
    Walk,
    /// `rockpack plan`.
    Plan,
}

impl Subject {
    /// Whether once is enough: what takes minutes, or does not vary.
    pub fn once(self) -> bool {
        match self {
            Self::Today
            | Self::Zlib
            | Self::Build(Compression::Max)
            | Self::Deflate(Compression::Max) => true,
            Self::OneXz(preset) | Self::Xz(preset) => preset > 3,
            _ => false,
        }
    }
}

/// What one run came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome {
    /// What it took.
    pub measured: Measured,
    /// Bytes of its output, where it has one.
    pub size: u64,
    /// Seconds that each worker deflated, where a trace tells.
    pub deflating: Option<f64>,
}

/// All runs of all subjects.
#[derive(Debug, Default)]
pub struct Results(pub BTreeMap<Subject, Vec<Outcome>>);

impl Results {
    /// The fastest run.
    ///
    /// # Errors
    /// When it was not measured.
    pub fn best(&self, subject: Subject) -> Result<Outcome, String> {
        let runs = self.0.get(&subject).map(Vec::as_slice).unwrap_or_default();
        runs.iter()
            .copied()
            .min_by(|a, b| a.measured.wall.total_cmp(&b.measured.wall))
            .ok_or_else(|| format!("{subject:?} was not measured"))
    }

    /// The fastest run's time.
    ///
    /// # Errors
    /// When it was not measured.
    pub fn time(&self, subject: Subject) -> Result<Quantity, String> {
        Ok(Quantity::Seconds(self.best(subject)?.measured.wall))
    }

    /// The size of what it made.
    ///
    /// # Errors
    /// When it was not measured.
    pub fn size(&self, subject: Subject) -> Result<Quantity, String> {
        Ok(bytes(self.best(subject)?.size))
    }

    /// The most memory that any build took.
    pub fn peak(&self) -> Option<f64> {
        let builds = self
            .0
            .iter()
            .filter(|(subject, _)| **subject != Subject::Today)
            .flat_map(|(_, runs)| runs);
        builds.map(|run| run.measured.peak).filter(|peak| *peak > 0.0).max_by(f64::total_cmp)
    }
}

/// A count of bytes as a quantity.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
pub fn bytes(count: u64) -> Quantity {
    Quantity::Bytes(count as f64)
}
