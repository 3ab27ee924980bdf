use super::*;
use crate::resolve::tests::{Fixture, devel, line, messages, runtime};

/// Returns `PATH ARTIFACT < LINE` for selected paths, `PATH - LINE` for excluded ones, and `! MESSAGE`.
fn selected_lines(packages: &[String], entries: &str) -> Vec<String> {
    let fixture = Fixture::new(packages, entries);
    let mut problems = Problems::new();
    let dists = fixture.dists();
    let selection = fixture.selection(dists.last().unwrap(), &mut problems);
    let selected = selection.files.iter().chain(&selection.directories);
    let selected =
        selected.map(|(path, s)| format!("{path} {} < {}", s.item.artifact.id, line(s.rule)));
    let excluded = selection.excluded.iter();
    let excluded = excluded.map(|(path, (exclude, _))| format!("{path} - {}", line(exclude)));
    selected.chain(excluded).chain(messages(&problems)).collect()
}

fn core(lines: &str, entries: &str) -> Vec<String> {
    selected_lines(&[runtime("core", lines)], entries)
}

fn core_with(top_lines: &str, lines: &str, entries: &str) -> Vec<String> {
    selected_lines(&[format!("{top_lines}\n"), runtime("core", lines)], entries)
}

const LIB_A: &str = r#"artifact "a" "lib""#;
const BOTH: &str = "artifact \"a\" \"lib\"\nartifact \"b\" \"lib\"";

