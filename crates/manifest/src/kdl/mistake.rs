//! Mistakes with their remedies, habits of other formats among them.

use std::ops::Range;

use super::MOST_DEPTH;
use super::literal::{Fault, KEYWORDS};
use super::token::{Token, TokenKind, is_blank, is_newline, run};
use base::source::{Capped, Code, Problem, Problems, Source, nearest};

pub(super) struct Mistakes<'a> {
    source: &'a Source,
    text: &'a str,
    faults: Capped,
    /// Unmatched braces are reported if nothing else is wrong: another mistake may be the cause.
    braces: Capped,
    /// One place is reported once.
    last: Option<usize>,
    in_conflict: bool,
    comma: usize,
}

/// Quotes of other formats and of word processors, with their closing quotes.
const QUOTES: &[char] = &['\'', '`', '‘', '’', '‚', '‛', '“', '”', '„', '‟', '«', '»'];

impl<'a> Mistakes<'a> {
    pub(crate) fn new(source: &'a Source) -> Self {
        let (faults, braces) = (Capped::default(), Capped::default());
        let text = source.text();
        Self { source, text, faults, braces, last: None, in_conflict: false, comma: 0 }
    }

    pub(crate) fn result(self) -> Result<(), Problems> {
        let faults = if self.faults.is_empty() { self.braces } else { self.faults };
        if faults.is_empty() { Ok(()) } else { Err(faults.into_problems()) }
    }

    fn report(&mut self, range: Range<usize>, make: impl FnOnce(&str) -> (String, String, String)) {
        if self.last.replace(range.start) == Some(range.start) {
            return;
        }
        let (source, text) = (self.source, self.text);
        self.faults.report(|| {
            let (message, label, help) = make(&text[range.clone()]);
            let problem = Problem::error(Code::NotKdl, message).label(&source.at(range), label);
            if help.is_empty() { problem } else { problem.help(help) }
        });
    }

    fn report_text(&mut self, range: Range<usize>, message: &str, label: &str, help: &str) {
        self.report(range, |_| (message.to_owned(), label.to_owned(), help.to_owned()));
    }

    fn brace(&mut self, range: Range<usize>, message: &str, label: &str) {
        let source = self.source;
        self.braces
            .report(|| Problem::error(Code::NotKdl, message).label(&source.at(range), label));
    }

    pub(crate) fn stray_close(&mut self, range: Range<usize>) {
        let label = "remove it, or check whether a block above ends too early";
        self.brace(range, "unmatched `}`", label);
    }

    pub(crate) fn open_block(&mut self, range: Range<usize>, outside: Option<Range<usize>>) {
        let source = self.source;
        self.braces.report(|| {
            let problem = Problem::error(Code::NotKdl, "unclosed block");
            let problem = match outside {
                Some(next) => problem.label(&source.at(next), "add `}` before this line"),
                None => problem,
            };
            problem.label(&source.at(range), "`{` without `}`")
        });
    }

    pub(crate) fn too_deep(&mut self, range: Range<usize>) {
        let source = self.source;
        let message = format!("blocks are nested deeper than the limit of {MOST_DEPTH}");
        self.faults
            .report(|| Problem::error(Code::Limit, message).label(&source.at(range), "too deep"));
    }

    pub(crate) fn second_block(&mut self, next: Token) {
        self.report_text(
            next.range(),
            "a node has two blocks",
            "second block",
            "join the two \
            blocks",
        );
    }

    pub(crate) fn behind_block(&mut self, next: Token) {
        let label = "write it before the block, or on the next line";
        self.report_text(next.range(), "text after a block", label, "");
    }

    pub(crate) fn no_space(&mut self, next: Token) {
        match next.kind {
            // `}` and `=` are wrong at their own place.
            TokenKind::Quoted
            | TokenKind::Raw
            | TokenKind::OpenText
            | TokenKind::Word
            | TokenKind::Bare => {
                if self.text[..next.start].ends_with('"') {
                    let quote = next.start - 1;
                    let label = "a space is missing after this `\"`";
                    let help = "inside of a text, write `\\\"` for a quote";
                    return self.report_text(
                        quote..next.start,
                        "a quoted text ends too early",
                        label,
                        help,
                    );
                }
                self.report_text(
                    next.range(),
                    "a space is missing between two values",
                    "add a space before it",
                    "",
                );
            }
            _ => self.unreadable(next),
        }
    }

