//! Lays out a KDL text: indentation, one space between values, at most one blank line.
//!
//! Works on tokens: texts and comments stay as written, and nodes stay on their lines.

use super::token::{Token, TokenKind, token};
use super::{Entry, Name, Node, limits, parse};
use base::source::{Code, Problem, Problems, Source};

const INDENT: &str = "    ";

/// Returns the text laid out, idempotent, with the same nodes.
///
/// # Errors
/// All mistakes, as [`parse`].
pub fn layout(source: &Source) -> Result<String, Problems> {
    let before = parse(source)?;
    let tokens = tokens(source.text());
    let mut layout = Layout { text: source.text(), tokens: &tokens, out: String::new(), depth: 0 };
    layout.run();
    let laid_out = Source::new(format!("{}, formatted,", source.name()), layout.out.as_str());
    limits::check(&laid_out)?;
    // Guard: formatting must not change the document.
    match parse(&laid_out) {
        Ok(after) if have_same_content(&before, &after) => Ok(layout.out),
        _ => {
            let message =
                format!("cannot format {} without a change of its meaning", source.name());
            Err(Problem::error(Code::NotKdl, message).help("please report this file").into())
        }
    }
}

struct Piece {
    token: Token,
    spaced: bool,
    tall: bool,
    ends_line: bool,
}

fn tokens(text: &str) -> Vec<Piece> {
    let mut offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mut pieces, mut spaced, mut open): (Vec<Piece>, _, Vec<(usize, bool)>) =
        (Vec::new(), false, Vec::new());
    loop {
        let token = token(text, offset);
        offset = token.end;
        match token.kind {
            TokenKind::End => break,
            TokenKind::Space => {
                spaced = true;
                continue;
            }
            TokenKind::Open => open.push((pieces.len(), false)),
            TokenKind::Newline | TokenKind::LineComment => {
                for (_, tall) in &mut open {
                    *tall = true;
                }
            }
            _ => {}
        }
        let mut tall = false;
        if let (TokenKind::Close, Some((start, is_tall))) = (token.kind, pop(token.kind, &mut open))
        {
            pieces[start].tall = is_tall;
            tall = is_tall;
        }
        pieces.push(Piece { token, spaced, tall, ends_line: false });
        spaced = false;
    }
    let mut ends = true;
    for piece in pieces.iter_mut().rev() {
        piece.ends_line = ends;
        ends = match piece.token.kind {
            TokenKind::Newline | TokenKind::LineComment => true,
            TokenKind::Semicolon => ends,
            TokenKind::Close => piece.tall,
            _ => false,
        };
    }
    pieces
}

fn pop(kind: TokenKind, open: &mut Vec<(usize, bool)>) -> Option<(usize, bool)> {
    (kind == TokenKind::Close).then(|| open.pop()).flatten()
}

struct Layout<'t> {
    text: &'t str,
    tokens: &'t [Piece],
    out: String,
    depth: usize,
}

impl Layout<'_> {
    fn run(&mut self) {
        let (mut breaks, mut continued) = (0_usize, false);
        let mut last: Option<&Piece> = None;
        for piece in self.tokens {
            let kind = piece.token.kind;
            if kind == TokenKind::Newline {
                breaks += 1;
                continue;
            }
            // It ends nothing, or the end of the line does.
            let idle = last.is_none_or(|last| {
                breaks > 0 || matches!(last.token.kind, TokenKind::Semicolon | TokenKind::Open)
            });
            if kind == TokenKind::Semicolon && (idle && !continued || piece.ends_line) {
                continue;
            }
            let after_open = last.is_some_and(|l| l.token.kind == TokenKind::Open && l.tall);
            let before_close = kind == TokenKind::Close && piece.tall;
            // A comment after `{` belongs to the whole block.
            let trails = is_comment(kind) && piece.ends_line;
            if breaks == 0 && (after_open && !trails || before_close) {
                breaks = 1;
            }
            if before_close {
                self.depth -= 1;
            }
            if breaks > 0 || last.is_none() {
                // A blank line ends a line that `\` continues, and a closing brace is never indented.
                continued &= breaks == 1 && !before_close;
                self.start_line(
                    last.is_some(),
                    breaks > 1 && !after_open && !before_close,
                    continued,
                );
                continued = false;
            } else if last.is_some_and(|last| is_apart(last, piece)) {
                self.out.push(' ');
            }
            let text = &self.text[piece.token.range()];
            self.out.push_str(if kind == TokenKind::LineComment { text.trim_end() } else { text });
            continued |= kind == TokenKind::Continue;
            self.depth += usize::from(kind == TokenKind::Open && piece.tall);
            (breaks, last) = (0, Some(piece));
        }
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn start_line(&mut self, after_one: bool, blank: bool, continued: bool) {
        self.out.push_str(match (after_one, blank) {
            (false, _) => "",
            (true, false) => "\n",
            (true, true) => "\n\n",
        });
        let depth = self.depth + usize::from(continued);
        self.out.push_str(&INDENT.repeat(depth));
    }
}

