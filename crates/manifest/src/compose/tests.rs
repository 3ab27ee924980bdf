//! Included files, `change`, `remove`, `group`, and optional artifacts.

use super::*;
use crate::BuiltIn;
use crate::kdl::Value;
use base::names::RelPath;

const INCLUDED: &str = r#"common { author "A"; requires-python ">=3.10"; }
package "core" kind="runtime" {
    summary "Core"
    artifact "base" "lib" "run"
    artifact "debug" "run"
    rpath "core" "lib" "lib/llvm"
    script "a" "b" on="linux"
    extra "x" package="y" mode="kpack"
    extra "x" package="z" mode="legacy"
    prepend-path "PATH" {
        directory "core" "bin"
    }
}
package "other" kind="runtime" {
    summary "Other"
}
"#;

fn line(node: &kdl::Node) -> String {
    let entries = node.entries.iter().map(|entry| {
        let value = match &entry.value {
            Value::Text(text) => format!("\"{text}\""),
            value => format!("{value:?}"),
        };
        entry.key().map_or(value.clone(), |key| format!("{key}={value}"))
    });
    std::iter::once(node.name.text.clone()).chain(entries).collect::<Vec<_>>().join(" ")
}

fn lines(nodes: &[kdl::Node], depth: usize, out: &mut Vec<String>) {
    for node in nodes {
        out.push("  ".repeat(depth) + &line(node));
        lines(node.block.as_deref().unwrap_or_default(), depth + 1, out);
    }
}

fn compose(text: &str) -> Vec<String> {
    let source = Source::new("packages.kdl", text);
    let faults = Faults::new(&source);
    let read = |path: &RelPath| match path.as_str() {
        "core.kdl" => Ok(INCLUDED.to_owned()),
        "fork.kdl" => Ok("include \"core.kdl\"\nremove \"package\" \"other\"\n".to_owned()),
        path => Err(format!("no {path}")),
    };
    let files = ManifestFiles { templates: Vec::new(), read: &read, built_in: None };
    let nodes = file(&faults, &source, FileKind::Packages, Some(&files)).unwrap();
    let problems = faults.into_problems();
    assert!(problems.is_empty(), "{problems:?}");
    let mut out = Vec::new();
    lines(&nodes, 0, &mut out);
    out
}

/// Returns the removed and added lines, with their indentation.
fn difference(text: &str) -> (Vec<String>, Vec<String>) {
    let (before, after) = (compose(INCLUDED), compose(&format!("include \"core.kdl\"\n{text}")));
    let only_in = |left: &[String], right: &[String]| {
        left.iter().filter(|line| !right.contains(line)).cloned().collect()
    };
    (only_in(&before, &after), only_in(&after, &before))
}

#[test]
fn puts_included_nodes_in_place_of_the_include() {
    assert_eq!(compose("include \"core.kdl\""), compose(INCLUDED));
    let lines = compose("drop \"a\"\ninclude \"fork.kdl\"\ndrop \"b\"\n");
    assert_eq!((lines[0].as_str(), lines[lines.len() - 1].as_str()), ("drop \"a\"", "drop \"b\""));
    assert!(!lines.contains(&"package \"other\" kind=\"runtime\"".to_owned()), "{lines:?}");
}

