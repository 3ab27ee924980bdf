//! The KDL reader compared with the crate `kdl`.

use base::source::Source;
use kdl::{KdlDocument, KdlEntry, KdlNode, KdlValue};
use manifest::kdl::{self as ours, Entry, Node, Value};
use proptest::prelude::*;

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

/// Pieces of random texts. `/-` is not compared: the other reader skips less after it.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Texts that the other reader accepts mean the same here; some that it rejects are accepted.
    #[test]
    fn both_readers_agree(pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..12)) {
        let text = pieces.concat();
        let (read, theirs) = (read(&text), theirs(&text));
        if theirs.is_some() {
            prop_assert_eq!(read, theirs, "{:?}", text);
        }
    }
}

#[test]
fn both_readers_agree_on_the_manifest() {
    for name in crate::repository::kdl_files() {
        let text = crate::repository::text(&name);
        assert!(read(&text).is_some() && read(&text) == theirs(&text), "{name}");
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
fn what_is_left_out_is_not_read() {
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

/// Each of these took minutes, gigabytes or the whole stack of backtracking readers.
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
        many("node \"a\" b=1\n"),
    ] {
        let source = Source::new("test.kdl", text);
        if let Err(problems) = ours::parse(&source) {
            assert!(problems.iter().count() <= 101);
            assert!(problems.iter().all(|p| p.message().len() < 1100));
        }
    }
}
