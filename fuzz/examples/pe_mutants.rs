//! Fuzzer of PE files and import libraries without libFuzzer: runs for the given seconds on all
//! cores. A number always gives the same mutant.
//!
//! ```text
//! cargo run --release --manifest-path fuzz/Cargo.toml --example pe_mutants -- SECONDS [FIRST]
//! ```
//!
//! Failing inputs are kept in `fuzz/corpus/pe-mutants` under their number.

use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rockpack_fuzz::pe;

#[path = "../../crates/binary/tests/elf_mutations/mutant.rs"]
mod mutant;

use mutant::{Random, mutate};

/// Bytes that contain most headers and tables.
const HEADERS: usize = 0x500;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (Some(Ok(seconds)), first) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: pe_mutants SECONDS [FIRST]");
        std::process::exit(2);
    };
    let next = AtomicU64::new(first.map_or(0, |first| first.expect("FIRST is a number")));
    let [done, found, broken] = [const { AtomicU64::new(0) }; 3];
    let (seeds, end) = (seeds(), Instant::now() + Duration::from_secs(seconds));
    std::panic::set_hook(Box::new(|_| ()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while Instant::now() < end {
                    let number = next.fetch_add(1, Relaxed);
                    let bytes = made(number, &seeds);
                    match catch_unwind(|| pe::look(&bytes)) {
                        Ok(something) => _ = found.fetch_add(something.into(), Relaxed),
                        Err(why) => {
                            broken.fetch_add(1, Relaxed);
                            keep(number, &bytes, why.downcast_ref::<String>());
                        }
                    }
                    done.fetch_add(1, Relaxed);
                }
            });
        }
    });
    let all = [&done, &found, &broken].map(|count| count.load(Relaxed));
    println!("{} mutants, {} read, {} broken", all[0], all[1], all[2]);
    std::process::exit(i32::from(all[2] > 0));
}

fn seeds() -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds-pe");
    let mut paths: Vec<_> =
        fs_err::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs_err::read(path).unwrap()).collect()
}

/// Makes a mutant from its number: fields of headers are changed, or any bytes.
fn made(number: u64, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut random = Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut bytes = seeds[usize::try_from(number).unwrap() % seeds.len()].clone();
    let in_headers = random.next() >> 63 == 0;
    let rest = bytes.split_off(if in_headers { HEADERS.min(bytes.len()) } else { bytes.len() });
    mutate(&mut bytes, &mut random);
    bytes.extend(rest);
    bytes
}

fn keep(number: u64, bytes: &[u8], why: Option<&String>) {
    let why = why.map_or("a panic", String::as_str);
    println!("{number}: {}", why.chars().take(200).collect::<String>());
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/pe-mutants");
    fs_err::create_dir_all(&dir).unwrap();
    fs_err::write(dir.join(number.to_string()), bytes).unwrap();
}
