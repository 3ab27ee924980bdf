use std::fmt::Write as _;

use super::report::{Report, Row, shortened};
use super::text::{Widths, narrowed};
use super::{Diff, Extent, verdict};
use base::source::printable;
use base::text::human_size;

/// GitHub allows 65,536 characters per comment.
const LONGEST: usize = 64_000;

/// Space for closing blocks and note.
const TAIL: usize = 400;

/// Less than 64 kB; omitted lines are counted.
pub fn markdown(diff: &Diff) -> String {
    if diff.is_empty() {
        return verdict::NOTHING.to_owned();
    }
    let report = Report::new(diff, false);
    let mut page = Page { text: String::new(), left_out: 0 };
    verdict(&report, &mut page);
    page.line(&format!("**{}** → **{}**  ", code(&diff.old.label), code(&diff.new.label)));
    for line in &report.head[2..] {
        page.line(&format!("{}  ", line.trim()));
    }
    page.line("");
    table(&report.rows, &mut page);
    page.line("");
    let fence = fence(&report);
    if !report.sections.is_empty() {
        page.line(&format!("{fence}diff"));
        lines(&report, &mut page);
        page.end(&fence);
    }
    if page.left_out > 0 {
        page.end(&format!("\n… and {} more lines: `rockpack diff` shows them all.", page.left_out));
    }
    page.text
}

/// An alert (GitHub) if something is lost; the first line is bold.
fn verdict(report: &Report, page: &mut Page) {
    page.line(if report.lost { "> [!CAUTION]" } else { "> [!NOTE]" });
    for (index, line) in report.verdict.iter().enumerate() {
        let line = escaped(&narrowed(&printable(line)));
        page.line(&if index == 0 { format!("> **{line}**") } else { format!("> - {line}") });
    }
    page.line("");
}

fn escaped(text: &str) -> String {
    let part = |(index, part): (usize, &str)| {
        if index % 2 == 1 {
            return part.to_owned();
        }
        part.replace('&', "&amp;").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

struct Page {
    text: String,
    left_out: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        // Omits all further lines: a gap would be invisible.
        if self.left_out > 0 || self.text.len() + line.len() + 1 + TAIL > LONGEST {
            self.left_out += 1;
            return;
        }
        self.end(line);
    }

    fn end(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }
}

fn table(rows: &[Row], page: &mut Page) {
    page.line("| | package | files | | size | |");
    page.line("|---|---|--:|--:|--:|--:|");
    for row in rows {
        let now = |text: fn(Extent) -> String| row.new.map_or_else(String::new, text);
        page.line(&format!(
            "| {} | {} | {} | {} | {} | {} |",
            row.mark,
            printable(&row.title).replace('*', "\\*").replace('|', "\\|"),
            now(|e| e.files.to_string()),
            row.file_change(),
            now(|e| human_size(e.size)),
            row.size_change()
        ));
    }
}

fn lines(report: &Report, page: &mut Page) {
    let widths = Widths::new(report);
    for (index, section) in report.sections.iter().enumerate() {
        if index > 0 {
            page.line("");
        }
        page.line(&format!("@@ {} @@", printable(&section.title)));
        for line in &section.lines {
            page.line(&narrowed(&widths.line(line)));
        }
    }
}

fn fence(report: &Report) -> String {
    let lines = report
        .sections
        .iter()
        .flat_map(|s| s.lines.iter().flat_map(|l| [l.place.as_str(), l.detail.as_str()]));
    let longest = lines.map(longest_run).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", shortened(&text.replace(['\n', '\r'], " "), 200))
}