#[test]
fn change_adds_lines_and_replaces_those_that_are_allowed_once() {
    let (removed, added) = difference(
        r#"change "package" "core" { summary "Ours"; artifact "more" "lib"; }
change "common" { author "B"; }"#,
    );
    assert_eq!(removed, [r#"  author "A""#, r#"  summary "Core""#]);
    assert_eq!(added, [r#"  author "B""#, r#"  summary "Ours""#, r#"  artifact "more" "lib""#]);
}

#[test]
fn changes_lines_in_blocks() {
    let change =
        r#"change "package" "core" { change "prepend-path" "PATH" { directory "core" "sbin"; }; }"#;
    let lines = compose(&format!("include \"core.kdl\"\n{change}"));
    let block = lines.iter().position(|line| line == r#"  prepend-path "PATH""#).unwrap();
    let directories = [r#"    directory "core" "bin""#, r#"    directory "core" "sbin""#];
    assert_eq!(lines[block + 1..][..2], directories);
    assert_eq!(lines.len(), compose(INCLUDED).len() + 1);
}

#[test]
fn removes_lines_and_named_entries_of_lists() {
    let cases = [
        (r#"remove "artifact" "debug""#, r#"artifact "debug" "run""#, ""),
        (
            r#"remove "artifact" "base" "run""#,
            r#"artifact "base" "lib" "run""#,
            r#"artifact "base" "lib""#,
        ),
        (
            r#"remove "rpath" "core" "lib""#,
            r#"rpath "core" "lib" "lib/llvm""#,
            r#"rpath "core" "lib/llvm""#,
        ),
        // A `script` line has no name before its list, unlike `artifact` and `rpath`.
        (r#"remove "script" "a""#, r#"script "a" "b" on="linux""#, r#"script "b" on="linux""#),
        (r#"remove "script" "a" "b""#, r#"script "a" "b" on="linux""#, ""),
        (r#"remove "extra" "x" mode="legacy""#, r#"extra "x" package="z" mode="legacy""#, ""),
        (r#"remove "summary""#, r#"summary "Core""#, ""),
    ];
    for (line, removed, added) in cases {
        let changes = difference(&format!("change \"package\" \"core\" {{ {line}; }}"));
        let added: Vec<String> =
            (!added.is_empty()).then(|| format!("  {added}")).into_iter().collect();
        assert_eq!(changes, (vec![format!("  {removed}")], added), "{line}");
    }
}

#[test]
fn applies_properties_of_a_group_to_lines_without_them() {
    let lines = compose(
        r#"package "p" kind="runtime" {
    group on="linux" optional="why" {
        script "a"
        script "b" on="windows"
        group mode="kpack" { artifact "c" "lib"; }
    }
}"#,
    );
    assert_eq!(
        lines[1..],
        [
            r#"  script "a" on="linux" optional="why""#,
            r#"  script "b" on="windows" optional="why""#,
            r#"  artifact "c" "lib" mode="kpack" on="linux" optional="why""#,
        ]
    );
}

#[test]
fn keeps_the_places_of_included_lines() {
    let source =
        Source::new("packages.kdl", "include \"core.kdl\"\nremove \"package\" \"other\"\n");
    let faults = Faults::new(&source);
    let read = |_: &RelPath| Ok(INCLUDED.to_owned());
    let files = ManifestFiles { templates: Vec::new(), read: &read, built_in: None };
    let nodes = file(&faults, &source, FileKind::Packages, Some(&files)).unwrap();
    let package = nodes.last().unwrap();
    let script = package.block.as_ref().unwrap().iter().find(|n| n.name.text == "script").unwrap();
    assert_eq!(faults.at(&script.name.span).to_string(), "core.kdl:7");
    assert_eq!(faults.at(&script.name.span).text(), "script");
}

#[test]
fn reads_includes_of_the_built_in_manifest_from_the_program() {
    let source = Source::new("packages.kdl", "include \"built-in\"\ninclude \"more/a.kdl\"\n");
    let faults = Faults::new(&source);
    let packages = Source::new("<built in>/packages.kdl", "include \"more/a.kdl\"\n");
    let families = Source::new("<built in>/families.kdl", "");
    let built_in = |_: &RelPath| Ok("node \"from the program\"\n".to_owned());
    let files = ManifestFiles {
        templates: Vec::new(),
        read: &|_| Ok("node \"from the directory\"\n".to_owned()),
        built_in: Some(BuiltIn { packages: &packages, families: &families, read: &built_in }),
    };
    let nodes = file(&faults, &source, FileKind::Packages, Some(&files)).unwrap();
    let lines: Vec<String> =
        nodes.iter().map(|node| format!("{} {}", faults.at(&node.name.span), line(node))).collect();
    let expected = [
        r#"<built in>/more/a.kdl:1 node "from the program""#,
        r#"more/a.kdl:1 node "from the directory""#,
    ];
    assert_eq!(lines, expected);
    assert!(faults.into_problems().is_empty());
}

#[test]
fn makes_lines_about_absent_artifacts_optional() {
    let lines = compose(
        r#"ignore "missing-artifact" "a" "own" reason="whole"
ignore "missing-artifact" "b" component="run" reason="part"
ignore "missing-artifact" "d" component="doc" reason="part"
package "p" kind="runtime" {
    artifact "a" "lib" "run" on="linux"
    artifact "b" "lib" "run" "dev" mode="kpack"
    artifact "own" "lib" optional="its own"
    artifact "c" "run"
}
drop "**" artifact="a" reason="x"
drop "**" artifact="d" component="doc" reason="x"
drop "**" artifact="d" component="lib" reason="x"
"#,
    );
    assert_eq!(
        lines,
        [
            r#"package "p" kind="runtime""#,
            r#"  artifact "a" "lib" "run" on="linux" optional="whole""#,
            r#"  artifact "b" mode="kpack" "lib" "dev""#,
            r#"  artifact "b" mode="kpack" "run" optional="part""#,
            r#"  artifact "own" "lib" optional="its own""#,
            r#"  artifact "c" "run""#,
            r#"drop "**" artifact="a" reason="x" optional="whole""#,
            r#"drop "**" artifact="d" component="doc" reason="x" optional="part""#,
            r#"drop "**" artifact="d" component="lib" reason="x""#,
        ]
    );
}
