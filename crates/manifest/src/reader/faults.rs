//! Faults of a file and its included files, and the places of their bytes.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use crate::{ArgKind, Arity, Glob};
use base::source::{Capped, Code, Place, Problem, Problems, Source, Spanned};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Request {
    /// With its `NodeSpec` if known.
    Node { name: &'static str, times: Arity, known: bool },
    /// An argument (with an empty name) or a property of a node.
    Arg { node: String, takes: ArgKind, name: &'static str },
}

/// In bytes; a compiled glob takes some kilobytes. Enough for 4,000 packages with five globs each.
const MOST_OF_GLOBS: usize = 512 << 10;

/// Minimum that a glob counts as, in bytes.
const LEAST_OF_GLOB: usize = 16;

/// Faults of a file and its included files; their spans follow each other.
#[derive(Debug)]
pub(crate) struct Faults {
    source: Source,
    /// Included texts, each with the byte that it starts at.
    included: RefCell<Vec<(usize, Source)>>,
    problems: RefCell<Capped>,
    globs: Cell<usize>,
    requests: Option<RefCell<Vec<Request>>>,
}

impl Faults {
    pub fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            included: RefCell::default(),
            problems: RefCell::default(),
            globs: Cell::default(),
            requests: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn noting(source: &Source) -> Self {
        Self { requests: Some(RefCell::default()), ..Self::new(source) }
    }

    #[cfg(test)]
    pub(crate) fn into_requests(mut self) -> (Vec<Request>, Problems) {
        let requests = self.requests.take().map(RefCell::into_inner).unwrap_or_default();
        (requests, self.into_problems())
    }

    pub(super) fn note(&self, request: impl FnOnce() -> Request) {
        if let Some(notes) = &self.requests {
            notes.borrow_mut().push(request());
        }
    }

    pub fn report(&self, problem: Problem) {
        self.problems.borrow_mut().report(|| problem);
    }

    pub fn at(&self, span: &Range<usize>) -> Place {
        let included = self.included.borrow();
        match included.iter().rfind(|(start, _)| *start <= span.start) {
            Some((start, source)) => source.at(span.start - start..span.end - start),
            None => self.source.at(span.clone()),
        }
    }

    /// Returns the start of the text's spans.
    pub fn add(&self, source: Source) -> usize {
        let mut included = self.included.borrow_mut();
        let end = |start: usize, source: &Source| start + source.text().len() + 1;
        let start = included
            .last()
            .map_or_else(|| end(0, &self.source), |(start, source)| end(*start, source));
        included.push((start, source));
        start
    }

    pub fn root(&self) -> &Source {
        &self.source
    }

    pub(crate) fn add_text(&self, source: Source) {
        if self.included.borrow().iter().all(|(_, earlier)| earlier.name() != source.name()) {
            self.add(source);
        }
    }

    /// Returns the texts, the file itself first.
    pub fn sources(&self) -> Vec<Source> {
        let included = self.included.borrow();
        let included = included.iter().map(|(_, source)| source.clone());
        std::iter::once(self.source.clone()).chain(included).collect()
    }

    /// Adds the size of a glob, and reports the first over the limit.
    pub(super) fn count_glob(&self, glob: &Spanned<Glob>) {
        let before = self.globs.get();
        let total = before + glob.as_str().len().max(LEAST_OF_GLOB);
        self.globs.set(total);
        if before <= MOST_OF_GLOBS && total > MOST_OF_GLOBS {
            let message = format!("the globs of {} exceed the limit", self.source.name());
            let label = format!("limit of {} KiB reached here", MOST_OF_GLOBS >> 10);
            let problem = Problem::error(Code::Limit, message).label(&glob.place, label);
            self.report(problem.help(
                "join globs: \"lib/**\", \"lib/{a,b,c}/*\"; each glob counts as 16 bytes or more",
            ));
        }
    }

    /// Returns all faults in the order of the file.
    pub fn into_problems(self) -> Problems {
        self.problems.into_inner().into_problems()
    }
}
