//! RECORD as others wrote it, with rows changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::archive::checksum::Digest;
use crate::archive::wheel::record::{own_row, row};
use crate::package::record::Rows;

/// What becomes of rows: another digest, or nothing. Others stay as they are.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<String, Option<Digest>>);

impl Changes {
    /// Gives the row of `name` this digest; without one, it comes at the end.
    pub(super) fn set(&mut self, name: &str, digest: Digest) {
        self.0.insert(name.to_owned(), Some(digest));
    }

    /// Takes the row of `name` out.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.insert(name.to_owned(), None);
    }

    /// The whole file with the changes; its own row, under `own`, comes last and has neither hash nor
    /// size. Paths of members have no line breaks, so that a line is a row.
    pub(super) fn applied(&self, text: &str, own: &str) -> String {
        let (mut new, mut written) = (String::with_capacity(text.len()), BTreeSet::new());
        for line in text.lines().filter(|line| !line.is_empty()) {
            let path = path(line);
            match self.0.get_key_value(&path) {
                _ if path == own => {}
                None => new.extend([line, "\n"]),
                Some((name, Some(digest))) => {
                    new += &row(name, digest);
                    written.insert(name);
                }
                Some((_, None)) => {}
            }
        }
        for (name, digest) in self.0.iter().filter(|(name, _)| !written.contains(name)) {
            new.extend(digest.as_ref().map(|digest| row(name, digest)));
        }
        new + &own_row(own)
    }
}

/// The first field of a row; `None` for a malformed row.
fn path(row: &str) -> String {
    let first = Rows::new(row.as_bytes()).next().and_then(Result::ok);
    first.map_or_else(String::new, |[path, ..]| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_others_stay_as_they_are() {
        let text = "a.py,sha256=x,1\r\n\"b, \"\"c\"\".py\",md5=y,2\r\nd/RECORD,,\r\nd/WHEEL,sha256=z,3\r\n";
        let paths: Vec<_> = text.lines().map(path).collect();
        assert_eq!(paths, ["a.py", "b, \"c\".py", "d/RECORD", "d/WHEEL"]);
        let mut changes = Changes::default();
        for name in ["d/WHEEL", "b, \"c\".py", "new"] {
            changes.set(name, Digest::of(b""));
        }
        changes.remove("a.py");
        let empty = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0";
        assert_eq!(
            changes.applied(text, "d/RECORD"),
            format!("\"b, \"\"c\"\".py\",{empty}\nd/WHEEL,{empty}\nnew,{empty}\nd/RECORD,,\n")
        );
        assert_eq!(Changes::default().applied("e,f,1\n", "d/RECORD"), "e,f,1\nd/RECORD,,\n");
    }
}
