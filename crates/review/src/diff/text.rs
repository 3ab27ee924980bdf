use std::fmt::Write as _;

use super::report::{self, Line, Report, Row, shortened};
use super::{Diff, Extent, PackageChange, verdict};
use base::source::printable;
use base::text::{Column, Table, human_size};

const WIDEST_PLACE: usize = 64;
const WIDEST: usize = 120;

/// Formats a difference as text. `files` gives every file a line, however long.
pub fn text(diff: &Diff, files: bool) -> String {
    let text = unwrapped(diff, files);
    if files { text } else { text.lines().map(wrapped).collect() }
}

fn wrapped(line: &str) -> String {
    let blanks = line.len() - line.trim_start().len();
    base::source::wrapped(line, WIDEST, &" ".repeat(blanks + 4)) + "\n"
}

fn unwrapped(diff: &Diff, files: bool) -> String {
    if diff.is_empty() {
        return verdict::NOTHING.to_owned();
    }
    let report = Report::new(diff, files);
    let mut text = verdict(&report) + "\n" + &report.head.join("\n") + "\n\n";
    if diff.same > 0 || !diff.packages.is_empty() {
        text.push_str(&table(&report.rows));
    }
    let widths = Widths::new(&report);
    for section in &report.sections {
        let _ = writeln!(text, "\n{}", printable(&section.title));
        for line in &section.lines {
            let _ = writeln!(text, "  {}", widths.line(line));
        }
    }
    text
}

impl PackageChange {
    /// A line per changed field and file: mark, place, description.
    pub fn lines(&self) -> Vec<String> {
        let shown = |line: &Line| {
            let parts = [line.place.clone(), line.counted(), line.sized(), line.detail.clone()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            format!("{} {}", line.mark, parts.join("  "))
        };
        report::package(self, true).lines.iter().map(shown).collect()
    }
}

fn verdict(report: &Report) -> String {
    report.verdict.iter().map(|line| printable(line).into_owned() + "\n").collect()
}

fn table(rows: &[Row]) -> String {
    let numbers = [7, 7, 8, 9].map(|width| Column::right().of(width));
    let mut table = Table::new([Column::left()].into_iter().chain(numbers));
    table.row(["", "files", "", "size", ""]);
    for row in rows {
        let now = |text: fn(Extent) -> String| row.new.map_or_else(|| "-".to_owned(), text);
        table.row([
            format!("{} {}", row.mark, printable(&row.title)),
            now(|it| it.files.to_string()),
            row.file_change(),
            now(|it| human_size(it.size)),
            row.size_change(),
        ]);
    }
    table.to_string()
}

pub(super) struct Widths {
    place: usize,
    count: usize,
    size: usize,
}

impl Widths {
    pub fn new(report: &Report) -> Self {
        let lines = || report.sections.iter().flat_map(|s| &s.lines).filter(|line| !line.field);
        let widest = |text: fn(&Line) -> String| {
            lines().map(|line| text(line).chars().count()).max().unwrap_or_default()
        };
        Self {
            place: widest(|l| l.place.clone()).min(WIDEST_PLACE),
            count: widest(Line::counted),
            size: widest(Line::sized),
        }
    }

    pub fn line(&self, line: &Line) -> String {
        if line.field {
            return format!("{} {}: {}", line.mark, line.place, printable(&line.detail));
        }
        let Self { place, count, size } = self;
        let text = format!(
            "{} {:place$}  {:>count$}  {:>size$}  {}",
            line.mark,
            printable(&line.place),
            line.counted(),
            line.sized(),
            printable(&line.detail)
        );
        text.trim_end().to_owned()
    }
}

pub(super) fn narrowed(line: &str) -> String {
    shortened(line, 400)
}