    pub(crate) fn nameless_block(&mut self, next: Token) {
        let message = "a block has no node";
        self.report_text(next.range(), message, "no node name before this block", "");
    }

    pub(crate) fn idle_slashdash(&mut self, range: Range<usize>) {
        self.report_text(range, "`/-` has no node to leave out", "add a node, or remove `/-`", "");
    }

    pub(crate) fn idle_continue(&mut self, range: Range<usize>) {
        let label = "only a comment can follow on this line";
        self.report_text(range, "`\\` must be at the end of its line", label, "");
    }

    pub(crate) fn open_annotation(&mut self, next: Token) {
        self.report_text(next.range(), "unclosed type annotation", "`)` is missing", "");
    }

    pub(crate) fn no_name(&mut self, range: Range<usize>) {
        let message = |text: &str| format!("`{text}` is not a name");
        self.report(range, |text| (message(text), "expected a name".into(), String::new()));
    }

    pub(crate) fn no_value(&mut self, range: Range<usize>) {
        self.report_text(range, "a property has no value", "add a value", "");
    }

    pub(crate) fn literal(&mut self, token: Token, fault: Fault) {
        let in_source = |range: Range<usize>| token.start + range.start..token.start + range.end;
        match fault {
            Fault::Unreadable => self.unreadable(token),
            Fault::Unquoted => self.unquoted(token.range()),
            Fault::BareKeyword => self.bare_keyword(token.range()),
            Fault::Other(message) => self.report_text(token.range(), &message, "not a text", ""),
            Fault::Escape(range) => self.report(in_source(range), |text| {
                let help = "write `\\\\` for a backslash, and `/` in paths";
                (
                    format!("`{text}` is not an escape sequence"),
                    "unknown escape sequence".into(),
                    help.into(),
                )
            }),
            Fault::CodePoint(range) => {
                let label = "write `\\u{…}` with 1 to 6 hexadecimal digits";
                self.report_text(in_source(range), "invalid character number", label, "");
            }
            Fault::FirstLine(range) => {
                let label = "add a line break";
                let help = "write a text on one line as \"…\"";
                self.report_text(
                    in_source(range),
                    "a multi-line text must start on the next line",
                    label,
                    help,
                );
            }
            Fault::LastLine(range) => {
                let label = "put the closing quotes on a separate line";
                self.report_text(
                    in_source(range),
                    "the closing quotes of a multi-line text must be on a separate line",
                    label,
                    "",
                );
            }
            Fault::Indentation(range) => {
                let label = "indent this line like the closing quotes";
                self.report_text(
                    in_source(range),
                    "a line of a multi-line text is indented too little",
                    label,
                    "",
                );
            }
        }
    }

    fn bare_keyword(&mut self, range: Range<usize>) {
        self.report(range, |text| {
            let message = format!("`{text}` needs `#` or quotes");
            let help = format!("for a text, write \"{text}\"");
            (message, format!("write `#{text}`"), help)
        });
    }

    fn unquoted(&mut self, range: Range<usize>) {
        self.report(range, |text| {
            let quoted = text.replace('\\', "/").replace('"', "");
            let message = "a text with these characters needs quotes".to_owned();
            (message, format!("write \"{quoted}\""), String::new())
        });
    }

    /// Without quotes `>=3.10` is a property `>` of the value 3.10.
    pub(crate) fn comparison(&mut self, name: Range<usize>) -> bool {
        let sign = &self.text[name.clone()];
        let is_sign = matches!(sign, ">" | "<" | "!" | "~");
        if is_sign {
            let end = name.start + run(&self.text[name.start..], |c| !is_blank(c));
            let (source, range) = (self.source, name.start..end);
            let text = &self.text[range.clone()];
            let message = format!("`{text}` without quotes is a property `{sign}`");
            self.faults.report(|| {
                Problem::error(Code::UnquotedText, message)
                    .label(&source.at(range), format!("add quotes: \"{text}\""))
            });
        }
        is_sign
    }

