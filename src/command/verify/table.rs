use std::fmt::Write as _;

use base::source::{Severity, printable};
use base::text::{Column, Table, human_size, plural};
use check::{Finding, Package};
use record::gate::{Judged, Report};

use crate::command::{Failure, environment};

pub fn text(packages: &[Package<'_>], judged: &Judged<'_>) -> String {
    let numbers = [7, 8, 8, 12].map(|width| Column::right().of(width));
    let mut table = Table::new([Column::left()].into_iter().chain(numbers));
    table.row(["package", "files", "size", "binaries", "entry points"]);
    for package in packages {
        let findings = judged.findings.iter().filter(|finding| finding.file == package.file);
        let counts = [
            grouped(package.file_count()),
            human_size(package.size),
            dash(package.binary_count()),
            dash(package.entry_points),
        ];
        let [files, size, binaries, points] = counts;
        let name = printable(&package.file).to_string();
        table.row([name, files, size, binaries, points, verdict(findings)]);
    }
    let mut text = table.to_string();
    let files = packages.iter().map(Package::file_count).sum();
    let ignored = if judged.ignored.is_empty() {
        String::new()
    } else {
        format!(" ({} ignored)", grouped(judged.ignored.len()))
    };
    let _ = writeln!(
        text,
        "{}, {}: {}{ignored}",
        counted(packages.len(), "package"),
        counted(files, "file"),
        verdict(&judged.findings)
    );
    text
}

fn dash(count: usize) -> String {
    if count == 0 { "-".to_owned() } else { grouped(count) }
}

/// Returns `fine`, or the numbers of errors and warnings.
fn verdict<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> String {
    let (errors, warnings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    match (errors.len(), warnings.len()) {
        (0, 0) => "fine".to_owned(),
        (0, warnings) => format!("fine, {}", counted(warnings, "warning")),
        (errors, 0) => counted(errors, "error"),
        (errors, warnings) => {
            format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{} {}", grouped(count), plural(count, noun))
}

/// Returns `9,416`.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub fn json(packages: &[Package<'_>], judged: &Judged<'_>) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(&Report::new(packages, judged))
        .map_err(|error| environment(format!("cannot write JSON: {error}")))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_thousands() {
        assert_eq!(
            [0, 999, 1000, 9416, 1_234_567].map(grouped),
            ["0", "999", "1,000", "9,416", "1,234,567"]
        );
    }
}
