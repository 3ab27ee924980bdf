//! Ordered, atomic replacement of changed files.

use std::io::{self, BufRead, BufReader, BufWriter, Write};
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

    pub(super) fn put_page(
        &mut self,
        path: &RelPath,
        write: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<bool, IndexError> {
        let place = self.dir.join(path.as_str());
        if !self.overwrite && place.is_file() && !is_ours(&place) {
            return Err(IndexError::Foreign { path: path.clone() });
        }
        self.write_changed(path, write)
    }

    /// Writes a file unless it has this content. Content is made twice in place of being held.
    pub(super) fn write_changed(
        &mut self,
        path: &RelPath,
        write: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<bool, IndexError> {
        if is_content(&self.dir.join(path.as_str()), &write) {
            return Ok(false);
        }
        let mut file = BufWriter::new(self.stage.create(path)?);
        write(&mut file).and_then(|()| file.flush()).map_err(IndexError::Write)?;
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

fn is_content(path: &Path, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> bool {
    let Ok(file) = regular::open(path) else { return false };
    let mut comparison = Comparison(BufReader::new(file));
    let rest = write(&mut comparison).and_then(|()| comparison.0.fill_buf().map(<[u8]>::len));
    rest.is_ok_and(|rest| rest == 0)
}

/// Fails at the first byte that differs from the file's, and behind the end of the file.
struct Comparison(BufReader<fs::File>);

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let read = self.0.fill_buf()?;
        let len = read.len().min(bytes.len());
        if read[..len] != bytes[..len] {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.0.consume(len);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
