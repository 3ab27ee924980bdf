use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use super::PinnedFile;
use crate::mapped::map;
use crate::patch::{self, History, LARGEST, patch_name};
use crate::store::ErrorKind;
use base::directory;
use base::hash::Sha256;
use base::regular;
use base::text::with_causes;

/// Number of requests.
const ASKED: usize = 3;

#[derive(Debug)]
pub(super) struct Patches<'d> {
    dir: &'d Path,
    history: History<String>,
    /// One new file is in memory at a time.
    turn: Mutex<()>,
}

impl<'d> Patches<'d> {
    pub(super) fn of(dir: &'d Path) -> Self {
        let names = directory::names(dir).unwrap_or_default();
        let history = History::new(names.into_iter().map(|name| (name.clone(), name)));
        Self { dir, history, turn: Mutex::default() }
    }

    /// Passes the verified file to `put`. Returns the size of the patch.
    pub(super) fn apply<T>(
        &self,
        file: &PinnedFile,
        put: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<(u64, T)>, String> {
        let Some((old, patch)) = self.find(file)? else { return Ok(None) };
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let new = patch::apply(&old, &patch, file.size).map_err(|error| error.to_string())?;
        let sha256 = Sha256::of(&new).to_string();
        if sha256 != file.sha256 {
            return Err(format!("it makes a file with the SHA-256 {sha256}, not {}", file.sha256));
        }
        Ok(Some((patch.len() as u64, put(&new))))
    }

    fn find(&self, file: &PinnedFile) -> Result<Option<(Mmap, Vec<u8>)>, String> {
        let most = file.size.unwrap_or(LARGEST);
        for name in self.history.before(&file.name).take(ASKED).filter(|_| most <= LARGEST) {
            let old = regular::open_unlinked(self.dir.join(name)).and_then(|file| map(&file));
            let Ok(old) = old else { continue };
            let name = patch_name(file.key.file_name(), &Sha256::of(&old).to_string());
            let Ok(key) = file.key.with_file_name(&name) else { continue };
            let found = file.bucket.get(&key, None);
            match found.and_then(|content| content.bytes(&*file.bucket, most / 2)) {
                Ok(patch) if patch::is_patch(&patch) => return Ok(Some((old, patch))),
                Ok(_) => {}
                // Some stores deny absent objects.
                Err(e) if matches!(e.kind, ErrorKind::NotFound | ErrorKind::Denied) => {}
                Err(error) => return Err(with_causes(&error)),
            }
        }
        Ok(None)
    }
}
