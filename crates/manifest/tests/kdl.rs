//! The KDL reader: the crate `kdl`, behind checks that know more mistakes.

use std::path::PathBuf;

use base::source::{Code, Problem, Source};
use kdl::{KdlDocument, KdlEntry, KdlNode, KdlValue};
use manifest::kdl::{self as ours, Entry, MOST_BYTES, MOST_DEPTH, Node, Value};
use proptest::prelude::*;

use super::repository;

/// Returns the content of a document as one text.
fn theirs(text: &str) -> Option<String> {
    let document = KdlDocument::parse_v2(text).ok()?;
    Some(document.nodes().iter().map(their_node).collect())
}

fn their_node(node: &KdlNode) -> String {
    let block = node.children().map(|block| block.nodes().iter().map(their_node).collect());
    let entries: String = node.entries().iter().map(their_entry).collect();
    let annotation = node.ty().map(kdl::KdlIdentifier::value);
    shown(annotation, node.name().value(), &entries, block)
}

fn their_entry(entry: &KdlEntry) -> String {
    let value = match entry.value() {
        KdlValue::String(text) => format!("{text:?}"),
        KdlValue::Integer(number) => number.to_string(),
        KdlValue::Float(_) => "number".to_owned(),
        KdlValue::Bool(value) => format!("#{value}"),
        KdlValue::Null => "#null".to_owned(),
    };
    let text = |name: Option<&'_ kdl::KdlIdentifier>| name.map(|name| name.value().to_owned());
    format!(" {:?} {:?} {value}", text(entry.name()), text(entry.ty()))
}

fn read(text: &str) -> Option<String> {
    let nodes = ours::parse(&Source::new("test.kdl", text)).ok()?;
    Some(nodes.iter().map(our_node).collect())
}

fn our_node(node: &Node) -> String {
    let block = node.block.as_ref().map(|block| block.iter().map(our_node).collect());
    let entries: String = node.entries.iter().map(our_entry).collect();
    let annotation = node.annotation.as_ref().map(|name| name.text.as_str());
    shown(annotation, &node.name.text, &entries, block)
}

fn our_entry(entry: &Entry) -> String {
    let value = match &entry.value {
        Value::Text(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Number => "number".to_owned(),
        Value::Bool(value) => format!("#{value}"),
        Value::Null => "#null".to_owned(),
    };
    let annotation = entry.annotation.as_ref().map(|name| name.text.as_str());
    format!(" {:?} {annotation:?} {value}", entry.key())
}

fn shown(annotation: Option<&str>, name: &str, entries: &str, block: Option<String>) -> String {
    let block = block.map(|block| format!(" {{\n{block}}}")).unwrap_or_default();
    format!("{annotation:?} {name:?}{entries}{block}\n")
}

/// Pieces of random texts.
const PIECES: &[&str] = &[
    "a",
    "b",
    "\"c\"",
    "\"d\\n\\\"\\u{e9}\"",
    "#\"e\\\"#",
    "##\"\"#\"##",
    "\"\"",
    "1",
    "-2",
    "+0x1f",
    "1.5e3",
    "0b1_0",
    "#true",
    "#null",
    "#-inf",
    "=",
    "=",
    " ",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\r\n",
    ";",
    "{",
    "}",
    " {",
    "\n}",
    "// x\n",
    " /* y */",
    " /*/**/*/",
    "\\\n",
    "\\ // z\n",
    "(t)",
    "(\"u\")",
    "\t",
    "\u{3000}",
    "é",
    "--",
    "\"\"\"\n  f\n    g\n  \"\"\"",
    "#\"\"\"\n h\n \"\"\"#",
    "\"i\\\n   j\"",
    "true",
    "3.10.1",
];

/// Pieces with mistakes and with parts left out.
const ODD_PIECES: &[&str] = &[
    "/-",
    "/*",
    "*/",
    "\"",
    "\"\"\"",
    "#\"",
    "\\",
    "\\d",
    "\\u{d800}",
    "[",
    "]",
    "(",
    ")",
    "'x'",
    ",",
    ":",
    "#",
    "#True",
    ">=3",
    "0x",
    "1_a",
    "-.5",
    "\u{b}",
    "\u{2028}",
    "\u{feff}",
    "lib/*",
    "{a,b}",
    "999999999999999999999999999999999999999999",
];

fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let piece =
        prop_oneof![4 => prop::sample::select(PIECES), 1 => prop::sample::select(ODD_PIECES)];
    proptest::collection::vec(piece, 0..16)
}

/// Panics if a place is outside of the text, or if the crate finds a mistake that the checks before
/// it did not find.
fn judge(problems: &[Problem], text: &str) {
    for problem in problems {
        assert!(
            !problem.message().starts_with("the KDL reader"),
            "{text:?}: {}",
            problem.message()
        );
        for (place, _) in problem.labels() {
            assert!(place.start() <= text.len(), "{text:?}");
        }
    }
}

