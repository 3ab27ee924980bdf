//! Facts of PE files from a compiler, compared with its `objdump`.

use std::path::Path;
use std::process::Command;

use binary::pe::{PeFacts, PeKind, import_library};
use binary::{Binary, Machine, read};
use fs_err as fs;

use workbench::skips::has;
use workbench::tool;

const COMPILER: &str = "x86_64-w64-mingw32-gcc";
const OBJDUMP: &str = "x86_64-w64-mingw32-objdump";
const DLLTOOL: &str = "x86_64-w64-mingw32-dlltool";

fn run(dir: &Path, program: &str, arguments: &[&str]) -> String {
    tool::run(Command::new(program).args(arguments).current_dir(dir))
}

fn facts(file: &Path) -> PeFacts {
    match read(&fs::File::open(file).unwrap()).unwrap().unwrap() {
        Binary::Pe(facts) => *facts,
        Binary::Elf(_) => panic!("{} is no PE file", file.display()),
    }
}

/// Returns the DLLs that `objdump` finds in the import table.
fn imports(dir: &Path, file: &str) -> Vec<String> {
    let text = run(dir, OBJDUMP, &["-p", file]);
    text.lines()
        .filter_map(|line| Some(line.trim().strip_prefix("DLL Name: ")?.to_owned()))
        .collect()
}

#[test]
fn dlls_of_mingw_read_as_its_tools_read_them() {
    let what = "facts of DLLs that MinGW makes";
    if ![COMPILER, OBJDUMP, DLLTOOL].iter().all(|tool| has(tool, what)) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.c"), "__declspec(dllexport) int a(void) { return 1; }").unwrap();
    fs::write(
        dir.join("b.c"),
        "__declspec(dllimport) int a(void);\nint later(void);\n__declspec(dllexport) int b(void) { return a() + later(); }",
    )
    .unwrap();
    fs::write(dir.join("main.c"), "int b(void);\nint main(void) { return b(); }").unwrap();
    fs::write(dir.join("later.def"), "LIBRARY later.dll\nEXPORTS\nlater\n").unwrap();
    run(dir, COMPILER, &["-shared", "-o", "liba_7.dll", "a.c", "-Wl,--out-implib,liba.dll.a"]);
    run(dir, DLLTOOL, &["-d", "later.def", "-y", "liblater.a"]);
    let link =
        ["-shared", "-o", "b.dll", "b.c", "-L.", "-la", "-llater", "-Wl,--out-implib,libb.dll.a"];
    run(dir, COMPILER, &link);
    run(dir, COMPILER, &["-o", "main.exe", "main.c", "-L.", "-lb"]);

    let (library, needy, program) =
        (facts(&dir.join("liba_7.dll")), facts(&dir.join("b.dll")), facts(&dir.join("main.exe")));
    assert_eq!((library.kind, library.machine), (PeKind::Library, Machine::X86_64));
    assert_eq!(library.name.as_deref(), Some("liba_7.dll"));
    assert_eq!((needy.kind, needy.name.as_deref()), (PeKind::Library, Some("b.dll")));
    assert!(needy.imports.contains(&"liba_7.dll".to_owned()), "{needy:?}");
    // Older linkers write the table without an entry for its place.
    let text = run(dir, OBJDUMP, &["-p", "b.dll"]);
    let entry = text.lines().find(|line| line.contains("Delay Import Directory")).unwrap();
    let known = !entry.split_whitespace().nth(2).unwrap().bytes().all(|digit| digit == b'0');
    assert_eq!(needy.delayed, if known { &["later.dll"][..] } else { &[] }, "{entry}");
    assert_eq!((program.kind, program.name), (PeKind::Program, None));
    assert!(program.imports.contains(&"b.dll".to_owned()), "{:?}", program.imports);
    for (file, found) in
        [("liba_7.dll", library.imports), ("b.dll", needy.imports), ("main.exe", program.imports)]
    {
        assert_eq!(imports(dir, file), found, "{file}");
    }
}

/// Both forms: of GNU's tools, with objects as members, and Microsoft's short one.
#[test]
fn import_libraries_of_both_forms_name_their_dll() {
    let what = "import libraries that MinGW makes";
    if ![COMPILER, DLLTOOL].iter().all(|tool| has(tool, what)) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.c"), "__declspec(dllexport) int a(void) { return 1; }").unwrap();
    fs::write(dir.join("a.def"), "LIBRARY of_7.dll\nEXPORTS\na\nb\n").unwrap();
    run(dir, COMPILER, &["-shared", "-o", "liba_7.dll", "a.c", "-Wl,--out-implib,linker.a"]);
    run(dir, DLLTOOL, &["-d", "a.def", "-l", "tool.a"]);
    let dlls = |file: &str| {
        let library = import_library(&fs::File::open(dir.join(file)).unwrap()).unwrap().unwrap();
        assert_eq!(library.machine, Machine::X86_64);
        library.dlls
    };
    assert_eq!(dlls("linker.a"), ["liba_7.dll"]);
    assert_eq!(dlls("tool.a"), ["of_7.dll"]);
    if has("llvm-dlltool", "import libraries that LLVM makes") {
        run(dir, "llvm-dlltool", &["-m", "i386:x86-64", "-d", "a.def", "-l", "short.lib"]);
        assert_eq!(dlls("short.lib"), ["of_7.dll"]);
    }
    // Objects alone import nothing.
    run(dir, COMPILER, &["-c", "-o", "a.o", "a.c"]);
    run(dir, "ar", &["rc", "static.a", "a.o"]);
    assert_eq!(import_library(&fs::File::open(dir.join("static.a")).unwrap()).unwrap(), None);
}

/// The texts count, since they are more precise than the four numbers.
#[test]
fn the_version_is_read_from_the_resources() {
    const WINDRES: &str = "x86_64-w64-mingw32-windres";
    if ![COMPILER, WINDRES].iter().all(|tool| has(tool, "versions of DLLs that MinGW makes")) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let texts = "BLOCK \"StringFileInfo\" { BLOCK \"040904b0\" { VALUE \"CompanyName\", \"A\\0\"\n\
                 VALUE \"FileVersion\", \"7.2.1-dev é\\0\"\nVALUE \"ProductVersion\", \"7.2\\0\" } }";
    fs::write(dir.join("a.c"), "int a(void) { return 1; }").unwrap();
    let made = |texts: &str| {
        let text = format!(
            "#pragma code_page(65001)\n1 VERSIONINFO FILEVERSION 7,2,1,65000 PRODUCTVERSION 7,2,0,0 {{ {texts} }}"
        );
        fs::write(dir.join("a.rc"), text).unwrap();
        run(dir, WINDRES, &["a.rc", "a.o"]);
        run(dir, COMPILER, &["-shared", "-o", "a.dll", "a.c", "a.o"]);
        let version = facts(&dir.join("a.dll")).version.unwrap();
        (version.file, version.product)
    };
    assert_eq!(made(texts), ("7.2.1-dev é".to_owned(), "7.2".to_owned()));
    assert_eq!(made(""), ("7.2.1.65000".to_owned(), "7.2.0.0".to_owned()));
}