#[test]
fn each_line_takes_its_components() {
    let lines = "artifact \"a\" \"lib\"\nartifact \"a\" \"run\"\nartifact \"b\" \"lib\"";
    let entries = "a_lib_generic x text 1
                   a_run_generic y text 2
                   a_doc_generic z text 3
                   b_lib_gfx942  w text 4";
    // core has no package for each ISA, so it takes no artifact of one.
    assert_eq!(
        core(lines, entries),
        [r#"x a_lib_generic < artifact "a" "lib""#, r#"y a_run_generic < artifact "a" "run""#]
    );
}

#[test]
fn excludes_override_includes() {
    let lines = "artifact \"a\" \"lib\"\ninclude \"lib/**\"\ninclude \"lib/x\"\nexclude \"lib/y\"";
    let entries = "a_lib_generic lib/x text 1
                   a_lib_generic lib/y text 2
                   a_lib_generic lib/d dir
                   a_lib_generic share/z text 3";
    assert_eq!(
        core(lines, entries),
        [
            r#"lib/x a_lib_generic < include "lib/**""#,
            r#"lib/d a_lib_generic < artifact "a" "lib""#,
            r#"lib/y - exclude "lib/y""#,
        ]
    );
}

#[test]
fn a_drop_rule_removes_files_of_its_artifacts_from_packages_only_with_everywhere() {
    let lines = r#"artifact "a" "lib" "test""#;
    let entries = "a_lib_generic x text 1\na_test_generic y text 2";
    let (x, y) = (format!("x a_lib_generic < {lines}"), format!("y a_test_generic < {lines}"));
    let cases = [
        (r#"drop "y" reason="-" everywhere=#true component="test""#, [&*x, "y - {}"]),
        (r#"drop "x" reason="-" everywhere=#true artifact="a" component="lib""#, [&*y, "x - {}"]),
        (r#"drop "**" reason="-" everywhere=#true artifact="b" optional="-""#, [&*x, &*y]),
        (r#"drop "y" reason="-" component="test""#, [&*x, &*y]),
    ];
    for (drop, expected) in cases {
        assert_eq!(core_with(drop, lines, entries), expected.map(|e| e.replace("{}", drop)));
    }
}

#[test]
fn a_path_dropped_from_one_artifact_is_taken_from_another() {
    let drop = r#"drop "x" artifact="a" everywhere=#true reason="-""#;
    let entries = "a_lib_generic x text 1\nb_lib_generic x text 2";
    assert_eq!(core_with(drop, BOTH, entries), [r#"x b_lib_generic < artifact "b" "lib""#]);
}

#[test]
fn a_devel_package_takes_artifacts_of_other_packages_without_excluded_ones() {
    let core = || runtime("core", "artifact \"a\" \"lib\"\nartifact \"b\" \"lib\"");
    let entries = "a_lib_generic x text 1\na_dev_generic y text 2\nb_dbg_generic z text 3\nc_dev_generic w text 4";
    let all = r#"artifacts-of "core""#;
    let cases = [
        ("", vec!["x a_lib_generic < {}", "y a_dev_generic < {}", "z b_dbg_generic < {}"]),
        ("without-component \"dbg\"", vec!["x a_lib_generic < {}", "y a_dev_generic < {}"]),
        ("without-artifact \"a\"", vec!["z b_dbg_generic < {}"]),
        (
            "artifact \"b\"\nartifact \"c\"",
            vec![
                "w c_dev_generic < artifact \"c\"",
                "x a_lib_generic < {}",
                "y a_dev_generic < {}",
                "z b_dbg_generic < artifact \"b\"",
            ],
        ),
    ];
    for (more, expected) in cases {
        let packages = [core(), devel(&format!("{all}\n{more}"))];
        let expected: Vec<String> = expected.iter().map(|e| e.replace("{}", all)).collect();
        assert_eq!(selected_lines(&packages, entries), expected, "{more}");
    }
}

#[test]
fn an_error_names_both_artifacts_of_a_path_with_different_content() {
    assert_eq!(
        core(BOTH, "a_lib_generic x text 1\nb_lib_generic x text 2").last().unwrap(),
        "! artifacts `a_lib_generic` and `b_lib_generic` supply `x` of x-core with different content"
    );
    assert_eq!(
        core(LIB_A, "a_lib_generic x text 1 base=one\na_lib_generic x text 2 base=two")
            .last()
            .unwrap(),
        "! artifact `a_lib_generic` supplies `x` of x-core from `one` and from `two` with different content"
    );
}

#[derive(Default)]
struct Decisions(Vec<String>);

impl<'a> SelectionTrace<'a> for Decisions {
    fn on_match(&mut self, _: &'a ArtifactId, _: RuleMatch<'a>) {}

    fn choose(&mut self, _: &[Selected<'a>], first: &Selected<'a>, why: Why) {
        self.0.push(format!("{} {why:?}", first.item.artifact.id));
    }
}

#[test]
fn of_equal_files_an_executable_one_is_taken_before_the_first() {
    let cases = [
        ("a_lib_generic x script", "a_lib_generic Alone"),
        ("a_lib_generic x script\nb_lib_generic x script", "a_lib_generic First"),
        ("a_lib_generic x text 1\nb_lib_generic x text 1", "a_lib_generic First"),
        ("a_lib_generic x script x=no\nb_lib_generic x script", "b_lib_generic Executable"),
        ("a_lib_generic x script\nb_lib_generic x script x=no", "a_lib_generic Executable"),
        ("a_lib_generic x text 1\nb_lib_generic x text 2", "a_lib_generic Differ"),
        ("a_lib_generic x link y\nb_lib_generic x text 2", "a_lib_generic Differ"),
    ];
    for (entries, expected) in cases {
        let fixture = Fixture::new(&[runtime("core", BOTH)], entries);
        let (mut decisions, mut problems) = (Decisions::default(), Problems::new());
        let dists = fixture.dists();
        let selection = selection(
            &fixture.manifest,
            &fixture.catalog,
            &dists[0],
            &mut decisions,
            &mut problems,
        );
        assert_eq!(decisions.0, [expected], "{entries}");
        assert_eq!(selection.owned.len(), entries.lines().count(), "all of them are owned");
        assert_eq!(problems.is_empty(), !expected.contains("Differ"), "{entries}");
    }
}

#[test]
fn files_are_equal_by_size_and_checksum_and_links_by_target() {
    let file = |size: u64, sha256: Option<&str>| CatalogEntry {
        path: "x".parse().unwrap(),
        base: "stage".parse().unwrap(),
        kind: EntryKind::File { size, executable: false, content: catalog::FileType::Data },
        sha256: sha256.map(str::to_owned),
    };
    let link = |target: &str| CatalogEntry {
        kind: EntryKind::Symlink { target: target.to_owned() },
        ..file(0, None)
    };
    let cases = [
        (file(1, Some("a")), file(1, Some("a")), true),
        (file(1, Some("a")), file(1, Some("b")), false),
        (file(1, Some("a")), file(2, Some("a")), false),
        (file(1, None), file(1, None), false),
        (file(1, Some("a")), file(1, None), false),
        (link("y"), link("y"), true),
        (link("y"), link("z"), false),
        (link("y"), file(0, None), false),
    ];
    for (one, other, expected) in cases {
        assert_eq!(is_same_content(&one, &other), expected, "{one:?} {other:?}");
        assert!(is_same_content(&one, &one), "a file equals itself, also without a checksum");
    }
}
