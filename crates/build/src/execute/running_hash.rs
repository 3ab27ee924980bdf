//! Hash of a growing wheel. A member's header is filled in after its bytes, so the hash follows up
//! to the last complete member.

use std::io;

use super::timings::{Recorder, Subject};
use super::work::Follower;
use super::write_error::WriteError;
use base::event::WorkKind;
use base::hash::{Sha256, Sha256Hasher};
use wheel::archive::stage::StagedFile;

pub(super) struct RunningHash<'a> {
    file: StagedFile,
    hasher: Sha256Hasher,
    wheel: &'a str,
    recorder: &'a Recorder<'a>,
}

impl<'a> RunningHash<'a> {
    pub fn new(file: StagedFile, wheel: &'a str, recorder: &'a Recorder<'a>) -> Self {
        Self { file, hasher: Sha256Hasher::default(), wheel, recorder }
    }

    pub fn sha256(self) -> Sha256 {
        self.hasher.finish().sha256
    }

    fn hash_to(&mut self, end: u64) -> io::Result<()> {
        let file = &self.file;
        self.hasher
            .update_from(self.hasher.size()..end, |offset, out| file.read_exact_at(offset, out))
    }
}

impl Follower for RunningHash<'_> {
    type Error = WriteError;

    fn follow(&mut self, end: u64) -> Result<(), WriteError> {
        let (recorder, bytes) = (self.recorder, end - self.hasher.size());
        Ok(recorder
            .time(WorkKind::Hash, bytes, Subject::of_package(self.wheel), || self.hash_to(end))?)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PIECE: usize = 100_000;
    use wheel::archive::Stage;

    #[test]
    fn hashes_a_growing_file_like_the_whole() {
        let (dir, recorder) = (tempfile::tempdir().unwrap(), Recorder::new(None));
        let mut file = Stage::open(dir.path()).unwrap().create(&"a".parse().unwrap()).unwrap();
        let content: Vec<u8> =
            (0..5 * PIECE + 7).map(|index| (index % 251).to_le_bytes()[0]).collect();
        let mut running_hash = RunningHash::new(file.twin().unwrap(), "a", &recorder);
        for (start, end) in [(0, 1), (1, 2 * PIECE), (2 * PIECE, content.len())] {
            file.write_all(&content[start..end]).unwrap();
            running_hash.follow(end as u64).unwrap();
        }
        assert!(running_hash.follow(content.len() as u64 + 1).is_err(), "there is no such byte");
        assert_eq!(running_hash.sha256(), Sha256::of(&content));
    }
}
