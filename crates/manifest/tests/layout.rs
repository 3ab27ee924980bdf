//! Layout of KDL: formatting keeps the meaning and all comments, and repeating it changes nothing.

use std::path::PathBuf;

use base::source::Source;
use fs_err as fs;
use manifest::kdl::{self, Node};
use proptest::prelude::*;
use walkdir::{DirEntry, WalkDir};

use super::repository;

/// Returns every KDL file of the repository.
fn kdl_files() -> Vec<PathBuf> {
    let below = ["tests", "crates", "src", "fuzz", "benches", "manifest"];
    // `target` holds copies, so only the files of the top directory itself.
    let places = below.map(|directory| (directory, usize::MAX)).into_iter().chain([(".", 1)]);
    let files = places.flat_map(|(directory, depth)| {
        let walk = WalkDir::new(repository().join(directory)).max_depth(depth);
        walk.into_iter().filter_map(Result::ok).map(DirEntry::into_path)
    });
    files.filter(|path| path.extension().is_some_and(|end| end == "kdl")).collect()
}

/// Returns the content of nodes, without places.
fn content(nodes: &[Node]) -> String {
    let name = |name: &Option<kdl::Name>| name.as_ref().map(|name| name.text.clone());
    let one = |node: &Node| {
        let entries =
            node.entries.iter().map(|e| (name(&e.name), name(&e.annotation), e.value.clone()));
        let entries: Vec<_> = entries.collect();
        let block = node.block.as_deref().map(content);
        format!("{:?} {} {entries:?} {block:?}\n", name(&node.annotation), node.name.text)
    };
    nodes.iter().map(one).collect()
}

/// Returns the line comments of a text; no line has `//` in a string.
fn comments(text: &str) -> Vec<String> {
    let comment = |line: &str| line.split_once("// ").map(|(_, c)| c.trim_end().to_owned());
    text.lines().filter_map(comment).collect()
}

#[test]
fn formatting_is_idempotent_and_keeps_the_document() {
    let mut count = 0;
    for path in kdl_files() {
        let Ok(before) = fs::read_to_string(&path) else { continue };
        let source = Source::new("a.kdl", before.as_str());
        let Ok(nodes) = kdl::parse(&source) else {
            assert!(kdl::layout(&source).is_err(), "{}", path.display());
            continue;
        };
        // Also with bad formatting: no indentation, and repeated blanks.
        for rough in [before.clone(), roughened(&before)] {
            let rough = Source::new("a.kdl", rough);
            let after = kdl::layout(&rough).unwrap();
            let after = Source::new("a.kdl", after);
            assert_eq!(
                content(&kdl::parse(&after).unwrap()),
                content(&nodes),
                "{}",
                path.display()
            );
            assert_eq!(comments(after.text()), comments(&before), "{}", path.display());
            assert_eq!(kdl::layout(&after).unwrap(), after.text(), "{}", path.display());
            assert!(!after.text().contains("\n\n\n") && !after.text().contains(" \n"));
        }
        count += 1;
    }
    assert!(count > 100, "{count} files");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Any valid text is formatted with the same meaning, and repeating it changes nothing.
    #[test]
    fn any_text_is_laid_out(pieces in proptest::collection::vec(prop::sample::select(vec![
        "a", "b", " ", " ", "  ", "\t", "\n", "\n", "\r\n", " { ", "{", "}", " }", ";", "; ", "=", "(t)", "\"x y\"", "1", "#true",
        "c=1", " d=\"e\"", "// c\n", "/* d\n */", "/-", " /- ", " \\\n", "\\ // e\n", "\"\"\"\n  f\n  \"\"\"", "#\"g\"#",
    ]), 0..14)) {
        let before = Source::new("a.kdl", pieces.concat());
        let Ok(nodes) = kdl::parse(&before) else { return Ok(()) };
        let after = kdl::layout(&before);
        prop_assert!(after.is_ok(), "{:?}: {:?}", before.text(), after);
        let after = Source::new("a.kdl", after.unwrap());
        prop_assert_eq!(content(&kdl::parse(&after).unwrap()), content(&nodes), "{:?}", before.text());
        prop_assert_eq!(kdl::layout(&after).unwrap(), after.text(), "{:?}", before.text());
        for comment in ["// c", "// e", "/* d\n */"] {
            let count = |text: &str| text.matches(comment).count();
            prop_assert_eq!(count(after.text()), count(before.text()), "{:?}", before.text());
        }
    }
}

/// Changes indentation and adds blank lines; multi-line strings stay.
fn roughened(text: &str) -> String {
    if text.contains("\"\"\"") || text.contains("\\\n") || text.contains("/*") {
        return text.to_owned();
    }
    let line = |(at, line): (usize, &str)| {
        format!("{}{}\r\n{}", " ".repeat(at % 7), line.trim(), "\n".repeat(at % 3))
    };
    text.lines().enumerate().map(line).collect()
}
