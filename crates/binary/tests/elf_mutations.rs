//! Mutants of the fuzzers' seeds by a fixed sequence of pseudo-random numbers: the properties of
//! `fuzz/`, in the time of a test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub mod mutant;
pub mod property;

use mutant::{Random, mutate};

/// Mutants of each seed.
const MUTANTS: u64 = 40;

/// Returns all seeds by name.
fn seeds() -> Vec<(PathBuf, Vec<u8>)> {
    let dir = workbench::checkout().join("fuzz/seeds");
    let mut paths: Vec<_> =
        fs_err::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs_err::read(&path).unwrap())).collect()
}

/// Checks the property, and keeps an input that violates it; standard error has the violation.
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
        // The name says whether edits are refused.
        let want = if name.starts_with("refused-") { 0 } else { property::EDITS };
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
    assert!(all > 500, "only {all} edits were accepted: the mutants are too wild to say anything");
}
