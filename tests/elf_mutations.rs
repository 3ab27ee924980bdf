//! The fuzzers' seeds, mutated by a fixed sequence of pseudo-random numbers: the same property
//! as in `fuzz/`, for the time of a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

#[path = "elf_mutations/property.rs"]
mod property;

/// Mutants made of each seed.
const MUTANTS: u64 = 80;

/// All seeds, by name.
fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let mut paths: Vec<_> =
        fs_err::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs_err::read(&path).unwrap())).collect()
}

/// Xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Less than `limit`, which is not 0.
    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }
}

/// Changes one to four fields, more often where headers are.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        match random.below(12) {
            0 => bytes.truncate(random.below(bytes.len()) + 1),
            1 => {
                let (at, bit) = (place(bytes, random), random.below(8));
                bytes[at] ^= 1 << bit;
            }
            2 => {
                let (from, to) = (place(bytes, random), place(bytes, random));
                let len = 56.min(bytes.len() - from).min(bytes.len() - to);
                bytes.copy_within(from..from + len, to);
            }
            _ => set_field(bytes, random),
        }
    }
}

/// A byte of the file header and program headers, of the dynamic section, of the section headers, or any.
fn place(bytes: &[u8], random: &mut Random) -> usize {
    let number = |at: usize, len: usize| {
        bytes
            .get(at..at + len)
            .map_or(0, |it| it.iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte)))
    };
    let dynamic = (0..number(56, 2).min(16))
        .map(|n| 64 + n * 56)
        .find(|&at| number(at, 4) == 2)
        .map_or(0, |at| number(at + 8, 8));
    let (start, len) = match random.below(4) {
        0 => (0, 64 + 56 * number(56, 2)),
        1 => (dynamic, 512),
        2 => (number(40, 8), 64 * number(60, 2)),
        _ => (0, bytes.len()),
    };
    start.saturating_add(random.below(len.max(1))) % bytes.len()
}

/// Puts a number that breaks things into an aligned field of 2, 4 or 8 bytes.
fn set_field(bytes: &mut [u8], random: &mut Random) {
    let size = [2, 4, 8, 8][random.below(4)];
    let at = place(bytes, random) / size * size;
    let len = bytes.len() as u64;
    let numbers = [
        0,
        1,
        2,
        7,
        56,
        64,
        0xfff,
        0x1000,
        0xffff,
        0x1_0000,
        1 << 31,
        1 << 32,
        1 << 63,
        u64::MAX,
        u64::MAX - 0xfff,
        len,
        len - 1,
    ];
    let value = if random.below(3) == 0 {
        random.next() % (2 * len)
    } else {
        numbers[random.below(numbers.len())]
    };
    let end = (at + size).min(bytes.len());
    bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
}

/// Runs the property, and keeps the input that breaks it; what broke is on standard error then.
fn accepted(name: &str, bytes: &[u8], noise: [u8; 5]) -> Result<usize, PathBuf> {
    let result = catch_unwind(AssertUnwindSafe(|| {
        property::verify(bytes, noise);
        property::edit(bytes)
    }));
    result.map_err(|_| {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs_err::write(&kept, bytes).unwrap();
        kept
    })
}

#[test]
fn the_seeds_themselves_are_edited_or_refused() {
    let seeds = seeds();
    assert!(
        seeds.len() >= 20 && seeds.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 300 << 10
    );
    for (path, bytes) in seeds {
        let name = path.file_name().unwrap().to_str().unwrap();
        // The names say what a file is.
        let want = if name.starts_with("refused-") { 0 } else { 7 };
        assert_eq!(accepted(name, &bytes, [0; 5]), Ok(want), "{name}");
    }
}

#[test]
fn mutants_are_refused_or_their_edits_are_right() {
    let (mut all, mut broken) = (0, Vec::new());
    for (path, seed) in seeds() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for count in 0..MUTANTS {
            let mut bytes = seed.clone();
            mutate(&mut bytes, &mut random);
            let noise = random.next().to_le_bytes();
            match accepted(&format!("{name}.{count}"), &bytes, *noise.first_chunk().unwrap()) {
                Ok(accepted) => all += accepted,
                Err(kept) => broken.push(kept),
            }
        }
    }
    assert!(broken.is_empty(), "the property breaks on {broken:#?}");
    assert!(all > 1000, "only {all} edits were accepted: the mutants are too wild to say anything");
}
