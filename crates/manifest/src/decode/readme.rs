//! `readme` in a package.

use super::{Context, Node};
use crate::{Readme, ReadmeFormat};
use base::names::RelPath;
use base::source::{Code, Problem, Spanned};

/// Reads the file too: what stands in it is checked with the line that names it.
pub(super) fn readme(node: &mut Node<'_>, context: &Context<'_>) -> Option<Readme> {
    let path = node.argument::<RelPath>("a file")?;
    let refuse = |message: String, label: String, help: &str| {
        let problem = Problem::error(Code::Readme, message).label(&path.place, label);
        node.report(problem.help(help));
    };
    let Some(format) = ReadmeFormat::of(&path) else {
        refuse(
            format!("`{}` is not a readme that index servers render", *path),
            "its name has to end in `.md`, `.rst` or `.txt`".to_owned(),
            "write it in Markdown, reStructuredText or plain text, and name it so",
        );
        return None;
    };
    match (context.read)(path.place.source(), &path).and_then(|file| clean(file.text())) {
        Ok(text) => {
            let Spanned { value, place } = path;
            Some(Readme { path: Spanned::new(value, place), format, text })
        }
        Err(reason) => {
            refuse(
                format!("the readme `{}` cannot be used", *path),
                reason,
                "give the path of a text beside packages.kdl, or leave the line out: then one is made",
            );
            None
        }
    }
}

/// The text with `\n` at the end of its lines, or the reason why it is no plain text.
pub(super) fn clean(text: &str) -> Result<String, String> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let found =
        text.lines().zip(1..).find_map(|(line, at)| Some((at, line.chars().find(|c| odd(*c))?)));
    match found {
        Some((line, c)) => {
            Err(format!("line {line} has the control character U+{:04X}", u32::from(c)))
        }
        None => Ok(text),
    }
}
