use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use super::{Earlier, PinnedFile};
use crate::mapped::map;
use crate::patch::{self, History, LARGEST, patch_name};
use crate::store::{ErrorKind, StoreError};
use base::directory;
use base::hash::Sha256;
use base::regular;
use base::text::with_causes;

/// Number of packages in the directory that are tried.
const ASKED: usize = 3;

/// Number of patches for one package: a month of nights.
pub(super) const LONGEST: usize = 31;

/// Nights of a package have nearly one size.
const GROWTH: u64 = 2;

/// A patch, and the size of the file that it makes.
#[derive(Debug)]
struct Patch {
    bytes: Vec<u8>,
    size: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Patches<'d> {
    dir: &'d Path,
    history: History<String>,
    /// One new file is in memory at a time.
    turn: Mutex<()>,
}

impl<'d> Patches<'d> {
    pub(super) fn in_directory(dir: &'d Path) -> Self {
        let names = directory::names(dir).unwrap_or_default();
        let history = History::new(names.into_iter().map(|name| (name.clone(), name)));
        Self { dir, history, turn: Mutex::default() }
    }

    /// Passes the verified file to `store`. Returns the size of the patches.
    pub(super) fn apply<T>(
        &self,
        file: &PinnedFile,
        store: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<(u64, T)>, String> {
        let Some((old, series)) = self.find(file)? else { return Ok(None) };
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let new = apply_all(&old, &series).map_err(|error| error.to_string())?;
        let sha256 = Sha256::of(&new).to_string();
        if sha256 != file.sha256 {
            return Err(format!("it makes a file with the SHA-256 {sha256}, not {}", file.sha256));
        }
        let size = series.iter().map(|patch| patch.bytes.len() as u64).sum();
        Ok(Some((size, store(&new))))
    }

    fn find(&self, file: &PinnedFile) -> Result<Option<(Mmap, Vec<Patch>)>, String> {
        // A patch names any size: the page's is the limit.
        let Some(most) = file.size.filter(|size| *size <= LARGEST) else { return Ok(None) };
        for name in self.history.before(&file.name).take(ASKED) {
            let old = regular::open_unlinked(self.dir.join(name)).and_then(|file| map(&file));
            let Ok(old) = old else { continue };
            // A page names any size too, and the file that a patch makes is in memory.
            if most / GROWTH > old.len() as u64 {
                continue;
            }
            let sha256 = Sha256::of(&old).to_string();
            let direct = fetched(file, file.key.file_name(), &sha256, most / 2);
            let series = match direct.map_err(|error| with_causes(&error))? {
                Some(bytes) => Some(vec![Patch { bytes, size: file.size }]),
                None => series(file, &sha256, most / 2)?,
            };
            if let Some(series) = series {
                return Ok(Some((old, series)));
            }
        }
        Ok(None)
    }
}

/// Patches by way of the versions between, oldest first, with together at most `most` bytes.
fn series(file: &PinnedFile, sha256: &str, mut most: u64) -> Result<Option<Vec<Patch>>, String> {
    let between = file.earlier.iter().position(|earlier| earlier.sha256 == sha256).unwrap_or(0);
    // A few bytes of a hostile index could make gigabytes on the way.
    let is_small = |earlier: &Earlier| earlier.size.zip(file.size).is_some_and(|(a, b)| a / 2 <= b);
    if between == 0 || !file.earlier[..between].iter().all(is_small) {
        return Ok(None);
    }
    let (mut series, mut target, mut size) = (Vec::new(), file.key.file_name(), file.size);
    for from in &file.earlier[..=between] {
        let bytes = match fetched(file, target, &from.sha256, most) {
            Ok(Some(bytes)) => bytes,
            Err(error) if error.kind != ErrorKind::TooLarge => return Err(with_causes(&error)),
            _ => return Ok(None),
        };
        most -= bytes.len() as u64;
        series.push(Patch { bytes, size });
        (target, size) = (&from.name, from.size);
    }
    series.reverse();
    Ok(Some(series))
}

/// The patch that makes `target`, from the directory of `file`.
fn fetched(
    file: &PinnedFile,
    target: &str,
    sha256: &str,
    most: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Ok(key) = file.key.with_file_name(&patch_name(target, sha256)) else { return Ok(None) };
    let content = file.bucket.get(&key, None);
    match content.and_then(|content| content.bytes(&*file.bucket, most)) {
        Ok(patch) => Ok(Some(patch).filter(|patch| patch::is_patch(patch))),
        // Some stores deny absent objects.
        Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::Denied) => Ok(None),
        Err(error) => Err(error),
    }
}

fn apply_all(old: &[u8], series: &[Patch]) -> io::Result<Vec<u8>> {
    let mut new: Option<Vec<u8>> = None;
    for patch in series {
        new = Some(patch::apply(new.as_deref().unwrap_or(old), &patch.bytes, patch.size)?);
    }
    Ok(new.unwrap_or_default())
}
