use super::*;
use crate::resolve::install_tree::Layer;
use crate::resolve::tests::{Fixture, messages, runtime as package};

/// `PATH file FROM`, `PATH starts PROGRAM`, `PATH = LIBRARY`, `PATH - REASON` for absent
/// paths, `! MESSAGE`.
fn placed(lines: &str, entries: &str) -> Vec<String> {
    let fixture =
        Fixture::new(&[package("core", &format!("artifact \"a\" \"lib\"\n{lines}"))], entries);
    let mut problems = Problems::new();
    let (dists, generic) = (fixture.dists(), fixture.generic());
    let view = View::new(&generic, Layer::default());
    let selection = fixture.selection(&dists[0], &mut problems);
    let out = runtime(&selection, &view, StubMachine::X86_64, &mut problems);
    let placed = out.placed.iter().map(|(path, (placed, _))| match placed {
        Placed::File(item) => format!("{path} file {}", item.entry.path),
        Placed::Stub { target, .. } => format!("{path} starts {target}"),
        Placed::Forward(alias) => format!("{path} forwards {}", alias.real),
    });
    let aliases = out.aliases.iter().map(|(path, (alias, _))| format!("{path} = {}", alias.real));
    let absent = out.absent.iter().map(|a| format!("{} - {}", a.path, a.reason));
    placed.chain(aliases).chain(absent).chain(messages(&problems)).collect()
}

fn becomes(entries: &[&str], expected: &[&str]) {
    let entries =
        entries.iter().map(|e| format!("a_lib_generic {e}")).collect::<Vec<_>>().join("\n");
    assert_eq!(placed("", &entries), expected, "{entries}");
}

#[test]
fn a_library_goes_under_its_soname() {
    becomes(&["lib/libx.so.1 so libx.so.1"], &["lib/libx.so.1 file lib/libx.so.1"]);
    becomes(&["lib/libx.so so -"], &["lib/libx.so file lib/libx.so"]);
    becomes(
        &["lib/libx.so.1.0 so libx.so.1"],
        &["lib/libx.so.1 file lib/libx.so.1.0", "lib/libx.so.1.0 = lib/libx.so.1"],
    );
    becomes(
        &["lib/libx.so.1.0 so libx.so.1", "lib/libx.so.1 link libx.so.1.0"],
        &["lib/libx.so.1 file lib/libx.so.1.0", "lib/libx.so.1.0 = lib/libx.so.1"],
    );
}

#[test]
fn a_link_at_the_soname_that_leads_to_no_file_gives_way() {
    becomes(
        &["lib/libx.so.1.0 so libx.so.1", "lib/libx.so.1 link gone"],
        &[
            "lib/libx.so.1 file lib/libx.so.1.0",
            "lib/libx.so.1.0 = lib/libx.so.1",
            "lib/libx.so.1 - dangles: no artifact has `lib/gone`",
        ],
    );
}

#[test]
fn a_soname_that_something_else_has_is_wrong() {
    let x = "lib/libx.so.1.0 so libx.so.1";
    becomes(
        &[x, "lib/libx.so.1 text x"],
        &[
            "lib/libx.so.1 file lib/libx.so.1",
            "! `lib/libx.so.1.0` of artifact `a_lib_generic` has the SONAME `lib/libx.so.1`, but `lib/libx.so.1` is another file",
        ],
    );
    becomes(
        &[x, "lib/libx.so.1 link liby.so.1", "lib/liby.so.1 so liby.so.1"],
        &[
            "lib/liby.so.1 file lib/liby.so.1",
            "lib/libx.so.1 = lib/liby.so.1",
            "! `lib/libx.so.1.0` of artifact `a_lib_generic` has the SONAME `lib/libx.so.1`, but `lib/libx.so.1` is another file",
        ],
    );
    becomes(
        &["lib/liba.so so libx.so.1", "lib/libb.so so libx.so.1"],
        &[
            "lib/libx.so.1 file lib/liba.so",
            "lib/liba.so = lib/libx.so.1",
            "! `lib/liba.so` of artifact `a_lib_generic` and `lib/libb.so` of artifact `a_lib_generic` both have the SONAME `lib/libx.so.1`, but no entry has this name",
        ],
    );
    let link =
        "a_lib_generic lib/libx.so.1.0 so libx.so.1\na_lib_generic lib/libx.so.1 link libx.so.1.0";
    assert_eq!(
        placed("exclude \"lib/libx.so.1\"", link).last().unwrap(),
        "! `lib/libx.so.1.0` of artifact `a_lib_generic` has the SONAME `lib/libx.so.1`, but `lib/libx.so.1` is excluded"
    );
}

