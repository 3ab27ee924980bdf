//! Bringing what is written to the disk, beside the threads that work.
//!
//! A build is finished when its outputs are on the disk. The system would wait with most of that until
//! it is asked for at the end, when there is nothing left to do meanwhile.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use wheel::archive::stage::StagedFile;

/// Asks for a file's bytes to be brought to the disk.
#[derive(Debug, Clone)]
pub(super) struct Writeback(Sender<(usize, StagedFile)>);

impl Writeback {
    /// `output` is the number that an error comes back with. Where nobody listens any more the build has failed.
    pub fn settle(&self, output: usize, file: StagedFile) {
        let _ = self.0.send((output, file));
    }
}

/// The side that waits for the disk.
#[derive(Debug)]
pub(super) struct Requests(Receiver<(usize, StagedFile)>);

/// Both sides.
pub(super) fn pair() -> (Writeback, Requests) {
    let (sender, receiver) = channel();
    (Writeback(sender), Requests(receiver))
}

impl Requests {
    /// Waits for the disk until nobody asks any more.
    ///
    /// # Errors
    /// The first one, with its output. A system tells of such an error once, so it must not be lost.
    pub fn serve(self) -> Result<(), (usize, io::Error)> {
        self.0
            .into_iter()
            .try_for_each(|(output, file)| file.settle().map_err(|error| (output, error)))
    }
}
