//! Generator of the fuzzers' seeds: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.
//!
//! Seeds are small files of every kind and linker. They are committed; this program documents them,
//! and makes them again if the tools are installed (gcc, an aarch64 gcc, GNU ld, gold, lld, mold,
//! objcopy). Names of files that can't be edited start with `refused-`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use binary::elf::{self, Edited, Edits, RpathEdit};

#[path = "../../crates/binary/tests/elf_conformance/kpack.rs"]
mod kpack;

const SOURCE: &str = "\
#ifdef LIBC
#include <stdlib.h>
void *take(void) { return malloc(8); }
#endif
#ifdef TLS
static __thread char many[64]; __thread int one = 1;
char *local(int n) { return many + one + n; }
#endif
#ifdef FATBIN
__attribute__((section(\".hip_fatbin\"), aligned(4096), used)) const char device_code[8200] = {1};
#endif
int answer = 42;
int get(void) { return answer; }
void _start(void) { for (;;) answer++; }
";

/// Options for small files: no start files, and pages of 4 KiB without padding.
const SMALL: &[&str] = &["-O1", "-nostartfiles", "-Wl,-z,max-page-size=4096", "-fno-asynchronous-unwind-tables"];
/// Without an entry: a library that can be started, and needs no other, is a loader and refused.
const LIBRARY: &[&str] = &["-shared", "-fPIC", "-Wl,-e,0"];
const RUNPATH: &[&str] = &["-Wl,--enable-new-dtags,-rpath,$ORIGIN/../lib:/opt"];
const RPATH: &[&str] = &["-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib"];
const SONAME: &[&str] = &["-Wl,-soname,libseed.so.1"];
const BFD: &[&str] = &["-fuse-ld=bfd", "-Wl,-z,noseparate-code"];
const GOLD: &[&str] = &["-fuse-ld=gold"];
const LLD: &[&str] = &["-fuse-ld=lld", "-Wl,-z,noseparate-code"];
const MOLD: &[&str] = &["-fuse-ld=mold", "-Wl,-z,noseparate-code"];

/// Name, compiler and arguments of compiled seeds.
const COMPILED: &[(&str, &str, &[&[&str]])] = &[
    ("bfd-notes.so", "gcc", &[SMALL, LIBRARY, BFD, RUNPATH, SONAME, &["-DLIBC", "-fcf-protection", "-Wl,-z,ibt,--build-id"]]),
    ("bfd-both-hashes.so", "gcc", &[SMALL, LIBRARY, BFD, &["-DLIBC", "-Wl,--hash-style=both,--build-id=none"]]),
    ("bfd-old-hash.so", "gcc", &[SMALL, LIBRARY, BFD, RPATH, &["-Wl,--hash-style=sysv"]]),
    ("bfd-verdef.so", "gcc", &[SMALL, LIBRARY, BFD, SONAME, &["-DLIBC", "-Wl,--version-script=versions", "-Wl,-z,norelro"]]),
    ("bfd-alone.so", "gcc", &[SMALL, LIBRARY, BFD, &["-nostdlib"]]),
    ("bfd-separate.so", "gcc", &[LIBRARY, &["-DLIBC", "-nostartfiles", "-fuse-ld=bfd", "-Wl,-z,separate-code", "-s"]]),
    ("bfd-pie", "gcc", &[SMALL, BFD, RUNPATH, &["-DLIBC", "-fPIE", "-pie"]]),
    ("bfd-no-pie", "gcc", &[SMALL, BFD, &["-DLIBC", "-no-pie"]]),
    ("gold.so", "gcc", &[SMALL, LIBRARY, GOLD, SONAME, &["-DLIBC", "-DTLS"]]),
    ("gold-pie", "gcc", &[SMALL, GOLD, RPATH, &["-DLIBC", "-fPIE", "-pie"]]),
    ("lld-runpath.so", "gcc", &[SMALL, LIBRARY, LLD, RUNPATH, SONAME, &["-DLIBC", "-DTLS"]]),
    ("lld-bare.so", "gcc", &[SMALL, LIBRARY, LLD, &["-DTLS", "-nostdlib"]]),
    ("lld-relr.so", "gcc", &[SMALL, LIBRARY, LLD, &["-DLIBC", "-Wl,--pack-dyn-relocs=relr,--no-rosegment"]]),
    ("lld-pie", "gcc", &[SMALL, LLD, &["-DLIBC", "-fPIE", "-pie"]]),
    ("lld-no-pie", "gcc", &[SMALL, LLD, RUNPATH, &["-DLIBC", "-no-pie"]]),
    ("mold.so", "gcc", &[SMALL, LIBRARY, MOLD, RUNPATH, SONAME, &["-DLIBC", "-DTLS"]]),
    ("mold-pie", "gcc", &[SMALL, MOLD, &["-DLIBC", "-fPIE", "-pie"]]),
    ("aarch64.so", "aarch64-linux-gnu-gcc", &[SMALL, LIBRARY, BFD, RUNPATH, SONAME, &["-DLIBC"]]),
    ("kpack.so", "gcc", &[SMALL, LIBRARY, LLD, SONAME, &["-DLIBC", "-DFATBIN", "-s"]]),
    ("kpack-pie", "gcc", &[SMALL, LLD, &["-DLIBC", "-DFATBIN", "-fPIE", "-pie", "-s"]]),
    ("refused-object.o", "gcc", &[&["-c", "-O1"]]),
    ("refused-static", "gcc", &[SMALL, BFD, &["-static", "-nostdlib"]]),
    ("refused-static-pie", "gcc", &[SMALL, BFD, &["-static-pie", "-nostdlib"]]),
    ("refused-32-bit.so", "gcc", &[SMALL, LIBRARY, BFD, &["-m32", "-nostdlib"]]),
];

fn main() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    fs::create_dir_all(&seeds).unwrap();
    compile(&seeds);
    let (from, debug_only) = (seeds.join("bfd-notes.so"), seeds.join("refused-debug-only"));
    run(Command::new("objcopy").arg("--only-keep-debug").arg(from).arg(debug_only));
    write_our_own(&seeds);
    derive(&seeds);
    report(&seeds);
}

fn compile(seeds: &Path) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("seed.c"), SOURCE).unwrap();
    fs::write(dir.path().join("versions"), "ONE { global: get; local: *; }; TWO { global: answer; } ONE;").unwrap();
    for (name, compiler, arguments) in COMPILED {
        run(Command::new(compiler).args(arguments.concat()).args(["seed.c", "-o"]).arg(seeds.join(name)).current_dir(&dir));
    }
}