fn is_apart(last: &Piece, next: &Piece) -> bool {
    match (last.token.kind, next.token.kind) {
        (_, kind) if is_comment(kind) => true,
        (
            TokenKind::OpenType | TokenKind::CloseType | TokenKind::Equals | TokenKind::Slashdash,
            _,
        )
        | (_, TokenKind::Semicolon | TokenKind::CloseType | TokenKind::Equals)
        | (TokenKind::Open, TokenKind::Close) => false,
        (
            TokenKind::Semicolon
            | TokenKind::Open
            | TokenKind::Close
            | TokenKind::BlockComment
            | TokenKind::Continue,
            _,
        )
        | (_, TokenKind::Open | TokenKind::Close | TokenKind::Continue) => true,
        _ => next.spaced,
    }
}

fn is_comment(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::LineComment | TokenKind::BlockComment)
}

fn have_same_content(left: &[Node], right: &[Node]) -> bool {
    left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| {
            let blocks = match (&left.block, &right.block) {
                (Some(left), Some(right)) => have_same_content(left, right),
                (left, right) => left.is_none() && right.is_none(),
            };
            blocks
                && left.name.text == right.name.text
                && same_name(left.annotation.as_ref(), right.annotation.as_ref())
                && left.entries.len() == right.entries.len()
                && left
                    .entries
                    .iter()
                    .zip(&right.entries)
                    .all(|(left, right)| same_entry(left, right))
        })
}

fn same_entry(left: &Entry, right: &Entry) -> bool {
    left.value == right.value
        && same_name(left.name.as_ref(), right.name.as_ref())
        && same_name(left.annotation.as_ref(), right.annotation.as_ref())
}

fn same_name(left: Option<&Name>, right: Option<&Name>) -> bool {
    left.map(|name| &name.text) == right.map(|name| &name.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(text: &str) -> String {
        let once = layout(&Source::new("a.kdl", text)).unwrap();
        let twice = layout(&Source::new("a.kdl", once.as_str())).unwrap();
        assert_eq!(once, twice, "what is laid out stays");
        once
    }

    #[test]
    fn indents_nodes_and_separates_values_by_one_space() {
        for (text, expected) in [
            ("", ""),
            ("\n\n a   \"b\"  c = 1\t(t) d\n", "a \"b\" c=1 (t)d\n"),
            ("a{\nb\n}\n", "a {\n    b\n}\n"),
            ("a { b; c }\n", "a { b; c }\n"),
            ("a {b;c;};\n", "a { b; c; }\n"),
            (
                "a {\n  b {}\n\n\n\n  c { \n d }\n\n}\n\n\n",
                "a {\n    b {}\n\n    c {\n        d\n    }\n}\n",
            ),
            ("a { b\n c }\n", "a {\n    b\n    c\n}\n"),
            ("a; b;\r\nc\r\n", "a; b\nc\n"),
            ("a \\\n  b\n", "a \\\n    b\n"),
            ("x {\na \\ // why\n\n\"b\"\n}", "x {\n    a \\ // why\n\n    \"b\"\n}\n"),
            ("a { \\\n\n}", "a {\n    \\\n}\n"),
            ("x { /* c */ a\n}", "x {\n    /* c */ a\n}\n"),
            ("/-  a  \"b\"\nc /- d /-e=1 /- { f; }\n", "/-a \"b\"\nc /-d /-e=1 /-{ f; }\n"),
            ("\u{feff}a\u{2003}b\n", "a b\n"),
        ] {
            assert_eq!(laid_out(text), expected, "{text:?}");
        }
    }

    #[test]
    fn keeps_comments_and_texts() {
        let text = "// top  \n\n\na   \"x  y\" // of a  b\n/* one\n   two */\nb {  // of b\n  // in b\n  c /*  d */  e\n\n  // last\n}\nt \"\"\"\n  one\n    two\n  \"\"\"\nr #\"\\ \"#  \n";
        let expected = "// top\n\na \"x  y\" // of a  b\n/* one\n   two */\nb { // of b\n    // in b\n    c /*  d */ e\n\n    // last\n}\nt \"\"\"\n  one\n    two\n  \"\"\"\nr #\"\\ \"#\n";
        assert_eq!(laid_out(text), expected);
    }

    #[test]
    fn refuses_text_that_is_not_kdl() {
        for text in ["a {\n", "a \"b\n", "a = = 1\n", "}\n"] {
            assert!(layout(&Source::new("a.kdl", text)).is_err(), "{text:?}");
        }
    }
}
