//! Features of TOML 1.1, which `tomllib` of Python 3.14 and older rejects.

use std::iter::Peekable;
use std::str::Chars;

/// Returns the first feature of a valid document that TOML 1.0 lacks.
pub(super) fn feature(text: &str) -> Option<&'static str> {
    let mut reader = Reader { rest: text.chars().peekable(), open: Vec::new() };
    while let Some(letter) = reader.rest.next() {
        if let Some(feature) = reader.step(letter) {
            return Some(feature);
        }
    }
    None
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    /// Open brackets; a table has the last sign in it.
    open: Vec<Bracket>,
}

enum Bracket {
    List,
    Table { is_after_comma: bool },
}

impl Reader<'_> {
    fn step(&mut self, letter: char) -> Option<&'static str> {
        match (letter, self.open.last_mut()) {
            ('#', table) => {
                let in_table = matches!(table, Some(Bracket::Table { .. }));
                while self.rest.next_if(|letter| *letter != '\n').is_some() {}
                return in_table.then_some("a comment in an inline table");
            }
            ('\n', Some(Bracket::Table { .. })) => return Some("an inline table of several lines"),
            ('}', Some(Bracket::Table { is_after_comma: true })) => {
                return Some("a comma at the end of an inline table");
            }
            ('}' | ']', _) => _ = self.open.pop(),
            ('{', _) => self.open.push(Bracket::Table { is_after_comma: false }),
            ('[', _) => self.open.push(Bracket::List),
            (sign, Some(Bracket::Table { is_after_comma })) if !sign.is_whitespace() => {
                *is_after_comma = sign == ',';
            }
            _ => {}
        }
        match letter {
            '"' | '\'' => self.string(letter),
            ':' => self.time(),
            _ => None,
        }
    }

    /// Skips the rest of a string.
    fn string(&mut self, quote: char) -> Option<&'static str> {
        let mut quotes = 1;
        while quotes < 3 && self.rest.next_if_eq(&quote).is_some() {
            quotes += 1;
        }
        if quotes == 2 {
            return None;
        }
        let mut ending = 0;
        while ending < quotes {
            match self.rest.next()? {
                '\\' if quote == '"' => {
                    ending = 0;
                    if matches!(self.rest.next()?, 'e' | 'x') {
                        return Some("an escape of a string");
                    }
                }
                letter => ending = if letter == quote { ending + 1 } else { 0 },
            }
        }
        None
    }

    /// Outside of strings and comments, a colon is in a time: `07:32:00`.
    fn time(&mut self) -> Option<&'static str> {
        while self.rest.next_if(char::is_ascii_digit).is_some() {}
        if self.rest.next_if_eq(&':').is_none() {
            return Some("a time without seconds");
        }
        while self.rest.next_if(|letter| letter.is_ascii_digit() || *letter == '.').is_some() {}
        // The offset of a zone has no seconds.
        if self.rest.next_if(|letter| matches!(letter, '+' | '-')).is_some() {
            while self.rest.next_if(|letter| letter.is_ascii_digit() || *letter == ':').is_some() {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::feature;

    #[test]
    fn finds_features_that_older_readers_reject() {
        for text in [
            "a = [1, # x\n 2,\n]\nb = { c = \"}\\n\", d = [1,\n2] }\n",
            "a = 'C:\\x'\nb = \"\"\"\\\n x: \"\" \"\"\"\nc = ''\nd = \"\"\n",
            "a = 1979-05-27T07:32:00-08:00 # 7:3\nb = 07:32:00.5\n[a.\"b:c\"]\n",
        ] {
            assert_eq!(feature(text), None, "{text}");
        }
        for text in [
            "a = { b = 1,\n c = 2 }\n",
            "a = { b = 1, }\n",
            "a = \"\\e\"\n",
            "a = \"\\x41\"\n",
            "a = 07:32\n",
        ] {
            assert!(feature(text).is_some(), "{text}");
        }
    }
}
