//! Rows of RECORD (CSV, RFC 4180).

use std::io::{BufReader, Bytes, Read};
use std::iter::Peekable;

/// Files of the metadata directory that sign RECORD, and so cannot be in it.
const SIGNATURES: [&str; 2] = ["RECORD.jws", "RECORD.p7s"];

/// Returns whether a member signs RECORD, so that RECORD cannot list it (PEP 427).
pub fn is_signature(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| SIGNATURES.contains(&file))
}

/// Iterator of rows; an item contains the three fields, or is an error.
pub struct Rows<R: Read> {
    text: Peekable<Bytes<BufReader<R>>>,
    read: u64,
    unreadable: Option<&'static str>,
}

/// Fields after the third are only counted.
#[derive(Default)]
struct Row {
    fields: Vec<Vec<u8>>,
    field: Vec<u8>,
    count: usize,
}

impl Row {
    fn end_field(&mut self) {
        let field = std::mem::take(&mut self.field);
        self.count += 1;
        if self.count <= 3 {
            self.fields.push(field);
        }
    }
}

/// Row without exactly three fields.
pub struct NotThree;

impl<R: Read> Iterator for Rows<R> {
    type Item = Result<[String; 3], NotThree>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.row()?;
        Some(self.fields(row).ok_or(NotThree))
    }
}

impl<R: Read> Rows<R> {
    /// Reads rows from a text.
    pub fn new(text: R) -> Self {
        Self { text: BufReader::new(text).bytes().peekable(), read: 0, unreadable: None }
    }

    /// Number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.read
    }

    /// The reason why the content is not text, if it is not.
    pub fn unreadable(&self) -> Option<&'static str> {
        self.unreadable
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.text.next()?.ok()?;
        self.read += 1;
        Some(byte)
    }

    fn comes(&mut self, byte: u8) -> bool {
        matches!(self.text.peek(), Some(Ok(next)) if *next == byte)
    }

    fn row(&mut self) -> Option<Row> {
        let (mut row, mut quoted, mut any) = (Row::default(), false, false);
        while let Some(byte) = self.byte() {
            any = true;
            match byte {
                b'"' if quoted && self.comes(b'"') => {
                    self.byte();
                    row.field.push(byte);
                }
                b'"' if quoted || row.field.is_empty() => quoted = !quoted,
                b',' if !quoted => row.end_field(),
                b'\r' if !quoted && self.comes(b'\n') => {}
                b'\n' | b'\r' if !quoted => {
                    row.end_field();
                    return Some(row);
                }
                byte => row.field.push(byte),
            }
        }
        row.end_field();
        any.then_some(row)
    }

    fn fields(&mut self, row: Row) -> Option<[String; 3]> {
        let exact = row.count == 3;
        let fields: Vec<String> = row.fields.into_iter().map(|bytes| self.text_of(bytes)).collect();
        <[String; 3]>::try_from(fields).ok().filter(|_| exact)
    }

    fn text_of(&mut self, bytes: Vec<u8>) -> String {
        if bytes.contains(&0) {
            self.unreadable = Some("it has a NUL byte");
        }
        String::from_utf8(bytes).unwrap_or_else(|error| {
            self.unreadable = Some("it is not UTF-8");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_csv() {
        let text: &[u8] = b"a,b,c\r\n\"x, \"\"y\"\"\",,\r\n\n\"l\nm\",h,1\ra,b\na,b,c,d,e\n\xff,,";
        let mut rows = Rows::new(text);
        let mut read = Vec::new();
        for row in rows.by_ref() {
            read.push(row.map_or_else(|_| "none".to_owned(), |row| row.join("|")));
        }
        assert_eq!(read, ["a|b|c", "x, \"y\"||", "none", "l\nm|h|1", "none", "none", "\u{fffd}||"]);
        assert_eq!((rows.bytes(), rows.unreadable().is_some()), (text.len() as u64, true));
    }
}
