//! `run` in a project.

use super::readme::clean;
use super::{Context, Node};
use crate::{Command, RunScript, Setting};
use base::names::RelPath;
use base::source::{Code, Problem, Source};

/// Bytes that a script may have. Linux passes at most 128 KiB in one argument.
const MOST_OF_SCRIPT: usize = 64 << 10;

pub(super) fn run(node: &mut Node<'_>, context: &Context<'_>) -> Option<Command> {
    let if_there = node.property::<RelPath>("if").map(|file| file.value);
    let has_script = node.has("script");
    let script = script(node, context);
    let words = node.arguments::<Setting>();
    if words.is_empty() && !has_script && node.is_sound() {
        node.fault(format!("`{}` lacks a program", node.title()), "a program has to follow");
        return None;
    }
    Some(Command { words, script, if_there, needs: None })
}

/// Reads the file too. Its text is a source of the manifest.
fn script(node: &mut Node<'_>, context: &Context<'_>) -> Option<RunScript> {
    let path = node.property::<RelPath>("script")?;
    let text = |file: Source| {
        let text = short(clean(file.text())?)?;
        context.faults.add_text(file);
        Ok(text)
    };
    match (context.read)(path.place.source(), &path).and_then(text) {
        Ok(text) => Some(RunScript { path: path.value, text }),
        Err(reason) => {
            let message = format!("the script `{}` cannot be used", *path);
            let problem = Problem::error(Code::RunScript, message).label(&path.place, reason);
            node.report(problem.help("give the path of a shell script beside packages.kdl"));
            None
        }
    }
}

fn short(text: String) -> Result<String, String> {
    if text.len() > MOST_OF_SCRIPT {
        return Err(format!("it is larger than {MOST_OF_SCRIPT} bytes, the limit for a script"));
    }
    Ok(text)
}
