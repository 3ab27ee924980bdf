//! Sources with places, and problems: the only diagnostic type.

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
pub use picture::{Look, picture};
pub use position::{Position, Span};
pub use printable::{is_active, printable, printable_lines};
pub use wrap::wrapped;

/// Text with its displayed name, such as a KDL file.
#[derive(Debug, Clone)]
pub struct Source(Arc<Text>);

#[derive(Debug)]
struct Text {
    name: String,
    file: Option<String>,
    whole: String,
    /// Text for pictures, if it differs: without control characters.
    masked: OnceLock<Option<String>>,
    /// Offsets of line breaks.
    breaks: Vec<usize>,
}

impl Text {
    fn masked(&self) -> &str {
        self.masked
            .get_or_init(|| picture::mask_active(&self.whole))
            .as_deref()
            .unwrap_or(&self.whole)
    }
}

impl Source {
    /// Creates a source from text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_parts(name.into(), None, text.into())
    }

    /// Creates a source from a file at the path `file`, as given by the user; `name` is displayed.
    pub fn of_file(
        name: impl Into<String>,
        file: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self::from_parts(name.into(), Some(file.into()), text.into())
    }

    fn from_parts(name: String, file: Option<String>, text: String) -> Self {
        let breaks = text.match_indices('\n').map(|(offset, _)| offset).collect();
        Self(Arc::new(Text { name, file, whole: text, masked: OnceLock::new(), breaks }))
    }

    /// Name in messages and plans (`packages.kdl`).
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Path of the file, if any (`packaging/packages.kdl`).
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Whole text.
    pub fn text(&self) -> &str {
        &self.0.whole
    }

    /// Creates a source at a path relative to this one.
    #[must_use]
    pub fn sibling(&self, path: &str, text: impl Into<String>) -> Self {
        let sibling_of = |name: &str| Path::new(name).with_file_name(path).display().to_string();
        Self::from_parts(sibling_of(self.name()), self.file().map(sibling_of), text.into())
    }

    /// Returns true if the name is below the directory of the other name. Nothing is below a name
    /// without directory.
    pub fn is_below(&self, other: &Self) -> bool {
        let directory = Path::new(other.name()).parent().unwrap_or(Path::new(""));
        directory != Path::new("") && Path::new(self.name()).starts_with(directory)
    }

    fn line_of(&self, byte: usize) -> usize {
        self.0.breaks.partition_point(|&offset| offset < byte) + 1
    }

    fn line_start(&self, line: usize) -> usize {
        match line.checked_sub(2) {
            None => 0,
            Some(index) => self.0.breaks.get(index).map_or(self.0.whole.len(), |offset| offset + 1),
        }
    }

    fn position(&self, byte: usize) -> Position {
        let line = self.line_of(byte);
        let start = self.line_start(line);
        let before = self.text().get(start..byte).unwrap_or_default();
        Position { line, column: before.chars().count() + 1 }
    }

    /// Place of these bytes.
    pub fn at(&self, bytes: Range<usize>) -> Place {
        Place { source: self.clone(), bytes, shown: OnceLock::new() }
    }
}

/// Byte range of a source.
#[derive(Clone)]
pub struct Place {
    source: Source,
    bytes: Range<usize>,
    shown: OnceLock<Arc<str>>,
}

impl Place {
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Text at this place.
    pub fn text(&self) -> &str {
        self.source.text().get(self.bytes.clone()).unwrap_or_default()
    }

    /// Start in bytes.
    pub fn start(&self) -> usize {
        self.bytes.start
    }

    /// First line, counted from 1.
    pub fn line(&self) -> usize {
        self.source.line_of(self.bytes.start)
    }

    /// Start and end in lines and columns.
    pub fn span(&self) -> Span {
        Span {
            start: self.source.position(self.bytes.start),
            end: self.source.position(self.bytes.end),
        }
    }

    /// Place for display, shared because plans repeat it.
    pub fn shown(&self) -> Arc<str> {
        let text = || format!("{}:{}", self.source.name(), self.line()).into();
        self.shown.get_or_init(text).clone()
    }
}

/// `packages.kdl:12`, as in plans.
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

/// Value with its place.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    pub value: T,
    /// Place of the value.
    pub place: Place,
}

impl<T> Spanned<T> {
    /// Combines a value with its place.
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

/// Error, warning or note.
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

/// Declaration in the manifest that a warning is expected.
#[derive(Debug, Clone)]
pub struct Expected {
    pub reason: String,
    /// Place of the declaration.
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

    /// Creates an error. `message` is a sentence in lower case that names the thing.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// Creates a warning, which does not stop the work.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    /// Creates a note about something that is not a fault.
    pub fn note(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Advice, message.into())
    }

    /// Creates an error of the command line, with another exit status.
    pub fn usage(code: Code, message: impl Into<String>) -> Self {
        Self { usage: true, ..Self::error(code, message) }
    }

    /// Sets the fact at fault. Of problems with equal code and fact, [`Problems`] keeps the first.
    #[must_use]
    pub fn of_fact(mut self, fact: impl Into<String>) -> Self {
        self.fact = Some(fact.into().into());
        self
    }

    /// Adds a place. Files get separate pictures.
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

    /// Marks a warning, but not an error, as expected.
    #[must_use]
    pub fn expected(mut self, reason: &str, place: &Place) -> Self {
        let expected = Expected { reason: reason.to_owned(), place: place.clone() };
        self.expected = (!self.is_error()).then(|| Box::new(expected));
        self
    }

