use std::fmt::Write as _;

use base::source::{Code, Problem, Problems, printable};
use base::text::{Column, Table, counted, with_causes};
use binary::elf::{self, ElfError, ElfFacts, ElfKind, Machine, Violation};
use binary::pe::{self, PeError, PeFacts, PeKind};
use object::elf::{PF_R, PF_W, PF_X, ProgramFlags, ProgramType};
use serde::Serialize;

use super::headers::{self, Headers};
use super::{environment, open, print, print_exact, refused};
use crate::cli::ShowArgs;
use crate::failure::Failure;

pub fn run(args: &ShowArgs) -> Result<(), Failure> {
    let file = open(&args.file)?;
    let elf_failure = |error: &_| refused("show", &args.file, error);
    let info = match elf::inspect(&file) {
        Err(ElfError::NotElf) => {
            match pe::facts(&file).map_err(|error| pe_failure(args, &error))? {
                Some(facts) if args.json => return json(&facts),
                Some(facts) => return print(&pe_text(&facts)),
                None => return Err(elf_failure(&ElfError::NotElf)),
            }
        }
        result => result.map_err(|error| elf_failure(&error))?,
    };
    let facts = info.facts().map_err(|error| elf_failure(&error))?;
    if args.json {
        return json(&facts);
    }
    let inherited = elf::inherited_violations(&file).map_err(|error| elf_failure(&error))?;
    // Program headers that `object` cannot parse are left out, because the facts do not need them.
    let tables = headers::read(&file).ok();
    print(&text(&facts, tables.as_ref(), &inherited))
}

fn json(facts: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(facts)
        .map_err(|error| environment(format!("cannot write the facts as JSON: {error}")))?;
    print_exact(&(text + "\n"))
}

/// Failure of a PE file: exit status 1 for a malformed file, 2 for an unreadable file.
fn pe_failure(args: &ShowArgs, error: &PeError) -> Failure {
    let message = format!("cannot show {}: {}", args.file.display(), with_causes(error));
    let problem = Problem::error(Code::ElfRefused, message);
    match error {
        PeError::Read { .. } => Failure::Environment(problem),
        _ => Failure::Problems(Problems::from(problem)),
    }
}

fn pe_text(facts: &PeFacts) -> String {
    let mut table = Table::new([Column::left().of(12)]).spaced(1);
    let mut line = |name: &str, value: &str| table.row([name, &printable(value)]);
    let kind = match facts.kind {
        PeKind::Library => "PE library",
        PeKind::Program => "PE program",
        PeKind::Native => "PE driver or firmware file",
    };
    line("kind", kind);
    line("machine", &machine(facts.machine));
    facts.name.iter().for_each(|name| line("name", name));
    facts.imports.iter().for_each(|name| line("import", name));
    facts.delayed.iter().for_each(|name| line("delay import", name));
    table.to_string()
}

fn text(facts: &ElfFacts, tables: Option<&Headers>, violations: &[Violation]) -> String {
    let mut table = Table::new([Column::left().of(12)]).spaced(1);
    let mut line = |name: &str, value: &str| table.row([name, &printable(value)]);
    line("kind", kind(facts.kind));
    line("machine", &machine(facts.machine));
    let fields = [
        ("interpreter", &facts.interpreter),
        ("SONAME", &facts.soname),
        ("RPATH", &facts.rpath),
        ("RUNPATH", &facts.runpath),
    ];
    fields
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .for_each(|(name, value)| line(name, value));
    facts.needed.iter().for_each(|name| line("NEEDED", name));
    if let Some((major, minor)) = facts.glibc {
        line("glibc", &format!("{major}.{minor} or later"));
    }
    facts.versions.iter().for_each(|need| {
        line("versions", &format!("{}: {}", need.library, need.versions.join(" ")));
    });
    let mut text = table.to_string();
    if let Some(tables) = tables.filter(|tables| !tables.segments.is_empty()) {
        text += &segments(tables);
    }
    for violation in violations {
        let _ = writeln!(text, "violates {violation}");
    }
    text
}

fn segments(tables: &Headers) -> String {
    let mut text =
        format!("{} at {:#x}\n", counted(tables.segments.len(), "program header"), tables.table_at);
    let right_column = |width: usize| Column::right().of(width);
    let left_column = |width: usize| Column::left().of(width);
    // A blank before the left-justified flags, because the column before them is right-justified.
    let columns = [
        left_column(14),
        right_column(10),
        right_column(12),
        right_column(10),
        right_column(10),
        left_column(6),
        right_column(8),
    ];
    let mut table = Table::new(columns).indented(2).spaced(1);
    table.row(["type", "offset", "address", "in file", "in memory", " flags", "align"]);
    for segment in &tables.segments {
        let kind = segment_kind(segment.kind);
        let flag = |bit: ProgramFlags, letter: char| {
            if segment.flags.0 & bit.0 == 0 { '-' } else { letter }
        };
        let flags: String = [flag(PF_R, 'r'), flag(PF_W, 'w'), flag(PF_X, 'x')].iter().collect();
        let (offset, address, align) =
            (hex(segment.offset), hex(segment.address), hex(segment.align));
        let (in_file, in_memory) = (hex(segment.file_size), hex(segment.memory_size));
        let flags = format!(" {flags}");
        table.row([kind, offset, address, in_file, in_memory, flags, align]);
    }
    text += &table.to_string();
    text
}

/// Returns the name without `PT_`, or the number of an unknown kind.
pub fn segment_kind(kind: ProgramType) -> String {
    let name = match kind {
        object::elf::PT_NULL => "NULL",
        object::elf::PT_LOAD => "LOAD",
        object::elf::PT_DYNAMIC => "DYNAMIC",
        object::elf::PT_INTERP => "INTERP",
        object::elf::PT_NOTE => "NOTE",
        object::elf::PT_PHDR => "PHDR",
        object::elf::PT_TLS => "TLS",
        object::elf::PT_GNU_EH_FRAME => "GNU_EH_FRAME",
        object::elf::PT_GNU_STACK => "GNU_STACK",
        object::elf::PT_GNU_RELRO => "GNU_RELRO",
        object::elf::PT_GNU_PROPERTY => "GNU_PROPERTY",
        other => return hex(other.0.into()),
    };
    name.to_owned()
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

fn kind(kind: ElfKind) -> &'static str {
    match kind {
        ElfKind::SharedLibrary => "shared library",
        ElfKind::Loader => "dynamic loader",
        ElfKind::Executable => "executable",
        ElfKind::StaticExecutable => "static executable",
        ElfKind::StaticPie => "static position-independent executable",
        ElfKind::Relocatable => "relocatable file",
        ElfKind::Core => "core dump",
        ElfKind::CodeObject => "GPU code object",
        ElfKind::DebugOnly => "separate debug information",
        ElfKind::Foreign => "ELF file for a machine that rockpack does not support",
    }
}

fn machine(machine: Machine) -> String {
    match machine {
        Machine::X86_64 => "x86-64".to_owned(),
        Machine::Aarch64 => "aarch64".to_owned(),
        Machine::Other { number, bits, big_endian } => {
            let order = if big_endian { "big-endian" } else { "little-endian" };
            format!("number {number}, {bits}-bit, {order}")
        }
    }
}
