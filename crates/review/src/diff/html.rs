//! The difference as one self-contained page without scripts: old beside new.

use std::fmt::Write as _;

use super::places::FileChange;
use super::report::{self, Report, heading};
use super::{Change, Diff, Difference, Extent, FieldChange, Moved, verdict};
use crate::html::{filled, hash_source};
use base::source::printable;
use base::text::{counted, human_size};

const PAGE: &str = include_str!("html/page.html");

const STYLE: &str = include_str!("html/style.css");

const MOST_FILES: usize = 1000;

/// Page with the verdict, sizes of packages, and every change.
pub fn html(diff: &Diff) -> String {
    let policy = format!("default-src 'none'; style-src {}; base-uri 'none'", hash_source(STYLE));
    let report = Report::new(diff, false);
    let values = [
        ("policy", policy),
        ("title", text(&format!("{} → {}", diff.old.label, diff.new.label))),
        ("style", STYLE.to_owned()),
        ("verdict", verdict(diff, &report)),
        ("head", listed("p", report.head.iter().map(String::as_str))),
        ("packages", packages(&report)),
        ("changes", changes(diff, &report)),
    ];
    filled(PAGE, &values)
}

fn text(text: &str) -> String {
    let text = printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn listed<'t>(element: &str, lines: impl Iterator<Item = &'t str>) -> String {
    lines.fold(String::new(), |mut html, line| {
        let _ = writeln!(html, "<{element}>{}</{element}>", text(line));
        html
    })
}

fn verdict(diff: &Diff, report: &Report) -> String {
    let class = if report.lost { "lost" } else { "fine" };
    if diff.is_empty() {
        return format!("<h1 class=\"{class}\">{}</h1>\n", text(verdict::NOTHING.trim_end()));
    }
    let mut lines = report.verdict.iter().map(String::as_str);
    let mut html =
        format!("<h1 class=\"{class}\">{}</h1>\n", text(lines.next().unwrap_or_default()));
    let rest = listed("li", lines);
    if !rest.is_empty() {
        let _ = write!(html, "<ul>\n{rest}</ul>\n");
    }
    html
}

fn packages(report: &Report) -> String {
    let row = |row: &report::Row| {
        let cells = |extent: Option<Extent>| {
            extent.map_or_else(
                || "<td></td><td></td>".to_owned(),
                |it| format!("<td>{}</td><td>{}</td>", it.files, human_size(it.size)),
            )
        };
        format!(
            "<tr><td>{} {}</td>{}{}<td>{}</td></tr>\n",
            row.mark,
            text(&row.title),
            cells(row.old),
            cells(row.new),
            row.size_change()
        )
    };
    report.rows.iter().map(row).collect()
}

fn changes(diff: &Diff, report: &Report) -> String {
    let mut html = String::new();
    if !diff.moved.is_empty() {
        let rows: String = diff.moved.iter().map(moved).collect();
        section(&mut html, "moved", &rows);
    }
    for package in &diff.packages {
        let rows: String =
            package.fields.iter().map(field).chain(package.changes.iter().map(change)).collect();
        if !rows.is_empty() {
            section(&mut html, &heading(package), &rows);
        }
    }
    let lists = ["unowned", "warnings", "notes of the plans"];
    for list in report.sections.iter().filter(|section| lists.contains(&&*section.title)) {
        let rows = list.lines.iter().map(|line| {
            let cells = format!("<td>{} {}</td>", line.mark, text(&line.place));
            format!("<tr>{cells}<td colspan=\"2\"></td><td>{}</td></tr>\n", text(&line.detail))
        });
        section(&mut html, &list.title, &rows.collect::<String>());
    }
    html
}

fn section(html: &mut String, title: &str, rows: &str) {
    let _ = write!(
        html,
        "<h2>{}</h2>\n<table>\n<tr><th></th><th>old</th><th>new</th><th></th></tr>\n{rows}</table>\n",
        text(title)
    );
}

fn field(change: &FieldChange) -> String {
    let values =
        |values: &[String]| values.iter().map(|value| text(value)).collect::<Vec<_>>().join("<br>");
    format!(
        "<tr><td>{}</td><td class=\"gone\">{}</td><td class=\"come\">{}</td><td></td></tr>\n",
        text(&change.field),
        values(&change.removed),
        values(&change.added)
    )
}

fn change(change: &Change) -> String {
    let class = match change.difference {
        Difference::Appeared { .. } => "come",
        Difference::Vanished { .. } => "gone",
        _ => "other",
    };
    let places = change.places.iter().map(|place| {
        let size = |size: u64, there: bool| if there { human_size(size) } else { String::new() };
        format!(
            "<tr class=\"{class}\"><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            text(&place.pattern),
            if place.files > 1 {
                format!(" ({})", counted(place.files, "file"))
            } else {
                String::new()
            },
            size(place.old_size, class != "come"),
            size(place.new_size, class != "gone"),
            text(&report::text(&change.difference, place))
        )
    });
    let rows: String = places.collect();
    if change.files.len() < 2 { rows } else { rows + &files(&change.files) }
}

fn moved(moved: &Moved) -> String {
    let first = format!(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        counted(moved.files.len(), "file"),
        text(&moved.from.title),
        text(&moved.to.title),
        text(moved.reason.as_deref().unwrap_or_default())
    );
    first + &files(&moved.files)
}

fn files(all: &[FileChange]) -> String {
    let size = |size: Option<u64>| size.map(human_size).unwrap_or_default();
    let row = |file: &FileChange| {
        let old_path = file.was.as_ref().unwrap_or(&file.path);
        let cell = |path: &str, bytes: Option<u64>| match bytes {
            Some(_) => format!("<td>{} {}</td>", text(path), size(bytes)),
            None => "<td></td>".to_owned(),
        };
        format!("<tr>{}{}</tr>\n", cell(old_path, file.old_size), cell(&file.path, file.new_size))
    };
    let rows: String = all.iter().take(MOST_FILES).map(row).collect();
    let more = all.len().saturating_sub(MOST_FILES);
    let more = if more > 0 { format!("<p>and {more} more</p>\n") } else { String::new() };
    format!(
        "<tr><td colspan=\"4\"><details><summary>{}</summary>\n<table>\n{rows}</table>\n{more}</details></td></tr>\n",
        counted(all.len(), "file")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_the_page_is_filled_and_nothing_is_elsewhere() {
        for name in ["policy", "title", "style", "verdict", "head", "packages", "changes"] {
            assert_eq!(PAGE.matches(&format!("{{{{{name}}}}}")).count(), 1, "{name}");
        }
        assert_eq!(PAGE.matches("{{").count(), 7);
        for word in ["http:", "https:", "url(", "src=", "<script", " style=", "@import"] {
            assert!(!PAGE.contains(word) && !STYLE.contains(word), "{word}");
        }
    }

    #[test]
    fn names_are_text() {
        assert_eq!(text("<b a=\"x\">&\u{1b}"), "&lt;b a=&quot;x&quot;&gt;&amp;\\u{1b}");
    }
}
