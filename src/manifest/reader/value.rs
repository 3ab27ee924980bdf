//! Values of arguments and properties: text of some type, flags, counts.

use std::convert::Infallible;
use std::str::FromStr;

use kdl::{KdlEntry, KdlValue};

use super::{Faults, bytes};
use crate::names::{NameError, PathError};
use crate::source::{Code, Place, Problem, Spanned};

/// Why a text is not what was meant: the sentence, what stands at the text, and the remedy.
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
        self.reason.to_owned()
    }
}

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

/// What can be read from a text, with a reason when it can't.
pub(in super::super) trait FromText: FromStr<Err: Reason> {}

impl<T: FromStr<Err: Reason>> FromText for T {}

/// The entry's text as a `T`.
pub(super) fn read<T: FromText>(faults: &Faults, entry: &KdlEntry, owner: &str) -> Option<Spanned<T>> {
    let place = value_place(faults, entry);
    let text = text(faults, entry, &place, owner)?;
    match text.parse::<T>() {
        Ok(value) => Some(Spanned::new(value, place)),
        Err(reason) => {
            let problem = Problem::error(Code::InvalidText, reason.message()).label(&place, reason.label());
            faults.report(match reason.help() {
                Some(help) => problem.help(help),
                None => problem,
            });
            None
        }
    }
}

/// Every text of a manifest is one line with something in it: it ends up in file names and
/// metadata headers.
fn text<'a>(faults: &Faults, entry: &'a KdlEntry, place: &Place, owner: &str) -> Option<&'a str> {
    let fault = match entry.value() {
        KdlValue::String(text) if text.trim().is_empty() => ("is empty".to_owned(), "say something here".to_owned()),
        KdlValue::String(text) if text.contains(char::is_control) => {
            ("has a line break or another control character".to_owned(), "put it on one line".to_owned())
        }
        KdlValue::String(text) => return Some(text),
        KdlValue::Integer(_) | KdlValue::Float(_) => {
            ("is a number, but text is meant".to_owned(), format!("quote it: \"{}\"", written(entry)))
        }
        KdlValue::Bool(_) | KdlValue::Null => {
            (format!("is `{}`, but text is meant", written(entry)), "a text in quotes has to stand here".to_owned())
        }
    };
    let subject = match entry.name() {
        Some(name) => format!("`{}` of `{owner}`", name.value()),
        None => format!("an argument of `{owner}`"),
    };
    faults.report(Problem::error(Code::WrongType, format!("{subject} {}", fault.0)).label(place, fault.1));
    None
}

/// The entry as `#true` or `#false`.
pub(super) fn flag(faults: &Faults, entry: &KdlEntry) -> Option<bool> {
    let value = entry.value().as_bool();
    if value.is_none() {
        let problem = Problem::error(Code::WrongType, format!("`{}` is `{}`, but a switch is meant", super::key(entry), written(entry)));
        faults.report(problem.label(&value_place(faults, entry), "write `#true`, or leave it out"));
    }
    value
}

/// The entry as a whole number of at least 1.
pub(super) fn count(faults: &Faults, entry: &KdlEntry) -> Option<usize> {
    let value = entry.value().as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
    if value.is_none() {
        let label = match entry.value() {
            KdlValue::String(_) => "write a number, without quotes",
            _ => "write a whole number, 1 or more",
        };
        let problem = Problem::error(Code::WrongType, format!("`{}` is `{}`, but a count is meant", super::key(entry), written(entry)));
        faults.report(problem.label(&value_place(faults, entry), label));
    }
    value
}

fn written(entry: &KdlEntry) -> String {
    entry.format().map_or_else(|| entry.value().to_string(), |f| f.value_repr.clone())
}

/// The value alone: the span of a property begins with its name.
fn value_place(faults: &Faults, entry: &KdlEntry) -> Place {
    let mut range = bytes(entry.span());
    if let Some(format) = entry.format().filter(|_| entry.name().is_some()) {
        range.start = range.end.saturating_sub(format.value_repr.len()).max(range.start);
    }
    faults.source.at(range)
}