/// Writes the files that this project generates.
fn write_our_own(seeds: &Path) {
    for (machine, name) in [(StubMachine::X86_64, "x86-64"), (StubMachine::Aarch64, "aarch64")] {
        let library = forwarding_library(machine, "libz.so", "libz.so.1", "$ORIGIN/../lib").unwrap();
        fs::write(seeds.join(format!("forward-{name}.so")), library).unwrap();
        fs::write(seeds.join(format!("refused-stub-{name}")), exec_stub(machine, "../lib/llvm/bin/clang").unwrap()).unwrap();
    }
}

/// Derives variants: edited once, with both search paths, without section headers, split, for a
/// GPU, with the other byte order, truncated.
fn derive(seeds: &Path) {
    let read = |name: &str| fs::read(seeds.join(name)).unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(seeds.join(name), bytes).unwrap();
    for (from, name) in [("bfd-notes.so", "edited-library.so"), ("lld-pie", "edited-pie")] {
        write(name, edited(&read(from), &Edits::rpath(RpathEdit::Append(vec!["/a/new/directory".repeat(8)]))));
    }
    let with = |mut bytes: Vec<u8>, at: usize, value: u8| {
        bytes[at] = value;
        bytes
    };
    const EI_DATA: usize = 5;
    const E_MACHINE: usize = 18;
    write("refused-code-object.so", with(read("lld-bare.so"), E_MACHINE, 224));
    write("refused-big-endian.so", with(read("lld-bare.so"), EI_DATA, 2));
    write("refused-cut.so", read("lld-bare.so")[..200].to_vec());
    write("lld-no-sections.so", without_sections(read("lld-runpath.so")));
    for (from, name, full) in [("kpack.so", "kpack-split.so", false), ("kpack-pie", "kpack-split-full-pie", true)] {
        write(name, kpack::split(&read(from), kpack::Shape { slots: 16, full, trailer: full }));
        fs::remove_file(seeds.join(from)).unwrap();
    }
    write("both-paths.so", with_both_paths(read("bfd-old-hash.so")));
}

fn edited(bytes: &Vec<u8>, edits: &Edits) -> Vec<u8> {
    let plan = elf::edit(bytes, edits).unwrap();
    let mut new = Vec::new();
    std::io::copy(&mut Edited::new(bytes, &plan).reader(), &mut new).unwrap();
    new
}

/// Turns the first spare entry into a `DT_RUNPATH` (29) with the end of the value of `DT_RPATH`
/// (15).
fn with_both_paths(mut bytes: Vec<u8>) -> Vec<u8> {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = (0..usize::from(bytes[56])).map(|n| 64 + 56 * n);
    let dynamic = headers.clone().find(|&at| bytes[at] == 2 && bytes[at + 3] == 0).map(|at| (number(at + 8), number(at + 32))).unwrap();
    let entries: Vec<_> = (dynamic.0..dynamic.0 + dynamic.1).step_by(16).collect();
    let rpath = *entries.iter().find(|&&at| number(at) == 15).unwrap();
    let spare = *entries.iter().find(|&&at| number(at) == 0).unwrap();
    let value = number(rpath + 8) + "$ORIGIN/".len();
    bytes[spare] = 29;
    bytes[spare + 8..spare + 16].copy_from_slice(&value.to_le_bytes());
    bytes
}

/// Clears `e_shoff`, `e_shnum` and `e_shstrndx`, and cuts off the table, which linkers put last.
fn without_sections(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize);
    bytes[40..48].fill(0);
    bytes[60..64].fill(0);
    bytes
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn report(seeds: &Path) {
    let files: Vec<PathBuf> = fs::read_dir(seeds).unwrap().map(|entry| entry.unwrap().path()).collect();
    let sizes: Vec<u64> = files.iter().map(|path| fs::metadata(path).unwrap().len()).collect();
    // The files are data and must not be executable.
    files.iter().for_each(|path| fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap());
    println!("{} seeds, {} bytes, the largest has {}", sizes.len(), sizes.iter().sum::<u64>(), sizes.iter().max().unwrap());
}
