//! Pictures of problems: lines at fault with labels.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, Severity, SourceCode, SourceSpan, SpanContents,
};
use textwrap::WordSplitter;

use super::printable::{printable, printable_lines};
use super::{Place, Problem, Source, wrap};
use crate::text::ascii_signs;

/// Bytes before and after a label that its picture shows, because a line can have megabytes.
const CONTEXT: usize = 1000;

/// Least width of a label's text, because in fewer columns each word takes a line.
const NARROWEST_LABEL: usize = 30;

/// Look of pictures.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Colours of a terminal.
    pub colour: bool,
    /// Box characters, not ASCII.
    pub unicode: bool,
}

impl Look {
    /// Box characters without colours.
    pub const PLAIN: Self = Self { colour: false, unicode: true };

    fn theme(self) -> GraphicalTheme {
        match self {
            Self { colour: true, unicode: true } => GraphicalTheme::unicode(),
            Self { colour: false, unicode: true } => GraphicalTheme::unicode_nocolor(),
            Self { colour: true, unicode: false } => GraphicalTheme::ascii(),
            Self { colour: false, unicode: false } => GraphicalTheme::none(),
        }
    }
}

/// Renders a problem. Lines have at most `width` columns, unless a path, flag or code is longer or `width` leaves too few
/// columns for labels. Distant labels get separate pictures. Control characters are escaped.
pub fn picture(problem: &Problem, width: usize, look: Look) -> String {
    let handler = GraphicalReportHandler::new_themed(look.theme())
        .with_width(width)
        .with_links(false)
        .with_wrap_lines(true)
        .with_break_words(false)
        .with_word_splitter(WordSplitter::NoHyphenation)
        .with_word_separator(wrap::SEPARATOR);
    let mut text = String::new();
    for part in PicturePart::parts(problem, width) {
        if handler.render_report(&mut text, &part).is_err() {
            // If rendering fails, print at least the message.
            text.push_str(&part.message);
            text.push('\n');
        }
    }
    if look.unicode { text } else { ascii_signs(&text).into_owned() }
}

/// A problem in the form of `miette`: all labels near the first, or one distant label.
#[derive(Debug)]
struct PicturePart<'p> {
    message: Cow<'p, str>,
    severity: Severity,
    help: Option<Cow<'p, str>>,
    source: Option<&'p Source>,
    labels: Vec<LabeledSpan>,
}

impl<'p> PicturePart<'p> {
    fn parts(problem: &'p Problem, width: usize) -> Vec<Self> {
        let main = Self {
            message: printable(&problem.message),
            severity: problem.severity,
            help: problem.help.as_deref().map(printable_lines),
            source: problem.labels.first().map(|(place, _)| &place.source),
            labels: label_spans(&problem.labels, width),
        };
        let elsewhere = problem.labels_elsewhere().map(|label| Self {
            message: Cow::Borrowed("also here"),
            severity: Severity::Advice,
            help: None,
            source: Some(&label.0.source),
            labels: label_spans(std::slice::from_ref(label), width),
        });
        std::iter::once(main).chain(elsewhere).collect()
    }
}

fn label_spans(labels: &[(Place, String)], width: usize) -> Vec<LabeledSpan> {
    let span = |(index, (place, text)): (usize, &(Place, String))| {
        let new = if index == 0 {
            LabeledSpan::new_primary_with_span
        } else {
            LabeledSpan::new_with_span
        };
        let lines =
            textwrap::wrap(&printable(text), wrap::options(label_width(place, width))).join("\n");
        new(Some(lines), underline_range(place))
    };
    labels.iter().enumerate().map(span).collect()
}

fn underline_range(place: &Place) -> Range<usize> {
    // Limit in bytes, because miette puts the label below the middle of the underline.
    const LONGEST: usize = 200;
    let limit = place.source.text().floor_char_boundary(place.bytes.start + LONGEST);
    place.bytes.start..place.bytes.end.min(limit)
}

