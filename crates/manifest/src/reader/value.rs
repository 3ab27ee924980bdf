//! Values of arguments and properties: text of some type, flags, counts.

use std::convert::Infallible;
use std::str::FromStr;

use super::Faults;
use crate::kdl::{Entry, Value};
use base::names::{Component, DistName, NameError, PathError};
use base::source::{Code, Place, Problem, Spanned};

pub(in super::super) trait Reason {
    fn message(&self) -> String;
    fn label(&self) -> String;
    fn help(&self) -> Option<String> {
        None
    }
}

impl Reason for NameError {
    fn message(&self) -> String {
        format!("`{}` is not {}", self.text, self.kind)
    }

    fn label(&self) -> String {
        let joined = self.text.rsplit_once('_').filter(|(_, end)| end.parse::<Component>().is_ok());
        match joined {
            Some((name, component)) if self.kind == ARTIFACT => {
                format!("write \"{name}\" \"{component}\", the component as a separate text")
            }
            _ => self.reason.to_owned(),
        }
    }

    fn help(&self) -> Option<String> {
        let versioned = self.text.find(['<', '>', '=', '!', '~', '[', ';']);
        let name = versioned.map(|end| self.text[..end].trim());
        let is_requirement =
            self.kind == PACKAGE && name.is_some_and(|n| n.parse::<DistName>().is_ok());
        is_requirement.then(|| {
            format!("to require a package of others, write requires-dist \"{}\"", self.text)
        })
    }
}

const ARTIFACT: &str = "an artifact name";
const PACKAGE: &str = "a package name";

impl Reason for PathError {
    fn message(&self) -> String {
        format!("`{}` is not a path below an installation", self.path)
    }

    fn label(&self) -> String {
        format!("it {}", self.reason)
    }
}

impl Reason for Infallible {
    fn message(&self) -> String {
        match *self {}
    }

    fn label(&self) -> String {
        match *self {}
    }
}

pub(in super::super) trait FromText: FromStr<Err: Reason> + 'static {}

impl<T: FromStr<Err: Reason> + 'static> FromText for T {}

pub(super) fn read<T: FromText>(
    faults: &Faults,
    entry: &Entry,
    owner: impl FnOnce() -> String,
) -> Option<Spanned<T>> {
    let place = value_place(faults, entry);
    let text = text(faults, entry, &place, owner)?;
    parsed(faults, text, place)
}

pub(super) fn parsed<T: FromText>(faults: &Faults, text: &str, place: Place) -> Option<Spanned<T>> {
    match text.parse::<T>() {
        Ok(value) => Some(Spanned::new(value, place)),
        Err(reason) => {
            let problem = Problem::error(Code::InvalidText, reason.message())
                .label(&place, label(text, &reason));
            faults.report(match reason.help() {
                Some(help) => problem.help(help),
                None => problem,
            });
            None
        }
    }
}

/// Names a character that is invisible, or looks like another one.
fn label(text: &str, reason: &impl Reason) -> String {
    let label = reason.label();
    let odd = text.chars().find(|c| !c.is_ascii());
    let odd = odd.filter(|c| c.is_alphanumeric());
    match odd {
        Some(odd) => format!("{label}; `{odd}` is U+{:04X}", u32::from(odd)),
        None if text.trim() != text && !label.contains("blank") && !label.contains("spaces") => {
            format!("{label}; it begins or ends with a blank")
        }
        None => label,
    }
}

/// Returns the entry's text, which must be one line and not blank: it is used in file names and metadata.
fn text<'a>(
    faults: &Faults,
    entry: &'a Entry,
    place: &Place,
    owner: impl FnOnce() -> String,
) -> Option<&'a str> {
    let fault = match &entry.value {
        Value::Text(text) if text.trim().is_empty() => {
            ("is empty".to_owned(), "write a text".to_owned())
        }
        Value::Text(text) if text.contains(char::is_control) => (
            "has a line break or another control character".to_owned(),
            "put it on one line".to_owned(),
        ),
        Value::Text(text) => return Some(text),
        Value::Integer(_) | Value::Number => (
            "must be a text, not a number".to_owned(),
            format!("add quotes: \"{}\"", value_text(faults, entry)),
        ),
        Value::Bool(_) | Value::Null => (
            format!("must be a text, not `{}`", value_text(faults, entry)),
            "write a text in quotes".to_owned(),
        ),
    };
    let subject = match entry.key() {
        Some(name) => format!("`{name}` of `{}`", owner()),
        None => format!("an argument of `{}`", owner()),
    };
    faults.report(
        Problem::error(Code::WrongType, format!("{subject} {}", fault.0)).label(place, fault.1),
    );
    None
}

pub(super) fn flag(faults: &Faults, entry: &Entry) -> Option<bool> {
    let value = match entry.value {
        Value::Bool(value) => Some(value),
        _ => None,
    };
    if value.is_none() {
        let problem = Problem::error(
            Code::WrongType,
            format!(
                "`{}` must be `#true` or `#false`, not `{}`",
                super::key(entry),
                value_text(faults, entry)
            ),
        );
        faults.report(problem.label(&value_place(faults, entry), "write `#true`, or remove it"));
    }
    value
}

pub(super) fn count(faults: &Faults, entry: &Entry) -> Option<usize> {
    let value = match entry.value {
        Value::Integer(number) => usize::try_from(number).ok().filter(|n| *n > 0),
        _ => None,
    };
    if value.is_none() {
        let label = match &entry.value {
            Value::Text(_) => "write a number, without quotes",
            _ => "write an integer of at least 1",
        };
        let problem = Problem::error(
            Code::WrongType,
            format!(
                "`{}` must be a positive integer, not `{}`",
                super::key(entry),
                value_text(faults, entry)
            ),
        );
        faults.report(problem.label(&value_place(faults, entry), label));
    }
    value
}

fn value_text(faults: &Faults, entry: &Entry) -> String {
    faults.at(&entry.value_span).text().to_owned()
}

fn value_place(faults: &Faults, entry: &Entry) -> Place {
    faults.at(&entry.value_span)
}
