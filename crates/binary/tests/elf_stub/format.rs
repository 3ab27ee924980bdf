//! Written files are valid ELF for binutils, elfutils, goblin and object.

use std::process::Command;

use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use goblin::elf::Elf;
use goblin::elf::program_header::{PF_W, PF_X, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_NOTE};
use object::{Object, ObjectKind};

use workbench::skips::has;

use super::tools::{run, run_successfully, temp_dir, write};

const TARGET: &str = "../lib/llvm/bin/clang-22";

fn stub(machine: StubMachine) -> Vec<u8> {
    exec_stub(machine, TARGET).unwrap()
}

fn library(machine: StubMachine) -> Vec<u8> {
    forwarding_library(machine, "libz.so", "libz.so.1", "$ORIGIN:$ORIGIN/../lib").unwrap()
}

/// Returns every kind of written file, for each machine.
fn all_files() -> impl Iterator<Item = (String, StubMachine, Vec<u8>)> {
    let of = |machine| {
        [
            (format!("{machine:?} stub"), machine, stub(machine)),
            (format!("{machine:?} library"), machine, library(machine)),
        ]
    };
    StubMachine::ALL.into_iter().flat_map(of)
}

#[test]
fn readelf_has_no_objection() {
    if !has("readelf", "the view of binutils") {
        return;
    }
    let (_guard, dir) = temp_dir();
    for (name, _, bytes) in all_files() {
        let path = dir.join(&name);
        write(&path, &bytes, 0o755);
        let ran = run(Command::new("readelf").args(["-a", "-W"]).arg(&path).env("LC_ALL", "C"));
        assert_eq!((ran.err.as_str(), ran.code), ("", Some(0)), "{name}");
        assert!(
            !ran.out.contains("arning")
                && !ran.out.contains("corrupt")
                && ran.out.contains("Build ID: "),
            "{name}: {}",
            ran.out
        );
    }
}

#[test]
fn elflint_has_no_objection() {
    if !has("eu-elflint", "the view of elfutils") {
        return;
    }
    let (_guard, dir) = temp_dir();
    for (name, _, bytes) in all_files() {
        let path = dir.join(&name);
        write(&path, &bytes, 0o755);
        assert_eq!(
            run_successfully(Command::new("eu-elflint").args(["--gnu-ld"]).arg(&path)),
            "No errors\n",
            "{name}"
        );
    }
}

#[test]
fn segments_are_safe_and_aligned() {
    for (name, machine, bytes) in all_files() {
        let elf = Elf::parse(&bytes).unwrap();
        let page = if machine == StubMachine::Aarch64 { 0x1_0000 } else { 0x1000 };
        for load in elf.program_headers.iter().filter(|header| header.p_type == PT_LOAD) {
            assert!(load.p_flags & (PF_W | PF_X) != PF_W | PF_X, "{name}: writable and executable");
            assert_eq!((load.p_align, (load.p_vaddr - load.p_offset) % page), (page, 0), "{name}");
        }
        let stack =
            elf.program_headers.iter().find(|header| header.p_type == PT_GNU_STACK).unwrap();
        assert_eq!(stack.p_flags & PF_X, 0, "{name}: executable stack");
        assert!(
            elf.program_headers.iter().all(|header| header.p_type != PT_INTERP),
            "{name}: an interpreter"
        );
    }
}

#[test]
fn memory_pages_of_segments_are_disjoint() {
    for (name, _, bytes) in all_files() {
        let elf = Elf::parse(&bytes).unwrap();
        let loads: Vec<_> =
            elf.program_headers.iter().filter(|header| header.p_type == PT_LOAD).collect();
        for pair in loads.windows(2) {
            let end = (pair[0].p_vaddr + pair[0].p_memsz).next_multiple_of(pair[0].p_align);
            assert!(end <= pair[1].p_vaddr / pair[1].p_align * pair[1].p_align, "{name}");
        }
    }
}

#[test]
fn stub_is_static_and_small() {
    for machine in StubMachine::ALL {
        let bytes = stub(machine);
        let elf = Elf::parse(&bytes).unwrap();
        assert!(elf.dynamic.is_none() && elf.libraries.is_empty());
        assert_eq!(object::File::parse(&*bytes).unwrap().kind(), ObjectKind::Executable);
        assert!(bytes.len() < 2048, "{} bytes", bytes.len());
        assert!(bytes.windows(TARGET.len()).any(|window| window == TARGET.as_bytes()));
    }
}

#[test]
fn library_has_its_entries() {
    for machine in StubMachine::ALL {
        let bytes = library(machine);
        let elf = Elf::parse(&bytes).unwrap();
        assert_eq!((elf.soname, elf.libraries.as_slice()), (Some("libz.so"), &["libz.so.1"][..]));
        assert_eq!(
            (elf.rpaths.as_slice(), elf.runpaths.len()),
            (&["$ORIGIN:$ORIGIN/../lib"][..], 0)
        );
        let file = object::File::parse(&*bytes).unwrap();
        assert_eq!((file.kind(), file.dynamic_symbols().count()), (ObjectKind::Dynamic, 0));
        assert!(bytes.len() < 2048, "{} bytes", bytes.len());
    }
}

#[test]
fn bytes_depend_on_the_arguments_alone() {
    for machine in StubMachine::ALL {
        assert!(stub(machine) == stub(machine) && library(machine) == library(machine));
    }
}

#[test]
fn build_ids_of_files_differ() {
    let id = |bytes: &[u8]| {
        let note = Elf::parse(bytes)
            .unwrap()
            .program_headers
            .into_iter()
            .find(|header| header.p_type == PT_NOTE)
            .unwrap();
        bytes[note.file_range()].to_vec()
    };
    let mut ids: Vec<_> = all_files().map(|(_, _, bytes)| id(&bytes)).collect();
    ids.push(id(&exec_stub(StubMachine::X86_64, "../lib/llvm/bin/clang-23").unwrap()));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    assert_eq!(
        object::File::parse(&*stub(StubMachine::X86_64))
            .unwrap()
            .build_id()
            .unwrap()
            .map(<[u8]>::len),
        Some(20)
    );
}
