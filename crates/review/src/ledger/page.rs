//! Forms of a ledger: counts first, then what is unexplained, then the lines that accept the rest.

use std::fmt::Write as _;

use super::{Counts, Ledger};
use crate::html::{filled, hash_source};
use base::source::printable;
use base::text::{Column, Table, counted};

/// A page that is read in a minute shows the worst; `--format files` and JSON show all.
const SHOWN_ROWS: usize = 40;

/// Titles of the columns of counts.
const COUNTS: [&str; 11] = [
    "package",
    "equal",
    "meaning",
    "rpath",
    "moved",
    "theirs",
    "ours",
    "different",
    "facts",
    "accepted",
    "unexplained",
];

/// Table with a title.
struct Section {
    title: String,
    columns: &'static [&'static str],
    rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    left_out: usize,
}

fn verdict(ledger: &Ledger) -> String {
    let total = ledger.total();
    let lines = counted(ledger.accepted.len(), "line");
    match total.unexplained {
        0 => format!("every difference is explained: {} by {lines}", total.accepted),
        count => format!(
            "{} unexplained, {} explained by {lines}",
            counted(count, "difference"),
            total.accepted
        ),
    }
}

/// Sections in the order of the page. `all` shows every difference.
fn sections(ledger: &Ledger, all: bool) -> Vec<Section> {
    let rows = ledger.packages.iter().chain([&ledger.total()]).map(row).collect();
    let mut sections = vec![Section { title: String::new(), columns: &COUNTS, rows, left_out: 0 }];
    let most = if all { usize::MAX } else { SHOWN_ROWS };
    if !ledger.unexplained.is_empty() {
        let shown = ledger.unexplained.iter().take(most);
        let rows = shown.map(|it| {
            let class = it.class.as_str().to_owned();
            vec![class, it.package.clone(), it.name.clone(), it.detail.clone()]
        });
        sections.push(Section {
            title: "Unexplained, the worst first".to_owned(),
            columns: &["class", "package", "file or name", "difference"],
            rows: rows.collect(),
            left_out: ledger.unexplained.len().saturating_sub(most),
        });
    }
    if !ledger.accepted.is_empty() {
        let rows = ledger.accepted.iter().map(|it| {
            let count = it.differences.len().to_string();
            vec![count, it.class.as_str().to_owned(), it.reason.clone(), it.line.clone()]
        });
        sections.push(Section {
            title: "Explained".to_owned(),
            columns: &["count", "class", "reason", "line"],
            rows: rows.collect(),
            left_out: 0,
        });
    }
    if all {
        sections.extend(ledger.accepted.iter().map(|line| {
            let rows = line
                .differences
                .iter()
                .map(|it| vec![it.package.clone(), it.name.clone(), it.detail.clone()]);
            Section {
                title: format!("{} {}", line.line, line.class.as_str()),
                columns: &["package", "file or name", "difference"],
                rows: rows.collect(),
                left_out: 0,
            }
        }));
    }
    sections
}

fn row(counts: &Counts) -> Vec<String> {
    let Counts {
        package,
        equal,
        meaning,
        rpath,
        moved,
        theirs,
        ours,
        different,
        facts,
        accepted,
        unexplained,
    } = counts;
    let numbers =
        [equal, meaning, rpath, moved, theirs, ours, different, facts, accepted, unexplained];
    let shown = |count: &usize| if *count == 0 { "·".to_owned() } else { count.to_string() };
    [package.clone()].into_iter().chain(numbers.into_iter().map(shown)).collect()
}

impl Section {
    fn is_number(&self, column: usize) -> bool {
        self.columns[column] == "count" || column > 0 && self.columns.len() == COUNTS.len()
    }

    fn rest_note(&self) -> Option<String> {
        (self.left_out > 0)
            .then(|| format!("… and {} more: --format files shows them", self.left_out))
    }
}

/// Text; with `all`, every difference.
pub fn text(ledger: &Ledger, all: bool) -> String {
    let mut text = format!("{} → {}\n{}\n", ledger.theirs, ledger.ours, verdict(ledger));
    for section in sections(ledger, all) {
        text.push('\n');
        if !section.title.is_empty() {
            let _ = writeln!(text, "{}", section.title);
        }
        let columns = (0..section.columns.len()).map(|at| {
            if section.is_number(at) { Column::right() } else { Column::left().at_most(60) }
        });
        let mut table = Table::new(columns);
        table.row(section.columns);
        for row in &section.rows {
            table.row(row.iter().map(|cell| printable(cell).into_owned()));
        }
        let _ = write!(text, "{table}");
        text.extend(section.rest_note().map(|more| more + "\n"));
    }
    text
}

/// Markdown, for a summary of a run.
pub fn markdown(ledger: &Ledger) -> String {
    let kind = if ledger.is_explained() { "NOTE" } else { "CAUTION" };
    let mut text = format!("> [!{kind}]\n> **{}**\n\n", verdict(ledger));
    let _ = writeln!(text, "{} → {}", code(&ledger.theirs), code(&ledger.ours));
    for section in sections(ledger, false) {
        text.push('\n');
        if !section.title.is_empty() {
            let _ = writeln!(text, "### {}\n", section.title);
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text += &line(section.columns.iter().map(|&title| title.to_owned()).collect());
        let rule = |at| if section.is_number(at) { "--:" } else { "---" }.to_owned();
        text += &line((0..section.columns.len()).map(rule).collect());
        for row in &section.rows {
            text += &line(row.iter().map(|cell| escaped(cell)).collect());
        }
        text.extend(section.rest_note().map(|more| format!("\n{more}\n")));
    }
    text
}

fn code(text: &str) -> String {
    format!("`{}`", printable(text).replace('`', "'"))
}

fn escaped(text: &str) -> String {
    let text = printable(text);
    ["\\", "|", "`", "*", "_", "<", "&"]
        .iter()
        .fold(text.into_owned(), |text, mark| text.replace(mark, &format!("\\{mark}")))
}

const PAGE: &str = include_str!("page/page.html");

const STYLE: &str = include_str!("page/style.css");

/// One self-contained page without scripts, with every difference.
pub fn html(ledger: &Ledger) -> String {
    let policy = format!("default-src 'none'; style-src {}; base-uri 'none'", hash_source(STYLE));
    let mut body = String::new();
    for section in sections(ledger, true) {
        let _ = writeln!(body, "<h2>{}</h2>\n<table>", element(&section.title));
        let cells = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells = cells.enumerate().map(|(at, cell)| {
                let class = if section.is_number(at) { " class=\"number\"" } else { "" };
                format!("<{name}{class}>{}</{name}>", element(cell))
            });
            format!("<tr>{}</tr>\n", cells.collect::<String>())
        };
        body += &cells("th", &mut section.columns.iter().copied());
        for row in &section.rows {
            body += &cells("td", &mut row.iter().map(String::as_str));
        }
        body += "</table>\n";
    }
    let values = [
        ("policy", policy),
        ("style", STYLE.to_owned()),
        ("title", element(&format!("{} → {}", ledger.theirs, ledger.ours))),
        ("class", if ledger.is_explained() { "fine" } else { "lost" }.to_owned()),
        ("verdict", element(&verdict(ledger))),
        ("body", body),
    ];
    filled(PAGE, &values)
}

fn element(text: &str) -> String {
    let text = printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
