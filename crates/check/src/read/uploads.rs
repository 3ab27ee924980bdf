//! Fields of metadata that index servers reject (core metadata specification), and installers do
//! not read.

use std::collections::BTreeSet;

use crate::Finding;
use base::python_literal::KEYWORDS;
use base::source::Code;
use wheel::archive::entry_points::is_dotted;
use wheel::package::Metadata;
use wheel::package::entry_points::LINE_ENDS;

/// Fields, with the metadata version that introduced them.
pub(super) const FIELDS: [(&str, (u32, u32)); 32] = [
    ("Metadata-Version", (1, 0)),
    ("Name", (1, 0)),
    ("Version", (1, 0)),
    ("Platform", (1, 0)),
    ("Summary", (1, 0)),
    ("Description", (1, 0)),
    ("Keywords", (1, 0)),
    ("Home-page", (1, 0)),
    ("Author", (1, 0)),
    ("Author-email", (1, 0)),
    ("License", (1, 0)),
    ("Supported-Platform", (1, 1)),
    ("Download-URL", (1, 1)),
    ("Classifier", (1, 1)),
    ("Requires", (1, 1)),
    ("Provides", (1, 1)),
    ("Obsoletes", (1, 1)),
    ("Maintainer", (1, 2)),
    ("Maintainer-email", (1, 2)),
    ("Requires-Dist", (1, 2)),
    ("Requires-Python", (1, 2)),
    ("Requires-External", (1, 2)),
    ("Project-URL", (1, 2)),
    ("Provides-Dist", (1, 2)),
    ("Obsoletes-Dist", (1, 2)),
    ("Provides-Extra", (2, 1)),
    ("Description-Content-Type", (2, 1)),
    ("Dynamic", (2, 2)),
    ("License-Expression", (2, 4)),
    ("License-File", (2, 4)),
    ("Import-Name", (2, 5)),
    ("Import-Namespace", (2, 5)),
];
const CONTENT_TYPES: [&str; 3] = ["text/plain", "text/x-rst", "text/markdown"];
const NEVER_DYNAMIC: [&str; 3] = ["name", "version", "metadata-version"];
/// References of SPDX that no index server takes, as it has no text for them.
const REFERENCES: [&str; 4] = ["DocumentRef-", "AdditionRef-", "NOASSERTION", "NONE"];

pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = unknown(metadata);
    let mut wrong = |field: &str, value: &str| {
        let message = format!("its {field} is malformed; index servers reject it");
        findings.push(warning(message).because(format!("`{value}`")));
    };
    let mut each = |field: &str, is_sound: fn(&str) -> bool| {
        for value in metadata.all(field).iter().filter(|value| !is_sound(value)) {
            wrong(field, value);
        }
    };
    each("Summary", is_one_line);
    each("Description-Content-Type", is_content_type);
    each("Dynamic", is_dynamic);
    each("Import-Name", is_import);
    each("Import-Namespace", is_import);
    each("License-Expression", is_license);
    if let Some(label) = repeated_label(metadata) {
        findings.push(
            warning("its Project-URL has a label twice; index servers reject it").because(label),
        );
    }
    if metadata.first("Description").is_some()
        && metadata.header().body().is_some_and(|body| !body.is_empty())
    {
        findings.push(warning(
            "it has a Description and a text below its fields; index servers reject it",
        ));
    }
    findings
}

fn warning(message: impl Into<std::borrow::Cow<'static, str>>) -> Finding {
    Finding::warning(Code::MetadataField, message)
}

fn unknown(metadata: &Metadata) -> Vec<Finding> {
    let is_known = |name: &&str| FIELDS.iter().any(|(field, _)| field.eq_ignore_ascii_case(name));
    let names = metadata.header().fields().iter().map(|(name, _)| &**name);
    let names: BTreeSet<&str> = names.filter(|name| !is_known(name)).collect();
    let finding = |name: &str| {
        warning(
            "its metadata has a field that no version of the format has; index servers reject it",
        )
        .because(format!("`{name}`"))
    };
    names.into_iter().map(finding).collect()
}

/// Matches the line ends of Python's `str.splitlines`.
fn is_one_line(text: &str) -> bool {
    // Several lines are an error of the fields themselves.
    text.contains('\n') || !(text.contains('\r') || text.contains(LINE_ENDS))
}

fn is_content_type(text: &str) -> bool {
    let mut parts = text.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    CONTENT_TYPES.contains(&&*kind)
        && parts.all(|part| match part.split_once('=') {
            Some((key, value)) => {
                let value = value.trim().trim_matches('"');
                match &*key.trim().to_ascii_lowercase() {
                    "charset" => value.eq_ignore_ascii_case("utf-8"),
                    "variant" => kind != "text/markdown" || matches!(value, "GFM" | "CommonMark"),
                    key => !key.is_empty(),
                }
            }
            None => part.is_empty(),
        })
}

fn is_dynamic(text: &str) -> bool {
    let is_field = |(field, _): &(&str, _)| field.eq_ignore_ascii_case(text);
    FIELDS.iter().any(is_field) && !NEVER_DYNAMIC.iter().any(|one| one.eq_ignore_ascii_case(text))
}

fn is_import(text: &str) -> bool {
    let (name, option) =
        text.split_once(';').map_or((text, None), |(name, option)| (name, Some(option.trim())));
    let name = name.trim_end();
    is_dotted(name)
        && !name.split('.').any(|part| KEYWORDS.contains(&part))
        && option.is_none_or(|option| option == "private")
}

fn is_license(text: &str) -> bool {
    let word = |word: &str| {
        let reference = word.get(..11).filter(|start| start.eq_ignore_ascii_case("LicenseRef-"));
        let is_empty = reference.is_some() && word[11..].trim_end_matches('+').is_empty();
        is_empty || REFERENCES.iter().any(|one| word.starts_with(one))
    };
    !text.split([' ', '(', ')']).any(word)
}

fn repeated_label(metadata: &Metadata) -> Option<String> {
    let mut labels = BTreeSet::new();
    let urls = metadata.all("Project-URL");
    let mut names =
        urls.iter().map(|url| url.split_once(',').map_or(&**url, |(label, _)| label.trim()));
    names.find(|label| !labels.insert(*label)).map(|label| format!("`{label}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(field: &str) -> usize {
        check(&Metadata::parse(&format!("Metadata-Version: 2.5\nName: a\nVersion: 1\n{field}\n")))
            .len()
    }

    #[test]
    fn warns_of_fields_that_index_servers_reject() {
        for field in [
            "Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM",
            "Description-Content-Type: TEXT/plain",
            "Dynamic: requires-dist",
            "Import-Name: a._b ; private",
            "Import-Namespace: match",
            "License-Expression: MIT OR LicenseRef-Mine",
            "Project-URL: a, b\nProject-URL: c, b",
        ] {
            assert_eq!(count(field), 0, "{field}");
        }
        for field in [
            "X-Field: x",
            "Requires_Dist: x",
            "Summary: a\u{2028}b",
            "Description-Content-Type: text/evil",
            "Description-Content-Type: text/plain; charset=latin-1",
            "Description-Content-Type: text/markdown; variant=x",
            "Description-Content-Type: text/plain, text/markdown",
            "Description-Content-Type:",
            "Dynamic: Name",
            "Dynamic: bogus",
            "Import-Name: class",
            "Import-Name: a-b",
            "Import-Name: a; public",
            "License-Expression: LicenseRef-",
            "License-Expression: NOASSERTION",
            "Project-URL: a, b\nProject-URL: a, c",
            "Description: a\n\nb",
        ] {
            assert_eq!(count(field), 1, "{field}");
        }
    }
}
