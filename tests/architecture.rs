//! Shape of the source: effects of each room, ROCm's names, circles of files, length of files.
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

use imports::{Modules, circles};
use rust_text::RustText;

/// Rooms next to the root of a crate, if the root is a room too.
const ROOMS: &[(&str, &[&str])] = &[
    ("binary", &["device_code", "policy"]),
    ("cache", &[]),
    ("catalog", &["demo"]),
    ("manifest", &["kdl"]),
    ("plan", &["resolve"]),
    ("projects", &[]),
    ("remote", &[]),
];

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
        let beside = ROOMS.iter().find(|(name, _)| *name == self.in_crate);
        match beside {
            Some((_, rooms)) if !rooms.contains(&first) => &self.in_crate,
            _ => first,
        }
    }

    fn of_program(&self) -> bool {
        self.in_crate.is_empty()
    }

    /// Path below the checkout.
    fn shown(&self) -> String {
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
    assert!(files.len() > 50, "the source is where it is looked for");
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
    for file in &sources() {
        let (room, shown) = (file.room(), file.shown());
        let words: BTreeSet<&str> = identifiers(&file.text.code).collect();
        let pure = matches!(
            room,
            "kdl"
                | "target"
                | "manifest"
                | "plan"
                | "resolve"
                | "review"
                | "release"
                | "names"
                | "version"
                | "source"
        );
        let clocks = ["SystemTime", "Instant", "thread_rng", "available_parallelism"];
        let outside = ["fs_err", "OpenOptions", "read_dir", "walkdir", "tempfile", "TcpStream"];
        let found = clocks.iter().chain(&outside).filter(|word| pure && words.contains(*word));
        wrong.extend(found.map(|word| format!("{shown}: `{room}` is pure and uses `{word}`")));
        let std = ["std::fs", "std::env", "std::net", "std::process", "std::thread"];
        // The thread gives a deeply nested text its stack; no other thread runs.
        let is_reader = shown == "crates/manifest/src/kdl/read.rs";
        let found = std.iter().filter(|path| pure && file.text.code.contains(*path));
        let found = found.filter(|path| !(is_reader && **path == "std::thread"));
        wrong.extend(found.map(|path| format!("{shown}: `{room}` is pure and uses `{path}`")));
        if words.contains("rayon")
            && !["catalog", "execute", "fetch", "gate"].contains(&room)
            && !file.of_program()
        {
            wrong.push(format!("{shown}: only scan, fetch, execute and gate are parallel"));
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
    let theirs = ["rocm", "hip", "gfx", "therock", "hsa", "miopen", "amdclang"];
    let home = |file: &SourceFile| {
        ["crates/catalog/src/layout.rs", "crates/base/src/names/offload.rs"]
            .contains(&&*file.shown())
            || (file.of_program() && matches!(file.room(), "cli" | "main"))
    };
    let mut wrong = Vec::new();
    for file in sources().iter().filter(|f| !home(f)) {
        for (number, line) in file.text.text.lines().enumerate() {
            let lower = line.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric());
            let found =
                words.into_iter().find(|word| theirs.iter().any(|name| word.starts_with(name)));
            wrong.extend(
                found.map(|word| {
                    format!("{}:{}: `{word}` belongs in KDL", file.shown(), number + 1)
                }),
            );
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
            let is_dependency = line.starts_with(HARNESS) || line.contains("rockpack-workbench");
            assert!(
                !is_dependency
                    || !section.ends_with("dependencies]")
                    || FOR_TESTS.contains(&section),
                "{}: {section} {line}",
                manifest.display()
            );
        }
    }
}

/// Returns whether `file` is below the module of the file `above`.
fn lies_in(file: &str, above: &str) -> bool {
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
    let ways: Vec<String> = crates
        .into_iter()
        .flat_map(|name| {
            let of_crate = files.iter().filter(|file| file.in_crate == name);
            let ways = circular(of_crate.map(|file| (&*file.path, &*file.text.code)));
            ways.into_iter().map(move |way| format!("  {name}: {way}"))
        })
        .collect();
    assert!(ways.is_empty(), "files use each other in a circle:\n{}", ways.join("\n"));
}

/// Returns each file of a circle, with the files of the circle that it uses.
fn circular<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Vec<String> {
    let modules = Modules::new(files);
    let edges = modules.edges();
    let mut ways = Vec::new();
    for circle in &circles(&edges, |file, other| !lies_in(file, other)) {
        let in_circle = |(file, used): (&&str, &BTreeSet<&str>)| {
            let used: Vec<&str> =
                used.iter().copied().filter(|o| circle.contains(o) && !lies_in(file, o)).collect();
            circle.contains(file).then(|| format!("{file} uses {}", used.join(", ")))
        };
        ways.extend(edges.iter().filter_map(in_circle));
    }
    ways
}

#[test]
fn files_are_short_and_named_by_the_noun_they_hold() {
    let mut wrong = Vec::new();
    for file in sources() {
        let lines = file.text.lines;
        if lines > 500 {
            wrong.push(format!(
                "{} has {lines} lines without its tests; cut it at 500",
                file.shown()
            ));
        }
        if file.path.ends_with("mod.rs") {
            wrong.push(format!(
                "{}: name the file by its module, beside the directory",
                file.shown()
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
    );
    assert_eq!(code.lines, 4, "the test module and its attribute do not count");
}

#[test]
fn circles_of_files_are_seen_in_every_spelling_of_a_name() {
    let found = |files: &[(&str, &str)]| {
        let modules = Modules::new(files.iter().copied());
        let edges = modules.edges();
        let found = circles(&edges, |file, other| !lies_in(file, other));
        found.iter().flatten().map(|file| (*file).to_owned()).collect::<Vec<_>>()
    };
    let root = ("lib.rs", "pub mod a;");
    // Types of the module above, and its re-exports, make no circle.
    let above = ("a.rs", "mod b;\nmod c;\npub use b::B;\npub use c::C;\npub struct A;\n");
    let one_way = ("a/c.rs", "use super::{A, B};\npub struct C(A, B);\n");
    assert!(found(&[root, above, ("a/b.rs", "pub struct B;"), one_way]).is_empty());
    for back in [
        "use super::C;\npub struct B(C);",
        "use crate::a::c::{self, C as Other};\npub struct B(Other);",
        "use crate::a;\npub struct B(a::C);",
        "pub struct B(super::c::C);",
        "#[rustfmt::skip]\nuse super::c;\npub struct B(c::C);",
        "use crate::{\n    a::{c::C},\n};\npub struct B(C);",
    ] {
        let circle = found(&[root, above, ("a/b.rs", back), one_way]);
        assert_eq!(circle, ["a/b.rs", "a/c.rs"], "{back}");
    }
    // A module that uses its re-export uses the file that defines it.
    let uses = ("a.rs", "mod b;\nmod c;\npub use b::B;\npub fn f() -> B {}\n");
    let back = ("a/b.rs", "use crate::d::D;\npub struct B(D);");
    assert_eq!(
        found(&[root, uses, back, ("d.rs", "pub struct D(crate::a::f);")]),
        ["a.rs", "a/b.rs", "d.rs"]
    );
}
