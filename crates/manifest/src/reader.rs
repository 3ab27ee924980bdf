//! Reads KDL nodes, and reports every part that nothing read.
//!
//! A [`Node`] returns its arguments, properties and block, records their names, and at the end
//! reports the rest with the nearest known name. A faulty read returns `None`: callers read every
//! part before they use one, so that one run shows every mistake.

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};

use super::{ArgKind, Arity, Glob, NodeSpec, PackageKind, finding, meant_kind};
use crate::kdl::{self, Entry};
use base::names::{Mode, System};
use base::source::{Code, Place, Problem, Spanned, nearest};
use base::target::Condition;

mod block;
mod faults;
mod foreign;
mod value;

pub(super) use block::{Block, either, listed};
pub(super) use faults::{Faults, Request};
pub(super) use value::{FromText, Reason};

#[derive(Debug)]
pub(super) struct Node<'a> {
    faults: &'a Faults,
    kdl: &'a kdl::Node,
    spec: Option<&'static NodeSpec>,
    arguments: VecDeque<&'a Entry>,
    properties: Vec<&'a Entry>,
    read_properties: Vec<&'static str>,
    exhausted: bool,
    block_asked: bool,
    mistaken: Option<&'static str>,
    broken: Cell<bool>,
}

impl<'a> Node<'a> {
    fn open(faults: &'a Faults, kdl: &'a kdl::Node, spec: Option<&'static NodeSpec>) -> Self {
        let (properties, arguments): (Vec<_>, Vec<_>) =
            kdl.entries.iter().partition(|e| e.name.is_some());
        let mut node = Self {
            faults,
            kdl,
            spec,
            arguments: arguments.into(),
            properties,
            read_properties: Vec::new(),
            exhausted: false,
            block_asked: false,
            mistaken: None,
            broken: Cell::new(false),
        };
        node.refuse_annotations();
        node.refuse_repeated();
        node
    }

    pub fn place(&self) -> Place {
        self.faults.at(&self.kdl.name.span)
    }

