//! Where things are said, and what is wrong with them: the one diagnostic type.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use miette::Severity;

mod capped;
mod code;
mod picture;
mod position;
mod printable;
mod wrap;

pub use capped::Capped;
pub use code::Code;
pub use picture::picture;
pub use position::{Position, Span};
pub use printable::{printable, printable_lines};
pub use wrap::wrapped;

/// A text that diagnostics point into: a KDL file with its name as people know it.
#[derive(Debug, Clone)]
pub struct Source(Arc<Text>);

#[derive(Debug)]
struct Text {
    name: String,
    /// The file it was read from, as it was asked for; `None` of what no file has.
    file: Option<String>,
    whole: String,
    /// The text as pictures show it, when that is another one.
    drawn: OnceLock<Option<String>>,
    /// Where its line breaks are.
    breaks: Vec<usize>,
}

impl Text {
    fn drawn(&self) -> &str {
        self.drawn.get_or_init(|| picture::masked(&self.whole)).as_deref().unwrap_or(&self.whole)
    }
}

impl Source {
    /// A source of this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with(name.into(), None, text.into())
    }

    /// The text of a file: `name` is what people call it, `file` where it is, as it was asked for.
    pub fn of_file(
        name: impl Into<String>,
        file: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::with(name.into(), Some(file.into()), text.into())
    }

    fn with(name: String, file: Option<String>, text: String) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
        Self(Arc::new(Text { name, file, whole: text, drawn: OnceLock::new(), breaks }))
    }

    /// The name, as messages and plans show it (`packages.kdl`).
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The file it was read from, if it was read from one (`packaging/packages.kdl`).
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.whole
    }

    /// A text at a path from the directory of this one.
    #[must_use]
    pub fn sibling(&self, path: &str, text: impl Into<String>) -> Self {
        let of = |name: &str| Path::new(name).with_file_name(path).display().to_string();
        Self::with(of(self.name()), self.file().map(of), text.into())
    }

    /// Returns true if its name is below the directory of another name. A name without directory has none below it.
    pub fn is_below(&self, other: &Self) -> bool {
        let directory = Path::new(other.name()).parent().unwrap_or(Path::new(""));
        directory != Path::new("") && Path::new(self.name()).starts_with(directory)
    }

    fn line_of(&self, byte: usize) -> usize {
        self.0.breaks.partition_point(|&at| at < byte) + 1
    }

    /// Where a line begins; behind the last one, the end of the text.
    fn line_start(&self, line: usize) -> usize {
        match line.checked_sub(2) {
            None => 0,
            Some(index) => self.0.breaks.get(index).map_or(self.0.whole.len(), |at| at + 1),
        }
    }

    fn position(&self, byte: usize) -> Position {
        let line = self.line_of(byte);
        let start = self.line_start(line);
        let before = self.text().get(start..byte).unwrap_or_default();
        Position { line, column: before.chars().count() + 1 }
    }

    /// The place of these bytes.
    pub fn at(&self, bytes: Range<usize>) -> Place {
        Place { source: self.clone(), bytes, shown: OnceLock::new() }
    }
}

/// Some bytes of a source: where a rule stands.
#[derive(Clone)]
pub struct Place {
    source: Source,
    bytes: Range<usize>,
    shown: OnceLock<Arc<str>>,
}

impl Place {
    /// The source that has it.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What stands there.
    pub fn text(&self) -> &str {
        self.source.text().get(self.bytes.clone()).unwrap_or_default()
    }

    /// Where it starts, in bytes.
    pub fn start(&self) -> usize {
        self.bytes.start
    }

    /// The line it starts on, counted from 1.
    pub fn line(&self) -> usize {
        self.source.line_of(self.bytes.start)
    }

    /// Where it starts and ends, in lines and columns.
    pub fn span(&self) -> Span {
        Span {
            start: self.source.position(self.bytes.start),
            end: self.source.position(self.bytes.end),
        }
    }

    /// The place as it is shown, in one text that all who name it share: a plan names a rule once
    /// for each file that the rule placed.
    pub fn shown(&self) -> Arc<str> {
        let shown = || format!("{}:{}", self.source.name(), self.line()).into();
        self.shown.get_or_init(shown).clone()
    }
}

/// `packages.kdl:12`, as a plan names its rules.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A value with the place where it was said.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// What was said.
    pub value: T,
    /// Where.
    pub place: Place,
}

