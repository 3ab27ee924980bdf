//! Order of the tokens: each misplaced one is a mistake, after which checking continues at the next node.
//!
//! Comes before the crate `kdl`, because that reads on inside of a block after a misplaced token as if the block had
//! ended: it names the whole block or file, repeats the mistake for each enclosing block, and takes stack for each.

use std::collections::VecDeque;
use std::ops::Range;

use super::mistake::Mistakes;
use super::token::{Token, TokenKind, token};
use super::{MOST_DEPTH, literal};
use base::source::{Problems, Source};

/// Returns the text with spaces in place of comments, of parts after `/-` and of idle semicolons: the crate `kdl` takes a
/// stack frame for each star of a comment, and twice the time for each level of nested `/-`.
///
/// # Errors
/// All mistakes with their places.
pub(super) fn check(source: &Source) -> Result<String, Problems> {
    let start = if source.text().starts_with('\u{feff}') { 3 } else { 0 };
    let mut grammar = Grammar {
        text: source.text(),
        plain: source.text().as_bytes().to_vec(),
        next: token(source.text(), start),
        needs_no_space: false,
        mistakes: Mistakes::new(source),
        open: Vec::new(),
        misfits: VecDeque::new(),
    };
    grammar.file();
    grammar.mistakes.result()?;
    Ok(String::from_utf8_lossy(&grammar.plain).into_owned())
}

/// Error of a misplaced part, which the grammar has reported already.
#[derive(Debug)]
struct Misplaced;

type Read<T> = Result<T, Misplaced>;

#[derive(Debug, Clone)]
struct Opened {
    brace: Range<usize>,
    indent: usize,
    outside: Option<Range<usize>>,
}

struct Grammar<'a> {
    text: &'a str,
    plain: Vec<u8>,
    next: Token,
    /// After a skipped mistake, the next token needs no space before it.
    needs_no_space: bool,
    mistakes: Mistakes<'a>,
    open: Vec<Opened>,
    misfits: VecDeque<Opened>,
}

impl<'a> Grammar<'a> {
    fn file(&mut self) {
        loop {
            self.nodes();
            if self.next.kind != TokenKind::Close {
                return;
            }
            self.mistakes.stray_close(self.next.range());
            self.advance();
        }
    }

    fn nodes(&mut self) {
        loop {
            self.skip_lines();
            match self.next.kind {
                TokenKind::End | TokenKind::Close => return,
                TokenKind::Slashdash => {
                    let slashdash = self.advance();
                    self.skip_lines();
                    if matches!(self.next.kind, TokenKind::End | TokenKind::Close) {
                        self.mistakes.idle_slashdash(slashdash.range());
                    } else {
                        self.node();
                        self.clear(slashdash.start..self.next.start);
                    }
                }
                _ => self.node(),
            }
        }
    }

    fn node(&mut self) {
        self.note_outside();
        if let Some(end) = self.mistakes.habit_of_lines(self.next) {
            self.seek(end);
        } else if self.whole_node().is_err() {
            self.skip_node();
        }
    }

    fn whole_node(&mut self) -> Read<()> {
        self.annotation()?;
        self.node_name()?;
        let (mut has_block, mut closed) = (false, false);
        loop {
            let spaced = self.skip_space()? | std::mem::take(&mut self.needs_no_space);
            let kind = self.next.kind;
            match kind {
                TokenKind::Newline | TokenKind::Semicolon | TokenKind::LineComment => {
                    self.advance();
                    return Ok(());
                }
                TokenKind::End | TokenKind::Close => return Ok(()),
                TokenKind::Open if has_block => return self.misplaced(Mistakes::second_block),
                TokenKind::Open => {
                    self.block()?;
                    (has_block, closed) = (true, true);
                }
                TokenKind::Slashdash => closed |= self.left_out()?,
                _ if self.reads_over_habit() => {}
                _ if closed => return self.misplaced(Mistakes::behind_block),
                _ if !spaced => return self.misplaced(Mistakes::no_space),
                _ => self.entry()?,
            }
        }
    }

    /// Returns whether the part is a block.
    fn left_out(&mut self) -> Read<bool> {
        let slashdash = self.advance();
        self.skip_lines();
        let is_block = self.next.kind == TokenKind::Open;
        if is_block {
            self.block()?;
        } else {
            self.entry()?;
        }
        self.clear(slashdash.start..self.next.start);
        Ok(is_block)
    }

    fn block(&mut self) -> Read<()> {
        let open = self.next;
        if self.open.len() == MOST_DEPTH {
            self.mistakes.too_deep(open.range());
            self.seek(self.text.len());
            return Err(Misplaced);
        }
        let indent = self.indentation(open.start);
        self.open.push(Opened { brace: open.range(), indent, outside: None });
        self.advance();
        self.nodes();
        let Some(opened) = self.open.pop() else { return Ok(()) };
        if self.next.kind == TokenKind::Close {
            if self.first_of_line(self.next.start).is_some_and(|indent| indent < opened.indent) {
                self.misfits.push_back(opened);
            }
            self.advance();
        } else {
            let opened = self.misfits.pop_front().unwrap_or(opened);
            self.mistakes.open_block(opened.brace, opened.outside);
        }
        Ok(())
    }

    fn indentation(&self, offset: usize) -> usize {
        const LONG: usize = 400;
        let start = self.text.floor_char_boundary(offset.saturating_sub(LONG));
        let line = self.text[start..offset].rsplit('\n').next().unwrap_or_default();
        if start > 0 && line.len() == offset - start {
            return 0;
        }
        line.len() - line.trim_start_matches([' ', '\t']).len()
    }

