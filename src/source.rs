//! Where things are said, and what is wrong with them: the one diagnostic type.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};

/// A text that diagnostics point into: a KDL file with its name as people know it.
#[derive(Debug, Clone)]
pub struct Source(Arc<Text>);

#[derive(Debug)]
struct Text {
    named: NamedSource<String>,
    /// Where its line breaks are: a plan asks for the line of a rule once for each file.
    breaks: Vec<usize>,
}

impl Source {
    /// A source of this name and text.
    pub fn new(name: impl AsRef<str>, text: impl Into<String>) -> Self {
        let text = text.into();
        let breaks = text.match_indices('\n').map(|(at, _)| at).collect();
        Self(Arc::new(Text { named: NamedSource::new(name, text), breaks }))
    }

    /// The name, as diagnostics and plans show it (`packages.kdl`).
    pub fn name(&self) -> &str {
        self.0.named.name()
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        self.0.named.inner()
    }

    /// The place of these bytes.
    pub fn at(&self, bytes: Range<usize>) -> Place {
        Place { source: self.clone(), bytes }
    }
}

/// Some bytes of a source: where a rule stands.
#[derive(Clone)]
pub struct Place {
    source: Source,
    bytes: Range<usize>,
}

impl Place {
    /// The source that has it.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The line it starts on, counted from 1.
    pub fn line(&self) -> usize {
        self.source.0.breaks.partition_point(|&at| at < self.bytes.start) + 1
    }
}

/// `packages.kdl:12`, as a plan names its rules.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source.name(), self.line())
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
    severity: Severity,
    message: String,
    labels: Vec<(Place, String)>,
    help: Option<String>,
    elsewhere: Vec<Problem>,
    usage: bool,
}

impl Problem {
    /// An error. `message` is one sentence in lower case that names what is at fault.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), labels: Vec::new(), help: None, elsewhere: Vec::new(), usage: false }
    }

    /// A warning: the work goes on.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// An error of the command line rather than of the files: callers tell both apart by the exit status.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { usage: true, ..Self::error(message) }
    }

    /// Points at `place`. Places of one file share a picture; those of another get their own.
    #[must_use]
    pub fn label(mut self, place: &Place, text: impl Into<String>) -> Self {
        let same_file = |(first, _): &(Place, String)| first.source.name() == place.source.name();
        if self.labels.first().is_none_or(same_file) {
            self.labels.push((place.clone(), text.into()));
        } else {
            self.elsewhere.push(Self::error("also here").with_severity(Severity::Advice).label(place, text));
        }
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
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
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.labels.first().map(|(place, _)| &place.source.0.named as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        if self.labels.is_empty() {
            return None;
        }
        // The picture's heading names the place of the primary label: the fault's, which is said first.
        let spans = self.labels.iter().enumerate().map(|(index, (place, text))| {
            let make = if index == 0 { LabeledSpan::new_primary_with_span } else { LabeledSpan::new_with_span };
            make(Some(text.clone()), place.bytes.clone())
        });
        Some(Box::new(spans))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|p| p as &dyn Diagnostic)))
    }
}

/// All that is wrong, collected: one run reports every independent mistake.
#[derive(Debug, Clone, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Adds all of another collection.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Whether any of them stops the work.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Problem::is_error)
    }

    /// Whether the command line alone is at fault.
    pub fn blame_usage(&self) -> bool {
        self.0.iter().filter(|p| p.is_error()).all(|p| p.usage)
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// An error with its causes, in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The known name nearest to `text`, for a hint; `None` when nothing is near.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(text, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
