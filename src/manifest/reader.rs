//! Reads KDL nodes so that nothing in them stays unread.
//!
//! A [`Node`] hands out its arguments, properties and block as they are asked for, remembers
//! what was asked, and when it is finished reports the rest with the nearest known name.
//! Every read records its own fault and gives `None`, so a caller reads all there is before
//! it looks at any of it: one run shows every mistake.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;

use kdl::{KdlDocument, KdlEntry, KdlNode};
use miette::{Diagnostic, SourceSpan};

use super::{Takes, Times, Word};
use crate::source::{Code, Place, Problem, Problems, Source, Spanned, nearest};

mod block;
mod syntax;
mod value;

pub(super) use block::{Block, either, listed};
pub(super) use value::{FromText, Reason};

/// What a decoder asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    /// A node of a block or file that has or lacks a word for it.
    Node { name: &'static str, times: Times, known: bool },
    /// An argument (whose name is empty) or a property of a node.
    Part { node: String, takes: Takes, name: &'static str },
}

/// What is wrong with one file.
#[derive(Debug)]
pub(super) struct Faults {
    source: Source,
    found: RefCell<Vec<Problem>>,
    /// Notes what decoders ask for, when somebody wants to know.
    asked: Option<RefCell<Vec<Asked>>>,
}

impl Faults {
    pub fn new(source: &Source) -> Self {
        Self { source: source.clone(), found: RefCell::default(), asked: None }
    }

    /// With a note of all that decoders ask for.
    #[cfg(test)]
    pub fn noting(source: &Source) -> Self {
        Self { asked: Some(RefCell::default()), ..Self::new(source) }
    }

    /// What decoders asked for, and what is wrong.
    #[cfg(test)]
    pub fn into_asked(mut self) -> (Vec<Asked>, Problems) {
        let asked = self.asked.take().map(RefCell::into_inner).unwrap_or_default();
        (asked, self.into_problems())
    }

    fn note(&self, asked: impl FnOnce() -> Asked) {
        if let Some(notes) = &self.asked {
            notes.borrow_mut().push(asked());
        }
    }

    pub fn report(&self, problem: Problem) {
        self.found.borrow_mut().push(problem);
    }

    /// The file's nodes, or `None` (and the fault) when it is not KDL.
    pub fn document(&self) -> Option<KdlDocument> {
        let parsed = KdlDocument::parse_v2(self.source.text());
        parsed.map_err(|error| syntax::problems(&self.source, &error).into_iter().for_each(|p| self.report(p))).ok()
    }

    pub fn at(&self, span: SourceSpan) -> Place {
        self.source.at(bytes(span))
    }

    /// All faults in the order of the file.
    pub fn into_problems(self) -> Problems {
        let mut found = self.found.into_inner();
        found.sort_by_key(first_byte);
        let mut problems = Problems::new();
        for problem in found {
            problems.push(problem);
        }
        problems
    }
}

fn bytes(span: SourceSpan) -> Range<usize> {
    span.offset()..span.offset() + span.len()
}

fn first_byte(problem: &Problem) -> usize {
    Diagnostic::labels(problem).and_then(|mut labels| labels.next()).map_or(0, |label| label.offset())
}

/// One node, partly read.
#[derive(Debug)]
pub(super) struct Node<'a> {
    faults: &'a Faults,
    kdl: &'a KdlNode,
    word: Option<&'static Word>,
    arguments: VecDeque<&'a KdlEntry>,
    properties: Vec<&'a KdlEntry>,
    asked: Vec<&'static str>,
    exhausted: bool,
    block_asked: bool,
}

impl<'a> Node<'a> {
    fn open(faults: &'a Faults, kdl: &'a KdlNode, word: Option<&'static Word>) -> Self {
        let (properties, arguments): (Vec<_>, Vec<_>) = kdl.entries().iter().partition(|e| e.name().is_some());
        let mut node =
            Self { faults, kdl, word, arguments: arguments.into(), properties, asked: Vec::new(), exhausted: false, block_asked: false };
        node.refuse_annotations();
        node.refuse_bare_comparisons();
        node.refuse_repeated();
        node
    }

    /// Where its name stands.
    pub fn place(&self) -> Place {
        self.faults.at(self.kdl.name().span())
    }

    /// The node as messages call it: `script "hipcc"`.
    pub fn title(&self) -> String {
        title(self.kdl)
    }

