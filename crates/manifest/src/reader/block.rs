//! Nodes of a block or file, taken by name.

use super::foreign::meant_node;
use super::{Arity, Faults, Node, NodeSpec, Request, title};
use crate::VOCABULARY;
use crate::kdl;
use base::source::{Code, Place, Problem, misspelled, nearest};

#[derive(Debug)]
pub(in super::super) struct Block<'a> {
    faults: &'a Faults,
    owner: String,
    place: Place,
    words: &'static [NodeSpec],
    nodes: Vec<&'a kdl::Node>,
    excused: &'static [&'static str],
}

impl<'a> Block<'a> {
    /// The nodes of `owner`, named at `place`.
    pub fn new(
        faults: &'a Faults,
        owner: String,
        place: Place,
        words: &'static [NodeSpec],
        nodes: &'a [kdl::Node],
    ) -> Self {
        Self { faults, owner, place, words, nodes: nodes.iter().collect(), excused: &[] }
    }

    pub fn of_file(faults: &'a Faults, words: &'static [NodeSpec], nodes: &'a [kdl::Node]) -> Self {
        Self::new(faults, faults.root().name().to_owned(), faults.root().at(0..0), words, nodes)
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Reads the nodes called `name`, each with any number of values.
    pub fn collect<T>(
        &mut self,
        name: &'static str,
        times: Arity,
        read: impl FnMut(&mut Node<'a>) -> Option<Vec<T>>,
    ) -> Vec<T> {
        self.note(name, times);
        if matches!(times, Arity::Once | Arity::AtLeastOnce) {
            self.expect(name);
        }
        if matches!(times, Arity::Once | Arity::AtMostOnce) {
            self.refuse_repeated(name);
        }
        let read = self.take(name, read).into_iter();
        if matches!(times, Arity::Once | Arity::AtMostOnce) {
            return read.take(1).flatten().collect();
        }
        read.flatten().collect()
    }

    fn take<T>(
        &mut self,
        name: &'static str,
        mut read: impl FnMut(&mut Node<'a>) -> Option<T>,
    ) -> Vec<T> {
        let (nodes, rest) =
            std::mem::take(&mut self.nodes).into_iter().partition(|n| n.name.text == name);
        self.nodes = rest;
        let nodes: Vec<&kdl::Node> = nodes;
        nodes.into_iter().filter_map(|kdl| self.read(kdl, &mut read)).collect()
    }

    pub fn count(&self, name: &str) -> usize {
        self.nodes.iter().filter(|n| n.name.text == name).count()
    }

    pub fn refuse(&mut self, name: &str, message: &str, help: &str) {
        let (misplaced, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.nodes).into_iter().partition(|n| n.name.text == name);
        self.nodes = rest;
        for kdl in misplaced {
            let problem =
                Problem::error(Code::MisplacedNode, format!("`{}` {message}", title(kdl)));
            self.faults
                .report(problem.label(&self.faults.at(&kdl.name.span), "misplaced").help(help));
        }
    }

    pub fn finish(self) {
        for kdl in &self.nodes {
            let name = &kdl.name;
            let names = || self.words.iter().map(|w| w.name);
            let problem = Problem::error(
                Code::UnknownNode,
                format!("unknown node `{}` in {}", name.text, self.owner),
            );
            let counterpart = meant_node(&name.text, |new| self.word(new).is_some());
            let near = nearest(&name.text, names());
            let (label, help) = match (counterpart, home(&name.text), near) {
                _ if matches!(name.text.as_str(), "-" | "*" | "+") => {
                    ("remove it".to_owned(), "each line is a node; lists have no marks".to_owned())
                }
                (Some(node), _, _) => {
                    (format!("the node for it is `{node}`"), self.usage_help(node))
                }
                (None, Some((place, word)), _) => (
                    format!("`{}` belongs {place}", word.name),
                    format!("move it there: `{}`", word.usage),
                ),
                (None, None, Some(near)) => {
                    (format!("did you mean `{near}`?"), self.usage_help(near))
                }
                (None, None, None) => {
                    ("unknown".to_owned(), format!("{} takes {}", self.owner, listed(names())))
                }
            };
            self.faults.report(problem.label(&self.faults.at(&name.span), label).help(help));
        }
    }

    fn read<T>(
        &self,
        kdl: &'a kdl::Node,
        read: &mut impl FnMut(&mut Node<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut node = Node::open(self.faults, kdl, self.word(&kdl.name.text));
        let value = read(&mut node).filter(|_| node.is_sound());
        node.finish();
        value
    }

    pub fn excuse(&mut self, names: &'static [&'static str]) {
        self.excused = names;
    }

    /// Reports a missing node that other nodes need.
    pub fn require(&self, name: &str) {
        self.expect(name);
    }

    fn expect(&self, name: &str) {
        if !self.has_or_resembles(name) && !self.excused.contains(&name) {
            let problem =
                Problem::error(Code::MissingPart, format!("{} lacks `{name}`", self.owner));
            self.faults.report(
                problem
                    .label(&self.place, format!("add `{name}`"))
                    .help(format!("add the line `{}`", self.usage(name))),
            );
        }
    }

    /// Returns whether a node has this name, or a foreign or misspelled one, which is reported elsewhere.
    pub fn has_or_resembles(&self, name: &str) -> bool {
        let names = || self.words.iter().map(|word| word.name);
        let is_or_resembles = |node: &&kdl::Node| {
            let text = node.name.text.as_str();
            let unknown = self.word(text).is_none();
            text == name
                || unknown && meant_node(text, |new| new == name).is_some()
                || unknown && misspelled(text, names()) == Some(name)
        };
        self.nodes.iter().any(is_or_resembles)
    }

    fn refuse_repeated(&mut self, name: &str) {
        let mut nodes = self.nodes.iter().filter(|n| n.name.text == name);
        let Some(first) = nodes.next() else { return };
        for repeated in nodes {
            let problem =
                Problem::error(Code::GivenTwice, format!("{} has `{name}` twice", self.owner))
                    .label(&self.faults.at(&repeated.name.span), "second")
                    .label(&self.faults.at(&first.name.span), "first")
                    .help("keep one of them");
            self.faults.report(problem);
        }
    }

    fn note(&self, name: &'static str, times: Arity) {
        self.faults.note(|| Request::Node { name, times, known: self.word(name).is_some() });
    }

    fn word(&self, name: &str) -> Option<&'static NodeSpec> {
        self.words.iter().find(|w| w.name == name)
    }

    fn usage(&self, name: &str) -> &'static str {
        self.word(name).map_or("", |w| w.usage)
    }

    fn usage_help(&self, name: &str) -> String {
        format!("write it as `{}`", self.usage(name))
    }
}

fn home(name: &str) -> Option<(String, &'static NodeSpec)> {
    let words = VOCABULARY.iter().flat_map(|file| {
        file.words().into_iter().map(move |(owner, word)| (file.name, owner, word))
    });
    let mut homes = words.filter(|(_, _, word)| word.name == name);
    let (file, owner, word) = homes.next()?;
    Some((owner.map_or_else(|| format!("at the top of {file}"), |o| format!("in `{o}`")), word))
}

pub(in super::super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

pub(in super::super) fn either<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let quoted: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
        None => String::new(),
    }
}
