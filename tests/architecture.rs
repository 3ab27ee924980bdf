//! Structure of the source: side effects of each room, names of ROCm, cycles of files, length of files.
//! Cargo enforces the order of the crates.
//!
//! Comments and test code do not count.

use std::collections::BTreeSet;
use std::path::Path;

use walkdir::WalkDir;

#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/rust_text.rs"]
pub mod rust_text;

use imports::{Modules, cycles, std_paths};
use rust_text::RustText;

/// Crates of which all files are one room with the crate's name, except the listed modules, which are rooms of their
/// own names. In other crates, each module next to the root is a room.
const ROOMS: &[(&str, &[&str])] = &[
    ("binary", &["device_code", "policy"]),
    ("cache", &[]),
    ("catalog", &["demo"]),
    ("manifest", &["kdl"]),
    ("plan", &["resolve"]),
    ("projects", &[]),
    ("remote", &[]),
    ("review", &[]),
];

/// Rooms without side effects: the same input gives the same output on each machine.
const PURE: [&str; 10] = [
    "kdl", "target", "manifest", "plan", "resolve", "review", "release", "names", "version",
    "source",
];

/// Rooms that share work between threads. The program, which starts the threads, may do so too.
const PARALLEL: [&str; 6] = ["catalog", "execute", "fetch", "gate", "resolve", "rules"];

/// Harness of the tests: it may run tools and read any directory.
const HARNESS: &str = "workbench";

/// Sections of a Cargo.toml that do not make it a part of a product.
const FOR_TESTS: [&str; 2] = ["[dev-dependencies]", "[workspace.dependencies]"];

/// Source file without comments and tests.
struct SourceFile {
    /// Crate below `crates`; empty for the program.
    in_crate: String,
    /// Path below the crate's `src`.
    path: String,
    text: RustText,
}

impl SourceFile {
    /// Room of the file: the first part of its path, or the crate, whose root may be a room.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        let first = first.strip_suffix(".rs").unwrap_or(first);
        let crate_rooms = ROOMS.iter().find(|(name, _)| *name == self.in_crate);
        match crate_rooms {
            Some((_, rooms)) if !rooms.contains(&first) => &self.in_crate,
            _ => first,
        }
    }

    fn of_program(&self) -> bool {
        self.in_crate.is_empty()
    }

    /// Path below the checkout.
    fn display_path(&self) -> String {
        if self.of_program() {
            format!("src/{}", self.path)
        } else {
            format!("crates/{}/src/{}", self.in_crate, self.path)
        }
    }
}

fn sources() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = sources_of("", &root.join("src"));
    for name in crates().iter().filter(|name| *name != HARNESS) {
        files.extend(sources_of(name, &root.join("crates").join(name).join("src")));
    }
    assert!(files.len() > 50, "only {} source files are in src and crates/*/src", files.len());
    files
}

/// Returns the names of all directories below `crates`.
fn crates() -> Vec<String> {
    let entries = fs_err::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn sources_of(in_crate: &str, src: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    for entry in WalkDir::new(src).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(src).unwrap().to_str().unwrap().replace('\\', "/");
        // `mod tests;` and the files below it are test code.
        if entry.path().extension().is_some_and(|e| e == "rs")
            && entry.file_name() != "tests.rs"
            && !format!("/{path}").contains("/tests/")
        {
            let text = RustText::new(&fs_err::read_to_string(entry.path()).unwrap());
            files.push(SourceFile { in_crate: in_crate.to_owned(), path, text });
        }
    }
    files
}

fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn effects_stay_where_they_belong() {
    let mut wrong = Vec::new();
    let files = sources();
    for room in PURE.iter().chain(&PARALLEL) {
        // A room without files would check nothing.
        assert!(files.iter().any(|file| file.room() == *room), "no file is in the room `{room}`");
    }
    for file in &files {
        let (room, shown) = (file.room(), file.display_path());
        let words: BTreeSet<&str> = identifiers(&file.text.code).collect();
        let pure = PURE.contains(&room);
        let clocks = ["SystemTime", "Instant", "thread_rng", "available_parallelism"];
        let outside = ["fs_err", "OpenOptions", "read_dir", "walkdir", "tempfile", "TcpStream"];
        let forbidden = clocks.iter().chain(&outside).filter(|word| pure && words.contains(*word));
        wrong.extend(forbidden.map(|word| format!("{shown}: `{room}` is pure and uses `{word}`")));
        let effects = ["fs", "env", "net", "process", "thread"];
        // The thread gives a deeply nested text its stack; no other thread runs.
        let is_reader = shown == "crates/manifest/src/kdl/read.rs";
        let modules = if pure { std_paths(&file.text.code) } else { BTreeSet::new() };
        let forbidden = effects.iter().filter(|module| modules.contains(**module));
        let forbidden = forbidden.filter(|module| !(is_reader && **module == "thread"));
        wrong.extend(
            forbidden.map(|module| format!("{shown}: `{room}` is pure and uses `std::{module}`")),
        );
        if words.contains("rayon") && !PARALLEL.contains(&room) && !file.of_program() {
            let rooms = PARALLEL.join(", ");
            wrong.push(format!("{shown}: only {rooms} and the program may use rayon"));
        }
        let walks = ["read_dir", "walkdir", "WalkDir"].iter().any(|word| words.contains(word));
        if walks && shown != "crates/base/src/directory.rs" {
            wrong.push(format!("{shown}: only `base::directory` reads directories"));
        }
        if (words.contains("println") || words.contains("eprintln")) && !file.of_program() {
            wrong.push(format!("{shown}: only the program prints"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Only the artifact layout and a list of fixed format texts contain names from the artifacts'
/// project; the command line may show them to users.
#[test]
fn rocm_names_are_written_in_data_only() {
    let rocm_prefixes = ["rocm", "hip", "gfx", "therock", "hsa", "miopen", "amdclang"];
    let is_exempt = |file: &SourceFile| {
        ["crates/catalog/src/layout.rs", "crates/base/src/names/offload.rs"]
            .contains(&&*file.display_path())
            || (file.of_program() && matches!(file.room(), "cli" | "main"))
    };
    let mut wrong = Vec::new();
    for file in sources().iter().filter(|f| !is_exempt(f)) {
        for (number, line) in file.text.text.lines().enumerate() {
            let lower = line.to_lowercase();
            // Beginnings of words, not parts of them: "ship" has "hip".
            let mut words = lower.split(|c: char| !c.is_alphanumeric());
            let name = words.find(|word| rocm_prefixes.iter().any(|name| word.starts_with(name)));
            wrong.extend(name.map(|word| {
                format!("{}:{}: `{word}` belongs in KDL", file.display_path(), number + 1)
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cargo runs test programs in the order of their packages' names, and the last one lists what all others skipped.
#[test]
fn the_harness_is_the_last_package_and_a_dependency_of_tests_alone() {
    let names = crates();
    assert_eq!(names.last().unwrap(), HARNESS);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifests = names.iter().map(|name| root.join("crates").join(name).join("Cargo.toml"));
    for manifest in manifests.chain([root.join("Cargo.toml")]) {
        let (text, mut section) = (fs_err::read_to_string(&manifest).unwrap(), "");
        for line in text.lines() {
            if line.starts_with('[') {
                section = line;
            }
            assert!(!uses_harness(section, line), "{}: {section} {line}", manifest.display());
        }
    }
}

/// Returns whether a line of a Cargo.toml makes a product depend on the harness.
fn uses_harness(section: &str, line: &str) -> bool {
    let names_it = line.starts_with(HARNESS) || line.contains("rockpack-workbench");
    // `[dependencies.rockpack-workbench]` has the name in the heading.
    let is_of_dependencies =
        section.ends_with("dependencies]") || section.contains("dependencies.");
    names_it && is_of_dependencies && !FOR_TESTS.contains(&section)
}

#[test]
fn the_harness_is_seen_in_every_spelling_of_a_dependency() {
    let entry = "rockpack-workbench = { path = \"../workbench\" }";
    for section in ["[dependencies]", "[build-dependencies]", "[target.'cfg(unix)'.dependencies]"] {
        assert!(uses_harness(section, entry), "{section}");
    }
    let heading = "[dependencies.rockpack-workbench]";
    assert!(uses_harness(heading, heading));
    let renamed = "bench = { package = \"rockpack-workbench\", path = \"../workbench\" }";
    assert!(uses_harness("[dependencies]", renamed));
    for section in FOR_TESTS.iter().chain(&["[package]"]) {
        assert!(!uses_harness(section, entry), "{section}");
    }
}

/// Returns whether `file` is below the module of the file `above`.
fn is_below(file: &str, above: &str) -> bool {
    if matches!(above, "lib.rs" | "main.rs") {
        return true;
    }
    let module = above.strip_suffix(".rs").unwrap_or(above);
    file.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
}

/// A file may use definitions of a module above it; all other uses go one way.
#[test]
fn files_of_a_crate_use_each_other_one_way() {
    let files = sources();
    let crates: BTreeSet<&str> = files.iter().map(|file| &*file.in_crate).collect();
    let uses: Vec<String> = crates
        .into_iter()
        .flat_map(|name| {
            let of_crate = files.iter().filter(|file| file.in_crate == name);
            let uses = uses_in_cycles(of_crate.map(|file| (&*file.path, &*file.text.code)));
            uses.into_iter().map(move |line| format!("  {name}: {line}"))
        })
        .collect();
    assert!(uses.is_empty(), "files use each other in a cycle:\n{}", uses.join("\n"));
}

/// Returns each file of a cycle, with the files of the cycle that it uses.
fn uses_in_cycles<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Vec<String> {
    let modules = Modules::new(files);
    let edges = modules.edges();
    let mut lines = Vec::new();
    for cycle in &cycles(&edges, |file, other| !is_below(file, other)) {
        let in_cycle = |(file, used): (&&str, &BTreeSet<&str>)| {
            let used: Vec<&str> =
                used.iter().copied().filter(|o| cycle.contains(o) && !is_below(file, o)).collect();
            cycle.contains(file).then(|| format!("{file} uses {}", used.join(", ")))
        };
        lines.extend(edges.iter().filter_map(in_cycle));
    }
    lines
}

#[test]
fn files_have_at_most_500_lines_and_no_mod_rs() {
    let mut wrong = Vec::new();
    for file in sources() {
        let lines = file.text.lines;
        if lines > 500 {
            wrong.push(format!(
                "{} has {lines} lines without its tests; cut it at 500",
                file.display_path()
            ));
        }
        if file.path.ends_with("mod.rs") {
            wrong.push(format!(
                "{}: name the file by its module, beside the directory",
                file.display_path()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn documents_of_developers_name_existing_files() {
    let mut missing = Vec::new();
    let crates = crates().into_iter().map(|name| format!("crates/{name}"));
    for directory in crates.chain([String::new(), "tests".to_owned()]) {
        for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
            let page = format!("{directory}/{name}");
            let page = page.trim_start_matches('/');
            let Some(text) = existing_text(page) else { continue };
            // Every second part is between backticks.
            let quoted = text.split('`').skip(1).step_by(2);
            let starts = ["src/", "crates/", "tests/", "benches/"];
            let paths = quoted.filter(|it| starts.iter().any(|start| it.starts_with(start)));
            let is_name =
                |path: &&str| !path.contains(['*', ' ', '<', '\n']) && !path.contains("NAME");
            for path in paths.filter(is_name) {
                let below = [format!("{directory}/{path}"), path.to_owned()];
                let exists = |path: &String| Path::new(path.trim_start_matches('/')).exists();
                if !below.iter().any(exists) {
                    missing.push(format!("{page}: {path}"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

fn existing_text(path: &str) -> Option<String> {
    fs_err::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

#[test]
fn code_is_read_without_comments_and_tests() {
    let code = RustText::new(
        "use crate::{names::RelPath, plan::{self, Plan}, version};\n// crate::comment\nlet a = \"crate::string\"; crate::elf::x();\n#[cfg(test)]\nmod tests { use crate::tested; }\nuse rocm;\n",
    );
    assert!(
        code.text.contains("crate::string")
            && !code.text.contains("comment")
            && code.text.contains("use rocm")
            && !code.text.contains("tested")
    );
    assert!(code.code.contains("crate::elf::x") && !code.code.contains("crate::string"));
    assert!(!code.code.contains("tested") && !code.code.contains("comment"));
    assert_eq!(code.lines, 4, "the test module and its attribute do not count");
}

#[test]
fn modules_of_std_are_seen_in_every_spelling() {
    for code in [
        "use std::fs;",
        "use std::{env, fs};",
        "use std::{\n    fs::{self, File},\n    io,\n};",
        "use std::fs as files;",
        "fn f() { std::fs::read(p); }",
        "fn f() { ::std::fs::read(p); }",
    ] {
        assert!(std_paths(code).contains("fs"), "{code}");
    }
    assert!(!std_paths("use other::{std, fs};\nuse crate::std_fs;").contains("fs"));
}

#[test]
fn cycles_of_files_are_seen_in_every_spelling_of_a_name() {
    let files_in_cycles = |files: &[(&str, &str)]| {
        let modules = Modules::new(files.iter().copied());
        let edges = modules.edges();
        let cycles = cycles(&edges, |file, other| !is_below(file, other));
        cycles.iter().flatten().map(|file| (*file).to_owned()).collect::<Vec<_>>()
    };
    let root = ("lib.rs", "pub mod a;");
    // Types of the module above, and its re-exports, make no cycle.
    let above = ("a.rs", "mod b;\nmod c;\npub use b::B;\npub use c::C;\npub struct A;\n");
    let one_way = ("a/c.rs", "use super::{A, B};\npub struct C(A, B);\n");
    assert!(files_in_cycles(&[root, above, ("a/b.rs", "pub struct B;"), one_way]).is_empty());
    for back in [
        "use super::C;\npub struct B(C);",
        "use crate::a::c::{self, C as Other};\npub struct B(Other);",
        "use crate::a;\npub struct B(a::C);",
        "pub struct B(super::c::C);",
        "#[rustfmt::skip]\nuse super::c;\npub struct B(c::C);",
        "use crate::{\n    a::{c::C},\n};\npub struct B(C);",
    ] {
        let cycle = files_in_cycles(&[root, above, ("a/b.rs", back), one_way]);
        assert_eq!(cycle, ["a/b.rs", "a/c.rs"], "{back}");
    }
    // A module that uses its re-export uses the file that defines it.
    let uses = ("a.rs", "mod b;\nmod c;\npub use b::B;\npub fn f() -> B {}\n");
    let back = ("a/b.rs", "use crate::d::D;\npub struct B(D);");
    assert_eq!(
        files_in_cycles(&[root, uses, back, ("d.rs", "pub struct D(crate::a::f);")]),
        ["a.rs", "a/b.rs", "d.rs"]
    );
}
