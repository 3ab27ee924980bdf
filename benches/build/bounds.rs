//! Limits of the machine for the same bytes, on all cores.

use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fs_err as fs;
use sha2::{Digest, Sha256};
use wheel::archive::deflate::{BLOCK, Encoder, Level};

use super::content::Source;
use super::measured::Measured;
use super::program::Compression;

/// Runs `work` for each of `items`, in order, on one thread for each core.
fn on_all_cores<T: Sync, S>(
    items: &[T],
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) + Sync,
) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut state = start();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(&mut state, item);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(worker);
        }
    });
}

/// Passes a file's bytes to `see`, block by block.
fn read(source: &Source, buffer: &mut [u8], mut see: impl FnMut(u64, &[u8])) {
    let file = fs::File::open(&source.path).unwrap();
    let mut offset = 0;
    while offset < source.size {
        let length = usize::try_from(source.size - offset).unwrap_or(BLOCK).min(BLOCK);
        file.file().read_exact_at(&mut buffer[..length], offset).unwrap();
        see(offset, &buffer[..length]);
        offset += length as u64;
    }
}

/// Sorts by falling size, so that no core is left alone with a large item at the end.
fn larger_first<T>(mut items: Vec<T>, size: impl Fn(&T) -> u64) -> Vec<T> {
    items.sort_by_key(|item| std::cmp::Reverse(size(item)));
    items
}

/// Allocates and frees memory: a virtual machine may supply a page that was not used lately more
/// slowly than a program fills it. Takes at most half of the free memory.
pub fn provide_memory(bytes: u64) {
    const PAGE: usize = 4096;
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = free.and_then(|kb| kb.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let bytes = bytes.min(free.unwrap_or_default() * 1024 / 2);
    let mut memory = vec![0_u8; usize::try_from(bytes).unwrap_or_default()];
    memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    std::hint::black_box(&memory);
}

pub fn cat(outputs: &[Vec<Source>]) -> Measured {
    let all = larger_first(outputs.concat(), |s| s.size);
    let see = |buffer: &mut Vec<u8>, source: &Source| {
        read(source, buffer, |_, bytes| _ = std::hint::black_box(bytes));
    };
    Measured::of(|| on_all_cores(&all, || vec![0; BLOCK], see))
}

/// Reads every byte and computes the SHA-256 of every file.
pub fn hash(outputs: &[Vec<Source>]) -> Measured {
    let all = larger_first(outputs.concat(), |s| s.size);
    Measured::of(|| {
        on_all_cores(
            &all,
            || vec![0; BLOCK],
            |buffer, source| _ = hashed(source, buffer, |_, _| {}),
        );
    })
}

fn hashed(source: &Source, buffer: &mut [u8], mut see: impl FnMut(u64, &[u8])) -> [u8; 32] {
    let mut hash = Sha256::new();
    read(source, buffer, |offset, bytes| {
        hash.update(bytes);
        see(offset, bytes);
    });
    std::hint::black_box(hash.finalize().into())
}

/// Reads, hashes and writes every file, into one file for each output, all in `dir`.
pub fn write(outputs: &[Vec<Source>], dir: &Path) -> Measured {
    fs::create_dir_all(dir).unwrap();
    rustix::fs::sync();
    let measured = Measured::of(|| {
        let files: Vec<_> = (0..outputs.len())
            .map(|n| fs::File::create(dir.join(n.to_string())).unwrap())
            .collect();
        let jobs = larger_first(write_jobs(outputs), |(_, _, source)| source.size);
        on_all_cores(
            &jobs,
            || vec![0; BLOCK],
            |buffer, (output, start, source)| {
                let to = |offset, bytes: &[u8]| {
                    files[*output].file().write_all_at(bytes, start + offset).unwrap();
                };
                hashed(source, buffer, to);
            },
        );
    });
    fs::remove_dir_all(dir).unwrap();
    measured
}

pub fn decode(archives: &[PathBuf]) -> Measured {
    let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
    let all = larger_first(archives.to_vec(), size);
    let see = |(): &mut (), path: &PathBuf| {
        let mut decoder = zstd::Decoder::new(fs::File::open(path).unwrap()).unwrap();
        io::copy(&mut decoder, &mut io::sink()).unwrap();
    };
    Measured::of(|| on_all_cores(&all, || (), see))
}

/// Returns the output's index and the offset for each file.
fn write_jobs(outputs: &[Vec<Source>]) -> Vec<(usize, u64, Source)> {
    let mut jobs = Vec::new();
    for (number, sources) in outputs.iter().enumerate() {
        let mut offset = 0;
        for source in sources {
            jobs.push((number, offset, source.clone()));
            offset += source.size;
        }
    }
    jobs
}

/// Deflates `members` block by block with the program's own encoder, and drops the result.
pub fn deflate(members: &[Vec<u8>], compression: Compression) -> Measured {
    let level = match compression {
        Compression::Fast => Level::Fast,
        Compression::Max => Level::Max,
        Compression::Default | Compression::Store => Level::Default,
    };
    let blocks: Vec<_> = members.iter().flat_map(|bytes| blocks(bytes)).collect();
    let pack = |(encoder, packed): &mut (Encoder, Vec<u8>), (bytes, last): &(&[u8], bool)| {
        packed.clear();
        encoder.append_block(bytes, *last, packed);
        std::hint::black_box(&packed);
    };
    Measured::of(|| on_all_cores(&blocks, || (Encoder::new(level), Vec::new()), pack))
}

fn blocks(bytes: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let count = bytes.len().div_ceil(BLOCK);
    bytes.chunks(BLOCK).enumerate().map(move |(index, block)| (block, index + 1 == count))
}

/// Measures the work that changed files need: each is read and hashed, and all of them are
/// deflated.
pub fn own_work(sources: &[Source], compression: Compression) -> Measured {
    let members: Vec<_> = sources.iter().map(|source| fs::read(&source.path).unwrap()).collect();
    let read_and_hash = hash(&[sources.to_vec()]);
    let deflate = deflate(&members, compression);
    Measured { wall: read_and_hash.wall + deflate.wall, ..deflate }
}

/// Compresses `bytes` with xz as one block on one core. Also returns the size.
pub fn xz(bytes: &[u8], preset: u32) -> (Measured, u64) {
    let mut sink = Counting(0);
    let measured = Measured::of(|| {
        let mut encoder = liblzma::write::XzEncoder::new(&mut sink, preset);
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap();
    });
    (measured, sink.0)
}

/// Writer that counts bytes.
struct Counting(u64);

impl Write for Counting {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0 += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies the files in `from` into `to`, by reflink if possible; with `to_disk`, waits until each
/// is on disk.
pub fn copy(from: &Path, to: &Path, to_disk: bool) -> Measured {
    fs::create_dir_all(to).unwrap();
    rustix::fs::sync();
    let files: Vec<_> = fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|e| e.file_type().unwrap().is_file())
        .collect();
    let measured = Measured::of(|| {
        for file in &files {
            let copy = to.join(file.file_name());
            fs::copy(file.path(), &copy).unwrap();
            if to_disk {
                fs::File::open(&copy).unwrap().sync_all().unwrap();
            }
        }
    });
    fs::remove_dir_all(to).unwrap();
    measured
}
