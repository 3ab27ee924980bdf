//! The manifest's vocabulary for terminals.

use std::fmt::Write as _;

use manifest::{ArgKind, ArgSpec, Arity, KdlFile, NodeSpec, PackageKind};
use textwrap::{Options, WordSeparator, WordSplitter};

use crate::ui::bold;

const INTRODUCTION: &str = "The files are KDL: a node has a name, arguments, properties (`name=…`) and perhaps a block of nodes \
     in `{ }`. Quote versions, paths and globs. A line that nothing reads is an error, and so is one that matches nothing. Parts \
     in [ ] below can be absent.";

pub struct NodeInPlace {
    pub word: &'static NodeSpec,
    /// Node of the enclosing block.
    pub owner: Option<&'static str>,
    pub file: &'static str,
}

/// Returns every node before the nodes in its block.
pub fn entries(files: &[KdlFile]) -> Vec<NodeInPlace> {
    let nodes = |file: &KdlFile| {
        let name = file.name;
        file.words().into_iter().map(move |(owner, word)| NodeInPlace { word, owner, file: name })
    };
    files.iter().flat_map(nodes).collect()
}

pub fn vocabulary(files: &[KdlFile], width: usize) -> String {
    let mut text = String::new();
    for file in files {
        columns(&mut text, 0, &[(file.name.to_owned(), file.does)], width);
    }
    text.push('\n');
    paragraph(&mut text, 0, INTRODUCTION, width);
    for file in files {
        let _ = writeln!(text, "\n{}", bold(file.name));
        columns(&mut text, 2, &index(file.nodes, 0), width);
    }
    for entry in entries(files) {
        let _ = write!(text, "\n{}", self::entry(&entry, width));
    }
    text
}

fn index(words: &[NodeSpec], depth: usize) -> Vec<(String, &'static str)> {
    let mut lines = Vec::new();
    for word in words {
        lines.push((format!("{}{}", "  ".repeat(depth), word.name), word.does));
        lines.extend(index(word.nodes, depth + 1));
    }
    lines
}

pub fn entry(entry: &NodeInPlace, width: usize) -> String {
    let word = entry.word;
    let mut text = format!("{}\n", bold(word.name));
    paragraph(&mut text, 4, word.does, width);
    let _ = writeln!(text, "\n      {}\n", word.usage);
    if !word.parts.is_empty() {
        let parts: Vec<(String, &str)> =
            word.parts.iter().map(|part| (label(part), part.says)).collect();
        columns(&mut text, 6, &parts, width);
        text.push('\n');
    }
    if !word.nodes.is_empty() {
        let names: Vec<&str> = word.nodes.iter().map(|node| node.name).collect();
        paragraph(&mut text, 4, &format!("In its block: {}.", names.join(", ")), width);
    }
    paragraph(&mut text, 4, &place(entry), width);
    text.push_str("    Example:\n");
    for line in word.example.lines() {
        let _ = writeln!(text, "      {line}");
    }
    text
}

/// Puts optional parts in brackets.
pub fn label(part: &ArgSpec) -> String {
    let name = match part.takes {
        ArgKind::Argument | ArgKind::OptionalArgument => part.name.to_owned(),
        ArgKind::Arguments | ArgKind::OneOrMore => format!("{} …", part.name),
        ArgKind::Required | ArgKind::Optional | ArgKind::Flag | ArgKind::Count => {
            format!("{}=", part.name)
        }
    };
    if part.takes.is_required() { name } else { format!("[{name}]") }
}

/// Returns `In package of kind runtime or devel, any number of times.`
pub fn place(entry: &NodeInPlace) -> String {
    let (owner, kinds) = (entry.owner.unwrap_or(entry.file), kinds(entry.word.kinds));
    let times = match entry.word.times {
        Arity::Once => "exactly once",
        Arity::AtMostOnce => "at most once",
        Arity::AtLeastOnce => "once or more",
        Arity::Any => "any number of times",
    };
    format!("In {owner}{kinds}, {times}.")
}

fn kinds(kinds: &[PackageKind]) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    match names.as_slice() {
        [] | [_, _, _] => String::new(),
        some => format!(" of kind {}", some.join(" or ")),
    }
}

pub fn paragraph(text: &mut String, indent: usize, words: &str, width: usize) {
    let indent = " ".repeat(indent);
    let _ = writeln!(text, "{}", textwrap::fill(words, wrapped(width, &indent, &indent)));
}

pub fn columns(text: &mut String, indent: usize, lines: &[(String, &str)], width: usize) {
    let widest = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let hanging = " ".repeat(indent + widest + 2);
    for (name, words) in lines {
        let start = format!("{:indent$}{name:widest$}  ", "");
        let _ = writeln!(text, "{}", textwrap::fill(words, wrapped(width, &start, &hanging)));
    }
}

/// Breaks lines only at spaces, so that options and globs stay whole.
fn wrapped<'a>(width: usize, first: &'a str, rest: &'a str) -> Options<'a> {
    let options = Options::new(width).initial_indent(first).subsequent_indent(rest);
    options.word_separator(WordSeparator::AsciiSpace).word_splitter(WordSplitter::NoHyphenation)
}
