//! HTML pages (PEP 503, PEP 592, PEP 714, PEP 740).

use std::fmt::Write as _;
use std::io::{self, Write};

use super::entry::{IndexedFile, version};
use super::link::link;
use super::package::Listed;
use base::names::RelPath;

/// Mark of pages that this program may replace.
pub(super) const MARK: &str = r#"<meta name="generator" content="rockpack">"#;

const STYLE: &str = ":root{color-scheme:light dark}\
body{font:15px/1.7 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem;overflow-wrap:anywhere}\
small{opacity:.65;margin-left:.6em}code{font-size:.93em}";

const END: &str = "</body>\n</html>\n";

fn page(title: &str, version: &str, body: &str) -> String {
    head(title, version) + body + END
}

fn head(title: &str, version: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{MARK}\n\
         <meta name=\"pypi:repository-version\" content=\"{version}\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    )
}

/// Writes an entry at a time: a flat page lists all files of a directory.
pub(super) fn files(
    place: &RelPath,
    title: &str,
    files: &[&Listed],
    pages: &[(RelPath, String)],
    to: &mut dyn Write,
) -> io::Result<()> {
    let has_provenance = files.iter().any(|file| file.provenance.is_some());
    to.write_all(head(title, version(has_provenance)).as_bytes())?;
    for file in files {
        to.write_all(anchor(&IndexedFile::from_listed(place, file)).as_bytes())?;
    }
    for (target, text) in pages {
        writeln!(to, "<a href=\"{}\">{}</a><br>", link(place, target), escape(text))?;
    }
    to.write_all(END.as_bytes())
}

pub(super) fn list(place: &RelPath, title: &str, pages: &[(RelPath, String, String)]) -> String {
    let mut body = String::new();
    for (target, text, about) in pages {
        let about = if about.is_empty() {
            String::new()
        } else {
            format!("<small>{}</small>", escape(about))
        };
        let _ =
            writeln!(body, "<a href=\"{}\">{}</a>{about}<br>", link(place, target), escape(text));
    }
    page(title, version(false), &body)
}

/// PEP 503 requires links to directories; elsewhere links name the file, since object stores have
/// no directory pages.
pub(super) fn projects(place: &RelPath, title: &str, pages: &[(RelPath, &str)]) -> String {
    let mut body = String::new();
    for (target, name) in pages {
        let link = link(place, target);
        let _ = writeln!(
            body,
            "<a href=\"{}\">{}</a><br>",
            link.strip_suffix("index.html").unwrap_or(&link),
            escape(name)
        );
    }
    page(title, version(false), &body)
}

pub(super) fn entries(title: &str, has_provenance: bool, files: &[IndexedFile]) -> String {
    page(title, version(has_provenance), &files.iter().map(anchor).collect::<String>())
}

pub(super) fn links<'a>(title: &str, links: impl Iterator<Item = (String, &'a str)>) -> String {
    let line = |(url, text): (String, &str)| {
        format!("<a href=\"{}\">{}</a><br>\n", escape(&url), escape(text))
    };
    page(title, version(false), &links.map(line).collect::<String>())
}

fn anchor(entry: &IndexedFile) -> String {
    let mut attributes = String::new();
    if let Some(python) = &entry.requires_python {
        let _ = write!(attributes, " data-requires-python=\"{}\"", escape(python));
    }
    if let Some(hash) = entry.metadata_attribute() {
        // PEP 714: the new name, and the name for older installers.
        let hash = escape(&hash);
        let _ =
            write!(attributes, " data-core-metadata=\"{hash}\" data-dist-info-metadata=\"{hash}\"");
    }
    if let Some(provenance) = entry.provenance() {
        let _ = write!(attributes, " data-provenance=\"{}\"", escape(provenance));
    }
    if let Some(reason) = entry.yanked.reason() {
        let _ = write!(attributes, " data-yanked=\"{}\"", escape(reason));
    }
    // Without SHA-256, any other checksum.
    let hash = entry.hashes.get_key_value("sha256").or_else(|| entry.hashes.first_key_value());
    let hash = hash.map(|(name, hash)| format!("#{name}={hash}")).unwrap_or_default();
    let href = escape(&format!("{}{hash}", entry.url));
    format!("<a href=\"{href}\"{attributes}>{}</a><br>\n", escape(&entry.filename))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a \"b\" & 'c'>"), "&lt;a &quot;b&quot; &amp; &#39;c&#39;&gt;");
    }
}