    /// Reports a fault of the node as a whole.
    pub fn fault(&self, message: impl Into<String>, label: impl Into<String>) {
        self.faults.report(Problem::error(Code::MissingPart, message).label(&self.place(), label).help(self.usage_help()));
    }

    /// Reports a fault of some part of it.
    pub fn report(&self, problem: Problem) {
        self.faults.report(problem);
    }

    /// The next argument, which has to be there; `what` names it with its article.
    pub fn argument<T: FromText>(&mut self, what: &str) -> Option<Spanned<T>> {
        self.note(Takes::Argument, "");
        self.next(what)
    }

    /// The next argument, if there is one.
    pub fn optional_argument<T: FromText>(&mut self) -> Option<Spanned<T>> {
        self.note(Takes::OptionalArgument, "");
        let entry = self.arguments.pop_front()?;
        self.read(entry)
    }

    fn next<T: FromText>(&mut self, what: &str) -> Option<Spanned<T>> {
        let Some(entry) = self.arguments.pop_front() else {
            // What comes after a missing argument is missing too: that is one mistake.
            if !std::mem::replace(&mut self.exhausted, true) {
                self.fault(format!("`{}` lacks {what}", self.title()), format!("{what} has to follow"));
            }
            return None;
        };
        self.read(entry)
    }

    /// All further arguments, perhaps none.
    pub fn arguments<T: FromText>(&mut self) -> Vec<Spanned<T>> {
        self.note(Takes::Arguments, "");
        self.rest()
    }

    fn rest<T: FromText>(&mut self) -> Vec<Spanned<T>> {
        let entries = std::mem::take(&mut self.arguments);
        entries.into_iter().filter_map(|entry| self.read(entry)).collect()
    }

    /// All further arguments, of which there has to be one.
    pub fn at_least_one<T: FromText>(&mut self, what: &str) -> Vec<Spanned<T>> {
        self.note(Takes::OneOrMore, "");
        if self.arguments.is_empty() {
            return self.next(what).into_iter().collect();
        }
        self.rest()
    }