fn label_width(place: &Place, width: usize) -> usize {
    let underline = underline_range(place);
    let [start, end] = [underline.start, underline.end].map(|offset| place.source.position(offset));
    let number = (end.line + 1).to_string().len();
    let middle = usize::midpoint(start.column.min(CONTEXT), end.column.min(CONTEXT));
    // ` 12 · ` before the line, `╰── ` before the label.
    width.saturating_sub(2 + number + 4 + middle + 4).max(NARROWEST_LABEL)
}

impl fmt::Display for PicturePart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PicturePart<'_> {}

impl Diagnostic for PicturePart<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        (!self.labels.is_empty()).then(|| Box::new(self.labels.iter().cloned()) as Box<_>)
    }
}

/// Reads only the lines around a span, in time independent of the rest of the text.
impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = self.0.masked();
        let end = (span.offset() + span.len()).min(text.len());
        let start = span.offset().min(end);
        let name = printable(self.file().unwrap_or(self.name())).into_owned();
        if before == 0 && after == 0 {
            let position = self.position(start);
            let place = (start, end - start).into();
            let data = &text.as_bytes()[start..end];
            let (line, column) = (position.line - 1, position.column - 1);
            return Ok(Box::new(MietteSpanContents::new_named(name, data, place, line, column, 1)));
        }
        let first = self.line_of(start).saturating_sub(before).max(1);
        let last = self.line_of(end.saturating_sub(1).max(start)) + after;
        let cut = text.floor_char_boundary(start.saturating_sub(CONTEXT));
        let from = self.line_start(first).max(cut);
        let end_of_text = self.line_start(last + 1).min(text.ceil_char_boundary(end + CONTEXT));
        let line = self.line_of(from) - 1;
        let lines = self.line_of(end_of_text.saturating_sub(1).max(from)) - line;
        let data = &text.as_bytes()[from..end_of_text];
        let place = (from, end_of_text - from).into();
        // miette joins pictures if `line + lines` of one reaches the line of the other; omitting
        // the last line keeps pictures separate.
        let lines = lines.saturating_sub(1);
        Ok(Box::new(MietteSpanContents::new_named(name, data, place, line, 0, lines)))
    }
}

