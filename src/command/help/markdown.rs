//! The manifest's vocabulary as Markdown.

use std::fmt::Write as _;

use manifest::KdlFile;

use super::manifest::{NodeInPlace, entries, label, place};

const HEAD: &str = "\
# The nodes of the manifest

Every node of the two KDL files of a manifest. This page is made by `rockpack help manifest
--markdown` from the decoder's own table. Parts in [ ] can be absent.
";

pub fn vocabulary(files: &[KdlFile]) -> String {
    let entries = entries(files);
    let mut text = HEAD.to_owned();
    for file in files {
        let _ =
            writeln!(text, "\n## {}\n\n{}\n\n| node | in | |\n|---|---|---|", file.name, file.does);
        for (index, entry) in entries.iter().enumerate().filter(|(_, e)| e.file == file.name) {
            let name = entry.word.name;
            let owner = entry.owner.map_or_else(String::new, |owner| format!("`{owner}`"));
            let anchor = anchor(&entries[..index], name);
            let _ = writeln!(text, "| [`{name}`](#{anchor}) | {owner} | {} |", entry.word.does);
        }
        entries.iter().filter(|e| e.file == file.name).for_each(|entry| section(entry, &mut text));
    }
    text
}

/// Returns the anchor of a section: repeated names get a number.
fn anchor(before: &[NodeInPlace], name: &str) -> String {
    match before.iter().filter(|e| e.word.name == name).count() {
        0 => name.to_owned(),
        count => format!("{name}-{count}"),
    }
}

fn section(entry: &NodeInPlace, text: &mut String) {
    let word = entry.word;
    let _ = writeln!(
        text,
        "\n### {}\n\n{} {}\n\n```text\n{}\n```",
        word.name,
        word.does,
        place(entry),
        word.usage
    );
    if !word.parts.is_empty() {
        text.push_str("\n| | |\n|---|---|\n");
        for part in word.parts {
            let _ = writeln!(text, "| `{}` | {} |", label(part), part.says);
        }
    }
    let _ = writeln!(text, "\nFor example:\n\n```kdl\n{}\n```", word.example);
}
