//! The table of rules and commands: each rule finds its fault for each command that knows the facts.
//!
//! `./tasks accept -p rockpack-check table` writes `rules/table.txt`.

use std::borrow::Cow;
use std::fmt::Write as _;

use base::names::Form;
use base::source::Severity;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use binary::elf::{self, ElfFacts};
use binary::pe::{self, Exports, PeImport, PeKind, PeSymbol, PeSymbols, Stub, stub};
use binary::{Machine, policy};

use super::*;
use crate::{Facts, File, Kind, Known, Needs, Package, Scheme, Symbols, Targets, Why};

#[path = "../../../../tests/verify/symbols.rs"]
mod symbols;

type Change = fn(&mut Vec<Package<'static>>);

fn package(name: &str, tag: &str) -> Package<'static> {
    let file = format!("{name}-1.0-py3-none-{tag}.whl");
    let mut package = Package::new(&file, Form::Wheel);
    package.name = Some(name.to_owned());
    package.version = "1.0".parse().ok();
    package.tags = file.parse().ok();
    package.info = Some(format!("{name}-1.0.dist-info"));
    package.target = Known::Is(None);
    package
}

fn file(member: &str, kind: Kind<'static>) -> File<'static> {
    File::of_wheel(member.to_owned(), Known::Is(0o755), kind)
}

fn with_mode(mode: u32, mut file: File<'static>) -> File<'static> {
    file.mode = Known::Is(mode);
    file
}

fn library(needed: &str, rpath: &str) -> Vec<u8> {
    forwarding_library(StubMachine::X86_64, "libx.so", needed, rpath).unwrap()
}

fn elf(bytes: &[u8], change: impl FnOnce(&mut ElfFacts)) -> Kind<'static> {
    let info = elf::inspect(bytes).unwrap();
    let mut facts = policy::facts_of(&info, bytes).unwrap();
    let symbols = policy::Symbols::of(&info, &facts, "liba.so", bytes);
    change(&mut facts);
    Kind::Binary(Box::new(Needs {
        facts: Facts::Elf(Cow::Owned(facts)),
        symbols: symbols.map_or(Known::Unknown(Why::NoFact), |it| Known::Is(Symbols::Elf(it))),
        flags: Known::Is(info.flags()),
    }))
}

fn dll(imports: &[&str]) -> Kind<'static> {
    let (kind, machine) = (PeKind::Library, Machine::X86_64);
    let bytes = stub(&Stub { kind, machine, name: "a.dll", imports, delayed: &[], version: None });
    Kind::Binary(Box::new(Needs {
        facts: Facts::Pe(Cow::Owned(pe::facts(&*bytes).unwrap().unwrap())),
        symbols: Known::Unknown(Why::NoFact),
        flags: Known::Unknown(Why::NoFact),
    }))
}

/// A DLL without exports that imports `symbols` from each of the libraries `imports`.
fn dll_with(imports: &[&str], symbols: &[PeSymbol]) -> Kind<'static> {
    let Kind::Binary(mut needs) = dll(imports) else { panic!("a DLL is a binary") };
    let import = |library: &&str| PeImport {
        library: (*library).to_owned(),
        delayed: false,
        symbols: symbols.to_vec(),
    };
    let imports = imports.iter().map(import).collect();
    needs.symbols = Known::Is(Symbols::Pe(PeSymbols { exports: Exports::default(), imports }));
    Kind::Binary(needs)
}

