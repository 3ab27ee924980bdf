//! Executable stacks of each linker, cleared.

use std::path::Path;
use std::process::Command;

use super::tools::{Bench, facts, have, longer, run, runs};
use binary::elf::{self, Edits, ElfError, ExecutableStack};

/// Linkers by their names for gcc's `-fuse-ld`, and as files.
const LINKERS: [(&str, &str); 3] = [("bfd", "ld.bfd"), ("lld", "ld.lld"), ("mold", "mold")];

fn cleared() -> Edits {
    Edits { clear_execstack: true, ..Edits::default() }
}

/// Returns readelf's flags of the stack.
fn stack(path: &Path) -> Option<String> {
    let headers = run(Command::new("readelf").arg("-lW").arg(path));
    let line = headers.lines().find(|line| line.contains("GNU_STACK"))?;
    line.split_whitespace().nth(6).map(str::to_owned)
}

#[test]
fn a_flag_of_every_linker_is_cleared() {
    for (name, tool) in LINKERS {
        if !have("stack flag", &["g++", "gcc", "readelf", tool]) {
            continue;
        }
        let (bench, linker) = (Bench::new(), format!("-fuse-ld={name}"));
        let library = bench.library(&[&linker, "-Wl,-z,execstack"]);
        let program = bench.program(&[&linker, "-Wl,-z,execstack"]);
        for file in [&library, &program] {
            assert_eq!(facts(file).executable_stack, Some(ExecutableStack::Flag), "{name}");
            let edited = bench.edit(file, &cleared());
            assert_eq!(facts(&edited).executable_stack, None, "{name}");
            assert_eq!(stack(&edited).as_deref(), Some("RW"), "{name}");
            // One byte differs: the flags.
            let (old, new) = (fs_err::read(file).unwrap(), fs_err::read(&edited).unwrap());
            assert_eq!(old.iter().zip(&new).filter(|(old, new)| old != new).count(), 1, "{name}");
            elf::compare(&old, &new).unwrap();
            if file == &program { runs(&edited) } else { bench.loads(&edited) }
        }
        let both = bench.edit(&library, &Edits { clear_execstack: true, ..longer() });
        assert_eq!(facts(&both).executable_stack, None, "{name}");
        bench.loads(&both);
    }
}

#[test]
fn a_missing_header_is_added() {
    let with_option = |tool: &str| {
        let help = Command::new(tool).arg("--help").output();
        tool == "ld.lld"
            || help.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).contains("nognustack"))
    };
    for (name, tool) in LINKERS.into_iter().filter(|(_, tool)| with_option(tool)) {
        if !have("missing GNU_STACK", &["g++", "gcc", "readelf", tool]) {
            continue;
        }
        let (bench, linker) = (Bench::new(), format!("-fuse-ld={name}"));
        let shapes: [&[&str]; 3] =
            [&[], &["-Wl,--build-id=none"], &["-Wl,-z,noseparate-code", "-Wl,--build-id"]];
        for shape in shapes {
            let arguments = [&[linker.as_str(), "-Wl,-z,nognustack"], shape].concat();
            let library = bench.library(&arguments);
            let program = bench.program(&arguments);
            for file in [&library, &program] {
                let asked = if cfg!(target_arch = "x86_64") {
                    Some(ExecutableStack::NoHeader)
                } else {
                    None
                };
                assert_eq!(facts(file).executable_stack, asked, "{name} {shape:?}");
                if asked.is_none() {
                    continue;
                }
                for edits in [cleared(), Edits { clear_execstack: true, ..longer() }] {
                    let edited = bench.edit(file, &edits);
                    assert_eq!(facts(&edited).executable_stack, None, "{name} {shape:?}");
                    assert_eq!(stack(&edited).as_deref(), Some("RW"), "{name} {shape:?}");
                    let (old, new) = (fs_err::read(file).unwrap(), fs_err::read(&edited).unwrap());
                    elf::compare(&old, &new).unwrap();
                    if file == &program { runs(&edited) } else { bench.loads(&edited) }
                }
            }
        }
    }
}

#[test]
fn a_trampoline_keeps_the_stack_executable() {
    let compilers = [("gcc", std::env::consts::ARCH), ("aarch64-linux-gnu-gcc", "aarch64")];
    for (compiler, machine) in compilers {
        if !have("trampoline", &[compiler]) {
            continue;
        }
        let bench = Bench::new();
        for optimized in ["-O0", "-O2", "-O3", "-Os"] {
            let library = bench.compile(
                compiler,
                "nested.c",
                &format!("libnested{optimized}.so"),
                &["-shared", "-fPIC", "-Wl,--no-warn-execstack", optimized],
            );
            let bytes = fs_err::read(&library).unwrap();
            assert_eq!(facts(&library).executable_stack, Some(ExecutableStack::Flag));
            let refused = elf::edit(&bytes, &cleared()).unwrap_err();
            assert!(matches!(refused, ElfError::Trampoline { .. }), "{machine} {optimized}");
            // `compare` refuses the flag that any other tool clears.
            let header: Vec<u8> =
                [0x6474_e551_u32, 7].into_iter().flat_map(u32::to_le_bytes).collect();
            let at = bytes.windows(8).position(|window| window == header).unwrap();
            let mut other = bytes.clone();
            other[at + 4] = 6;
            let found = elf::compare(&bytes, &other).unwrap_err();
            assert!(found[0].to_string().contains("trampoline"), "{found:?}");
        }
    }
}

#[test]
fn a_plain_stack_is_no_edit() {
    if have("plain stack", &["g++", "gcc", "readelf"]) {
        let bench = Bench::new();
        let library = fs_err::read(bench.library(&[])).unwrap();
        assert!(elf::edit(&library, &cleared()).unwrap().is_noop());
    }
}