    /// A property that can be absent.
    pub fn property<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        self.note(Takes::Optional, name);
        self.named(name)
    }

    fn named<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        let entry = self.take(name)?;
        self.read(entry)
    }

    /// A property that has to be there.
    pub fn required<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        self.note(Takes::Required, name);
        if !self.has(name) {
            self.asked.push(name);
            self.fault(format!("`{}` lacks `{name}`", self.title()), format!("`{name}=…` has to follow"));
        }
        self.named(name)
    }

    /// A property that is `#true` or `#false`; absent, it is false.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.note(Takes::Flag, name);
        self.take(name).and_then(|entry| value::flag(self.faults, entry)).unwrap_or_default()
    }

    /// A property that is a whole number of at least 1.
    pub fn count(&mut self, name: &'static str) -> Option<usize> {
        self.note(Takes::Count, name);
        self.take(name).and_then(|entry| value::count(self.faults, entry))
    }

    /// Whether it has a property of this name that was not taken yet.
    pub fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|entry| key(entry) == name)
    }

    /// Whether it came with a property of this name, taken or not.
    pub fn had(&self, name: &str) -> bool {
        self.kdl.get(name).is_some()
    }

    /// Its block, perhaps empty: what can stand in it, its word says.
    pub fn block(&mut self) -> Block<'a> {
        self.block_asked = true;
        let words = self.word.map_or(&[][..], |word| word.nodes);
        let nodes = self.kdl.children().map(KdlDocument::nodes).unwrap_or_default();
        Block::new(self.faults, format!("`{}`", self.title()), self.place(), words, nodes)
    }

    /// Reports all that was not taken.
    fn finish(self) {
        self.refuse_arguments();
        self.properties.iter().for_each(|entry| self.refuse_property(entry));
        if let (false, Some(block)) = (self.block_asked, self.kdl.children()) {
            let place = self.faults.at(block.nodes().first().map_or(self.kdl.name().span(), |n| n.name().span()));
            let message = format!("`{}` has a block, but `{}` takes none", self.title(), self.kdl.name().value());
            self.faults
                .report(Problem::error(Code::UnexpectedBlock, message).label(&place, "this is in the block").help(self.usage_help()));
        }
    }

    fn usage_help(&self) -> String {
        format!("write it as `{}`", self.word.map_or("", |word| word.usage))
    }

    fn note(&self, takes: Takes, name: &'static str) {
        self.faults.note(|| Asked::Part { node: self.kdl.name().value().to_owned(), takes, name });
    }

    fn take(&mut self, name: &'static str) -> Option<&'a KdlEntry> {
        self.asked.push(name);
        let index = self.properties.iter().position(|entry| key(entry) == name)?;
        Some(self.properties.remove(index))
    }

    fn read<T: FromText>(&self, entry: &KdlEntry) -> Option<Spanned<T>> {
        let owner = if entry.name().is_some() { self.title() } else { self.kdl.name().value().to_owned() };
        value::read(self.faults, entry, &owner)
    }

    fn refuse_annotations(&self) {
        let of_entries = self.kdl.entries().iter().filter_map(KdlEntry::ty);
        for annotation in self.kdl.ty().into_iter().chain(of_entries) {
            let problem =
                Problem::error(Code::TypeAnnotation, format!("the type annotation `({})` means nothing here", annotation.value()));
            self.faults.report(problem.label(&self.faults.at(annotation.span()), "take it away"));
        }
    }

    /// Without quotes `>=3.10` is a property `>` of the value 3.10.
    fn refuse_bare_comparisons(&mut self) {
        let is_sign = |entry: &&KdlEntry| matches!(key(entry), ">" | "<" | "!" | "~");
        let (bare, named): (Vec<_>, Vec<_>) = std::mem::take(&mut self.properties).into_iter().partition(is_sign);
        self.properties = named;
        for entry in bare {
            self.exhausted = true;
            let text = self.faults.source.text().get(bytes(entry.span())).unwrap_or_default();
            let problem = Problem::error(Code::UnquotedText, format!("`{text}` without quotes is a property called `{}`", key(entry)));
            self.faults.report(problem.label(&self.faults.at(entry.span()), format!("quote it: \"{text}\"")));
        }
    }

    /// KDL lets the last of several properties win in silence; here each is said once.
    fn refuse_repeated(&mut self) {
        let mut once: Vec<&'a KdlEntry> = Vec::new();
        for entry in std::mem::take(&mut self.properties) {
            match once.iter().find(|earlier| key(earlier) == key(entry)) {
                Some(first) => self.faults.report(
                    Problem::error(Code::GivenTwice, format!("`{}` has the property `{}` twice", self.title(), key(entry)))
                        .label(&self.faults.at(entry.span()), "given again here")
                        .label(&self.faults.at(first.span()), "first given here")
                        .help("keep one of them"),
                ),
                None => once.push(entry),
            }
        }
        self.properties = once;
    }

    fn refuse_arguments(&self) {
        let Some(entry) = self.arguments.front() else { return };
        let text = entry.value().as_string();
        let meant = self.asked.iter().find(|name| Some(**name) == text);
        let help = meant.map_or_else(|| self.usage_help(), |name| format!("`{name}` is a property: write `{name}=…`"));
        let problem = Problem::error(Code::UnreadArgument, format!("`{}` has an argument too many", self.title()));
        self.faults.report(problem.label(&self.faults.at(entry.span()), "nothing is read from this").help(help));
    }

    fn refuse_property(&self, entry: &KdlEntry) {
        let Some(name) = entry.name() else { return };
        let node = self.kdl.name().value();
        let problem = Problem::error(Code::UnknownProperty, format!("unknown property `{}` on `{node}`", name.value()));
        let label = match nearest(name.value(), self.asked.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "nothing reads this".to_owned(),
        };
        let help = match self.asked.as_slice() {
            [] => format!("`{node}` takes no properties"),
            known => format!("`{node}` takes {}", listed(known.iter().copied())),
        };
        self.faults.report(problem.label(&self.faults.at(name.span()), label).help(help));
    }
}

fn key(entry: &KdlEntry) -> &str {
    entry.name().map_or("", kdl::KdlIdentifier::value)
}

fn title(kdl: &KdlNode) -> String {
    let first = kdl.entries().iter().find(|e| e.name().is_none()).and_then(|e| e.value().as_string());
    match first {
        Some(text) => format!("{} \"{text}\"", kdl.name().value()),
        None => kdl.name().value().to_owned(),
    }
}