/// A fault for each code of each rule.
const FAULTS: &[(&str, Code, Change)] = &[
    ("places", Code::UnsafeName, |set| {
        set[0].files.push(file("a-1.0.data/scripts/Python3.exe", Kind::Data));
    }),
    ("places", Code::MemberTwice, |set| {
        set[0].files.push(file("a-1.0.data/scripts/x", Kind::Data));
        set[0].files.push(file("a-1.0.data/data/bin/x", Kind::Data));
    }),
    ("places", Code::FileAndDirectory, |set| {
        set[0].files.push(file("a-1.0.data/data/Lib", Kind::Data));
    }),
    ("names", Code::UnsafeName, |set| {
        set[0].tags = "a-1.0-py3-none-win_amd64.whl".parse().ok();
        set[0].files.push(file("a/nul.txt", Kind::Data));
    }),
    ("lookalikes", Code::CaseClash, |set| {
        set[0].tags = "a-1.0-py3-none-any.whl".parse().ok();
        set[0].files.push(file("a/x", Kind::Data));
        set[0].files.push(file("a/X", Kind::Data));
    }),
    ("lookalikes", Code::FileAndDirectory, |set| {
        set[0].files.push(file("a/x", Kind::Data));
        set[0].files.push(file("a/x/y", Kind::Data));
    }),
    ("modes", Code::MemberMode, |set| {
        set[0].files.push(with_mode(0o4755, file("a/x", Kind::Data)));
    }),
    ("programs", Code::NotExecutable, |set| {
        let program = elf(&exec_stub(StubMachine::X86_64, "x").unwrap(), |_| ());
        set[0].files.push(with_mode(0o644, file("a/x", program)));
    }),
    ("scripts", Code::NotExecutable, |set| {
        set[0].files.push(with_mode(0o644, file("a/x", Kind::Script)));
    }),
    ("content", Code::BrokenElf, |set| {
        set[0].files.push(file("a/x", Kind::Broken(binary::Format::Elf, "cut".into())));
    }),
    ("content", Code::BrokenPe, |set| {
        set[0].files.push(file("a/x", Kind::Broken(binary::Format::Pe, "cut".into())));
    }),
    ("loaders", Code::UnusualLoader, |set| {
        let program = elf(&library("libc.so.6", "$ORIGIN"), |facts| {
            facts.kind = elf::ElfKind::Executable;
            facts.interpreter = Some("/nix/ld-linux-x86-64.so.2".to_owned());
        });
        set[0].files.push(file("a/x", program));
    }),
    ("machines", Code::WrongPlatform, |set| {
        set[0].tags = "a-1.0-py3-none-win_amd64.whl".parse().ok();
        set[0].files.push(file("a/x", elf(&library("libc.so.6", "$ORIGIN"), |_| ())));
    }),
    ("tags", Code::TagContradicted, |set| {
        let newer = elf(&library("libc.so.6", "$ORIGIN"), |facts| facts.isa_level = Some(3));
        set[0].files.push(file("a/x", newer));
    }),
    ("extensions", Code::ForeignExtension, |set| {
        set[0].tags = "a-1.0-py3-none-any.whl".parse().ok();
        set[0].files.push(file("a/x.cpython-39-x86_64-linux-gnu.so", Kind::Data));
    }),
    ("owners", Code::TwoOwners, |set| {
        set.push(package("b", "any"));
        for package in set {
            package.files.push(file("c/x", Kind::Data));
        }
    }),
    ("owners", Code::CaseClash, |set| {
        set.push(package("b", "any"));
        set[0].files.push(file("c/x", Kind::Data));
        set[1].files.push(file("c/X", Kind::Data));
    }),
    ("owners", Code::FileAndDirectory, |set| {
        set.push(package("b", "any"));
        set[0].files.push(file("c/x", Kind::Data));
        set[1].files.push(file("c/x/y", Kind::Data));
    }),
    ("libraries", Code::LibraryNotFound, |set| {
        let program = |facts: &mut ElfFacts| facts.kind = elf::ElfKind::Executable;
        set[0].files.push(file("a/x", elf(&library("liba.so", "$ORIGIN/none"), program)));
        set[0].files.push(file("a/lib/liba.so", elf(&library("libc.so.6", "$ORIGIN"), |_| ())));
    }),
    ("rpaths", Code::RpathOutside, |set| {
        let outside = elf(&library("libc.so.6", "/opt/lib"), |_| ());
        set[0].files.push(file("a/x.so", outside));
    }),
    ("rpaths", Code::RpathLeadsNowhere, |set| {
        let nowhere = elf(&library("libc.so.6", "$ORIGIN/none"), |_| ());
        set[0].files.push(file("a/x.so", nowhere));
    }),
    ("rpaths", Code::Runpath, |set| {
        let shared = elf(&library("libc.so.6", "$ORIGIN"), |facts| {
            facts.runpath = facts.rpath.take();
        });
        set[0].files.push(file("a/x.so", shared));
    }),
    ("symbols", Code::UnresolvedSymbol, |set| {
        let user = symbols::library("libuser.so", &["libc.so.6"], &[], &["none"]);
        set[0].files.push(file("a/libuser.so", elf(&user, |_| ())));
    }),
    ("dlls", Code::ImportLeadsNowhere, |set| {
        set[0].tags = "a-1.0-py3-none-win_amd64.whl".parse().ok();
        set[0].files.push(file("a/b.pyd", dll(&["none.dll"])));
    }),
    ("dlls", Code::ForeignExtension, |set| {
        set[0].tags = "a-1.0-cp312-cp312-win_amd64.whl".parse().ok();
        set[0].files.push(file("a/b.pyd", dll(&["python311.dll"])));
    }),
    ("dlls", Code::UnresolvedSymbol, |set| {
        set[0].tags = "a-1.0-py3-none-win_amd64.whl".parse().ok();
        let wanted = [PeSymbol::Name("none".to_owned())];
        set[0].files.push(file("a/b.pyd", dll_with(&["a.dll"], &wanted)));
        set[0].files.push(file("a/a.dll", dll_with(&[], &[])));
    }),
    ("stacks", Code::ExecutableStack, |set| {
        let library = elf(&library("libc.so.6", "$ORIGIN"), |facts| {
            facts.executable_stack = Some(elf::ExecutableStack::Flag);
        });
        set[0].files.push(file("a/x.so", library));
    }),
    ("stable-abi", Code::StableAbi, |set| {
        set[0].tags = "a-1.0-cp39-abi3-manylinux_2_17_x86_64.whl".parse().ok();
        let wanted = ["PyUnicode_FromKindAndData"];
        let module = symbols::library("m.abi3.so", &["libc.so.6"], &["PyInit_m"], &wanted);
        set[0].files.push(file("a/m.abi3.so", elf(&module, |_| ())));
    }),
    ("requirements", Code::UnmetRequirement, |set| {
        set.push(package("b", "any"));
        set[0].requires.push("b==2".parse().unwrap());
    }),
    ("requirements", Code::UnmetExtra, |set| {
        set.push(package("b", "any"));
        set[0].requires.push("b[x]".parse().unwrap());
    }),
    ("device-code", Code::MisplacedCode, |set| {
        set[0].files.push(code_object(&["gfx942"], None));
    }),
    ("device-code", Code::UnreadCode, |set| {
        set[0].files.push(code_object(&[], Some("a part")));
    }),
];

