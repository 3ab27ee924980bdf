//! `group on="linux" optional="…" { … }`: its properties count for each line in its block.

use super::{GROUP, words};
use crate::NodeSpec;
use crate::kdl::{Entry, Node};
use crate::reader::Faults;

use base::source::{Code, Problem};

pub(super) fn spread(faults: &Faults, words: &'static [NodeSpec], nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        let spec = words.iter().find(|word| word.name == node.name.text);
        match spec {
            Some(spec) if spec.name == GROUP.name => {
                let shared = properties_of_group(faults, &node);
                let lines = spread(faults, words, node.block.unwrap_or_default());
                out.extend(lines.into_iter().map(|line| give(faults, words, line, &shared)));
            }
            Some(spec) if !spec.nodes.is_empty() => {
                node.block = node.block.map(|block| spread(faults, spec.nodes, block));
                out.push(node);
            }
            // The block of a `change` is spread with the words of its node.
            _ => out.push(node),
        }
    }
    out
}

/// Returns the readable properties of a group; a mistake is reported once, not for each line.
fn properties_of_group(faults: &Faults, node: &Node) -> Vec<Entry> {
    let sound = super::read_line::<words::Group>(faults, node).map(|group| {
        [
            ("mode", group.mode.is_some()),
            ("on", group.on.is_some()),
            ("optional", group.optional.is_some()),
            ("reason", group.reason.is_some()),
            ("expand-devel", group.expand_devel),
        ]
    });
    let sound = sound.unwrap_or_default();
    let is_sound = |entry: &&Entry| entry.key().is_some_and(|key| sound.contains(&(key, true)));
    node.entries.iter().filter(is_sound).cloned().collect()
}

fn give(faults: &Faults, words: &'static [NodeSpec], mut line: Node, shared: &[Entry]) -> Node {
    let Some(spec) = words.iter().find(|word| word.name == line.name.text) else { return line };
    for entry in shared {
        let Some(key) = entry.key() else { continue };
        if line.property(key).is_some() {
            continue;
        }
        if spec.parts.iter().any(|part| !part.takes.is_argument() && part.name == key) {
            line.entries.push(entry.clone());
        } else {
            let message = format!("`{}` takes no `{key}`", spec.name);
            let problem = Problem::error(Code::UnknownProperty, message)
                .label(&faults.at(&line.name.span), "this line is in the group")
                .label(&faults.at(&entry.span), "this property applies to each line of the group");
            faults.report(
                problem.help(format!(
                    "move the line out of the group, and write it as `{}`",
                    spec.usage
                )),
            );
        }
    }
    line
}
