use std::io::{self, Seek, SeekFrom, Write};
use std::sync::mpsc::SyncSender;

use super::StagedFile;

const BYTES_BETWEEN_SYNCS: usize = 16 << 20;

/// Unbuffered output that requests a sync at intervals.
#[derive(Debug)]
pub struct SyncingFile {
    file: StagedFile,
    disk: SyncSender<StagedFile>,
    since: usize,
}

impl SyncingFile {
    /// Wraps an output; `disk` leads to the syncing thread.
    pub fn new(file: StagedFile, disk: &SyncSender<StagedFile>) -> Self {
        Self { file, disk: disk.clone(), since: 0 }
    }

    /// Requests a sync without waiting for it, unless many requests wait.
    pub fn request_sync(&mut self) -> io::Result<()> {
        self.since = 0;
        // A closed channel is harmless: the receiver ends early only after a failed sync, which
        // [`super::run_jobs_and_sync`] returns.
        let _ = self.disk.send(self.file.twin()?);
        Ok(())
    }
}

impl Write for SyncingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.since += count;
        if self.since >= BYTES_BETWEEN_SYNCS {
            self.request_sync()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for SyncingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::archive::Stage;

    #[test]
    fn the_disk_is_asked_after_each_sixteen_mebibytes() {
        let dir = tempfile::tempdir().unwrap();
        let stage = Stage::open(dir.path()).unwrap();
        let (disk, files) = sync_channel(2);
        let file = stage.create(&"a".parse().unwrap()).unwrap();
        let mut file = SyncingFile::new(file, &disk);
        for asked in [0, 1, 0, 1] {
            file.write_all(&vec![7; BYTES_BETWEEN_SYNCS / 2]).unwrap();
            assert_eq!(files.try_iter().count(), asked);
        }
        file.request_sync().unwrap();
        assert_eq!(files.try_iter().count(), 1);
    }
}
