//! Passages of prose: comments, string literals and paragraphs of pages.

use std::path::Path;

use fs_err as fs;
use walkdir::WalkDir;

use crate::architecture::rust_text::{Kind, token};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Comments of `src` and `crates`.
    Comments,
    /// String literals of `src` and `crates` with four words or more, except in tests: messages,
    /// helps, notes.
    Texts,
    /// Markdown, the changelog excepted.
    Pages,
}

/// Text without the marks of its language, in one line.
pub struct Passage {
    /// Path below the checkout.
    pub file: String,
    /// First line, from 1.
    pub line: usize,
    pub text: String,
    /// Doc comments: `///` and `//!`.
    pub documents: bool,
}

impl Passage {
    pub fn words(&self) -> usize {
        self.text.split_whitespace().count()
    }
}

/// Returns the passages of all files of an area.
pub fn of_checkout(area: Area) -> Vec<Passage> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (directories, extension): (&[&str], _) = match area {
        Area::Pages => (
            &["docs", "crates", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"],
            "md",
        ),
        Area::Comments | Area::Texts => (&["src", "crates"], "rs"),
    };
    let mut passages = Vec::new();
    for entry in
        directories.iter().flat_map(|name| WalkDir::new(root.join(name)).sort_by_file_name())
    {
        let entry = entry.unwrap();
        if entry.path().extension().is_none_or(|other| other != extension) {
            continue;
        }
        let file = entry.path().strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        let text = fs::read_to_string(entry.path()).unwrap();
        match area {
            Area::Comments => comments(&file, &text, &mut passages),
            Area::Texts if file.contains("test") => {}
            Area::Texts => literals(&file, &text, &mut passages),
            Area::Pages => paragraphs(&file, &text, &mut passages),
        }
    }
    passages
}

/// Joins comments of one kind on consecutive lines.
fn comments(file: &str, source: &str, passages: &mut Vec<Passage>) {
    let mut before = None;
    for (index, line) in source.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//").map(|rest| {
            let documents = rest.starts_with(['/', '!']);
            (documents, rest.strip_prefix(['/', '!']).unwrap_or(rest).trim())
        });
        if let Some((documents, text)) = comment {
            match passages.last_mut() {
                Some(last) if before == Some(documents) => {
                    last.text.push(' ');
                    last.text.push_str(text);
                }
                _ => passages.push(Passage {
                    file: file.to_owned(),
                    line: index + 1,
                    text: text.to_owned(),
                    documents,
                }),
            }
        }
        before = comment.map(|(documents, _)| documents);
    }
}

fn literals(file: &str, source: &str, passages: &mut Vec<Passage>) {
    let (mut rest, mut line) = (source, 1);
    while !rest.is_empty() {
        let (kind, length) = token(rest);
        let (part, after) = rest.split_at(length);
        if kind == Kind::String {
            let text = part.replace("\\n", " ").replace("\\\n", " ");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.split(' ').count() > 3 {
                passages.push(Passage { file: file.to_owned(), line, text, documents: false });
            }
        }
        line += part.matches('\n').count();
        rest = after;
    }
}

/// Paragraphs, items and rows outside blocks of code; inline code counts as one word.
fn paragraphs(file: &str, text: &str, passages: &mut Vec<Passage>) {
    let mut in_code = false;
    let mut paragraph: Option<Passage> = None;
    for (index, line) in text.lines().enumerate() {
        let line_of_text = line.trim();
        let fence = line_of_text.starts_with("```");
        in_code ^= fence;
        if fence || in_code || line_of_text.is_empty() {
            passages.extend(paragraph.take());
            continue;
        }
        if line_of_text.starts_with(['-', '|', '#', '*']) {
            passages.extend(paragraph.take());
        }
        let new = || Passage {
            file: file.to_owned(),
            line: index + 1,
            text: String::new(),
            documents: false,
        };
        let into = paragraph.get_or_insert_with(new);
        into.text.push_str(&without_code(line_of_text));
        into.text.push(' ');
    }
    passages.extend(paragraph);
}

/// `x` in place of each span of code.
fn without_code(line: &str) -> String {
    let parts: Vec<_> = line.split('`').collect();
    parts.iter().enumerate().map(|(index, part)| if index % 2 == 0 { *part } else { "x" }).collect()
}
