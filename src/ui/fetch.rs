use std::fmt::Write as _;

use base::names::{Mode, PackageName};
use base::text::{Column, Table, counted, human_size};
use index::fetch::{FetchPlan, Fetched, UnneededReason};

use super::seconds;

/// Shown digits of a checksum; the lock file has all.
const HASH: usize = 12;
const SHOWN_ARCHIVES: usize = 20;

pub fn fetch_plan_text(plan: &FetchPlan) -> String {
    let mut text = format!("{}\n", plan.address);
    if let Some(system) = plan.system {
        let modes: Vec<&str> = plan.modes.iter().copied().map(Mode::as_str).collect();
        let _ = writeln!(text, "{} mode, {}", modes.join(" or "), system.as_str());
    }
    let mut table =
        Table::new([Column::left(), Column::right().of(8), Column::left().of(8), Column::left()]);
    table.row(["archive", "size", "checksum", "packages"]);
    for archive in &plan.archives {
        let checksum = if archive.checksum { "known" } else { "-" };
        let packages: Vec<&str> = archive.packages.iter().map(PackageName::as_str).collect();
        let size = human_size(archive.size);
        let packages = if packages.is_empty() { "-".to_owned() } else { packages.join(", ") };
        table.row([&archive.key, &size, checksum, &packages]);
    }
    let _ = write!(text, "\n{table}");
    let bytes = plan.archives.iter().map(|archive| archive.size).sum();
    let _ = writeln!(text, "{}, {}", counted(plan.archives.len(), "archive"), human_size(bytes));
    for reason in [UnneededReason::NoPackage, UnneededReason::ZstdExists] {
        unneeded(plan, reason, &mut text);
    }
    if !plan.missing.is_empty() {
        text += "\nmissing\n";
    }
    for missing in &plan.missing {
        let component = missing.component.map(|c| format!(" {c}")).unwrap_or_default();
        let (artifact, package, rule) = (&missing.artifact, &missing.package, &missing.rule);
        let _ = writeln!(text, "  {artifact}{component}, for {package}  {rule}");
    }
    text
}

fn unneeded(plan: &FetchPlan, reason: UnneededReason, text: &mut String) {
    let these: Vec<_> = plan.unneeded.iter().filter(|archive| archive.reason == reason).collect();
    if these.is_empty() {
        return;
    }
    let (count, bytes) = (counted(these.len(), "archive"), these.iter().map(|a| a.size).sum());
    let _ = writeln!(text, "\nnot needed: {count}, {}: {}", human_size(bytes), reason.text());
    for archive in these.iter().take(SHOWN_ARCHIVES) {
        let _ = writeln!(text, "  {}", archive.key);
    }
    if these.len() > SHOWN_ARCHIVES {
        let _ = writeln!(text, "  and {} more; --json lists them", these.len() - SHOWN_ARCHIVES);
    }
}

/// Returns lines of at most `width` columns, if names permit.
pub fn fetched_table(fetched: &[Fetched], width: usize) -> String {
    let key = |fetched: &Fetched| fetched.archive.locked.key.chars().count();
    let longest = fetched.iter().map(key).max().unwrap_or_default().max(7);
    let hashes = longest + 2 * 9 + HASH + 2 <= width;
    let mut table = Table::new([Column::left(), Column::right().of(8), Column::right().of(7)]);
    table.row(["archive", "size", "time"].into_iter().chain(hashes.then_some("sha256")));
    for fetched in fetched {
        let archive = &fetched.archive.locked;
        let took = if fetched.kept { "kept".to_owned() } else { seconds(fetched.took) };
        let size = human_size(archive.size);
        let hash = hashes.then(|| archive.sha256.to_string()[..HASH].to_owned());
        table.row([archive.key.clone(), size, took].into_iter().chain(hash));
    }
    let mut text = table.to_string();
    let complete = fetched.iter().filter(|fetched| fetched.kept).count();
    let size = |complete: bool| {
        let these = fetched.iter().filter(move |fetched| fetched.kept == complete);
        human_size(these.map(|fetched| fetched.archive.locked.size).sum())
    };
    let new = counted(fetched.len() - complete, "archive");
    let _ = write!(text, "{new} of {} fetched", size(false));
    if complete > 0 {
        let were = if complete == 1 { "was" } else { "were" };
        let _ = write!(text, ", {complete} of {} {were} already complete", size(true));
    }
    text + "\n"
}
