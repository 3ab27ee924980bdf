//! Putting files in place: each whole, in order, and only what differs.

use std::io::{self, Write};
use std::path::Path;

use fs_err as fs;

use super::{IndexError, document};
use base::names::RelPath;
use base::regular;
use wheel::archive::Stage;

/// How much of a page is looked at for the mark of its maker.
const HEAD: usize = 512;

/// Files on their way into a directory.
pub(super) struct Publication<'a> {
    dir: &'a Path,
    stage: Stage,
    overwrite: bool,
    /// What is written, in the order in which it is to appear.
    outputs: Vec<RelPath>,
}

impl<'a> Publication<'a> {
    pub(super) fn new(dir: &'a Path, stage: Stage, overwrite: bool) -> Self {
        Self { dir, stage, overwrite, outputs: Vec::new() }
    }

    /// Writes a page, unless it stands there; says whether it was written.
    pub(super) fn put_page(&mut self, path: &RelPath, text: &str) -> Result<bool, IndexError> {
        let there = self.dir.join(path.as_str());
        if !self.overwrite && there.is_file() && !is_ours(&there) {
            return Err(IndexError::Foreign { path: path.clone() });
        }
        self.put(path, text.as_bytes())
    }

    /// Writes a file, unless it stands there with these bytes; says whether it was written.
    pub(super) fn put(&mut self, path: &RelPath, bytes: &[u8]) -> Result<bool, IndexError> {
        let there = regular::read(self.dir.join(path.as_str()), bytes.len() as u64);
        if there.is_ok_and(|there| there == bytes) {
            return Ok(false);
        }
        let mut file = self.stage.create(path)?;
        file.write_all(bytes).map_err(IndexError::Write)?;
        self.outputs.push(path.clone());
        Ok(true)
    }

    /// Writes a file that the stage has already, empty.
    pub(super) fn write_created(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), IndexError> {
        fs::write(self.stage.path(path), bytes).map_err(IndexError::Write)?;
        self.outputs.push(path.clone());
        Ok(())
    }

    /// Those of the pages that an earlier update made.
    pub(super) fn ours<'p>(&self, pages: impl Iterator<Item = &'p RelPath>) -> Vec<RelPath> {
        pages.filter(|path| is_ours(&self.dir.join(path.as_str()))).cloned().collect()
    }

    /// Puts everything in place, then deletes what is `gone`.
    pub(super) fn finish(self, gone: &[RelPath]) -> Result<(), IndexError> {
        Ok(self.stage.commit(&self.outputs, gone)?)
    }
}

/// Whether a page bears our mark.
pub(super) fn is_ours(path: &Path) -> bool {
    let head = || -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(regular::open(path)?, HEAD as u64), &mut head)?;
        Ok(head)
    };
    head().is_ok_and(|head| document::is_ours(&head))
}
