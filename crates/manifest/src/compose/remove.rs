//! `remove "script" "rocgdb"`: removes lines of an included file.

use super::REMOVE;
use super::change::{names, title, unknown};
use super::{arguments, one, words};
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
        one::<words::Remove>(faults, line)?;
    let properties = [
        ("mode", mode),
        ("on", on),
        ("component", component),
        ("artifact", artifact),
        ("package", package),
        ("in", within),
    ];
    let given = properties.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Some(Removal { node, names, properties: given.collect() })
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
            nodes.retain(|node| !self.is_meant(spec, key, node));
            if nodes.len() == before {
                let place = self.names.last().map_or(&self.node.place, |name| &name.place);
                faults.report(self.absent(owner, nodes, place, &self.names));
            }
        }
        for name in listed {
            let mut found = false;
            nodes.retain_mut(|node| {
                let meant = self.is_meant(spec, key, node);
                !(meant && take(node, fixed(spec), &name.value, &mut found))
            });
            if !found {
                let mut wanted = key.to_vec();
                wanted.push(name.clone());
                faults.report(self.absent(owner, nodes, &name.place, &wanted));
            }
        }
    }

    fn is_meant(&self, spec: &NodeSpec, key: &[Spanned<String>], node: &Node) -> bool {
        let has = |(name, value): &(&str, String)| {
            node.property(name).and_then(|is| is.as_text()) == Some(value)
        };
        let mut said = arguments(node);
        node.name.text == spec.name
            && key.iter().all(|wanted| said.next() == Some(wanted.value.as_str()))
            && self.properties.iter().all(has)
    }

    fn absent(
        &self,
        owner: &str,
        nodes: &[Node],
        place: &Place,
        wanted: &[Spanned<String>],
    ) -> Problem {
        let word = &self.node.value;
        let last = wanted.last().map(|name| name.value.as_str());
        let whole: Vec<&str> = wanted.iter().map(|name| name.value.as_str()).collect();
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
    let single = |takes| matches!(takes, ArgKind::Argument | ArgKind::OptionalArgument);
    spec.parts.iter().filter(|part| single(part.takes)).count()
}

/// Removes a name from the list at a line's end; returns whether the list is empty then.
fn take(node: &mut Node, fixed: usize, name: &str, found: &mut bool) -> bool {
    let is_argument = |entry: &Entry| entry.name.is_none();
    let (mut at, mut left, mut gone) = (0, 0, 0);
    node.entries.retain(|entry| {
        if !is_argument(entry) {
            return true;
        }
        at += 1;
        let goes = at > fixed && entry.value.as_text() == Some(name);
        gone += usize::from(goes);
        left += usize::from(at > fixed && !goes);
        !goes
    });
    *found |= gone > 0;
    gone > 0 && left == 0
}
