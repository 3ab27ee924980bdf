//! `remove "script" "rocgdb"`: removes lines of an included file.

use super::REMOVE;
use super::change::{names, title, unknown};
use super::{arguments, read_line, words};
use crate::kdl::{Entry, Node};
use crate::reader::Faults;
use crate::{ArgKind, Arity, NodeSpec};
use base::source::{Code, Place, Problem, Spanned, nearest};

pub(super) struct Removal {
    node: Spanned<String>,
    names: Vec<Spanned<String>>,
    properties: Vec<(&'static str, String)>,
}

pub(super) fn read(faults: &Faults, line: &Node) -> Option<Removal> {
    let words::Remove { word: node, names, mode, on, component, artifact, package, within } =
        read_line::<words::Remove>(faults, line)?;
    let properties = [
        ("mode", mode),
        ("on", on),
        ("component", component),
        ("artifact", artifact),
        ("package", package),
        ("in", within),
    ];
    let properties = properties.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Some(Removal { node, names, properties: properties.collect() })
}

impl Removal {
    pub(super) fn apply(
        self,
        faults: &Faults,
        owner: &str,
        words: &'static [NodeSpec],
        nodes: &mut Vec<Node>,
    ) {
        let Some(spec) = words.iter().find(|word| word.name == self.node.value) else {
            return faults.report(unknown(&self.node, words));
        };
        let once = matches!(spec.times, Arity::Once | Arity::AtMostOnce);
        if self.names.is_empty() && !once {
            let message = format!("`remove` needs the name of a `{}`", spec.name);
            let problem = Problem::error(Code::MissingPart, message);
            let problem = problem.label(&self.node.place, "add a name");
            return faults.report(problem.help(format!("write it as `{}`", REMOVE.usage)));
        }
        let (key, listed) = self.names.split_at(fixed(spec).min(self.names.len()));
        if listed.is_empty() {
            let before = nodes.len();
            nodes.retain(|node| !self.selects(spec, key, node));
            if nodes.len() == before {
                let place = self.names.last().map_or(&self.node.place, |name| &name.place);
                faults.report(self.absent(owner, nodes, place, &self.names));
            }
        }
        for name in listed {
            let mut is_found = false;
            nodes.retain_mut(|node| {
                let is_removed = self.selects(spec, key, node);
                !(is_removed && take_name(node, fixed(spec), &name.value, &mut is_found))
            });
            if !is_found {
                let mut line_names = key.to_vec();
                line_names.push(name.clone());
                faults.report(self.absent(owner, nodes, &name.place, &line_names));
            }
        }
    }

    fn selects(&self, spec: &NodeSpec, key: &[Spanned<String>], node: &Node) -> bool {
        let has_property = |(name, value): &(&str, String)| {
            node.property(name).and_then(|value_of_node| value_of_node.as_text()) == Some(value)
        };
        let mut arguments = arguments(node);
        node.name.text == spec.name
            && key.iter().all(|argument| arguments.next() == Some(argument.value.as_str()))
            && self.properties.iter().all(has_property)
    }

    fn absent(
        &self,
        owner: &str,
        nodes: &[Node],
        place: &Place,
        line_names: &[Spanned<String>],
    ) -> Problem {
        let word = &self.node.value;
        let last = line_names.last().map(|name| name.value.as_str());
        let whole: Vec<&str> = line_names.iter().map(|name| name.value.as_str()).collect();
        let title = title(word, (!whole.is_empty()).then(|| whole.join("\" \"")).as_deref());
        let message = format!("{owner} has no `{title}` to remove");
        let label = match last.and_then(|last| nearest(last, names(nodes, word))) {
            Some(near) if Some(near) != last => format!("did you mean `{near}`?"),
            _ => "no matching line".to_owned(),
        };
        let problem = Problem::error(Code::ChangesNothing, message).label(place, label);
        problem.help("correct the name, or remove the `remove` line")
    }
}

fn fixed(spec: &NodeSpec) -> usize {
    let is_single = |takes| matches!(takes, ArgKind::Argument | ArgKind::OptionalArgument);
    spec.parts.iter().filter(|part| is_single(part.takes)).count()
}

/// Removes a name from the list at a line's end; returns whether the list is empty then.
fn take_name(node: &mut Node, fixed: usize, name: &str, is_found: &mut bool) -> bool {
    let is_argument = |entry: &Entry| entry.name.is_none();
    let (mut position, mut remaining, mut removed) = (0, 0, 0);
    node.entries.retain(|entry| {
        if !is_argument(entry) {
            return true;
        }
        position += 1;
        let is_removed = position > fixed && entry.value.as_text() == Some(name);
        removed += usize::from(is_removed);
        remaining += usize::from(position > fixed && !is_removed);
        !is_removed
    });
    *is_found |= removed > 0;
    removed > 0 && remaining == 0
}
