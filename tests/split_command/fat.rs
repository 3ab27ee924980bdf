//! Code of programs and libraries is moved into archives; code that cannot be removed is refused.

#![expect(clippy::cast_possible_truncation, reason = "numbers of files of some kilobytes")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use fs_err as fs;
use goblin::elf::section_header::SHT_NOBITS;
use workbench::code_object::{bundle, code, compressed};
use workbench::fat_library::{Library, OF_MARKER, RUNTIME};
use workbench::memory::Memory;

use super::test_wheel::{TestWheel, members, raw};
use super::{INPUT, METADATA, PACKAGES, output, place, rockpack, split, stderr, succeed};

const RUNTIMES: &str = r#"
    runtime "librun.so.7" "librun-blas.so.2" requires-dist="ex-core>=6.5"
    older-runtime "librun.so.[0-6]" "librun-blas.so.1"
"#;
pub(super) const SYSTEM: &str = "system-library \"librun.so.*\" \"librun-blas.so.*\"\n";

/// Returns the manifest with `bundle`.
pub(super) fn bundles() -> tempfile::TempDir {
    let dir = place();
    let with = PACKAGES.replace(r#"device-by "path""#, r#"device-by "path" "bundle""#);
    let with = with.replace(r#"host "share/gpu90.txt""#, r#"host "share/gpu90.txt" ".kpack/**""#);
    let with = with.replace("    host-requires-dist", &format!("{RUNTIMES}    host-requires-dist"));
    fs::write(dir.path().join("packages.kdl"), with + SYSTEM).unwrap();
    dir
}

fn frame(library: &[u8]) -> TestWheel {
    TestWheel::new("frame", "2.1+ex7", METADATA)
        .file("frame/__init__.py", b"import os\n")
        .file("frame/lib/sub/libfat.so", library)
        .file("frame/lib/blas/k_gpu90.dat", b"kernels")
        .file("frame/images/acme-gpu9xx/a.img", b"image")
        .info("licenses/LICENSE", b"You may.\n")
}

/// Reader of the archives' `MessagePack`, independent of the program's.
pub(super) fn value(bytes: &mut &[u8]) -> serde_json::Value {
    fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
        let (taken, rest) = bytes.split_at(count);
        *bytes = rest;
        taken
    }
    let number = |bytes: &mut &[u8], width| {
        take(bytes, width).iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let byte = number(bytes, 1);
    let (kind, count) = match byte {
        0x00..=0x7f => return byte.into(),
        0x80..=0x8f => ("map", byte & 15),
        0x90..=0x9f => ("array", byte & 15),
        0xa0..=0xbf => ("text", byte & 31),
        0xcf => return number(bytes, 8).into(),
        0xd9 => ("text", number(bytes, 1)),
        0xde => ("map", number(bytes, 2)),
        other => panic!("{other:#x}"),
    };
    match kind {
        "text" => String::from_utf8(take(bytes, count as usize).to_vec()).unwrap().into(),
        "array" => (0..count).map(|_| value(bytes)).collect(),
        _ => {
            let entry = |_| (value(bytes).as_str().unwrap().to_owned(), value(bytes));
            serde_json::Value::Object((0..count).map(entry).collect())
        }
    }
}

/// Returns the code of an archive by binary and target, like the runtime.
pub(super) fn archived(archive: &[u8]) -> BTreeMap<(String, String), Vec<u8>> {
    assert_eq!(archive[..8], *b"KPAK\x01\0\0\0");
    let at = u64::from_le_bytes(archive[8..16].try_into().unwrap()) as usize;
    let mut rest = &archive[at..];
    let table = value(&mut rest);
    assert!(rest.is_empty());
    assert_eq!(table["compression_scheme"], "zstd-per-kernel");
    assert_eq!((&table["zstd_offset"], &table["zstd_size"]), (&64.into(), &(at - 64).into()));
    let length = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
    let (mut frames, mut at) = (Vec::new(), 68);
    for _ in 0..length(64) {
        frames.push(zstd::decode_all(&archive[at + 4..at + 4 + length(at)]).unwrap());
        at += 4 + length(at);
    }
    let mut all = BTreeMap::new();
    for (binary, targets) in table["toc"].as_object().unwrap() {
        for (target, piece) in targets.as_object().unwrap() {
            let listed = table["gfx_arches"].as_array().unwrap();
            assert!(listed.contains(&target.as_str().into()), "{target} in {listed:?}");
            let code = &frames[usize::try_from(piece["ordinal"].as_u64().unwrap()).unwrap()];
            assert_eq!(piece["original_size"], code.len());
            all.insert((binary.clone(), target.clone()), code.clone());
        }
    }
    all
}

#[test]
fn code_moves_into_archives_named_by_the_library() {
    let dir = bundles();
    let dir = dir.path();
    let old = Library::of_two_units().bytes();
    frame(&old).write(&dir.join("in"));
    let shown = split(dir, &[]);
    for line in [
        "    frame/.kpack/frame_gpu90.kpack: 3 code objects, 4.50 kB\n",
        "    frame/.kpack/frame_gpu91-strict.kpack: 1 code object, 100 B\n",
        "    offers device-gpu100, device-gpu90, device-gpu91, device-all\n",
        "note: the code of frame/lib/sub/libfat.so for gpu100, gpu90, gpu91-strict moves into archives, from 2 offload bundles in it, which shrinks by 12.2 kB\n",
    ] {
        assert!(shown.contains(line), "{line:?} in\n{shown}");
    }
    let archive = |target: &str, isa: &str| {
        let wheel = members(&output(dir, &format!("frame_device_{target}")));
        archived(&wheel[&format!("frame/.kpack/frame_{isa}.kpack")])
    };
    let key = |index, target: &str| (format!("lib/sub/libfat.so#{index}"), target.to_owned());
    // Bare code is listed for each variant of its ISA.
    let expected = [
        (key(0, "gpu90"), code(0x21, 3000)),
        (key(0, "gpu90:x+"), code(0x21, 3000)),
        (key(0, "gpu90:x-"), code(0x21, 3000)),
        (key(1, "gpu90:x+"), code(0x21, 700)),
        (key(1, "gpu90:x-"), code(0x21, 800)),
    ];
    assert_eq!(archive("gpu90", "gpu90"), expected.into());
    assert_eq!(archive("gpu100", "gpu100"), [(key(0, "gpu100"), code(0x23, 5000))].into());
    assert_eq!(
        archive("gpu91", "gpu91-strict"),
        [(key(1, "gpu91-strict"), code(0x22, 100))].into()
    );
    let host = output(dir, "frame");
    let new = &members(&host)["frame/lib/sub/libfat.so"];
    let (before, after) = (Memory::new(&old), Memory::new(new));
    let mut marker = after.content(".rocm_kpack_ref");
    let paths = ["../../.kpack/frame_@GFXARCH@.kpack"];
    let leads =
        serde_json::json!({"kpack_search_paths": paths, "kernel_name": "lib/sub/libfat.so"});
    assert_eq!(value(&mut marker), leads);
    assert!(marker.is_empty());
    let marker = after.addresses(".rocm_kpack_ref");
    assert_eq!(
        after.records(),
        [(OF_MARKER, 0, marker.start), (OF_MARKER, 1, marker.start)],
        "{marker:x?}"
    );
    let (bundles, hole) = (before.addresses(".hip_fatbin"), after.addresses(".hip_fatbin"));
    assert_eq!(after.section(".hip_fatbin").sh_type, SHT_NOBITS);
    assert_eq!((marker.end, hole.end), (hole.start, bundles.end));
    assert_eq!(hole.start % 4096, 0);
    let gone = (hole.end - hole.start) / 4096 * 4096;
    // One more section header, and its name.
    assert_eq!(new.len() as u64, old.len() as u64 - gone + 64 + 16);
    let rest = [0..bundles.start, before.addresses(".data")];
    for addresses in rest {
        let changed = |at: u64| match at {
            40..48 | 60..62 | 64..232 => true,
            _ => (0x300..0x348).contains(&at) && (at - 0x300) % 24 >= 16,
        };
        let same =
            before.bytes_at(addresses.clone()).into_iter().zip(after.bytes_at(addresses.clone()));
        let differs = addresses.zip(same).find(|(at, (old, new))| old != new && !changed(*at));
        assert_eq!(differs, None);
    }
    // Mode and time are unchanged; it is packed again, and far smaller.
    let (before, after) = (raw(&dir.join(INPUT)), raw(&host));
    let (one, two) = (&before["frame/lib/sub/libfat.so"], &after["frame/lib/sub/libfat.so"]);
    assert_eq!((one.0, &one.1), (two.0, &two.1));
    assert!(two.3.len() < old.len() / 10, "{}", two.3.len());
    let verified = rockpack(dir, &["wheel", "verify", "out/dist"]);
    assert_eq!(stderr(&verified), "");
}

#[test]
fn plans_match_the_output_and_threads_change_no_byte() {
    let dir = bundles();
    let dir = dir.path();
    frame(&Library::of_two_units().bytes()).write(&dir.join("in"));
    let shown = succeed(dir, &["wheel", "split", INPUT, "--version", "7.0", "--dry-run"]);
    assert!(!dir.join("out").exists());
    let listed = shown.rsplit_once("\n5 wheels").unwrap().0;
    assert!(split(dir, &["-j", "1"]).starts_with(listed), "{shown}");
    let sums = fs::read_to_string(dir.join("out/dist/SHA256SUMS")).unwrap();
    succeed(dir, &["wheel", "split", INPUT, "--version", "7.0", "-o", "again", "-j", "4"]);
    assert_eq!(fs::read_to_string(dir.join("again/dist/SHA256SUMS")).unwrap(), sums);
}

#[test]
fn refusals_name_the_file_and_leave_nothing() {
    let refuses = |made: &TestWheel, expected: &[&str]| {
        let dir = bundles();
        made.write(&dir.path().join("in"));
        let output =
            rockpack(dir.path(), &["wheel", "split", INPUT, "--version", "7.0", "-o", "out"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(expected.iter().all(|text| said.contains(text)), "{expected:?} in {said}");
        assert!(!dir.path().join("out").exists());
    };
    let what = "1 file with device code that cannot be moved: `frame/lib/sub/libfat.so` (";
    let bitcode = Library::new(&[bundle(&[("gpu90", b"BC and so on, to be linked".to_vec())])]);
    refuses(&frame(&bitcode.bytes()), &[what, "no finished code object for", "`host` line"]);
    let unknown = Library::new(&[bundle(&[("gpu7", code(1, 100))])]);
    refuses(
        &frame(&unknown.bytes()),
        &[what, "code for gpu7, which families.kdl does not declare"],
    );
    let mut old = compressed(&bundle(&[("gpu90", code(0x21, 100))]));
    old[4] = 1;
    old.drain(8..20);
    refuses(
        &frame(&Library::new(&[old]).bytes()),
        &[what, "version 1, which does not record its size"],
    );
    let there =
        frame(&Library::of_two_units().bytes()).file("frame/.kpack/frame_gpu90.kpack", b"x");
    refuses(&there, &["it already has `frame/.kpack/frame_gpu90.kpack`"]);
    let moved = frame(b"x")
        .file("frame-2.1+ex7.data/platlib/frame/lib/y.so", &Library::of_two_units().bytes());
    refuses(&moved, &["installers place it outside of the root"]);
}

#[test]
fn code_of_other_runtimes_stays() {
    let refuses = |library: &Library, args: &[&str], expected: &str| {
        let dir = bundles();
        frame(&library.bytes()).write(&dir.path().join("in"));
        let all = [&["wheel", "split", INPUT, "-o", "out"], args].concat();
        let output = rockpack(dir.path(), &all);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{expected:?} in {said}");
        assert!(!dir.path().join("out").exists());
    };
    let seven: &[&str] = &["--version", "7.0"];
    for old in ["librun.so.6", "librun-blas.so.1"] {
        let needs = format!("(it needs {old}, of a runtime that does not read archives of code)");
        refuses(&Library { needs: old, ..Library::of_two_units() }, seven, &needs);
    }
    let renamed = Library { needs: "librun-1234abcd.so.6", ..Library::of_two_units() };
    let none = "(it needs no library of a runtime that reads archives of code: librun.so.7, librun-blas.so.2)";
    refuses(&renamed, seven, none);
}

#[test]
fn the_host_wheel_requires_the_runtime_of_its_archives() {
    let dir = bundles();
    let dir = dir.path();
    frame(&Library { needs: "librun-blas.so.2", ..Library::of_two_units() }.bytes())
        .write(&dir.join("in"));
    let shown = split(dir, &[]);
    assert!(shown.contains("\n    requires detect>=1, ex-core>=6.5\n"), "{shown}");
    let info = "frame-2.1+ex7.dist-info/METADATA";
    let host = String::from_utf8(members(&output(dir, "frame"))[info].clone()).unwrap();
    assert!(host.contains("\nRequires-Dist: ex-core>=6.5\n"), "{host}");
}

#[test]
fn a_runtime_that_the_version_excludes_is_refused() {
    let with = |metadata: &str, more: &[(&str, &[u8])], args: &[&str]| {
        let dir = bundles();
        let text = fs::read_to_string(dir.path().join("packages.kdl")).unwrap();
        let text = text.replace("    requires-dist \"ex-device-{isa}=={version}\"\n", "");
        let text = text.replace("ex-core>=6.5", "ex-core>=7.1");
        fs::write(dir.path().join("packages.kdl"), text).unwrap();
        let mut made = TestWheel::new("frame", "2.1+ex7", metadata)
            .file("frame/lib/sub/libfat.so", &Library::of_two_units().bytes())
            .file("frame/lib/blas/k_gpu90.dat", b"kernels")
            .file("frame/images/acme-gpu9xx/a.img", b"image")
            .info("licenses/LICENSE", b"You may.\n");
        for (name, bytes) in more {
            made = made.file(name, bytes);
        }
        made.write(&dir.path().join("in"));
        let all = [&["wheel", "split", INPUT, "--dry-run"], args].concat();
        let output = rockpack(dir.path(), &all);
        (output.status.code(), stderr(&output))
    };
    let free = METADATA.replace("Requires-Dist: ex-core==7.0\n", "");
    let expected = "it was built against version 7.0, but archives of code require `ex-core>=7.1`";
    for (metadata, args) in [(METADATA, &[][..]), (&free, &["--version", "7.0"])] {
        let (status, said) = with(metadata, &[], args);
        assert!(status == Some(1) && said.contains(expected), "{said}");
    }
    let (status, said) = with(&free, &[], &["--version", "7.1"]);
    assert_eq!(status, Some(0), "{said}");
    let brought = [("frame/lib/librun.so.7", &b"runtime"[..])];
    let (status, said) = with(&free, &brought, &["--version", "7.1"]);
    let expected =
        "1 file of a runtime, which is loaded instead of the required one: `frame/lib/librun.so.7`";
    assert!(status == Some(1) && said.contains(expected), "{said}");
}

#[test]
fn host_lines_keep_libraries_whole() {
    let dir = bundles();
    let dir = dir.path();
    let kept = PACKAGES.replace(r#"host "share/gpu90.txt""#, r#"host "lib/sub/libfat.so""#);
    fs::write(dir.join("packages.kdl"), kept + SYSTEM).unwrap();
    let old = Library::of_two_units().bytes();
    frame(&old).write(&dir.join("in"));
    split(dir, &[]);
    assert!(members(&output(dir, "frame"))["frame/lib/sub/libfat.so"] == old);
}

/// Imitates the start of a program compiled by HIP: two records of adjacent bundles.
const UNITS: &str = r#"
__asm__(".section .hip_fatbin,\"a\",@progbits\n.balign 4096\none: .incbin \"one.bin\"\n"
        ".balign 4096\ntwo: .incbin \"two.bin\"\n.text\n");
extern const char one[] __attribute__((visibility("hidden")));
extern const char two[] __attribute__((visibility("hidden")));
struct record { unsigned magic, version; const void *bundle; unsigned long number; };
__attribute__((section(".hipFatBinSegment"), used)) static struct record records[] = {
    {0x48495046, 1, one, 0}, {0x48495046, 1, two, 0}};
const struct record *record(int at) { return &records[at]; }
"#;

/// Loads a library and prints the targets of its records.
const LOADS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
struct record { unsigned magic, version; const char *bundle; unsigned long number; };
int main(int count, char **names) {
    void *library = dlopen(names[1], RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    const struct record *(*record)(int) = (const struct record *(*)(int))dlsym(library, "record");
    for (int at = 0; at < 2; at++)
        printf("%x %u %lu %.18s\n", record(at)->magic, record(at)->version, record(at)->number, record(at)->bundle + 2);
    return 0;
}
"#;

#[test]
fn libraries_of_every_linker_load_without_their_bundles() {
    if !workbench::skips::has("cc", "libraries with device code that load after a split") {
        return;
    }
    let dir = bundles();
    let dir = dir.path();
    fs::write(dir.join("one.bin"), bundle(&[("gpu90", code(0x21, 9000))])).unwrap();
    let two = compressed(&bundle(&[("gpu90", code(0x21, 500)), ("gpu100", code(0x23, 500))]));
    fs::write(dir.join("two.bin"), two).unwrap();
    fs::write(dir.join("units.c"), UNITS).unwrap();
    fs::write(dir.join("loads.c"), LOADS).unwrap();
    fs::write(dir.join("run.c"), "").unwrap();
    compile(dir, &["loads.c", "-o", "loads", "-ldl"]);
    compile(dir, &["-shared", "run.c", "-Wl,-soname,librun.so.7", "-o", RUNTIME]);
    let needs: &[&str] = &["-Wl,--no-as-needed", RUNTIME];
    let ways: [&[&str]; 4] =
        [&[], &["-Wl,-z,pack-relative-relocs"], &["-Wl,--hash-style=sysv"], &["-Wl,-z,now"]];
    for way in ways {
        let all =
            [&["-shared", "-fPIC", "units.c", "-Wl,-soname,libfat.so", "-o", "fat.so"], way, needs];
        compile(dir, &all.concat());
        let loaded = || {
            let done = Command::new("./loads")
                .arg("./fat.so")
                .env("LD_LIBRARY_PATH", ".")
                .current_dir(dir)
                .output()
                .unwrap();
            String::from_utf8(done.stdout).unwrap()
        };
        let before = loaded();
        assert!(before.starts_with("48495046 1 0 CLANG_OFFLOAD_BU"), "{way:?}: {before}");
        frame(&fs::read(dir.join("fat.so")).unwrap()).write(&dir.join("in"));
        split(dir, &[]);
        let new = &members(&output(dir, "frame"))["frame/lib/sub/libfat.so"];
        fs::write(dir.join("fat.so"), new).unwrap();
        let markers = "4b504948 1 0 kpack_search_paths\n4b504948 1 1 kpack_search_paths\n";
        assert_eq!(loaded(), markers, "{way:?}");
        fs::remove_dir_all(dir.join("out")).unwrap();
    }
}

fn compile(dir: &Path, args: &[&str]) {
    let done = Command::new("cc").args(args).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}
