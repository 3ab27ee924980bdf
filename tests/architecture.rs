//! The source keeps the shape it is described in: which stage imports which, what each may not
//! touch, where the field's own names stand, how long a file may grow.
//!
//! Comments do not count, nor does what is compiled for tests alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use walkdir::WalkDir;

#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/rust_text.rs"]
mod rust_text;

use imports::{Modules, circles};
use rust_text::RustText;

/// Rooms that every other may import. They import none.
const GROUND: &[&str] =
    &["cleanup", "identity", "names", "python_literal", "regular", "source", "text", "version"];

/// Room by room, what it may import beside the ground floor. `catalog` reads facts of binaries while it scans;
/// packages that exist are read (`package`) into what `review` compares with types of `plan`; a bill of
/// materials says which library is found where, hence the closure of `resolve` in `provenance`.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("event", &[]),
    ("binary", &[]),
    ("kdl", &[]),
    ("demo", &["binary"]),
    ("device_code", &["binary"]),
    ("target", &[]),
    ("manifest", &["kdl", "target"]),
    ("policy", &["binary"]),
    ("unpacking", &[]),
    ("catalog", &["archive", "binary", "policy", "unpacking"]),
    ("archive", &[]),
    ("cache", &["archive"]),
    ("plan", &["archive", "binary", "catalog", "manifest"]),
    ("resolve", &["binary", "catalog", "manifest", "plan", "policy", "target"]),
    ("fetch", &["archive", "binary", "catalog", "event", "manifest", "plan", "resolve", "store"]),
    ("package", &["archive", "binary", "plan", "unpacking"]),
    ("review", &["binary", "catalog", "package", "plan"]),
    ("provenance", &["archive", "binary", "catalog", "manifest", "package", "plan", "resolve"]),
    ("gate", &["manifest", "target", "verify"]),
    ("recorded", &["archive", "gate", "package", "provenance"]),
    ("assemble", &["archive", "gate", "package", "provenance", "recorded"]),
    (
        "execute",
        &["archive", "binary", "cache", "catalog", "event", "plan", "provenance", "recorded"],
    ),
    ("audit", &["binary", "package", "policy"]),
    ("remote", &["archive", "cache"]),
    ("retag", &["archive", "package"]),
    (
        "promote",
        &[
            "archive",
            "gate",
            "manifest",
            "package",
            "provenance",
            "recorded",
            "release",
            "unpacking",
        ],
    ),
    (
        "split",
        &[
            "archive",
            "binary",
            "device_code",
            "gate",
            "manifest",
            "package",
            "provenance",
            "recorded",
        ],
    ),
    ("index", &["archive", "package", "recorded"]),
    ("serve", &["index"]),
    ("store", &[]),
    ("publish", &["archive", "gate", "index", "manifest", "package", "store"]),
    ("release", &[]),
    ("verify", &["archive", "binary", "device_code", "package", "plan", "policy", "review"]),
    (
        "source_build",
        &["archive", "audit", "gate", "manifest", "package", "plan", "provenance", "retag"],
    ),
];

/// The modules of the program, which may use every stage: those that `main.rs` declares.
fn program(files: &[SourceFile]) -> BTreeSet<String> {
    let main = files.iter().find(|f| f.path == "main.rs").unwrap();
    let declared = main
        .text
        .code
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'));
    declared.chain(["main"]).map(str::to_owned).collect()
}

/// A source file: its path below `src`, and its text without comments and tests.
struct SourceFile {
    path: String,
    text: RustText,
}

impl SourceFile {
    /// The stage or module of the program that it belongs to: the first part of its path.
    fn stage(&self) -> &str {
        let first = self.path.split('/').next().unwrap();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

fn sources() -> Vec<SourceFile> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for entry in WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.unwrap();
        let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        // `mod tests;` and what is below it are compiled for tests alone.
        if entry.path().extension().is_some_and(|e| e == "rs")
            && entry.file_name() != "tests.rs"
            && !path.contains("/tests/")
        {
            files.push(SourceFile {
                path,
                text: RustText::new(&fs_err::read_to_string(entry.path()).unwrap()),
            });
        }
    }
    assert!(files.len() > 50, "the source is where it is looked for");
    files
}

