//! Parses nodes. After a mistake it continues at the next node.

use std::collections::VecDeque;
use std::ops::Range;

use super::mistake::Mistakes;
use super::token::{Token, TokenKind, token};
use super::{Entry, MOST_DEPTH, MOST_PARTS, Name, Node, Value, number, text};
use base::source::{Problems, Source};

pub(super) fn parse(source: &Source) -> Result<Vec<Node>, Problems> {
    let start = if source.text().starts_with('\u{feff}') { 3 } else { 0 };
    let mut parser = Parser {
        text: source.text(),
        next: token(source.text(), start),
        apart: false,
        mistakes: Mistakes::new(source),
        open: Vec::new(),
        misfits: VecDeque::new(),
        parts: 0,
    };
    let nodes = parser.file();
    parser.mistakes.or(nodes)
}

/// A misplaced part that was reported.
#[derive(Debug)]
struct Lost;

type Read<T> = Result<T, Lost>;

#[derive(Debug, Clone)]
struct Opened {
    brace: Range<usize>,
    indent: usize,
    outside: Option<Range<usize>>,
}

struct Parser<'a> {
    text: &'a str,
    next: Token,
    /// After a skipped mistake, the next token needs no space before it.
    apart: bool,
    mistakes: Mistakes<'a>,
    open: Vec<Opened>,
    misfits: VecDeque<Opened>,
    parts: usize,
}