#[test]
fn a_link_to_a_library_is_another_name_of_it() {
    becomes(
        &["lib/libx.so link libx.so.1", "lib/libx.so.1 so libx.so.1"],
        &["lib/libx.so.1 file lib/libx.so.1", "lib/libx.so = lib/libx.so.1"],
    );
    let deep = ["lib/libx.so link deep/libx.so.1", "lib/deep/libx.so.1 so libx.so.1"];
    becomes(
        &deep,
        &["lib/deep/libx.so.1 file lib/deep/libx.so.1", "lib/libx.so = lib/deep/libx.so.1"],
    );
    becomes(
        &[deep[0], deep[1], "lib/libx.so.1 link deep/libx.so.1"],
        &[
            "lib/deep/libx.so.1 file lib/deep/libx.so.1",
            "lib/libx.so.1 file lib/deep/libx.so.1",
            "lib/libx.so = lib/libx.so.1",
        ],
    );
    becomes(
        &["lib/libx.so link libx-1.so", "lib/libx-1.so so -"],
        &["lib/libx-1.so file lib/libx-1.so", "lib/libx.so = lib/libx-1.so"],
    );
}

#[test]
fn a_link_to_a_program_starts_it_and_any_other_is_a_copy() {
    let cases = [
        ("exe", "starts bin/f"),
        ("static", "starts bin/f"),
        ("script", "starts bin/f"),
        ("script x=no", "file bin/f"),
        ("object", "file bin/f"),
        ("code", "file bin/f"),
        ("text x", "file bin/f"),
    ];
    for (kind, expected) in cases {
        becomes(
            &[&format!("bin/f {kind}"), "bin/l link f"],
            &["bin/f file bin/f", &format!("bin/l {expected}")],
        );
    }
}

#[test]
fn what_leads_to_no_file_is_absent_or_wrong() {
    let f = "d/f text f";
    let file = "d/f file d/f";
    becomes(&[f, "l link d"], &[file, "l - a link to a directory; wheels cannot hold links"]);
    becomes(&[f, "l link d/g"], &[file, "l - dangles: no artifact has `d/g`"]);
    becomes(&[f, "l link l"], &[file, "l - is circular"]);
    for text in ["/d/f", "../d/f"] {
        let wrong = format!(
            "! the link `l` of artifact `a_lib_generic` leads outside the installation: `{text}`"
        );
        becomes(&[f, &format!("l link {text}")], &[file, &wrong]);
    }
}

#[test]
fn an_empty_directory_is_absent() {
    becomes(
        &["d dir", "d/f text f", "e dir", "e/e dir"],
        &["d/f file d/f", "e/e - an empty directory; wheels hold only files"],
    );
}

#[test]
fn a_broken_binary_is_wrong() {
    let entries = "a_lib_generic f text f\na_lib_generic x broken";
    assert_eq!(
        placed("", entries),
        [
            "f file f",
            "! `x` of artifact `a_lib_generic` has the signature of an ELF file, but is malformed: the file ends before its headers"
        ]
    );
    assert_eq!(placed("exclude \"x\"", entries)[0], "f file f");
}