/// Panics if the bytes of a value are not that value.
fn has_places(nodes: &[Node], text: &str) {
    for node in nodes {
        let written = |span: &std::ops::Range<usize>| read(&format!("{}\n", &text[span.clone()]));
        assert!(
            written(&node.name.span)
                .is_some_and(|name| name.contains(&*format!("{:?}", node.name.text)))
        );
        for entry in &node.entries {
            let value = read(&format!("a {}\n", &text[entry.value_span.clone()])).unwrap();
            let plain = Entry { name: None, annotation: None, ..entry.clone() };
            assert_eq!(value, format!("None \"a\"{}\n", our_entry(&plain)), "{text:?}");
            assert_eq!(entry.span.end, entry.value_span.end, "{text:?}");
        }
        has_places(node.block.as_deref().unwrap_or_default(), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Texts that the crate alone reads mean the same here.
    #[test]
    fn checks_change_no_meaning(pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..12)) {
        let text = pieces.concat();
        if let Some(theirs) = theirs(&text) {
            prop_assert_eq!(read(&text), Some(theirs), "{:?}", text);
        }
    }

    #[test]
    fn any_text_is_nodes_with_places_or_mistakes_with_places(pieces in pieces()) {
        let text = pieces.concat();
        match ours::parse(&Source::new("test.kdl", text.as_str())) {
            Ok(nodes) => has_places(&nodes, &text),
            Err(problems) => judge(&problems.iter().cloned().collect::<Vec<_>>(), &text),
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}|[ -~\n]{0,60}") {
        drop(ours::parse(&Source::new("test.kdl", text)));
    }
}

#[test]
fn both_parsers_read_the_manifest_alike() {
    let included = fs_err::read_dir(repository().join("manifest")).unwrap();
    let included = included.map(|entry| entry.unwrap().path());
    let files = ["packages.kdl", "families.kdl"].map(|name| repository().join(name));
    let is_kdl = |file: &PathBuf| file.extension().is_some_and(|end| end == "kdl");
    for file in files.into_iter().chain(included).filter(is_kdl) {
        let text = fs_err::read_to_string(&file).unwrap();
        assert!(read(&text).is_some() && read(&text) == theirs(&text), "{}", file.display());
    }
}

/// A text that the generator found, and others like it.
#[test]
fn assignments_to_any_name_are_mistakes() {
    for text in ["é =", "é = 1", "a 1\n  é = 2", "a 1\n  \"c\" = 2", "a 1\n  é=2"] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn slashdash_nodes_are_not_read() {
    let plain = read("a 1\nb {\n}").unwrap();
    for text in [
        "a 1 /-2\nb /-x=3 {\n}",
        "/-c 1 { d }\na 1\nb {\n /-e\n}",
        "/- // why\n c\na /-\"x\" 1\nb {} /-{ f }",
        "a 1\nb /-{ f } {}",
        "\u{feff}a \\ // why\r\n 1;;b {} ; ",
    ] {
        assert_eq!(read(text).as_ref(), Some(&plain), "{text:?}");
    }
    assert!(read("").is_some_and(|nodes| nodes.is_empty()));
    assert!(read("/-").is_none() && read("a { /- }").is_none());
}

fn code(text: String) -> Option<Code> {
    let problems = ours::parse(&Source::new("test.kdl", text)).err()?;
    Some(problems.iter().next()?.code())
}

#[test]
fn limits_hold_before_reading() {
    let nested = |open: &str, depth: usize| open.repeat(depth) + &"}".repeat(depth);
    for open in ["a {", "/-a {\n", "a /-{ b; ", "a\n/-b 1 /-2 {"] {
        assert_eq!(code(nested(open, MOST_DEPTH)), None, "{open}");
        assert_eq!(code(nested(open, MOST_DEPTH + 1)), Some(Code::Limit), "{open}");
    }
    let layout = |depth| ours::layout(&Source::new("test.kdl", nested("a {\n", depth)));
    assert!(layout(300).is_ok());
    let problems = layout(MOST_DEPTH).unwrap_err();
    let message = "test.kdl, formatted, is larger than the limit of 1 MiB";
    assert!(problems.iter().all(|problem| problem.message() == message));
    let large = "node \"a\" b=1\n".repeat(1_000_000);
    assert!(large.len() as u64 > 10 * MOST_BYTES);
    assert_eq!(code(large), Some(Code::Limit));
    assert_eq!(code(format!("/{}/ a", "*".repeat(200_000))), None);
    assert_eq!(code("/*".repeat(100_000) + &"*/".repeat(100_000)), None);
}

/// Each of these takes minutes, gigabytes or the whole stack of the crate alone.
#[test]
fn large_and_deep_texts_end_soon() {
    let many = |piece: &str| piece.repeat(100_000);
    for text in [
        "a{".repeat(1500) + &"}".repeat(1500),
        "/*".repeat(5000),
        "a /-{ ".repeat(31) + &"}".repeat(31),
        "/-a {".repeat(1500) + &"}".repeat(1500),
        many("/-"),
        many("// a comment of some length, as they are\n"),
        many("/* a */"),
        many("{"),
        many("}"),
        many("["),
        many("! {\n} "),
        many("a = 1\n"),
        many("a 'x'; "),
        "a ".to_owned() + &many("[a]"),
        "a ".to_owned() + &many("\"b\", "),
        "a ".to_owned() + &many("\\ "),
        many("<<<<<<< a\n=======\n"),
        many("\""),
        many("#"),
        many("a b;"),
    ] {
        let source = Source::new("test.kdl", text);
        if let Err(problems) = ours::parse(&source) {
            assert!(problems.iter().count() <= 101);
            assert!(problems.iter().all(|p| p.message().len() < 1100));
        }
    }
}
