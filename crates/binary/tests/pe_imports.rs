//! Imports and exports of PE files from a compiler, compared with its `objdump`, and with each other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use binary::loader::{Dll, DllContent, DllFault, Dlls};
use binary::pe::{self, PeFacts, PeSymbol, PeSymbols};
use fs_err as fs;

use workbench::skips::has;
use workbench::tool;

const COMPILER: &str = "x86_64-w64-mingw32-gcc";
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";
/// DLLs of the compiler, with many functions.
const LIBRARIES: [&str; 3] = ["libstdc++-6.dll", "libgfortran-5.dll", "libwinpthread-1.dll"];

fn run(dir: &Path, program: &str, arguments: &[&str]) -> String {
    tool::run(Command::new(program).args(arguments).current_dir(dir))
}

fn symbols(file: &Path) -> PeSymbols {
    pe::symbols(&fs::File::open(file).unwrap()).unwrap().unwrap()
}

struct Library {
    name: String,
    facts: PeFacts,
    symbols: PeSymbols,
}

impl Library {
    fn file(&self) -> Dll<'_> {
        let content = DllContent::Pe(&self.facts, Some(&self.symbols));
        Dll { owner: 0, path: &self.name, content }
    }
}

fn dll(file: &Path) -> Library {
    let facts = pe::facts(&fs::File::open(file).unwrap()).unwrap().unwrap();
    Library { name: file.display().to_string(), facts, symbols: symbols(file) }
}

/// Returns names of `objdump`: `[   3] one` below the heading of the name table.
fn exported(text: &str) -> BTreeSet<String> {
    let (_, names) = text.split_once("[Ordinal/Name Pointer] Table").unwrap();
    let lines = names.lines().skip(1).map(str::trim);
    let lines = lines.skip_while(|line| !line.starts_with('['));
    let lines = lines.take_while(|line| line.starts_with('['));
    let last = |line: &str| line.split_whitespace().last().map(str::to_owned);
    lines.filter_map(last).collect()
}