impl<'a> Parser<'a> {
    fn file(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            nodes.append(&mut self.nodes());
            if self.next.kind != TokenKind::Close {
                return nodes;
            }
            self.mistakes.stray_close(self.next.range());
            self.advance();
        }
    }

    fn nodes(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip_lines();
            match self.next.kind {
                TokenKind::End | TokenKind::Close => return nodes,
                TokenKind::Slashdash => {
                    let slashdash = self.advance();
                    self.skip_lines();
                    if matches!(self.next.kind, TokenKind::End | TokenKind::Close) {
                        self.mistakes.idle_slashdash(slashdash.range());
                    } else {
                        self.node();
                    }
                }
                _ => nodes.extend(self.node()),
            }
        }
    }

    fn node(&mut self) -> Option<Node> {
        self.note_outside();
        if let Some(end) = self.mistakes.habit_of_lines(self.next) {
            self.seek(end);
            return None;
        }
        let node = self.whole_node().ok();
        if node.is_none() {
            self.skip_node();
        }
        node
    }

    fn whole_node(&mut self) -> Read<Node> {
        let annotation = self.annotation()?;
        let name = self.node_name()?;
        self.count()?;
        let mut node = Node { annotation, name, entries: Vec::new(), block: None };
        let mut closed = false;
        loop {
            let spaced = self.skip_space()? | std::mem::take(&mut self.apart);
            let kind = self.next.kind;
            match kind {
                TokenKind::Newline | TokenKind::Semicolon | TokenKind::LineComment => {
                    self.advance();
                    return Ok(node);
                }
                TokenKind::End | TokenKind::Close => return Ok(node),
                TokenKind::Open if node.block.is_some() => {
                    return self.lost(Mistakes::second_block);
                }
                TokenKind::Open => {
                    node.block = Some(self.block()?);
                    closed = true;
                }
                TokenKind::Slashdash => closed |= self.left_out()?,
                _ if self.reads_over_habit() => {}
                _ if closed => return self.lost(Mistakes::behind_block),
                _ if !spaced => return self.lost(Mistakes::no_space),
                _ => node.entries.push(self.entry()?),
            }
        }
    }

    fn left_out(&mut self) -> Read<bool> {
        self.advance();
        self.skip_lines();
        if self.next.kind == TokenKind::Open {
            self.block()?;
            return Ok(true);
        }
        self.entry()?;
        Ok(false)
    }

    fn block(&mut self) -> Read<Vec<Node>> {
        let open = self.next;
        if self.open.len() == MOST_DEPTH {
            self.mistakes.too_deep(open.range());
            self.seek(self.text.len());
            return Err(Lost);
        }
        let indent = self.indentation(open.start);
        self.open.push(Opened { brace: open.range(), indent, outside: None });
        self.advance();
        let nodes = self.nodes();
        let Some(opened) = self.open.pop() else { return Ok(nodes) };
        if self.next.kind == TokenKind::Close {
            if self.first_of_line(self.next.start).is_some_and(|indent| indent < opened.indent) {
                self.misfits.push_back(opened);
            }
            self.advance();
        } else {
            let opened = self.misfits.pop_front().unwrap_or(opened);
            self.mistakes.open_block(opened.brace, opened.outside);
        }
        Ok(nodes)
    }

    fn indentation(&self, at: usize) -> usize {
        const LONG: usize = 400;
        let start = self.text.floor_char_boundary(at.saturating_sub(LONG));
        let line = self.text[start..at].rsplit('\n').next().unwrap_or_default();
        if start > 0 && line.len() == at - start {
            return 0;
        }
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    fn first_of_line(&self, at: usize) -> Option<usize> {
        let before = self.text[..at].trim_end_matches([' ', '\t']);
        (before.is_empty() || before.ends_with('\n')).then_some(at - before.len())
    }

    fn note_outside(&mut self) {
        let at = self.next.range();
        let indent = self.first_of_line(at.start);
        if let (Some(opened), Some(indent)) = (self.open.last_mut(), indent)
            && indent <= opened.indent
            && opened.outside.is_none()
        {
            opened.outside = Some(at);
        }
    }

    fn node_name(&mut self) -> Read<Name> {
        if self.next.kind == TokenKind::Open {
            return self.lost(Mistakes::nameless_block);
        }
        if let Some(end) = self.mistakes.quoted_name(self.next) {
            self.seek(end);
            return Err(Lost);
        }
        let name = self.name()?;
        if name.text.ends_with(':') && name.span.len() == name.text.len() {
            self.mistakes.assignment(&name, name.span.end - 1..name.span.end);
            self.apart = true;
            return Ok(name);
        }
        let mark = self.next;
        self.skip_space()?;
        let sign = self.next;
        let written = &self.text[sign.range()];
        if sign.kind == TokenKind::Equals
            || sign.kind == TokenKind::Word && written.starts_with(':')
        {
            self.mistakes.assignment(&name, sign.start..sign.start + 1);
            self.seek(sign.start + 1);
            self.apart = true;
        } else {
            self.next = mark;
        }
        Ok(name)
    }

    fn reads_over_habit(&mut self) -> bool {
        let habit = self.mistakes.habit(self.next);
        if let Some(end) = habit {
            self.seek(end);
            self.apart = true;
        }
        habit.is_some()
    }

    fn name(&mut self) -> Read<Name> {
        match self.value()? {
            (Value::Text(text), span) => Ok(Name { text, span }),
            (_, span) => {
                self.mistakes.no_name(span);
                Err(Lost)
            }
        }
    }

    fn entry(&mut self) -> Read<Entry> {
        self.count()?;
        let start = self.next.start;
        let annotation = self.annotation()?;
        let (value, value_span) = self.value()?;
        let mark = self.next;
        self.skip_space()?;
        if self.next.kind != TokenKind::Equals {
            self.next = mark;
            let span = start..value_span.end;
            return Ok(Entry { name: None, annotation, value, span, value_span });
        }
        let Value::Text(text) = value else {
            self.mistakes.no_name(value_span);
            return Err(Lost);
        };
        let name = Name { text, span: value_span };
        let (annotation, value, value_span) = self.property(&name)?;
        let span = start..value_span.end;
        Ok(Entry { name: Some(name), annotation, value, span, value_span })
    }

    fn property(&mut self, name: &Name) -> Read<(Option<Name>, Value, Range<usize>)> {
        let equals = self.advance();
        if self.mistakes.comparison(name) {
            return Err(Lost);
        }
        self.skip_space()?;
        if self.ends_node() {
            self.mistakes.no_value(equals.range());
            return Err(Lost);
        }
        if self.mistakes.habit(self.next).is_some() {
            return Err(Lost);
        }
        let annotation = self.annotation()?;
        let (value, span) = self.value()?;
        Ok((annotation, value, span))
    }

    fn annotation(&mut self) -> Read<Option<Name>> {
        if self.next.kind != TokenKind::OpenType {
            return Ok(None);
        }
        self.advance();
        self.skip_space()?;
        let name = self.name()?;
        self.skip_space()?;
        if self.next.kind != TokenKind::CloseType {
            return self.lost(Mistakes::open_annotation);
        }
        self.advance();
        self.skip_space()?;
        Ok(Some(name))
    }

    fn value(&mut self) -> Read<(Value, Range<usize>)> {
        let token = self.next;
        let written = &self.text[token.range()];
        let value = match token.kind {
            TokenKind::Quoted | TokenKind::Raw => {
                let decoded = text::decode(written, token.kind == TokenKind::Raw);
                Value::Text(decoded.map_err(|fault| {
                    self.mistakes.text(token.start, fault);
                    Lost
                })?)
            }
            TokenKind::Word => self.word(written, token.range())?,
            TokenKind::Keyword => match written {
                "#true" => Value::Bool(true),
                "#false" => Value::Bool(false),
                "#null" => Value::Null,
                "#inf" | "#-inf" | "#nan" => Value::Number,
                _ => return self.lost(Mistakes::unreadable),
            },
            _ => return self.lost(Mistakes::unreadable),
        };
        self.advance();
        Ok((value, token.range()))
    }

    fn word(&mut self, written: &str, span: Range<usize>) -> Read<Value> {
        if number::is_meant(written) {
            return number::parse(written).ok_or_else(|| {
                self.mistakes.unquoted(span);
                Lost
            });
        }
        if matches!(written, "true" | "false" | "null" | "inf" | "-inf" | "nan") {
            self.mistakes.bare_keyword(span);
            return Err(Lost);
        }
        Ok(Value::Text(written.to_owned()))
    }

    fn count(&mut self) -> Read<()> {
        self.parts += 1;
        if self.parts <= MOST_PARTS {
            return Ok(());
        }
        self.mistakes.too_many(self.next.start);
        self.seek(self.text.len());
        Err(Lost)
    }

    fn lost<T>(&mut self, report: impl FnOnce(&mut Mistakes<'a>, Token)) -> Read<T> {
        report(&mut self.mistakes, self.next);
        Err(Lost)
    }

    fn ends_node(&self) -> bool {
        matches!(
            self.next.kind,
            TokenKind::Newline
                | TokenKind::Semicolon
                | TokenKind::LineComment
                | TokenKind::Close
                | TokenKind::End
        )
    }

    fn skip_space(&mut self) -> Read<bool> {
        let mut any = false;
        loop {
            match self.next.kind {
                TokenKind::Space | TokenKind::BlockComment => {
                    self.advance();
                }
                TokenKind::Continue => self.skip_continue()?,
                _ => return Ok(any),
            }
            any = true;
        }
    }

    fn skip_continue(&mut self) -> Read<()> {
        let mark = self.advance();
        while matches!(self.next.kind, TokenKind::Space | TokenKind::BlockComment) {
            self.advance();
        }
        if self.next.kind == TokenKind::LineComment {
            self.advance();
        }
        match self.next.kind {
            TokenKind::Newline => {
                self.advance();
                Ok(())
            }
            TokenKind::End => Ok(()),
            _ => {
                self.mistakes.idle_continue(mark.range());
                Err(Lost)
            }
        }
    }

    fn skip_lines(&mut self) {
        loop {
            let kind = self.next.kind;
            match kind {
                TokenKind::Space
                | TokenKind::BlockComment
                | TokenKind::LineComment
                | TokenKind::Newline
                | TokenKind::Semicolon => {
                    self.advance();
                }
                TokenKind::Continue if self.skip_continue().is_ok() => {}
                _ => return,
            }
        }
    }

    /// Skips the rest of a node. A block that starts on its last line is read for its own mistakes.
    fn skip_node(&mut self) {
        while let Some(open) = self.skip_line() {
            self.seek(open);
            if self.block().is_err() {
                return;
            }
        }
    }

    /// Skips to the end of the line or block; returns the start of a block that does not end in it.
    fn skip_line(&mut self) -> Option<usize> {
        let mut opened = Vec::new();
        loop {
            match self.next.kind {
                TokenKind::Open => opened.push(self.next.start),
                TokenKind::Close if opened.pop().is_none() => return None,
                TokenKind::Newline | TokenKind::End | TokenKind::LineComment => {
                    return opened.first().copied();
                }
                TokenKind::OpenText | TokenKind::OpenComment => self.mistakes.unreadable(self.next),
                _ => {}
            }
            self.advance();
        }
    }

    fn advance(&mut self) -> Token {
        let token = self.next;
        self.seek(token.end);
        token
    }

    fn seek(&mut self, at: usize) {
        self.next = token(self.text, at);
    }
}
