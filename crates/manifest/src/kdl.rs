//! Reads KDL 2 (kdl.dev), the language of the manifest.
//!
//! The crate `kdl` reads; size and depth are limited before. A mistake is reported at its place with a remedy, also for
//! habits of other formats.

use std::ops::Range;

use base::source::{Problems, Source};

mod grammar;
mod layout;
mod limits;
mod literal;
mod mistake;
mod read;
mod token;

pub use layout::layout;
pub use limits::{MOST_BYTES, MOST_DEPTH, source};

/// One node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// `(type)` before its name.
    pub annotation: Option<Name>,
    pub name: Name,
    /// Arguments and properties.
    pub entries: Vec<Entry>,
    /// Nodes of its block, if any.
    pub block: Option<Vec<Node>>,
}

impl Node {
    pub(crate) fn first_text(&self) -> Option<&str> {
        self.entries.iter().find(|entry| entry.name.is_none())?.value.as_text()
    }

    /// Returns a property's value; of several, the last.
    pub fn property(&self, name: &str) -> Option<&Value> {
        let is_named = |entry: &&Entry| entry.key() == Some(name);
        self.entries.iter().rfind(is_named).map(|entry| &entry.value)
    }

    /// Shifts its spans by `offset` bytes: its text follows other texts.
    pub fn shift(&mut self, offset: usize) {
        self.annotation.iter_mut().for_each(|name| name.shift(offset));
        self.name.shift(offset);
        for entry in &mut self.entries {
            entry.annotation.iter_mut().chain(&mut entry.name).for_each(|name| name.shift(offset));
            entry.span = shifted(&entry.span, offset);
            entry.value_span = shifted(&entry.value_span, offset);
        }
        self.block.iter_mut().flatten().for_each(|node| node.shift(offset));
    }
}

fn shifted(span: &Range<usize>, offset: usize) -> Range<usize> {
    span.start + offset..span.end + offset
}

/// Name with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// Text without quotes.
    pub text: String,
    /// Place, with quotes.
    pub span: Range<usize>,
}

impl Name {
    fn shift(&mut self, offset: usize) {
        self.span = shifted(&self.span, offset);
    }
}

/// Argument or property.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Name of a property.
    pub name: Option<Name>,
    /// `(type)` before its value.
    pub annotation: Option<Name>,
    pub value: Value,
    /// Place, with the name.
    pub span: Range<usize>,
    /// Place of the value.
    pub value_span: Range<usize>,
}

impl Entry {
    /// Returns the name of a property.
    pub fn key(&self) -> Option<&str> {
        self.name.as_ref().map(|name| name.text.as_str())
    }
}

/// Value of an argument or property.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Text, with or without quotes.
    Text(String),
    /// Whole number.
    Integer(i128),
    /// Any other number.
    Number,
    /// `#true` or `#false`.
    Bool(bool),
    /// `#null`.
    Null,
}

impl Value {
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Parses a text.
///
/// # Errors
/// All mistakes with their places, or an exceeded limit.
pub fn parse(source: &Source) -> Result<Vec<Node>, Problems> {
    limits::check(source)?;
    read::nodes(source)
}
