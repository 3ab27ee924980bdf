//! Measurements by subject.

use std::collections::BTreeMap;

use super::measured::Measured;
use super::program::Compression;
use super::table::Quantity;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Today's flow.
    Today,
    /// Reading of every byte.
    Cat,
    /// Reading and hashing.
    Hash,
    /// Reading, hashing and writing.
    Write,
    /// Build with an empty cache.
    Build(Compression),
    /// Deflating of every byte in memory.
    Deflate(Compression),
    /// Deflating of the members that the default build deflates; it stores some large files.
    DeflatePart,
    /// Size of the default build's members with zlib at level 6; no time.
    Zlib,
    /// Build without a cache on this many threads.
    Jobs(usize),
    /// Build without a cache.
    Uncached,
    /// Compression of the devel archive with xz on one core.
    OneXz(u32),
    /// Build of the devel package alone.
    Devel,
    /// Build of the devel package alone, with its archive in xz.
    Xz(u32),
    /// Decoding of the artifacts' archives.
    Decode,
    /// Build from these archives, without a cache.
    Archives,
    /// Copy of the packages.
    Copy,
    /// Copy of the packages, until they are on disk.
    CopyToDisk,
    /// Promotion of the packages to another version.
    Promote,
    /// Build without changes, with a full cache.
    Unchanged,
    /// Reading, hashing and deflating of one library.
    LibraryWork,
    /// Build with this library changed.
    Library,
    /// Reading, hashing and deflating of the files of one variant.
    VariantWork,
    /// Build with these files changed.
    Variant,
    /// Walk of the tree, with its ELF headers.
    Walk,
    Plan,
}

impl Subject {
    /// Returns whether one run is enough, because it takes minutes or does not vary.
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

#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome {
    pub measured: Measured,
    /// Size of its output in bytes, if any.
    pub size: u64,
    /// Seconds that each worker deflated, if a trace has them.
    pub deflating: Option<f64>,
}

#[derive(Debug, Default)]
pub struct Results(pub BTreeMap<Subject, Vec<Outcome>>);

impl Results {
    pub fn best(&self, subject: Subject) -> Result<Outcome, String> {
        let runs = self.0.get(&subject).map(Vec::as_slice).unwrap_or_default();
        runs.iter()
            .copied()
            .min_by(|a, b| a.measured.wall.total_cmp(&b.measured.wall))
            .ok_or_else(|| format!("{subject:?} was not measured"))
    }

    pub fn time(&self, subject: Subject) -> Result<Quantity, String> {
        Ok(Quantity::Seconds(self.best(subject)?.measured.wall))
    }

    pub fn size(&self, subject: Subject) -> Result<Quantity, String> {
        Ok(bytes(self.best(subject)?.size))
    }

    /// Returns the peak memory of all builds.
    pub fn peak(&self) -> Option<f64> {
        let builds = self
            .0
            .iter()
            .filter(|(subject, _)| **subject != Subject::Today)
            .flat_map(|(_, runs)| runs);
        builds.map(|run| run.measured.peak).filter(|peak| *peak > 0.0).max_by(f64::total_cmp)
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
pub fn bytes(count: u64) -> Quantity {
    Quantity::Bytes(count as f64)
}
