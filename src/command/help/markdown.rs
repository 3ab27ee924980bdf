//! The manifest's vocabulary as Markdown.

use std::collections::HashMap;
use std::fmt::Write as _;

use manifest::KdlFile;

use super::manifest::{NodeInPlace, entries, label, place};

/// Nodes with the same part from which the page describes the part once: fewer are nearer to their
/// reader in place.
const MANY: usize = 5;

const HEAD: &str = "\
# The nodes of the manifest

Every node of the two KDL files of a manifest, and of a ledger. This page is made by `rockpack help manifest
--markdown` from the decoder's own table. Parts in [ ] can be absent.
";

/// Label and description of a part.
type Part = (String, &'static str);

pub fn vocabulary(files: &[KdlFile]) -> String {
    let entries = entries(files);
    let common = common_parts(&entries);
    let mut text = HEAD.to_owned();
    text.push_str("\nParts of many nodes, not repeated below:\n");
    table(&common, &mut text);
    for file in files {
        let _ =
            writeln!(text, "\n## {}\n\n{}\n\n| node | in | |\n|---|---|---|", file.name, file.does);
        for (index, entry) in entries.iter().enumerate().filter(|(_, e)| e.file == file.name) {
            let name = entry.word.name;
            let owner = entry.owner.map_or_else(String::new, |owner| format!("`{owner}`"));
            let anchor = anchor(&entries[..index], name);
            let _ = writeln!(text, "| [`{name}`](#{anchor}) | {owner} | {} |", entry.word.does);
        }
        for (index, entry) in entries.iter().enumerate().filter(|(_, e)| e.file == file.name) {
            section(entry, &entries[..index], &common, &mut text);
        }
    }
    text
}

/// Returns the parts that many nodes have with the same description, in the order of their first
/// node.
fn common_parts(entries: &[NodeInPlace]) -> Vec<Part> {
    let mut counts = HashMap::<Part, usize>::new();
    let mut common = Vec::new();
    for part in entries.iter().flat_map(parts) {
        let count = counts.entry(part.clone()).or_default();
        *count += 1;
        if *count == MANY {
            common.push(part);
        }
    }
    common
}

fn parts(entry: &NodeInPlace) -> impl Iterator<Item = Part> {
    entry.word.parts.iter().map(|part| (label(part), part.says))
}

fn table(parts: &[Part], text: &mut String) {
    text.push_str("\n| | |\n|---|---|\n");
    for (label, says) in parts {
        let _ = writeln!(text, "| `{label}` | {says} |");
    }
}

/// Returns the anchor of a section: repeated names get a number.
fn anchor(before: &[NodeInPlace], name: &str) -> String {
    match before.iter().filter(|e| e.word.name == name).count() {
        0 => name.to_owned(),
        count => format!("{name}-{count}"),
    }
}

fn section(entry: &NodeInPlace, before: &[NodeInPlace], common: &[Part], text: &mut String) {
    let word = entry.word;
    let _ = writeln!(text, "\n### {}\n\n{} {}", word.name, word.does, place(entry));
    let body = body(entry, common);
    let is_equal = |earlier: &NodeInPlace| {
        earlier.word.name == word.name && self::body(earlier, common) == body
    };
    match before.iter().position(is_equal) {
        Some(index) => {
            let owner = before[index].owner.unwrap_or(before[index].file);
            let anchor = anchor(&before[..index], word.name);
            let _ = writeln!(text, "Written as [in {owner}](#{anchor}).");
        }
        None => text.push_str(&body),
    }
}

/// Usage, parts and example of a node.
fn body(entry: &NodeInPlace, common: &[Part]) -> String {
    let mut text = format!("\n```text\n{}\n```\n", entry.word.usage);
    let parts: Vec<Part> = parts(entry).filter(|part| !common.contains(part)).collect();
    if !parts.is_empty() {
        table(&parts, &mut text);
    }
    let _ = writeln!(text, "\nFor example:\n\n```kdl\n{}\n```", entry.word.example);
    text
}
