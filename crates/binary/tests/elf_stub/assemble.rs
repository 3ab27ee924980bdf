//! The committed machine code equals its assembled source.

use std::process::Command;

use binary::elf::stub::StubMachine;
use object::{Object, ObjectSection};

use workbench::skips::has;

use super::tools::{arch, fixture, gnu_tool, run_successfully, temp_dir};

fn assembles(machine: StubMachine) {
    let assembler = gnu_tool(machine, "as");
    if !has(&assembler, &format!("reassembling the {machine:?} stub")) {
        return;
    }
    let (_guard, dir) = temp_dir();
    let source = fixture(&format!("../../src/elf/stub/{}.s", arch(machine)));
    let object_file = dir.join("stub.o");
    run_successfully(Command::new(assembler).arg("-o").arg(&object_file).arg(&source));
    let bytes = fs_err::read(object_file).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let text = file.section_by_name(".text").unwrap();
    assert_eq!(text.relocations().count(), 0, "the code has to be complete without a linker");
    let committed = fs_err::read(source.with_extension("bin")).unwrap();
    assert!(
        text.data().unwrap() == committed,
        "{} isn't what {} says: its head tells how to make it",
        arch(machine),
        source.display()
    );
}

#[test]
fn x86_64_code_is_its_source() {
    assembles(StubMachine::X86_64);
}

#[test]
fn aarch64_code_is_its_source() {
    assembles(StubMachine::Aarch64);
}