    /// Expectation of the warning.
    pub fn expectation(&self) -> Option<&Expected> {
        self.expected.as_deref()
    }

    /// Returns true for a warning that the manifest does not expect.
    pub fn is_unexpected_warning(&self) -> bool {
        self.severity == Severity::Warning && self.expected.is_none()
    }

    /// Makes a warning an error.
    #[must_use]
    pub fn denied(self) -> Self {
        Self { severity: Severity::Error, ..self }
    }

    /// Sets the remedy.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(capped::short_lines(&text.into()).into());
        self
    }

    fn first_place(&self) -> Option<(&str, usize)> {
        self.labels.first().map(|(place, _)| (place.source.name(), place.bytes.start))
    }

    pub fn code(&self) -> Code {
        self.code
    }

    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// Returns true if the problem stops the work.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn remedy(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Labelled places in the first file.
    pub fn labels(&self) -> &[(Place, String)] {
        &self.labels
    }

    /// Labelled places in other files.
    pub fn labels_elsewhere(&self) -> impl Iterator<Item = &(Place, String)> {
        self.elsewhere.iter().flat_map(|problem| &problem.labels)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Collected problems: one run reports all independent faults.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    problems: Vec<Problem>,
    facts: BTreeSet<(Code, Box<str>)>,
}

impl Problems {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a problem unless its fact is known.
    pub fn push(&mut self, problem: Problem) {
        let is_new =
            problem.fact.clone().is_none_or(|fact| self.facts.insert((problem.code, fact)));
        if is_new {
            self.problems.push(problem);
        }
    }

    /// Adds all problems.
    pub fn extend(&mut self, other: Self) {
        other.problems.into_iter().for_each(|problem| self.push(problem));
    }

    /// Sorts by place; problems without one are first.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.problems.sort_by(|a, b| a.first_place().cmp(&b.first_place()));
        self
    }

    /// Returns true if a problem stops the work.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    /// Returns true if all errors are of the command line.
    pub fn blame_usage(&self) -> bool {
        self.problems.iter().filter(|p| p.is_error()).all(|p| p.usage)
    }

    /// Returns true without problems.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Problems in order.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        let mut problems = Self::new();
        problems.push(problem);
        problems
    }
}

/// Most similar name, if any. Case counts less than letters, and `_` is like `-`.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The time of the comparison is quadratic in the length.
    const LONGEST: usize = 200;
    // Every name of two letters is one slip from every other.
    const SHORTEST: usize = 3;
    let folded = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let folded_text = folded(text);
    let likeness = |name: &str| {
        let exact = strsim::jaro_winkler(text, name);
        let folded = folded(name);
        // A name with one slip wins over any that only begins alike, and an exact match over one
        // that differs in case.
        let is_slip = text.len() >= SHORTEST && strsim::osa_distance(&folded_text, &folded) <= 1;
        exact.max(strsim::jaro_winkler(&folded_text, &folded) - 0.01) + f64::from(u8::from(is_slip))
    };
    let names = names.into_iter().filter(|_| text.len() <= LONGEST);
    names
        .map(|name| (likeness(name), name))
        // Below, the names have little in common.
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Name that a text misspells by one or two letters, by case, or by `_` for `-`; `None` for a known
/// name. Names that differ only in digits, or by two adjacent letters, are different names, such as
/// `python` and `python3`, `rocblas` and `rocblaslt`.
pub fn misspelled<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = match text.len() {
        0..4 => return None,
        4..8 => 1,
        _ => 2,
    };
    let folded = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let folded_text = folded(text);
    let mut best = None;
    for name in names {
        if name == text {
            return None;
        }
        if name.len().abs_diff(text.len()) > most {
            continue;
        }
        let folded = folded(name);
        let distance = strsim::osa_distance(&folded_text, &folded);
        let is_near = distance <= most
            && !are_versions(&folded_text, &folded)
            && !is_part(&folded_text, &folded);
        if is_near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Returns true if only digits differ.
fn are_versions(left: &str, right: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    left != right && letters(left) == letters(right)
}

/// Returns true if one is the other without two adjacent letters.
fn is_part(left: &str, right: &str) -> bool {
    let pairs = || left.bytes().zip(right.bytes());
    let start = pairs().take_while(|(a, b)| a == b).count();
    let end = left.bytes().rev().zip(right.bytes().rev()).take_while(|(a, b)| a == b).count();
    left.len().abs_diff(right.len()) == 2 && start + end >= left.len().min(right.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_near_without_regard_to_case() {
        assert_eq!(nearest("FFT", ["rand", "fft"]), Some("fft"));
        assert_eq!(nearest("roc-info", ["roc_inf", "roc_info"]), Some("roc_info"));
        assert_eq!(nearest("blas", ["Blas", "blas"]), Some("blas"));
        assert_eq!(nearest("x", ["fft"]), None);
    }

    #[test]
    fn finds_misspellings_by_few_letters_but_not_of_known_names() {
        let names = ["rccl", "libhipblas.so", "roc_agent"];
        assert_eq!(misspelled("rcll", names), Some("rccl"));
        assert_eq!(misspelled("libhipblass.so", names), Some("libhipblas.so"));
        assert_eq!(misspelled("roc-agent", names), Some("roc_agent"));
        let names = [&names[..], &["python3", "librocblaslt.so"]].concat();
        for name in ["rccl", "rc", "hipfft", "librocblas.so", "python", "libhipblas.so"] {
            assert_eq!(misspelled(name, names.iter().copied()), None, "{name}");
        }
    }
}
