//! Ordered, atomic replacement of changed files.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use fs_err as fs;

use super::{IndexError, document};
use base::names::RelPath;
use base::regular;
use wheel::archive::Stage;

pub(super) struct Publication<'a> {
    dir: &'a Path,
    stage: Stage,
    overwrite: bool,
    /// Written files, in rename order.
    outputs: Vec<RelPath>,
}

impl<'a> Publication<'a> {
    pub(super) fn new(dir: &'a Path, stage: Stage, overwrite: bool) -> Self {
        Self { dir, stage, overwrite, outputs: Vec::new() }
    }

    pub(super) fn put_page(&mut self, path: &RelPath, text: &str) -> Result<bool, IndexError> {
        let place = self.dir.join(path.as_str());
        if !self.overwrite && place.is_file() && !is_ours(&place) {
            return Err(IndexError::Foreign { path: path.clone() });
        }
        self.write_changed(path, text.as_bytes())
    }

    pub(super) fn write_changed(
        &mut self,
        path: &RelPath,
        bytes: &[u8],
    ) -> Result<bool, IndexError> {
        let current = regular::read(self.dir.join(path.as_str()), bytes.len() as u64);
        if current.is_ok_and(|current| current == bytes) {
            return Ok(false);
        }
        let mut file = self.stage.create(path)?;
        file.write_all(bytes).map_err(IndexError::Write)?;
        self.outputs.push(path.clone());
        Ok(true)
    }

    /// Fills a file that exists among the new ones.
    pub(super) fn fill(
        &mut self,
        path: &RelPath,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), IndexError> {
        let file = fs::File::create(self.stage.path(path)).map_err(IndexError::Write)?;
        let mut file = BufWriter::new(file);
        write(&mut file).and_then(|()| file.flush()).map_err(IndexError::Write)?;
        self.outputs.push(path.clone());
        Ok(())
    }

    pub(super) fn ours<'p>(&self, pages: impl Iterator<Item = &'p RelPath>) -> Vec<RelPath> {
        pages.filter(|path| is_ours(&self.dir.join(path.as_str()))).cloned().collect()
    }

    /// Renames all files, then removes `deleted`.
    pub(super) fn finish(self, deleted: &[RelPath]) -> Result<(), IndexError> {
        Ok(self.stage.commit(&self.outputs, deleted)?)
    }
}

pub(super) fn is_ours(path: &Path) -> bool {
    let head = || -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        io::Read::read_to_end(
            &mut io::Read::take(regular::open(path)?, document::HEAD as u64),
            &mut head,
        )?;
        Ok(head)
    };
    head().is_ok_and(|head| document::is_ours(&head))
}
