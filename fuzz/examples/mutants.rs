//! Differential fuzzer without libFuzzer: runs the given number of mutants of the seeds, one edit
//! each, on all cores. A number always gives the same mutant.
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml --example mutants -- COUNT [FIRST]
//! ```
//!
//! Each accepted edit is written out, verified by `elf::verify` and `elf::compare`, mapped like in
//! a loader, and compared with the old file. Failing inputs are kept in `fuzz/corpus/mutants` under
//! their number.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rockpack_fuzz::property;

#[path = "../../crates/binary/tests/elf_mutations/mutant.rs"]
mod mutant;

use mutant::{Random, mutate};

/// Number of mutants between two reports.
const TOLD: u64 = 100_000;

#[derive(Default)]
struct Counts {
    done: AtomicU64,
    edited: AtomicU64,
    broken: AtomicU64,
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (Some(Ok(count)), first) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: mutants COUNT [FIRST]");
        std::process::exit(2);
    };
    let first = first.map_or(0, |first| first.expect("FIRST is a number"));
    let seeds = seeds();
    let (counts, threads) =
        (Counts::default(), std::thread::available_parallelism().unwrap().get());
    std::panic::set_hook(Box::new(|_| ()));
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (seeds, counts) = (&seeds, &counts);
            let mine = (first + thread..first + count).step_by(threads);
            scope.spawn(move || mine.for_each(|number| run(number, seeds, counts)));
        }
    });
    let all = [&counts.done, &counts.edited, &counts.broken].map(|count| count.load(Relaxed));
    println!("{} mutants, {} edited, {} broken", all[0], all[1], all[2]);
    std::process::exit(i32::from(all[2] > 0));
}

fn seeds() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut paths: Vec<_> =
        fs_err::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with("refused-"));
    paths.sort();
    paths.iter().map(|path| fs_err::read(path).unwrap()).collect()
}

fn run(number: u64, seeds: &[Vec<u8>], counts: &Counts) {
    let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut bytes = seeds[usize::try_from(number).unwrap() % seeds.len()].clone();
    mutate(&mut bytes, &mut random);
    let which = usize::try_from(random.next() >> 32).unwrap();
    match catch_unwind(AssertUnwindSafe(|| property::edit_by(&bytes, which))) {
        Ok(edited) => _ = counts.edited.fetch_add(edited.into(), Relaxed),
        Err(why) => {
            counts.broken.fetch_add(1, Relaxed);
            let why = why.downcast_ref::<String>().map_or("a panic", String::as_str);
            println!("{number}: {}", why.chars().take(200).collect::<String>());
            let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/mutants");
            fs_err::create_dir_all(&dir).unwrap();
            fs_err::write(dir.join(number.to_string()), &bytes).unwrap();
        }
    }
    let done = counts.done.fetch_add(1, Relaxed) + 1;
    if done.is_multiple_of(TOLD) {
        eprintln!("{done} mutants, {} edited", counts.edited.load(Relaxed));
    }
}
