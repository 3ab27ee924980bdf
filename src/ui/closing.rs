use std::fmt::Write as _;

use base::event::WorkKind;
use base::text::{Column, Table, counted, cut_middle, human_size};
use build::execute::{Outcome, Timings};
use cache::{Farm, Shared, Summary};
use plan::Plan;
use wheel::package::WheelName;

use super::seconds;

/// Shown digits of a checksum; SHA256SUMS has all.
const HASH: usize = 12;

struct Row {
    name: String,
    cells: [String; 5],
}

const COLUMNS: [(&str, usize); 5] =
    [("files", 6), ("size", 8), ("compressed", 10), ("time", 7), ("sha256", HASH)];

/// Returns a table of at most `width` columns. If that is too narrow, checksums are dropped first,
/// then times.
pub fn closing_table(plan: &Plan, outcome: &Outcome, width: usize) -> String {
    let tags = tags(outcome.built.iter().map(|b| b.path.as_str()));
    let mut rows: Vec<Row> = outcome
        .built
        .iter()
        .map(|b| Row {
            name: without_tags(b.path.as_str(), &tags).to_owned(),
            cells: [
                b.files.to_string(),
                human_size(b.installed),
                human_size(b.size),
                seconds(b.took),
                b.sha256.chars().take(HASH).collect(),
            ],
        })
        .collect();
    rows.push(sum(outcome));
    let mut text = table(&rows, width);
    for (number, (tag, wheels)) in tags.iter().enumerate() {
        let wheels = if number == 0 { "wheels".to_owned() } else { wheels.join(", ") };
        let _ = writeln!(text, "the names of {wheels} end with {tag}");
    }
    let _ = writeln!(text, "{}", where_time_went(&outcome.timings));
    if let Some(line) = outcome.cache.as_ref().and_then(from_cache) {
        let _ = writeln!(text, "{line}");
    }
    if let Some(shared) = outcome.cache.as_ref().and_then(|summary| summary.shared.as_ref()) {
        let _ = writeln!(text, "{}", from_shared(shared));
    }
    for path in &outcome.earlier.removed {
        let _ = writeln!(text, "removed {path}, which an earlier build left");
    }
    if !plan.unowned.is_empty() {
        let bytes = plan.unowned.iter().map(|u| u.size).sum();
        let (files, is_single) = (counted(plan.unowned.len(), "file"), plan.unowned.len() == 1);
        let verb = if is_single { "is" } else { "are" };
        let _ = writeln!(
            text,
            "{files} ({}) {verb} in no package; rockpack plan -v lists them",
            human_size(bytes)
        );
    }
    text
}

/// Returns ends of names with their projects, the most frequent first. A project in a directory of
/// its family has the directory, since the other families can have another tag. Ignores variants,
/// with a label behind the tags.
fn tags<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<(&'a str, Vec<&'a str>)> {
    let is_variant =
        |name: &&str| name.parse::<WheelName>().is_ok_and(|name| name.variant.is_some());
    let mut tags: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in paths.map(|path| path.strip_prefix("dist/").unwrap_or(path)) {
        let start = path.rfind('/').map_or(0, |slash| slash + 1);
        let name = &path[start..];
        let Some(stem) = name.strip_suffix(".whl").filter(|_| !is_variant(&name)) else { continue };
        let Some((dash, _)) = stem.rmatch_indices('-').nth(2) else { continue };
        let project = &path[..start + name.find('-').unwrap_or(name.len())];
        match tags.iter_mut().find(|(tag, _)| *tag == &name[dash..]) {
            Some((_, projects)) => projects.push(project),
            None => tags.push((&name[dash..], vec![project])),
        }
    }
    tags.sort_by_key(|(_, projects)| std::cmp::Reverse(projects.len()));
    tags
}

fn without_tags<'n>(name: &'n str, tags: &[(&str, Vec<&str>)]) -> &'n str {
    tags.iter().find_map(|(tag, _)| name.strip_suffix(tag)).unwrap_or(name)
}

fn sum(outcome: &Outcome) -> Row {
    let built = || outcome.built.iter();
    let cells = [
        built().map(|b| b.files).sum::<usize>().to_string(),
        human_size(built().map(|b| b.installed).sum()),
        human_size(built().map(|b| b.size).sum()),
        seconds(outcome.waited + outcome.timings.wall),
        String::new(),
    ];
    Row { name: "all".to_owned(), cells }
}

fn table(rows: &[Row], width: usize) -> String {
    let longest = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(7);
    // The first three columns always stay.
    let shown = (3..COLUMNS.len()).rev().find(|n| longest + columns_width(n + 1) <= width);
    let shown = shown.map_or(3, |n| n + 1);
    let room = width.saturating_sub(columns_width(shown)).max(20).min(longest);
    let of_title = |(title, width)| match title {
        "sha256" => Column::left(),
        _ => Column::right().of(width),
    };
    let columns = COLUMNS.into_iter().take(shown).map(of_title);
    let mut table = Table::new([Column::left().of(room)].into_iter().chain(columns));
    let mut line = |name: &str, cells: [&str; 5]| {
        table.row([&*cut_middle(name, room)].into_iter().chain(cells.into_iter().take(shown)));
    };
    line("package", COLUMNS.map(|(title, _)| title));
    for row in rows {
        line(&row.name, row.cells.each_ref().map(String::as_str));
    }
    table.to_string()
}