/// Replaces active characters by as many `?` as they have bytes, so that places stay valid; returns `None`
/// without any.
pub(super) fn mask_active(text: &str) -> Option<String> {
    let is_masked = |offset: usize, c: char| {
        super::printable::is_active(c) && !(c == '\r' && text[offset + 1..].starts_with('\n'))
    };
    text.char_indices().any(|(offset, c)| is_masked(offset, c)).then(|| {
        text.char_indices().fold(String::with_capacity(text.len()), |mut out, (offset, c)| {
            if is_masked(offset, c) {
                out.extend(std::iter::repeat_n('?', c.len_utf8()));
            } else {
                out.push(c);
            }
            out
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Code;

    fn place(source: &Source, text: &str) -> Place {
        let start = source.text().find(text).unwrap();
        source.at(start..start + text.len())
    }

    fn numbered(lines: usize) -> Source {
        let text = (1..=lines).fold(String::new(), |text, n| text + &format!("line{n:03} x\n"));
        Source::new("a.kdl", text)
    }

    #[test]
    fn draws_distant_labels_in_separate_pictures() {
        let source = numbered(200);
        let problem = Problem::error(Code::GivenTwice, "twice")
            .label(&place(&source, "line130"), "again here")
            .label(&place(&source, "line004"), "first here");
        let text = picture(&problem, 100, Look::PLAIN);
        assert!(text.contains("[a.kdl:4:1]") && text.contains("[a.kdl:130:1]"), "{text}");
        assert_eq!(text.lines().count(), 1 + 2 * 7, "{text}");
        assert!(!text.contains("line050"), "{text}");
    }

    #[test]
    fn draws_near_labels_in_one_picture() {
        let source = numbered(20);
        let problem = Problem::error(Code::GivenTwice, "twice")
            .label(&place(&source, "line006"), "again here")
            .label(&place(&source, "line004"), "first here");
        let text = picture(&problem, 100, Look::PLAIN);
        assert!(text.contains("line005") && text.matches("a.kdl").count() == 1, "{text}");
    }

    #[test]
    fn lines_keep_to_the_width_and_flags_stay_whole() {
        let source = Source::new("a.kdl", "node \"x\"\n");
        let long = "files of a package keep the rpath that the build gave them, so give \
                    --linux-amdgpu-families or write `rpath \"core\" \"lib/some/directory\"`";
        let problem = Problem::warning(Code::MissingPart, long)
            .label(&place(&source, "\"x\""), long)
            .help(long);
        for width in [40, 60, 80, 100] {
            let text = picture(&problem, width, Look::PLAIN);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            // The rpath in backticks has 35 columns and is not broken; the others are indentation.
            assert!(widest <= width.max(53), "{width}: {widest}\n{text}");
            assert_eq!(text.matches("--linux-amdgpu-families").count(), 3, "{text}");
            assert_eq!(text.matches("`rpath \"core\" \"lib/some/directory\"`").count(), 3);
        }
    }

    #[test]
    fn escapes_control_sequences_in_names() {
        let source =
            Source::new("a\u{1b}]0;x\u{7}.kdl", "node \"a\u{1b}[2J\u{202e}b\" // \u{9b}\n");
        let problem = Problem::error(Code::InvalidText, "bad `\u{1b}[31m\nerror: none`")
            .label(&place(&source, "\"a\u{1b}[2J\u{202e}b\""), "\u{1b}[0m\nhere")
            .help("one\ntwo \u{2066}");
        let text = picture(&problem, 100, Look::PLAIN);
        let is_active = |c: char| c != '\n' && super::super::printable::is_active(c);
        assert!(!text.contains(is_active), "{text:?}");
        assert!(text.contains("bad `\\u{1b}[31m\\nerror: none`"), "{text}");
        assert!(text.contains("\"a?[2J???b\" // ??"), "{text}");
        assert!(text.contains("help: one\n        two \\u{2066}"), "{text}");
    }

    #[test]
    fn cuts_an_endless_line() {
        let text = format!("{} here {}\n", "a".repeat(100_000), "b".repeat(100_000));
        let source = Source::new("a.kdl", text);
        let problem = Problem::error(Code::InvalidText, "m").label(&place(&source, "here"), "x");
        assert!(picture(&problem, 100, Look::PLAIN).len() < 20_000);
    }

    #[test]
    fn a_label_has_the_width_right_of_the_middle_of_its_underline() {
        let source = Source::new("a.kdl", format!("{}\n", "a".repeat(900)));
        let label = "word ".repeat(30);
        let problem =
            Problem::error(Code::InvalidText, "m").label(&source.at(0..900), label.trim());
        let text = picture(&problem, 400, Look::PLAIN);
        assert!(text.contains(label.trim()), "{text}");
    }

    #[test]
    fn pictures_without_box_characters_are_ascii() {
        let source = Source::new("a.kdl", "node \"x\"\nother\n");
        for problem in [
            Problem::error(Code::GivenTwice, "a → b"),
            Problem::warning(Code::GivenTwice, "one"),
            Problem::note(Code::GivenTwice, "one"),
        ] {
            let problem = problem
                .label(&place(&source, "\"x\""), "here")
                .label(&place(&source, "other"), "there")
                .help("write reason=\"…\"");
            for colour in [false, true] {
                let text = picture(&problem, 80, Look { colour, unicode: false });
                assert!(text.is_ascii() && text.contains("reason=\"...\""), "{text}");
            }
        }
    }

    #[test]
    fn line_breaks_of_windows_stay() {
        assert_eq!(mask_active("a\r\nb\r\n"), None);
        assert_eq!(mask_active("a\rb\r\n").unwrap(), "a?b\r\n");
    }
}