    pub(crate) fn assignment(&mut self, name: Range<usize>, sign: Range<usize>) {
        let value = self.rest_of_line(sign.end).trim_matches([' ', '\t', ':', ',']);
        let start = name.start;
        let name = self.text[name].trim_end_matches(':').trim_matches(['#', '"']);
        if self.continues(start) {
            let message = "a property without a node";
            let help = "a node ends with its line, unless ` \\` is the line's end";
            return self.report_text(sign, message, "add ` \\` to the end of the line above", help);
        }
        let example = format!("{name} {value}");
        self.report(sign, |sign| {
            let help = "only properties take `=`: `NAME=\"VALUE\"`".to_owned();
            (format!("`{sign}` after a node's name"), format!("write `{}`", example.trim()), help)
        });
    }

    fn continues(&self, offset: usize) -> bool {
        let mut lines = self.text[..offset].rsplitn(3, '\n');
        let (Some(line), Some(line_above)) = (lines.next(), lines.next()) else { return false };
        let line_above = line_above.trim_end();
        let indent = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        let ends = line_above.is_empty() || line_above.ends_with(['{', '}', ';', '\\']);
        line.trim().is_empty()
            && !ends
            && indent(line) > indent(line_above)
            && !line_above.trim_start().starts_with("//")
    }

    pub(crate) fn unreadable(&mut self, next: Token) {
        let range = next.range();
        match next.kind {
            TokenKind::OpenText
                if self.text[range.clone()].trim_start_matches('#').starts_with("\"\"\"") =>
            {
                let range = range.start..range.start + 3;
                self.report_text(
                    range,
                    "unclosed quotes",
                    "opening `\"\"\"` without closing `\"\"\"`",
                    "",
                );
            }
            TokenKind::OpenText => {
                let message = "unclosed quotes";
                self.report_text(range, message, "add `\"` at the end of the text", "");
            }
            TokenKind::OpenComment => {
                let range = range.start..range.start + 2;
                self.report_text(range, "unclosed comment", "`/*` without `*/`", "");
            }
            TokenKind::Bare => self.unquoted(range),
            TokenKind::Keyword => self.report(range, |text| {
                let near = near_keyword(text).unwrap_or("#true");
                let label = format!("did you mean `{near}`?");
                (format!("`{text}` is not a value"), label, "texts need quotes".into())
            }),
            _ => self.report(range, |text| {
                (format!("unexpected `{text}`"), "expected a value".into(), String::new())
            }),
        }
    }

    /// Returns the end of a habit of other formats that takes the whole line.
    pub(crate) fn habit_of_lines(&mut self, next: Token) -> Option<usize> {
        if self.is_conflict(next.start) {
            let line = self.line_end(next.start);
            let ends = self.text[next.start..].starts_with('>');
            let begins = self.text[next.start..].starts_with('<');
            let inside = std::mem::replace(&mut self.in_conflict, !ends);
            if begins || !inside {
                let label = "keep one side, and remove the conflict markers";
                self.report_text(next.start..line, "unresolved merge conflict", label, "");
            }
            return Some(line);
        }
        let text = &self.text[next.range()];
        match next.kind {
            TokenKind::Keyword => Some(self.hash_comment(next)),
            TokenKind::Stray if text.starts_with('#') => Some(self.hash_comment(next)),
            TokenKind::Stray | TokenKind::Bare if text.starts_with('[') => Some(self.section(next)),
            _ => None,
        }
    }

    fn section(&mut self, next: Token) -> usize {
        let line = self.line_end(next.start);
        self.report(next.start..line, |text| {
            let name = text.trim_matches(|c: char| !c.is_alphanumeric()).trim();
            let label = format!("write `{name} {{`, and `}}` at its end");
            ("KDL has no sections in brackets".into(), label, String::new())
        });
        line
    }