/// Returns `library symbol` of `objdump`'s import tables: `DLL Name: …`, then address, hint, name.
fn imported(text: &str) -> BTreeSet<String> {
    let (mut all, mut library) = (BTreeSet::new(), String::new());
    for line in text.lines().take_while(|line| !line.starts_with("There is an export table")) {
        if let Some(name) = line.trim().strip_prefix("DLL Name: ") {
            name.clone_into(&mut library);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [address, hint, name] = words[..]
            && u64::from_str_radix(address, 16).is_ok()
            && hint.parse::<u32>().is_ok()
            && !library.is_empty()
        {
            all.insert(format!("{library} {name}"));
        }
    }
    all
}

fn compare(dir: &Path, file: &Path) {
    let text = run(dir, OBJDUMP, &["-p", &file.display().to_string()]);
    let symbols = symbols(file);
    if text.contains("[Ordinal/Name Pointer] Table") {
        let names = exported(&text);
        assert_eq!(symbols.exports.name_count(), names.len(), "{}", file.display());
        for name in names {
            let symbol = PeSymbol::Name(name);
            assert!(symbols.exports.defines(&symbol), "{}: {symbol}", file.display());
        }
    }
    let by_name = symbols.imports.iter().flat_map(|import| {
        let names = import.symbols.iter().filter(|it| matches!(it, PeSymbol::Name(_)));
        names.map(|name| format!("{} {name}", import.library))
    });
    let read: BTreeSet<String> = by_name.collect();
    assert_eq!(read, imported(&text), "{}", file.display());
}

#[test]
fn functions_match_objdump() {
    let what = "functions of DLLs that MinGW makes";
    if ![COMPILER, OBJDUMP].iter().all(|tool| has(tool, what)) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| {
        let text = run(dir.path(), COMPILER, &[&format!("-print-file-name={name}")]);
        PathBuf::from(text.trim())
    };
    let there = LIBRARIES.iter().map(|name| place(name)).filter(|path| path.is_absolute());
    let mut count = 0;
    for file in there {
        compare(dir.path(), &file);
        count += 1;
    }
    assert!(count > 0, "{COMPILER} has none of {LIBRARIES:?}");
}

/// Builds `library.dll` with the functions of a definition file, and a user of three of them.
fn built(dir: &Path, definitions: &str) -> (Library, Library) {
    let build = |definitions: &str, output: &str| {
        fs::write(dir.join("library.def"), format!("LIBRARY library.dll\nEXPORTS\n{definitions}"))
            .unwrap();
        let code =
            "int one(void) { return 1; } int two(void) { return 2; } int six(void) { return 6; }";
        fs::write(dir.join("library.c"), code).unwrap();
        let arguments = ["-shared", "-o", output, "library.c", "library.def"];
        run(dir, COMPILER, &[&arguments[..], &["-Wl,--out-implib,liblibrary.a"]].concat());
    };
    build("one\ntwo @7 NONAME\nfar=other.real\n", "whole.dll");
    let code = "int one(void), two(void), far(void);\n\
                __declspec(dllexport) int user(void) { return one() + two() + far(); }";
    fs::write(dir.join("user.c"), code).unwrap();
    run(dir, COMPILER, &["-shared", "-o", "user.dll", "user.c", "-L.", "-llibrary"]);
    build(definitions, "library.dll");
    (dll(&dir.join("user.dll")), dll(&dir.join("library.dll")))
}

fn faults(user: &Library, others: &[&Library]) -> Vec<String> {
    let (user, all) = (user.file(), Dlls::new(others.iter().map(|other| other.file()).collect()));
    let system = |library: &str| library.starts_with("KERNEL32") || library.starts_with("msvcrt");
    let imports = user.imports();
    let faults = imports.iter().filter_map(|import| all.fault(&user, import, &system));
    let told = |fault: DllFault<'_>| match fault {
        DllFault::Missing => "missing".to_owned(),
        DllFault::OtherMachine(_) => "another machine".to_owned(),
        DllFault::Undefined(symbols) => {
            format!(
                "undefined {}",
                symbols.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            )
        }
        DllFault::Forwarded(symbol, to) => format!("{symbol} to {to}"),
    };
    faults.map(told).collect()
}

#[test]
fn each_function_is_in_the_dll_or_where_it_forwards_to() {
    if !has(COMPILER, "imports of DLLs that MinGW makes") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let whole = "one\ntwo @7 NONAME\nfar=other.real\n";
    let (user, library) = built(dir, whole);
    assert_eq!(faults(&user, &[]), ["missing"]);
    assert_eq!(faults(&user, &[&library]), ["far to other.dll: real"]);
    fs::write(dir.join("other.c"), "__declspec(dllexport) int real(void) { return 3; }").unwrap();
    run(dir, COMPILER, &["-shared", "-o", "other.dll", "other.c"]);
    let other = dll(&dir.join("other.dll"));
    assert_eq!(faults(&user, &[&library, &other]), [""; 0]);
    fs::write(dir.join("other.c"), "__declspec(dllexport) int unreal(void) { return 3; }").unwrap();
    run(dir, COMPILER, &["-shared", "-o", "other.dll", "other.c"]);
    let without = dll(&dir.join("other.dll"));
    assert_eq!(faults(&user, &[&library, &without]), ["far to other.dll: real"]);
    let (user, library) = built(dir, "one\nsix @7 NONAME\nfar=other.real\n");
    assert_eq!(faults(&user, &[&library, &other]), [""; 0], "an ordinal is its number alone");
    // A library's name with a dot gets no ending.
    let (user, library) = built(dir, "one\ntwo @7 NONAME\nfar=\"other.drv\".real\n");
    assert_eq!(faults(&user, &[&library, &other]), ["far to other.drv: real"]);
    let (user, library) = built(dir, "one @100\ntwo @8 NONAME\nsix @101\n");
    assert_eq!(faults(&user, &[&library, &other]), ["undefined far #7"]);
}