fn code_object(ids: &[&str], unread: Option<&'static str>) -> File<'static> {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    let code = binary::device_code::Code { ids, unread, ..Default::default() };
    let mut file = file("a/x.co", Kind::Data);
    file.code = Known::Is(Some(Box::new(code)));
    file
}

fn severity_of(rule: &Rule, change: Change, code: Code, command: Command) -> Option<Severity> {
    let mut packages = vec![package("a", "manylinux_2_17_x86_64")];
    change(&mut packages);
    let targets = Targets::new(base::names::TargetNames::default());
    let set = Set { packages, environment: &|_: &str| false, targets: Some(&targets) };
    // Only this rule: others report the same codes.
    let mut findings = judge_by(&set, command, |other| other.name == rule.name);
    findings.find(|finding| finding.code == code).map(|finding| finding.severity)
}

/// Cell of the table: the severity, or the number of the note with the reason for its absence.
fn cell(rule: &Rule, code: Code, command: Command, notes: &mut Vec<String>) -> String {
    let hole = command.hole(rule).map(|(fact, why)| format!("unknown {fact:?}: {why}"));
    let off = match level(code, command) {
        Level::Off(why) => Some(why.to_owned()),
        Level::Error | Level::Warning => None,
    };
    let change = FAULTS.iter().find(|(name, of, _)| (*name, *of) == (rule.name, code));
    let (_, _, change) = change.unwrap_or_else(|| panic!("{} has no fault for {code}", rule.name));
    let severity = severity_of(rule, *change, code, command);
    let Some(reason) = hole.or(off) else {
        return match severity {
            Some(Severity::Error) => "error".to_owned(),
            Some(_) => "warning".to_owned(),
            None => panic!("{} does not find {code} for {command:?}", rule.name),
        };
    };
    let rule = rule.name;
    assert_eq!(severity, None, "{rule} finds {code} for {command:?}, despite `{reason}`");
    let index = notes.iter().position(|note| *note == reason);
    let index = index.unwrap_or_else(|| {
        notes.push(reason);
        notes.len() - 1
    });
    format!("- ({})", index + 1)
}

#[test]
fn table_lists_rules_of_each_command() {
    let mut notes = Vec::new();
    let mut table = format!("{:<13} {:<20}", "rule", "code");
    for command in Command::ALL {
        write!(table, " {:<8}", command.name()).unwrap();
    }
    table.push('\n');
    for rule in RULES {
        for code in rule.codes {
            write!(table, "{:<13} {:<20}", rule.name, code.as_str()).unwrap();
            for command in Command::ALL {
                write!(table, " {:<8}", cell(rule, *code, command, &mut notes)).unwrap();
            }
            table.push('\n');
        }
    }
    for (number, note) in notes.iter().enumerate() {
        writeln!(table, "({}) {note}", number + 1).unwrap();
    }
    let table = table.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + "\n";
    println!("{table}");
    workbench::expected::compare("crates/check/src/rules/table.txt", &table);
}

#[test]
fn each_code_has_one_row() {
    let mut rows: Vec<Code> = crate::SEVERITY.iter().map(|(code, _)| *code).collect();
    let all = rows.len();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows.len(), all);
}

