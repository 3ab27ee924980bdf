//! RECORD as others wrote it, with rows changed.

use crate::archive::checksum::Digest;
use crate::archive::wheel::record::field;

/// The rows in their order, each with the path that it is of. Rows that stay are not written anew.
pub(super) struct Rows(Vec<(String, String)>);

impl Rows {
    /// Takes RECORD apart. Paths of members have no line breaks, so that a line is a row.
    pub(super) fn read(text: &str) -> Self {
        Self(text.lines().filter(|line| !line.is_empty()).map(|line| (path(line), line.to_owned())).collect())
    }

    /// Gives `name` this digest, where its row stood, else at the end.
    pub(super) fn set(&mut self, name: &str, digest: &Digest) {
        let row = format!("{},{},{}", field(name), digest.sha256.for_record(), digest.size);
        match self.0.iter_mut().find(|(path, _)| path == name) {
            Some((_, line)) => *line = row,
            None => self.0.push((name.to_owned(), row)),
        }
    }

    /// Takes the row of `name` out.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.retain(|(path, _)| path != name);
    }

    /// The whole file; its own row, under `name`, comes last and has neither hash nor size.
    pub(super) fn render(&mut self, name: &str) -> String {
        self.remove(name);
        let rows: String = self.0.iter().flat_map(|(_, line)| [line, "\n"]).collect();
        format!("{rows}{},,\n", field(name))
    }
}

/// The first field of a CSV row (RFC 4180).
fn path(row: &str) -> String {
    let Some(quoted) = row.strip_prefix('"') else {
        return row.split(',').next().unwrap_or_default().to_owned();
    };
    let mut path = String::new();
    let mut rest = quoted;
    // A quote within is written twice; one alone ends the field.
    while let Some((part, after)) = rest.split_once('"') {
        path.push_str(part);
        let Some(more) = after.strip_prefix('"') else { return path };
        path.push('"');
        rest = more;
    }
    path + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_others_stay_as_they_are() {
        let text = "a.py,sha256=x,1\r\n\"b, \"\"c\"\".py\",md5=y,2\r\nd/RECORD,,\r\nd/WHEEL,sha256=z,3\r\n";
        let mut rows = Rows::read(text);
        let paths: Vec<&str> = rows.0.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["a.py", "b, \"c\".py", "d/RECORD", "d/WHEEL"]);
        rows.set("d/WHEEL", &Digest::of(b""));
        rows.set("b, \"c\".py", &Digest::of(b""));
        rows.remove("a.py");
        let empty = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0";
        assert_eq!(rows.render("d/RECORD"), format!("\"b, \"\"c\"\".py\",{empty}\nd/WHEEL,{empty}\nd/RECORD,,\n"));
    }
}
