//! The texts of a metadata directory.

use std::collections::BTreeMap;

use super::PackageError;
use crate::archive::entry_points::CONSOLE_SCRIPTS;
use crate::archive::header::Header;
use crate::plan::{Description, Metadata};

/// The value of a field that has to be there.
pub(super) fn one<'h>(header: &'h Header, field: &'static str) -> Result<&'h str, PackageError> {
    header.first(field).ok_or(PackageError::Field(field))
}

/// What a plan says too.
pub(super) fn metadata(header: &Header) -> Metadata {
    let first = |field| header.first(field).unwrap_or_default().to_owned();
    let urls = header.all("Project-URL");
    let pairs = urls.iter().filter_map(|url| url.split_once(','));
    let (home, urls): (Vec<_>, Vec<_>) = pairs
        .map(|(label, url)| (label.trim().to_owned(), url.trim().to_owned()))
        .partition(|(label, _)| label == "Homepage");
    let keywords = header.first("Keywords").unwrap_or_default();
    Metadata {
        summary: first("Summary"),
        description: description(header),
        license: first("License-Expression"),
        author: first("Author"),
        home_page: home.into_iter().next().map(|(_, url)| url),
        urls,
        classifiers: header.all("Classifier"),
        keywords: keywords.split(',').map(str::to_owned).filter(|word| !word.is_empty()).collect(),
        requires_python: first("Requires-Python"),
        requires_dist: header.all("Requires-Dist"),
        computed: header.all("Dynamic").iter().any(|field| field == "Requires-Dist"),
    }
}

/// The body, as whoever wrote it meant it to end.
fn description(header: &Header) -> Option<Description> {
    let text = header.body()?.trim_end();
    let kind = header.first("Description-Content-Type").unwrap_or("text/plain");
    let content_type = kind.split(';').next().unwrap_or_default().trim().to_owned();
    (!text.is_empty()).then(|| Description { content_type, text: format!("{text}\n") })
}

/// The console scripts of an `entry_points.txt`; other groups are named with their group.
pub(super) fn console_scripts(text: &str) -> BTreeMap<String, String> {
    let (mut group, mut scripts) = (String::new(), BTreeMap::new());
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            name.trim().clone_into(&mut group);
        } else if let Some((name, object)) =
            line.split_once('=').filter(|_| !line.starts_with(['#', ';']))
        {
            let name = if group == CONSOLE_SCRIPTS {
                name.trim().to_owned()
            } else {
                format!("[{group}] {}", name.trim())
            };
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
        let header = Header::parse(
            "Name: a-b\nSummary: one\n  two\nrequires-dist: x; extra == \"y\"\nRequires-Dist: z\n\nName: body\n",
        );
        assert_eq!(header.all("name"), ["a-b"]);
        assert_eq!(metadata(&header).summary, "one\ntwo");
        let body = metadata(&header).description.unwrap();
        assert_eq!((&*body.content_type, &*body.text), ("text/plain", "Name: body\n"));
        assert_eq!(metadata(&header).requires_dist, ["x; extra == \"y\"", "z"]);
        assert_eq!(
            one(&header, "Version").unwrap_err().to_string(),
            "its metadata has no `Version`"
        );
    }

    #[test]
    fn scripts_are_read_from_their_group() {
        let scripts =
            console_scripts("# made\n[console_scripts]\na = m:f\nb=n:g\n\n[other]\nc = o:h\n");
        let said: Vec<String> =
            scripts.iter().map(|(name, object)| format!("{name} -> {object}")).collect();
        assert_eq!(said, ["[other] c -> o:h", "a -> m:f", "b -> n:g"]);
    }
}
