//! `change "package" "core" { … }`: lines for the block of a node that an included file has.

use super::CHANGE;
use super::{Edit, apply, arguments, edit, group, read_line, words};
use crate::kdl;
use crate::reader::Faults;
use crate::{Arity, NodeSpec};
use base::source::{Code, Problem, Spanned, nearest};

pub(super) struct Change {
    node: Spanned<String>,
    name: Option<Spanned<String>>,
    lines: Vec<kdl::Node>,
}

pub(super) fn read(
    faults: &Faults,
    words: &'static [NodeSpec],
    line: &kdl::Node,
) -> Option<Change> {
    let words::Change { word: node, name } = read_line::<words::Change>(faults, line)?;
    let block = line.block.clone().filter(|block| !block.is_empty())?;
    let Some(spec) = words.iter().find(|spec| spec.name == node.value) else {
        faults.report(unknown(&node, words));
        return None;
    };
    if spec.nodes.is_empty() {
        let message = format!("`{}` has no block to change", node.value);
        let problem =
            Problem::error(Code::UnexpectedBlock, message).label(&node.place, "this node");
        faults.report(problem.help("remove its line with `remove`, and write a new line"));
        return None;
    }
    let lines = group::spread(faults, spec.nodes, block);
    Some(Change { node, name, lines })
}

impl Change {
    pub(super) fn apply(
        self,
        faults: &Faults,
        owner: &str,
        words: &'static [NodeSpec],
        nodes: &mut [kdl::Node],
    ) {
        let Some(spec) = words.iter().find(|word| word.name == self.node.value) else { return };
        let name = self.name.as_ref().map(|name| name.value.as_str());
        let title = title(&self.node.value, name);
        let is_changed = |node: &&mut kdl::Node| {
            node.name.text == spec.name && name.is_none_or(|name| node.first_text() == Some(name))
        };
        let mut matches: Vec<&mut kdl::Node> = nodes.iter_mut().filter(is_changed).collect();
        match matches.as_mut_slice() {
            [node] => lines(faults, &format!("`{title}`"), spec.nodes, node, self.lines),
            [] => {
                let names: Vec<String> = nodes
                    .iter()
                    .filter(|node| node.name.text == spec.name)
                    .filter_map(|node| node.first_text().map(str::to_owned))
                    .collect();
                faults.report(self.absent(owner, &title, &names));
            }
            [first, second, ..] => {
                let problem = Problem::error(
                    Code::GivenTwice,
                    format!("{owner} has several nodes `{title}`"),
                )
                .label(&self.node.place, "ambiguous")
                .label(&faults.at(&first.name.span), "one")
                .label(&faults.at(&second.name.span), "another");
                faults.report(problem.help(format!("add its name: {}", CHANGE.usage)));
            }
        }
    }

    fn absent(&self, owner: &str, title: &str, existing: &[String]) -> Problem {
        let problem = Problem::error(Code::ChangesNothing, format!("{owner} has no `{title}`"));
        let (place, near) = match &self.name {
            Some(name) => (&name.place, nearest(&name.value, existing.iter().map(String::as_str))),
            None => (&self.node.place, None),
        };
        let label =
            near.map_or("unknown name".to_owned(), |near| format!("did you mean `{near}`?"));
        problem
            .label(place, label)
            .help("`change` edits nodes of included files; write a new node without `change`")
    }
}

/// Adds lines to a node's block. A line that it can have once replaces the existing line.
fn lines(
    faults: &Faults,
    owner: &str,
    words: &'static [NodeSpec],
    node: &mut kdl::Node,
    lines: Vec<kdl::Node>,
) {
    let block = node.block.get_or_insert_default();
    for line in lines {
        if matches!(line.name.text.as_str(), "change" | "remove") {
            let edits: Vec<Edit> = edit(faults, words, &line).into_iter().collect();
            apply(faults, owner, words, block, edits);
            continue;
        }
        let once = |spec: &NodeSpec| matches!(spec.times, Arity::Once | Arity::AtMostOnce);
        let alone = words.iter().any(|spec| spec.name == line.name.text && once(spec));
        match block.iter_mut().find(|existing| alone && existing.name.text == line.name.text) {
            Some(existing) => *existing = line,
            None => block.push(line),
        }
    }
}

pub(super) fn unknown(word: &Spanned<String>, words: &'static [NodeSpec]) -> Problem {
    let names = || words.iter().map(|spec| spec.name);
    let label = match nearest(&word.value, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "unknown node".to_owned(),
    };
    let problem = Problem::error(Code::UnknownNode, format!("unknown node `{}`", word.value));
    problem
        .label(&word.place, label)
        .help("`rockpack help manifest` lists all nodes and their places")
}

pub(super) fn title(node: &str, name: Option<&str>) -> String {
    name.map_or_else(|| node.to_owned(), |name| format!("{node} \"{name}\""))
}

pub(super) fn names<'n>(nodes: &'n [kdl::Node], name: &str) -> Vec<&'n str> {
    nodes.iter().filter(|node| node.name.text == name).flat_map(arguments).collect()
}
