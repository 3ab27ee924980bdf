//! Compressed device code: each bundle is unpacked once for all of its ISAs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::fat::{Fat, Piece};
use binary::device_code::compressed;
use wheel::archive::stage;

#[derive(Debug)]
pub(super) struct PackedCode {
    file: File,
    /// Offset and length of each piece.
    places: BTreeMap<Piece, (u64, usize)>,
}

impl PackedCode {
    pub fn new(fats: &[Fat], threads: usize) -> io::Result<Self> {
        let (file, end) = (tempfile::tempfile()?, AtomicU64::new(0));
        let pack = |&(fat, bundle): &(usize, usize)| -> io::Result<Vec<_>> {
            let objects = fats[fat].bundles()[bundle].objects();
            let mut places = Vec::new();
            fats[fat].each_code(bundle, |at, code| {
                let frame = compressed(code, objects[at].size)?;
                let place = end.fetch_add(frame.len() as u64, Ordering::Relaxed);
                file.write_all_at(&frame, place)?;
                places.push(((fat, bundle, at), (place, frame.len())));
                Ok(())
            })?;
            Ok(places)
        };
        let places =
            stage::run_jobs(&bundles(fats), threads, pack)?.into_iter().flatten().collect();
        Ok(Self { file, places })
    }

    pub fn frame(&self, piece: Piece) -> io::Result<Vec<u8>> {
        let (place, length) = self.places[&piece];
        let mut frame = vec![0; length];
        self.file.read_exact_at(&mut frame, place)?;
        Ok(frame)
    }
}

fn bundles(fats: &[Fat]) -> Vec<(u64, (usize, usize))> {
    let mut bundles = Vec::new();
    for (file, fat) in fats.iter().enumerate() {
        for (number, bundle) in fat.bundles().iter().enumerate() {
            let size = bundle.objects().iter().map(|object| object.size).sum();
            bundles.push((size, (file, number)));
        }
    }
    bundles
}