    pub fn word(&self) -> &'static str {
        self.spec.map_or("", |spec| spec.name)
    }

    /// Returns the node's name in messages: `script "hipcc"`.
    pub fn title(&self) -> String {
        title(self.kdl)
    }

    /// Returns whether every part was readable so far; a line with a mistake is not compared with others.
    pub fn is_sound(&self) -> bool {
        !self.broken.get()
    }

    pub(crate) fn forgive(&self) {
        self.broken.set(false);
    }

    pub fn peek(&self, name: &str) -> Option<&'a str> {
        self.kdl.property(name).and_then(kdl::Value::as_text)
    }

    pub(crate) fn meant_kind(&self) -> Option<PackageKind> {
        meant_kind::kind_of_lines(self.kdl, self.spec?.nodes)
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.kdl.entries.is_empty()
    }

    pub(crate) fn first_text(&self) -> Option<&'a str> {
        self.kdl.first_text()
    }

    pub fn fault(&self, message: impl Into<String>, label: impl Into<String>) {
        self.faults.report(
            Problem::error(Code::MissingPart, message)
                .label(&self.place(), label)
                .help(self.usage_help()),
        );
    }

    /// Returns the place of a property, read or not.
    pub fn place_of(&self, name: &str) -> Option<Place> {
        let entry = self.kdl.entries.iter().find(|entry| entry.key() == Some(name))?;
        Some(self.faults.at(&entry.name.as_ref()?.span))
    }

    pub fn report(&self, problem: Problem) {
        self.faults.report(problem);
    }

    /// Reads the next argument; `noun` names it with its article.
    pub fn argument<T: FromText>(&mut self, noun: &str) -> Option<Spanned<T>> {
        self.note(ArgKind::Argument, "");
        self.next(noun)
    }

    pub fn optional_argument<T: FromText>(&mut self) -> Option<Spanned<T>> {
        self.note(ArgKind::OptionalArgument, "");
        let entry = self.arguments.pop_front()?;
        self.read(entry)
    }

    fn next<T: FromText>(&mut self, noun: &str) -> Option<Spanned<T>> {
        let Some(entry) = self.arguments.pop_front() else {
            // Arguments after a missing one are missing too: that is one mistake.
            if !std::mem::replace(&mut self.exhausted, true) {
                self.fault(format!("`{}` lacks {noun}", self.title()), format!("add {noun}"));
            }
            return None;
        };
        self.read(entry)
    }

    pub fn arguments<T: FromText>(&mut self) -> Vec<Spanned<T>> {
        self.note(ArgKind::Arguments, "");
        self.rest()
    }

    fn rest<T: FromText>(&mut self) -> Vec<Spanned<T>> {
        let entries = std::mem::take(&mut self.arguments);
        if TypeId::of::<T>() == TypeId::of::<Glob>() {
            for entry in &entries {
                self.refuse_property_name(entry);
            }
        }
        entries.into_iter().filter_map(|entry| self.read(entry)).collect()
    }

    /// Reports a property that is written like an argument: as a glob, it would be valid.
    fn refuse_property_name(&self, entry: &Entry) {
        let is_property = |name: &str| {
            let parts = self.spec.map_or(&[][..], |spec| spec.parts);
            parts.iter().any(|part| !part.takes.is_argument() && part.name == name)
        };
        let Some(name) = entry.value.as_text().filter(|text| is_property(text)) else { return };
        let message = format!("`{name}` is a property of `{}`, not an argument", self.title());
        let problem = Problem::error(Code::UnreadArgument, message);
        self.faults.report(
            problem
                .label(&self.faults.at(&entry.span), "read as a path")
                .help(format!("write `{name}=…`")),
        );
    }

    pub fn at_least_one<T: FromText>(&mut self, noun: &str) -> Vec<Spanned<T>> {
        self.note(ArgKind::OneOrMore, "");
        if self.arguments.is_empty() {
            return self.next(noun).into_iter().collect();
        }
        self.rest()
    }

    pub(crate) fn at_least_one_as<T: FromText>(
        &mut self,
        noun: &str,
        line: &str,
    ) -> Vec<Spanned<T>> {
        self.note(ArgKind::OneOrMore, "");
        if self.arguments.is_empty() && !std::mem::replace(&mut self.exhausted, true) {
            let message = format!("`{}` lacks {noun}", self.title());
            let problem = Problem::error(Code::MissingPart, message)
                .label(&self.place(), format!("add {noun}"));
            self.faults.report(problem.help(format!("write it like this: {line}")));
        }
        self.rest()
    }

    pub fn property<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        self.note(ArgKind::Optional, name);
        self.read_named(name)
    }

    fn read_named<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        let entry = self.take(name)?;
        self.read(entry)
    }

    pub fn required<T: FromText>(&mut self, name: &'static str) -> Option<Spanned<T>> {
        self.note(ArgKind::Required, name);
        if !self.has_unread(name) && self.mistaken.is_none() && self.unknown_properties() == 1 {
            // A misspelt name is one mistake, reported at the word.
            self.mistaken = Some(name);
        } else if !self.has_unread(name) {
            self.fault(format!("`{}` lacks `{name}`", self.title()), format!("add `{name}=…`"));
        }
        self.read_named(name)
    }

    /// Reads a switch, false by default.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.note(ArgKind::Flag, name);
        self.take(name).and_then(|entry| value::flag(self.faults, entry)).unwrap_or_default()
    }

    /// Reads a count: a whole number of at least 1.
    pub fn count(&mut self, name: &'static str) -> Option<usize> {
        self.note(ArgKind::Count, name);
        self.take(name).and_then(|entry| value::count(self.faults, entry))
    }

    pub fn condition(&mut self) -> Condition {
        let mode = self.property::<Mode>("mode").map(|mode| mode.value);
        Condition { mode, on: self.property::<System>("on").map(|system| system.value) }
    }

    /// Returns whether a property of this name is left.
    pub fn has_unread(&self, name: &str) -> bool {
        self.properties.iter().any(|entry| key(entry) == name)
    }

    /// Returns whether it has a property of this name, read or not.
    pub fn has_property(&self, name: &str) -> bool {
        self.kdl.property(name).is_some()
    }

    /// Returns its block, perhaps empty.
    pub fn block(&mut self) -> Block<'a> {
        self.block_asked = true;
        let words = self.spec.map_or(&[][..], |spec| spec.nodes);
        let nodes = self.kdl.block.as_deref().unwrap_or_default();
        Block::new(self.faults, format!("`{}`", self.title()), self.place(), words, nodes)
    }

    fn finish(self) {
        self.refuse_arguments();
        self.properties.iter().for_each(|entry| self.refuse_property(entry));
        if let (false, Some(block)) = (self.block_asked, &self.kdl.block) {
            let place = self.faults.at(&block.first().unwrap_or(self.kdl).name.span);
            let message = format!(
                "`{}` has a block, but `{}` takes no block",
                self.title(),
                self.kdl.name.text
            );
            self.faults.report(
                Problem::error(Code::UnexpectedBlock, message)
                    .label(&place, "in the block")
                    .help(self.usage_help()),
            );
        }
    }

    fn usage_help(&self) -> String {
        let usage = match self.spec {
            Some(spec) if spec.name == "ignore" => finding::usage(self.first_text()),
            spec => spec.map_or("", |spec| spec.usage),
        };
        format!("write it as `{usage}`")
    }

    fn note(&self, takes: ArgKind, name: &'static str) {
        self.faults.note(|| Request::Arg { node: self.kdl.name.text.clone(), takes, name });
    }

    pub(crate) fn unknown_properties(&self) -> usize {
        let is_in_spec =
            |name: &str| self.spec.is_some_and(|w| w.parts.iter().any(|p| p.name == name));
        self.properties.iter().filter(|entry| !is_in_spec(key(entry))).count()
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Entry> {
        self.read_properties.push(name);
        let index = self.properties.iter().position(|entry| key(entry) == name)?;
        Some(self.properties.remove(index))
    }

    /// Parses a text that was read before its kind was known.
    pub fn parsed<T: FromText>(&self, text: &Spanned<String>) -> Option<Spanned<T>> {
        let value = value::parsed(self.faults, &text.value, text.place.clone());
        self.broken.set(self.broken.get() || value.is_none());
        value
    }

    fn read<T: FromText>(&self, entry: &Entry) -> Option<Spanned<T>> {
        let owner = || {
            if entry.name.is_some() { self.title() } else { self.kdl.name.text.clone() }
        };
        let value = value::read(self.faults, entry, owner);
        if let Some(glob) = value.as_ref().and_then(|v| (v as &dyn Any).downcast_ref()) {
            self.faults.count_glob(glob);
        }
        self.broken.set(self.broken.get() || value.is_none());
        value
    }

    fn refuse_annotations(&self) {
        let of_entries = self.kdl.entries.iter().filter_map(|entry| entry.annotation.as_ref());
        for annotation in self.kdl.annotation.iter().chain(of_entries) {
            let problem = Problem::error(
                Code::TypeAnnotation,
                format!("type annotation `({})` is not allowed", annotation.text),
            );
            self.faults.report(problem.label(&self.faults.at(&annotation.span), "remove it"));
        }
    }

    /// Reports repeated properties, of which KDL takes the last.
    fn refuse_repeated(&mut self) {
        let mut first: BTreeMap<&str, &'a Entry> = BTreeMap::new();
        self.properties.retain(|entry| {
            let Some(first) = first.get(key(entry)) else {
                first.insert(key(entry), entry);
                return true;
            };
            self.faults.report(
                Problem::error(
                    Code::GivenTwice,
                    format!("`{}` has the property `{}` twice", title(self.kdl), key(entry)),
                )
                .label(&self.faults.at(&entry.span), "second")
                .label(&self.faults.at(&first.span), "first")
                .help("keep one of them"),
            );
            false
        });
    }

    fn refuse_arguments(&self) {
        let Some(entry) = self.arguments.front() else { return };
        let text = entry.value.as_text();
        let property = self.read_properties.iter().find(|name| Some(**name) == text);
        let help = property.map_or_else(
            || self.usage_help(),
            |name| format!("`{name}` is a property: write `{name}=…`"),
        );
        let problem = Problem::error(
            Code::UnreadArgument,
            format!("`{}` has too many arguments", self.title()),
        );
        self.faults.report(
            problem.label(&self.faults.at(&entry.span), "one argument too many").help(help),
        );
    }

    fn refuse_property(&self, entry: &Entry) {
        let Some(name) = &entry.name else { return };
        let node = &self.kdl.name.text;
        let problem = Problem::error(
            Code::UnknownProperty,
            format!("unknown property `{}` on `{node}`", name.text),
        );
        let near = || nearest(&name.text, self.read_properties.iter().copied());
        let label = match self.mistaken.or_else(near) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "unknown".to_owned(),
        };
        let help = match self.read_properties.as_slice() {
            [] => format!("`{node}` takes no properties"),
            properties => format!("`{node}` takes {}", listed(properties.iter().copied())),
        };
        self.faults.report(problem.label(&self.faults.at(&name.span), label).help(help));
    }
}

fn key(entry: &Entry) -> &str {
    entry.key().unwrap_or_default()
}

fn title(kdl: &kdl::Node) -> String {
    match kdl.first_text() {
        Some(text) => format!("{} \"{text}\"", kdl.name.text),
        None => kdl.name.text.clone(),
    }
}