/// Returns the codes of the findings in a wheel with these members and the command `run`.
fn codes(members: &[&str]) -> String {
    let mut package = package("a", "any");
    package.files = members.iter().map(|member| file(member, Kind::Data)).collect();
    package.files.push(File::below(Scheme::Scripts, "run", Known::Is(0o755), Kind::Command));
    let packages = vec![package];
    let set = Set { packages, environment: &|_: &str| true, targets: None };
    let findings = judge(&set, Command::Verify).into_iter();
    findings.map(|finding| finding.code.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn refuses_files_that_replace_files_of_the_environment() {
    for (members, expected) in [
        (&["a/b.py", "a-1.0.data/scripts/x", "a-1.0.data/data/share/y"][..], ""),
        (&["a-1.0.data/scripts/python3.11"], "unsafe-name"),
        (&["a-1.0.data/data/bin/python"], "unsafe-name"),
        (&["a-1.0.data/scripts/pip3"], "unsafe-name"),
        (&["a-1.0.data/scripts/pip-audit"], ""),
        (&["a-1.0.data/data/PyVenv.cfg"], "unsafe-name"),
        (&["a-1.0.data/data/lib/python3.11/site-packages/b-1.dist-info/METADATA"], "unsafe-name"),
        (&["a-1.0.data/purelib/bar-2.0.dist-info/METADATA"], "unsafe-name"),
        (&["a-1.0.data/data/lib"], "file-and-directory"),
        (&["a-1.0.data/scripts/PYTHON"], "unsafe-name"),
        (&["a-1.0.data/scripts/pypy3"], "unsafe-name"),
        (&["a-1.0.data/data/Scripts/python.exe"], "unsafe-name"),
        (&["a-1.0.data/data/python311.dll"], "unsafe-name"),
        (&["a-1.0.data/data/bin/python3/x"], "unsafe-name"),
        (&["a-1.0.data/data/Lib/site-packages/b-1.dist-info/METADATA"], "unsafe-name"),
        (&["a-1.0.data/purelib/B.DIST-INFO"], "unsafe-name"),
        (&["a-1.0.data/data/lib/python3.12/site-packages"], "file-and-directory"),
        (&["a/CON", "a/b?", "a/c "], "unsafe-name unsafe-name unsafe-name"),
    ] {
        assert_eq!(codes(members), expected, "{members:?}");
    }
}

#[test]
fn refuses_two_members_with_one_installed_path() {
    for (members, expected) in [
        (&["a/x.py", "a-1.0.data/data/lib/python3.11/site-packages/a/x.py"][..], "member-twice"),
        (&["a-1.0.data/scripts/run"], "member-twice"),
        (&["a-1.0.data/scripts/run.exe"], "member-twice"),
        (&["a-1.0.data/headers/x.h", "a-1.0.data/data/include/python3.11/a/x.h"], "member-twice"),
        (&["share/x", "a-1.0.data/data/share/x"], "member-twice"),
        (&["bin/run"], "member-twice"),
        (&["share", "a-1.0.data/data/share/x"], "file-and-directory"),
        (&["a/x", "a/X"], "case-clash"),
        (&["a/\u{3c3}", "a/\u{3c2}"], "case-clash"),
    ] {
        assert_eq!(codes(members), expected, "{members:?}");
    }
}

#[test]
fn the_severity_of_case_clashes_depends_on_the_platform() {
    for (tag, members, expected) in [
        ("any", ["a/\u{3c3}", "a/\u{3c2}"], Severity::Warning),
        ("any", ["a/x", "a/X"], Severity::Error),
        ("win_amd64", ["a/\u{3c3}", "a/\u{3c2}"], Severity::Error),
        ("linux_x86_64", ["a/x", "a/X"], Severity::Warning),
    ] {
        let mut package = package("a", tag);
        package.files = members.iter().map(|member| file(member, Kind::Data)).collect();
        let packages = vec![package];
        let set = Set { packages, environment: &|_: &str| true, targets: None };
        let findings = judge(&set, Command::Verify).into_iter();
        let severities: Vec<Severity> = findings.map(|finding| finding.severity).collect();
        assert_eq!(severities, [expected], "{tag} {members:?}");
    }
}