impl<T> Spanned<T> {
    /// `value`, said at `place`.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

impl<T> std::ops::Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// One thing that is wrong (or worth a warning), with the places at fault and the remedy.
#[derive(Debug, Clone)]
pub struct Problem {
    code: Code,
    severity: Severity,
    message: String,
    labels: Vec<(Place, String)>,
    help: Option<Box<str>>,
    elsewhere: Vec<Problem>,
    usage: bool,
    fact: Option<Box<str>>,
    expected: Option<Box<Expected>>,
}

/// That a warning is expected: a line of the manifest says so, and why.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Why.
    pub reason: String,
    /// Where the manifest says it.
    pub place: Place,
}

impl Problem {
    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self {
            code,
            severity,
            message: capped::short(message),
            labels: Vec::new(),
            help: None,
            elsewhere: Vec::new(),
            usage: false,
            fact: None,
            expected: None,
        }
    }

    /// An error. `message` is one sentence in lower case that names what is at fault.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A warning: the work goes on.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    /// Worth knowing, though nothing is wrong.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Advice, message.into())
    }

    /// An error of the command line rather than of the files: callers tell both apart by the exit status.
    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self { usage: true, ..Self::error(code, message) }
    }

    /// Names the fact that is wrong, where several packages meet with the same one: of the
    /// problems of one code and fact, a collection keeps the first.
    #[must_use]
    pub fn of_fact(mut self, fact: impl Into<String>) -> Self {
        self.fact = Some(fact.into().into());
        self
    }

    /// Points at `place`. Places of one file share a picture; those of another get their own.
    #[must_use]
    pub fn label(mut self, place: &Place, text: impl Into<String>) -> Self {
        let same_file = |(first, _): &(Place, String)| first.source.name() == place.source.name();
        if self.labels.first().is_none_or(same_file) {
            self.labels.push((place.clone(), capped::short(text.into())));
        } else {
            self.elsewhere.push(Self::note(self.code, "also here").label(place, text));
        }
        self
    }

    /// Notes that a line of the manifest expects the warning. An error stays one.
    #[must_use]
    pub fn expected(mut self, reason: &str, place: &Place) -> Self {
        let expected = Expected { reason: reason.to_owned(), place: place.clone() };
        self.expected = (!self.is_error()).then(|| Box::new(expected));
        self
    }

    /// The line of the manifest that expects it, if one does.
    pub fn expectation(&self) -> Option<&Expected> {
        self.expected.as_deref()
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(capped::short_lines(&text.into()).into());
        self
    }

    fn first_place(&self) -> Option<(&str, usize)> {
        self.labels.first().map(|(place, _)| (place.source.name(), place.bytes.start))
    }

    /// What kind of problem it is.
    pub fn code(&self) -> Code {
        self.code
    }

    /// How bad it is: an error stops the work.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Whether it stops the work.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The sentence.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The remedy, if one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The places at fault in the first file, with what is said of each.
    pub fn labels(&self) -> &[(Place, String)] {
        &self.labels
    }

    /// The places in other files, with what is said of each.
    pub fn labels_elsewhere(&self) -> impl Iterator<Item = &(Place, String)> {
        self.elsewhere.iter().flat_map(|other| &other.labels)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// All that is wrong, collected: one run reports every independent mistake.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    found: Vec<Problem>,
    facts: BTreeSet<(Code, Box<str>)>,
}

impl Problems {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, unless its fact is known to be wrong already.
    pub fn push(&mut self, problem: Problem) {
        let is_new =
            problem.fact.clone().is_none_or(|fact| self.facts.insert((problem.code, fact)));
        if is_new {
            self.found.push(problem);
        }
    }

    /// Adds all of another collection.
    pub fn extend(&mut self, other: Self) {
        other.found.into_iter().for_each(|problem| self.push(problem));
    }

    /// In the order of the files: first what has no place, then by file and place.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.found.sort_by(|a, b| a.first_place().cmp(&b.first_place()));
        self
    }

    /// Whether any of them stops the work.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(Problem::is_error)
    }

    /// Whether the command line alone is at fault.
    pub fn blame_usage(&self) -> bool {
        self.found.iter().filter(|p| p.is_error()).all(|p| p.usage)
    }

    /// Whether there is no problem.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// In the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.found.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        let mut problems = Self::new();
        problems.push(problem);
        problems
    }
}

/// The known name nearest to `text`, for a hint; `None` when nothing is near.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 200;
    let known = known.into_iter().filter(|_| text.len() <= LONGEST);
    known
        .map(|name| (strsim::jaro_winkler(text, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
