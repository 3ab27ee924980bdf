//! Topics of `rockpack help`.

use base::source::Code;
use clap::{Command, CommandFactory};
use clap_complete::engine::CompletionCandidate;
use manifest::{KdlFile, VOCABULARY};

use super::{Line, beginning};
use crate::cli::Cli;

/// Commands and `manifest`; after the first letter also codes, which are many.
pub fn topics(begin: &str) -> Vec<CompletionCandidate> {
    let root = Cli::command();
    let commands = shown(&root).map(|name| (name, None));
    let codes = Code::ALL.iter().filter(|_| !begin.is_empty());
    let codes = codes.map(|code| (code.as_str(), Some(code.meaning())));
    beginning(begin, commands.chain([("manifest", None)]).chain(codes))
}

/// Subcommands of the topic, or nodes of the manifest.
pub fn names(begin: &str, line: &Line) -> Option<Vec<CompletionCandidate>> {
    let topic = line.text("topic")?;
    if topic == "manifest" {
        let nodes = VOCABULARY.iter().flat_map(KdlFile::words).map(|(_, node)| (node.name, None));
        return Some(beginning(begin, nodes));
    }
    let root = Cli::whole();
    let subcommands = shown(root.find_subcommand(topic)?).map(|name| (name, None));
    Some(beginning(begin, subcommands))
}

fn shown(command: &Command) -> impl Iterator<Item = &str> {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown.map(Command::get_name).filter(|name| *name != "help")
}