    fn is_conflict(&self, offset: usize) -> bool {
        const MARKS: [&str; 4] = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
        let rest = MARKS.iter().find_map(|mark| self.text[offset..].strip_prefix(mark));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(is_blank))
            && self.text[..offset].chars().next_back().is_none_or(is_newline)
    }

    pub(crate) fn quoted_name(&mut self, next: Token) -> Option<usize> {
        self.text[next.range()].starts_with(QUOTES).then(|| self.other_quotes(next))
    }

    /// Returns the end of a habit of other formats between values.
    pub(crate) fn habit(&mut self, next: Token) -> Option<usize> {
        let text = &self.text[next.range()];
        match next.kind {
            TokenKind::Stray if text.starts_with('#') => Some(self.hash_comment(next)),
            TokenKind::Keyword if near_keyword(text).is_none() => Some(self.hash_comment(next)),
            TokenKind::Stray if text == "[" => Some(self.list(next)),
            TokenKind::Word | TokenKind::Bare if text.starts_with(QUOTES) => {
                Some(self.other_quotes(next))
            }
            TokenKind::Word if text.starts_with(',') => Some(self.comma(next.start)),
            TokenKind::Word if text.ends_with(',') => Some(self.comma(next.end - 1)),
            TokenKind::Word if text == "+" => {
                let label = "write one text in one pair of quotes";
                self.report_text(next.range(), "KDL does not join texts", label, "");
                Some(next.end)
            }
            TokenKind::Word if text.ends_with(':') || text.starts_with(':') => {
                Some(self.colon(next))
            }
            _ => None,
        }
    }

    fn hash_comment(&mut self, next: Token) -> usize {
        let line = self.line_end(next.start);
        self.report(next.start..line, |text| {
            let words = text.trim_start_matches('#').trim();
            let short: String = words.chars().take(60).collect();
            ("`#` does not start a comment".into(), format!("write `// {short}`"), String::new())
        });
        line
    }

    fn list(&mut self, next: Token) -> usize {
        let inside = self.rest_of_line(next.start);
        let length = inside.find(']').map_or(inside.len(), |end| end + 1);
        self.report(next.start..next.start + length, |text| {
            let values = text.trim_matches(['[', ']']).replace(',', " ");
            let values: Vec<&str> = values.split_whitespace().collect();
            ("KDL has no lists".into(), format!("write {}", values.join(" ")), String::new())
        });
        next.start + length
    }

    fn other_quotes(&mut self, next: Token) -> usize {
        let rest = self.rest_of_line(next.start);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let close = |c: char| QUOTES.contains(&c) || c == '"';
        let body = rest[first..].find(close).map(|length| &rest[first..first + length]);
        let length = body.map_or(next.end - next.start, |body| {
            let end = first + body.len();
            end + rest[end..].chars().next().map_or(0, char::len_utf8)
        });
        self.report(next.start..next.start + length, |text| {
            let inside = text.trim_matches(close);
            ("texts need double quotes".into(), format!("write \"{inside}\""), String::new())
        });
        next.start + length
    }

    fn comma(&mut self, offset: usize) -> usize {
        let last = std::mem::replace(&mut self.comma, offset);
        if !self.text[last..offset].starts_with(',') || self.text[last..offset].contains(is_newline)
        {
            let label = "write a space, not a comma";
            self.report_text(offset..offset + 1, "a comma between values", label, "");
        }
        offset + 1
    }

    /// `mode: "kpack"` instead of `mode="kpack"`.
    fn colon(&mut self, next: Token) -> usize {
        let colon = next.start + self.text[next.range()].find(':').unwrap_or_default();
        let label = "write `=`, without spaces";
        self.report_text(
            colon..colon + 1,
            "a property needs `=` between name and value",
            label,
            "",
        );
        colon + 1
    }

    fn line_end(&self, offset: usize) -> usize {
        offset + run(&self.text[offset..], |c| !is_newline(c))
    }

    /// Returns the start of the rest of the line, limited so that many mistakes on one line take linear time.
    fn rest_of_line(&self, offset: usize) -> &'a str {
        const FAR: usize = 200;
        let near = &self.text[offset..self.text.floor_char_boundary(offset + FAR)];
        &near[..run(near, |c| !is_newline(c))]
    }
}

fn near_keyword(text: &str) -> Option<&'static str> {
    nearest(&text.to_lowercase(), KEYWORDS)
}
