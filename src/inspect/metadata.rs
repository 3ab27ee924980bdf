//! The texts of a metadata directory.

use std::collections::BTreeMap;

use super::PackageError;
use crate::archive::entry_points::CONSOLE_SCRIPTS;
use crate::plan::Metadata;

/// The fields of a header as mails have it (core metadata; RFC 822), in their order.
pub(super) struct Header(Vec<(String, String)>);

impl Header {
    /// Reads up to the blank line that ends the header; a line that starts with a space goes on.
    pub fn parse(text: &str) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in text.lines().take_while(|line| !line.is_empty()) {
            if let (true, Some((_, value))) = (line.starts_with([' ', '\t']), fields.last_mut()) {
                value.push('\n');
                value.push_str(line.trim());
            } else if let Some((name, value)) = line.split_once(':') {
                fields.push((name.to_owned(), value.trim().to_owned()));
            }
        }
        Self(fields)
    }

    /// Every value of a field. Field names are compared without case.
    pub fn all(&self, field: &str) -> Vec<String> {
        self.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case(field)).map(|(_, value)| value.clone()).collect()
    }

    /// The value of a field that has to be there.
    pub fn one(&self, field: &'static str) -> Result<String, PackageError> {
        self.all(field).into_iter().next().ok_or(PackageError::Field(field))
    }

    fn first(&self, field: &str) -> String {
        self.all(field).into_iter().next().unwrap_or_default()
    }

    /// What a plan says too.
    pub fn metadata(&self) -> Metadata {
        let urls = self.all("Project-URL");
        let home = urls.iter().find_map(|url| url.split_once(',').filter(|(label, _)| *label == "Homepage"));
        Metadata {
            summary: self.first("Summary"),
            license: self.first("License-Expression"),
            author: self.first("Author"),
            home_page: home.map(|(_, url)| url.trim().to_owned()),
            requires_python: self.first("Requires-Python"),
            requires_dist: self.all("Requires-Dist"),
            computed: self.all("Dynamic").iter().any(|field| field == "Requires-Dist"),
        }
    }
}

/// The console scripts of an `entry_points.txt`; other groups are named with their group.
pub(super) fn console_scripts(text: &str) -> BTreeMap<String, String> {
    let (mut group, mut scripts) = (String::new(), BTreeMap::new());
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.trim().clone_into(&mut group);
        } else if let Some((name, object)) = line.split_once('=').filter(|_| !line.starts_with(['#', ';'])) {
            let name = if group == CONSOLE_SCRIPTS { name.trim().to_owned() } else { format!("[{group}] {}", name.trim()) };
            scripts.insert(name, object.trim().to_owned());
        }
    }
    scripts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_mails_are() {
        let header = Header::parse("Name: a-b\nSummary: one\n  two\nrequires-dist: x; extra == \"y\"\nRequires-Dist: z\n\nName: body\n");
        assert_eq!(header.all("name"), ["a-b"]);
        assert_eq!(header.metadata().summary, "one\ntwo");
        assert_eq!(header.metadata().requires_dist, ["x; extra == \"y\"", "z"]);
        assert_eq!(header.one("Version").unwrap_err().to_string(), "its metadata has no `Version`");
    }

    #[test]
    fn scripts_are_read_from_their_group() {
        let scripts = console_scripts("# made\n[console_scripts]\na = m:f\nb=n:g\n\n[other]\nc = o:h\n");
        let said: Vec<String> = scripts.iter().map(|(name, object)| format!("{name} -> {object}")).collect();
        assert_eq!(said, ["[other] c -> o:h", "a -> m:f", "b -> n:g"]);
    }
}
