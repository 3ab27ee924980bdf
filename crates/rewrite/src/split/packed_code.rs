//! Code of programs and libraries, compressed as archives have it: each bundle is unpacked once for all of its ISAs.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use super::fat::{Fat, Piece};
use binary::ReadAt;
use binary::device_code::compressed;

/// The code of a wheel's files, in files that nobody else sees: one of each thread.
#[derive(Debug)]
pub(super) struct PackedCode {
    files: Vec<File>,
    /// Where each is: a file, where it begins there, its length.
    places: BTreeMap<Piece, (usize, u64, usize)>,
}

/// What one thread compressed.
#[derive(Debug)]
struct Packed {
    file: File,
    end: u64,
    pieces: Vec<(Piece, u64, usize)>,
}

impl PackedCode {
    /// Compresses the code in all bundles of these files, on so many threads.
    pub fn new(fats: &[Fat], threads: usize) -> io::Result<Self> {
        let (bundles, next) = (largest_first(fats), AtomicUsize::new(0));
        let work = || -> io::Result<Packed> {
            let mut packed = Packed { file: tempfile::tempfile()?, end: 0, pieces: Vec::new() };
            while let Some((fat, bundle)) = bundles.get(next.fetch_add(1, Ordering::Relaxed)) {
                packed.add(fats, *fat, *bundle)?;
            }
            Ok(packed)
        };
        let done: Vec<io::Result<Packed>> = std::thread::scope(|scope| {
            let threads = threads.clamp(1, bundles.len().max(1));
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let join = |worker: ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        let mut all = Self { files: Vec::new(), places: BTreeMap::new() };
        for packed in done {
            let Packed { file, pieces, .. } = packed?;
            let number = all.files.len();
            let place = |(piece, at, length)| (piece, (number, at, length));
            all.places.extend(pieces.into_iter().map(place));
            all.files.push(file);
        }
        Ok(all)
    }

    /// A code object, compressed.
    pub fn frame(&self, piece: Piece) -> io::Result<Vec<u8>> {
        let (file, at, length) = self.places[&piece];
        let mut frame = vec![0; length];
        self.files[file].read_exact_at(at, &mut frame)?;
        Ok(frame)
    }
}

impl Packed {
    fn add(&mut self, fats: &[Fat], fat: usize, bundle: usize) -> io::Result<()> {
        let objects = fats[fat].bundles()[bundle].objects();
        fats[fat].each_code(bundle, |at, code| {
            let frame = compressed(code, objects[at].size)?;
            self.file.write_all(&frame)?;
            self.pieces.push(((fat, bundle, at), self.end, frame.len()));
            self.end += frame.len() as u64;
            Ok(())
        })
    }
}

/// All bundles. What takes longest is begun first, so that no thread is left with it.
fn largest_first(fats: &[Fat]) -> Vec<(usize, usize)> {
    let mut bundles: Vec<(u64, (usize, usize))> = Vec::new();
    for (file, fat) in fats.iter().enumerate() {
        for (number, bundle) in fat.bundles().iter().enumerate() {
            let size = bundle.objects().iter().map(|object| object.size).sum();
            bundles.push((size, (file, number)));
        }
    }
    bundles.sort_by_key(|(size, place)| (Reverse(*size), *place));
    bundles.into_iter().map(|(_, place)| place).collect()
}
