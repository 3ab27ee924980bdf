//! Lines and columns as in editors.

/// Position between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1 in characters (Unicode scalar values).
    pub column: usize,
}

/// Range of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Position of the first character.
    pub start: Position,
    /// Position after the last character; equal to `start` for an empty span.
    pub end: Position,
}

#[cfg(test)]
mod tests {
    use crate::source::{Position, Source};

    #[test]
    fn counts_columns_in_characters_and_ends_after_the_last() {
        let source = Source::new("a", "eins\nzw\u{f6}lf \u{1f980}x\n\ndrei");
        let span = |text: &str| {
            let start = source.text().find(text).unwrap();
            source.at(start..start + text.len()).span()
        };
        assert_eq!(
            span("eins"),
            super::Span {
                start: Position { line: 1, column: 1 },
                end: Position { line: 1, column: 5 }
            }
        );
        assert_eq!(
            span("x"),
            super::Span {
                start: Position { line: 2, column: 8 },
                end: Position { line: 2, column: 9 }
            }
        );
        assert_eq!(span("x\n\nd").end, Position { line: 4, column: 2 });
        let end = source.text().len();
        assert_eq!(source.at(end..end).span().start, Position { line: 4, column: 5 });
    }
}