fn columns_width(columns: usize) -> usize {
    COLUMNS[..columns].iter().map(|(_, width)| width + 2).sum()
}

fn where_time_went(timings: &Timings) -> String {
    let kinds = WorkKind::ALL.iter().map(|kind| (kind.as_str(), timings.total(*kind)));
    let shares: Vec<String> = kinds
        .filter(|(_, time)| time.as_millis() >= 50)
        .map(|(name, time)| format!("{name} {}", seconds(time)))
        .collect();
    let shares = if shares.is_empty() { String::new() } else { format!(": {}", shares.join(", ")) };
    let threads = timings.tracks.len();
    let packers = match timings.packers {
        packers if packers < threads => format!(", of which {packers} fit in the memory to pack"),
        _ => String::new(),
    };
    format!("{} on {}{packers}{shares}", seconds(timings.wall), counted(threads, "thread"))
}

fn from_cache(summary: &Summary) -> Option<String> {
    let Summary { hits, hit_bytes, misses, damaged, .. } = summary;
    let healed = match damaged {
        0 => String::new(),
        1 => "; 1 was damaged and packed again".to_owned(),
        many => format!("; {many} were damaged and packed again"),
    };
    let total = hits + misses;
    (*hits > 0 || *damaged > 0).then(|| {
        format!(
            "{hits} of {total} files were packed in the cache, {}{healed}",
            human_size(*hit_bytes)
        )
    })
}

fn from_shared(shared: &Shared) -> String {
    let Shared { address, hits, hit_bytes, misses, refused, sent, sent_bytes, off, farm, .. } =
        shared;
    let came = match usize::try_from(hits + misses + refused).unwrap_or(usize::MAX) {
        0 => "no file requested".to_owned(),
        all => {
            let were = if all == 1 { "was" } else { "were" };
            format!("{hits} of {} {were} packed, {}", counted(all, "file"), human_size(*hit_bytes))
        }
    };
    let mut text = format!("shared cache {address}: {came}");
    if *refused > 0 {
        let _ = write!(
            text,
            "; {refused} rejected, because their content does not match their \
            key"
        );
    }
    if *sent > 0 {
        let _ = write!(text, "; {sent} sent, {}", human_size(*sent_bytes));
    }
    if off.is_some() {
        text.push_str("; then it failed");
    }
    // A farm that built only whole packages has a separate line.
    let was_asked = |farm: &&Farm| farm.packed + farm.late + farm.failed > 0 || farm.why.is_some();
    if let Some(farm) = farm.as_ref().filter(was_asked) {
        let _ = write!(text, "\n{}", from_farm(farm));
    }
    text
}

fn from_farm(farm: &Farm) -> String {
    let Farm { address, packed, packed_bytes, late, failed, why: _ } = farm;
    let mut text = format!(
        "build farm {address}: {} packed there, {}",
        counted(usize::try_from(*packed).unwrap_or(usize::MAX), "file"),
        human_size(*packed_bytes)
    );
    if *late > 0 {
        let _ = write!(text, "; {late} were too late");
    }
    if *failed > 0 {
        let _ = write!(text, "; {failed} failed");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str) -> Vec<Row> {
        let cells = ["118200", "999 MB", "1.23 GB", "157.2 s", "5b0d8f7a146f"];
        vec![Row { name: name.to_owned(), cells: cells.map(str::to_owned) }]
    }

    #[test]
    fn lines_fit_the_width_for_all_names() {
        let long = format!("dist/example_sdk_device_gpu1100-{}", "7.2.0.dev0+0123456789".repeat(4));
        for name in ["dist/a-1", "dist/example_sdk_device_gpu1100-7.2.0", &long] {
            for width in [60, 80, 100] {
                let text = table(&rows(name), width);
                let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(widest <= width, "{width}: {widest}\n{text}");
                assert!(text.contains("1.23 GB") && text.contains("dist/"), "{text}");
            }
        }
    }

    #[test]
    fn narrow_tables_drop_hashes_then_cut_names_in_the_middle() {
        let name = "dist/example_sdk_device_gpu1100-7.2.0";
        assert!(table(&rows(name), 100).contains("5b0d8f7a146f"));
        let narrow = table(&rows(name), 80);
        assert!(!narrow.contains("5b0d8f7a146f") && narrow.contains("157.2 s"), "{narrow}");
    }

    #[test]
    fn tags_of_wheels_are_below_the_table() {
        let names = [
            "x-1.tar.gz",
            "dist/one/d-1-py3-none-any.whl",
            "dist/two/d-1-py3-none-linux_x86_64.whl",
            "a_b-1-py3-none-linux_x86_64.whl",
            "c-1-py3-none-linux_x86_64.whl",
            "c-1-py3-none-linux_x86_64-gpu1.whl",
        ];
        let (linux, any) = ("-py3-none-linux_x86_64.whl", "-py3-none-any.whl");
        let tags = tags(names.into_iter());
        assert_eq!(tags, [(linux, vec!["two/d", "a_b", "c"]), (any, vec!["one/d"])]);
        let short = names.map(|name| without_tags(name, &tags));
        assert_eq!(short, ["x-1.tar.gz", "dist/one/d-1", "dist/two/d-1", "a_b-1", "c-1", names[5]]);
    }
}
