//! Writeback of outputs in a thread. Without requests, the system would delay most writes to the
//! end of the build, with no work to overlap.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use wheel::archive::stage::StagedFile;

/// Requests that may wait: each has an open file.
const WAITING: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Writeback(SyncSender<(usize, StagedFile)>);

impl Writeback {
    /// Requests the writeback of a file; an error comes back with the number `output`. A closed channel is
    /// ignored, because the receiver ends early only after an error.
    pub fn request(&self, output: usize, file: StagedFile) {
        let _ = self.0.send((output, file));
    }
}

#[derive(Debug)]
pub(super) struct Requests(Receiver<(usize, StagedFile)>);

pub(super) fn pair() -> (Writeback, Requests) {
    let (sender, receiver) = sync_channel(WAITING);
    (Writeback(sender), Requests(receiver))
}

impl Requests {
    /// Serves requests until all senders are dropped.
    ///
    /// # Errors
    ///
    /// Fails with the first error and its output; the system reports it once.
    pub fn serve(self) -> Result<(), (usize, io::Error)> {
        self.0
            .into_iter()
            .try_for_each(|(output, file)| file.sync().map_err(|error| (output, error)))
    }
}