/// The modules of this crate that code names: `crate::x`, also of `crate::{x, y}`. The crate hands `elf` on,
/// which is of `binary`.
fn imports(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate` and `some_crate` are something else.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => names.extend(first_names(list)),
            None => names.extend(identifiers(rest).next()),
        }
    }
    names.into_iter().map(|name| if name == "elf" { "binary" } else { name }).collect()
}

/// Of `a::b, c::{d, e}, f}` the names `a`, `c` and `f`.
fn first_names(list: &str) -> Vec<&str> {
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.extend(identifiers(&list[start..at]).next());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(identifiers(&list[start..at]).next());
                start = at + 1;
            }
            _ => {}
        }
    }
    names
}

fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn stages_import_only_what_comes_before_them() {
    let rules: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let (files, mut wrong) = (sources(), Vec::new());
    let program = program(&files);
    for file in files.iter().filter(|f| f.path != "lib.rs" && !program.contains(f.stage())) {
        let stage = file.stage();
        let allowed = match rules.get(stage) {
            Some(allowed) => [*allowed, GROUND].concat(),
            None if GROUND.contains(&stage) => Vec::new(),
            None => {
                wrong.push(format!("src/{}: `{stage}` is no room of the architecture", file.path));
                continue;
            }
        };
        let not_allowed = imports(&file.text.code)
            .into_iter()
            .filter(|name| *name != stage && !allowed.contains(name));
        wrong.extend(
            not_allowed.map(|name| format!("src/{}: `{stage}` may not import `{name}`", file.path)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where each of these words is at home; elsewhere it is an effect in the wrong place.
#[test]
fn effects_stay_where_they_belong() {
    let (files, mut wrong) = (sources(), Vec::new());
    let program = program(&files);
    for file in &files {
        let stage = file.stage();
        let words: BTreeSet<&str> = identifiers(&file.text.code).collect();
        let pure = matches!(
            stage,
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
        wrong.extend(
            found.map(|word| format!("src/{}: `{stage}` is pure and uses `{word}`", file.path)),
        );
        let std = ["std::fs", "std::env", "std::net", "std::process", "std::thread"];
        let found = std.iter().filter(|path| pure && file.text.code.contains(*path));
        wrong.extend(
            found.map(|path| format!("src/{}: `{stage}` is pure and uses `{path}`", file.path)),
        );
        if words.contains("rayon")
            && !["catalog", "execute", "fetch", "gate"].contains(&stage)
            && !program.contains(stage)
        {
            wrong.push(format!(
                "src/{}: only scan, fetch, execute and gate are parallel",
                file.path
            ));
        }
        if (words.contains("println") || words.contains("eprintln")) && !program.contains(stage) {
            wrong.push(format!("src/{}: the library prints nothing", file.path));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the artifacts' project calls its things. Of the code, the artifact layout knows them, and a
/// list of what formats have fixed; the command line may say them to people.
#[test]
fn the_projects_own_names_stand_in_data() {
    let theirs = ["rocm", "hip", "gfx", "therock", "hsa", "miopen", "amdclang"];
    let home = |file: &SourceFile| {
        ["catalog/layout.rs", "names/offload.rs"].contains(&&*file.path)
            || matches!(file.stage(), "cli" | "main")
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
                    format!("src/{}:{}: `{word}` belongs in KDL", file.path, number + 1)
                }),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether `file` lies in the module that `above` is the file of.
fn lies_in(file: &str, above: &str) -> bool {
    let module = above.strip_suffix(".rs").unwrap_or(above);
    file.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
}

/// A file may use what the module defines that it lies in; all else goes one way. The program's
/// rooms count as one.
#[test]
fn files_of_a_room_use_each_other_one_way() {
    let files = sources();
    let program = program(&files);
    let room = |file: &str| -> String {
        let first = file.split('/').next().unwrap();
        let room = first.strip_suffix(".rs").unwrap_or(first);
        if program.contains(room) { "main".to_owned() } else { room.to_owned() }
    };
    let modules = Modules::new(files.iter().map(|f| (&*f.path, &*f.text.code)));
    let edges = modules.edges();
    let found = circles(&edges, |file, other| room(file) == room(other) && !lies_in(file, other));
    let mut ways: Vec<String> = Vec::new();
    for circle in &found {
        let in_circle = |(file, used): (&&str, &BTreeSet<&str>)| {
            let used: Vec<&str> =
                used.iter().copied().filter(|o| circle.contains(o) && !lies_in(file, o)).collect();
            circle.contains(file).then(|| format!("  src/{file} uses {}", used.join(", ")))
        };
        ways.extend(edges.iter().filter_map(in_circle));
    }
    assert!(ways.is_empty(), "files use each other in a circle:\n{}", ways.join("\n"));
}

#[test]
fn files_are_short_and_named_by_the_noun_they_hold() {
    let mut wrong = Vec::new();
    for file in sources() {
        let lines = file.text.lines;
        if lines > 500 {
            wrong.push(format!(
                "src/{} has {lines} lines without its tests; cut it at 500",
                file.path
            ));
        }
        if file.path.ends_with("mod.rs") {
            wrong.push(format!(
                "src/{}: name the file by its module, beside the directory",
                file.path
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn this_test_sees_what_it_looks_for() {
    let code = RustText::new(
        "use crate::{names::RelPath, plan::{self, Plan}, version};\n// crate::comment\nlet a = \"crate::string\"; crate::elf::x();\n#[cfg(test)]\nmod tests { use crate::tested; }\nuse rocm;\n",
    );
    assert_eq!(imports(&code.code), BTreeSet::from(["binary", "names", "plan", "version"]));
    assert!(
        code.text.contains("crate::string")
            && !code.text.contains("comment")
            && code.text.contains("use rocm")
    );
    assert_eq!(code.lines, 4, "the test module and its attribute do not count");
}

#[test]
fn circles_of_files_are_seen_whatever_way_a_name_is_written() {
    let found = |files: &[(&str, &str)]| {
        let modules = Modules::new(files.iter().copied());
        let edges = modules.edges();
        let found = circles(&edges, |file, other| !lies_in(file, other));
        found.iter().flatten().map(|file| (*file).to_owned()).collect::<Vec<_>>()
    };
    let root = ("lib.rs", "pub mod a;");
    // Types of the module above are no circle, nor is what it hands on.
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
    // A module that uses what it hands on uses the file that defines it.
    let uses = ("a.rs", "mod b;\nmod c;\npub use b::B;\npub fn f() -> B {}\n");
    let back = ("a/b.rs", "use crate::d::D;\npub struct B(D);");
    assert_eq!(
        found(&[root, uses, back, ("d.rs", "pub struct D(crate::a::f);")]),
        ["a.rs", "a/b.rs", "d.rs"]
    );
}