    fn first_of_line(&self, offset: usize) -> Option<usize> {
        let before = self.text[..offset].trim_end_matches([' ', '\t']);
        (before.is_empty() || before.ends_with('\n')).then_some(offset - before.len())
    }

    fn note_outside(&mut self) {
        let range = self.next.range();
        let indent = self.first_of_line(range.start);
        if let (Some(opened), Some(indent)) = (self.open.last_mut(), indent)
            && indent <= opened.indent
            && opened.outside.is_none()
        {
            opened.outside = Some(range);
        }
    }

    fn node_name(&mut self) -> Read<()> {
        if self.next.kind == TokenKind::Open {
            return self.misplaced(Mistakes::nameless_block);
        }
        if let Some(end) = self.mistakes.quoted_name(self.next) {
            self.seek(end);
            return Err(Misplaced);
        }
        let name = self.name()?;
        if self.text[name.range()].ends_with(':') {
            self.mistakes.assignment(name.range(), name.end - 1..name.end);
            self.needs_no_space = true;
            return Ok(());
        }
        let mark = self.next;
        self.skip_space()?;
        let sign = self.next;
        let colon = sign.kind == TokenKind::Word && self.text[sign.start..].starts_with(':');
        if sign.kind == TokenKind::Equals || colon {
            self.mistakes.assignment(name.range(), sign.start..sign.start + 1);
            self.seek(sign.start + 1);
            self.needs_no_space = true;
        } else {
            self.next = mark;
        }
        Ok(())
    }

    fn reads_over_habit(&mut self) -> bool {
        let habit = self.mistakes.habit(self.next);
        if let Some(end) = habit {
            self.seek(end);
            self.needs_no_space = true;
        }
        habit.is_some()
    }

    fn name(&mut self) -> Read<Token> {
        let token = self.value()?;
        if literal::is_text(token.kind, &self.text[token.range()]) {
            return Ok(token);
        }
        self.mistakes.no_name(token.range());
        Err(Misplaced)
    }

    fn entry(&mut self) -> Read<()> {
        self.annotation()?;
        let value = self.value()?;
        let mark = self.next;
        self.skip_space()?;
        if self.next.kind != TokenKind::Equals {
            self.next = mark;
            return Ok(());
        }
        if !literal::is_text(value.kind, &self.text[value.range()]) {
            self.mistakes.no_name(value.range());
            return Err(Misplaced);
        }
        self.property(value)
    }

    fn property(&mut self, name: Token) -> Read<()> {
        let equals = self.advance();
        if self.mistakes.comparison(name.range()) {
            return Err(Misplaced);
        }
        self.skip_space()?;
        if self.ends_node() {
            self.mistakes.no_value(equals.range());
            return Err(Misplaced);
        }
        if self.mistakes.habit(self.next).is_some() {
            return Err(Misplaced);
        }
        self.annotation()?;
        self.value().map(drop)
    }

    fn annotation(&mut self) -> Read<()> {
        if self.next.kind != TokenKind::OpenType {
            return Ok(());
        }
        self.advance();
        self.skip_space()?;
        self.name()?;
        self.skip_space()?;
        if self.next.kind != TokenKind::CloseType {
            return self.misplaced(Mistakes::open_annotation);
        }
        self.advance();
        self.skip_space()?;
        Ok(())
    }

    fn value(&mut self) -> Read<Token> {
        let token = self.next;
        let fault = literal::check(token.kind, &self.text[token.range()]);
        if let Err(fault) = fault {
            self.mistakes.literal(token, fault);
            return Err(Misplaced);
        }
        self.advance();
        Ok(token)
    }

    fn misplaced<T>(&mut self, report: impl FnOnce(&mut Mistakes<'a>, Token)) -> Read<T> {
        report(&mut self.mistakes, self.next);
        Err(Misplaced)
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
        let mut has_space = false;
        loop {
            match self.next.kind {
                TokenKind::Space | TokenKind::BlockComment => {
                    self.advance();
                }
                TokenKind::Continue => self.skip_continue()?,
                _ => return Ok(has_space),
            }
            has_space = true;
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
                Err(Misplaced)
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
                | TokenKind::Newline => {
                    self.advance();
                }
                TokenKind::Semicolon => {
                    let idle = self.advance();
                    self.clear(idle.range());
                }
                TokenKind::Continue if self.skip_continue().is_ok() => {}
                _ => return,
            }
        }
    }

    /// Skips the rest of a node. A block that starts on its last line is read for its own mistakes: of several, the
    /// innermost, because reading on in each would take the square of the time.
    fn skip_node(&mut self) {
        while let Some(open) = self.skip_line() {
            self.seek(open);
            if self.block().is_err() {
                return;
            }
        }
    }

    /// Skips to the end of the line or block; returns the start of the last block that does not end in it.
    fn skip_line(&mut self) -> Option<usize> {
        let mut opened = Vec::new();
        loop {
            match self.next.kind {
                TokenKind::Open => opened.push(self.next.start),
                TokenKind::Close if opened.pop().is_none() => return None,
                TokenKind::Newline | TokenKind::End | TokenKind::LineComment => {
                    return opened.pop();
                }
                TokenKind::OpenText | TokenKind::OpenComment => self.mistakes.unreadable(self.next),
                _ => {}
            }
            self.advance();
        }
    }

    fn advance(&mut self) -> Token {
        let token = self.next;
        if matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment) {
            self.clear(token.range());
        }
        self.seek(token.end);
        token
    }

    fn clear(&mut self, part: Range<usize>) {
        self.plain[part].fill(b' ');
    }

    fn seek(&mut self, offset: usize) {
        self.next = token(self.text, offset);
    }
}
