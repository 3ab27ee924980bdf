use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::iter;

use base::text::{Column, Table, counted, human_size};
use catalog::{ArtifactId, SourcePath};
use plan::{Member, Note, Plan, Step, Unowned, title};

/// One line per distribution, then dropped and unowned files, and notes.
pub fn summary_text(plan: &Plan, verbose: bool) -> String {
    let mut text =
        format!("version {}{}, platform {}\n", plan.version, mode(plan), plan.platform_tag);
    for (tag, names) in other_tags(plan) {
        let _ = writeln!(text, "platform {tag}: {}", names.join(", "));
    }
    text.push('\n');
    table(plan, &mut text);
    write_changes_since(plan, &mut text);
    projects(plan, &mut text);
    if verbose {
        absent(plan, &mut text);
    }
    dropped(plan, &mut text);
    unowned(plan, verbose, &mut text);
    notes(plan, verbose, &mut text);
    text
}

pub(super) fn mode(plan: &Plan) -> String {
    plan.mode.map(|mode| format!(", {mode} mode")).unwrap_or_default()
}

pub(super) fn other_tags(plan: &Plan) -> BTreeMap<&str, Vec<String>> {
    let mut tags: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for distribution in &plan.distributions {
        if let Some(tag) = &distribution.platform_tag {
            tags.entry(tag).or_default().push(title(distribution));
        }
    }
    tags
}

fn notes(plan: &Plan, verbose: bool, text: &mut String) {
    let (expected, news): (Vec<&Note>, Vec<&Note>) =
        plan.notes.iter().partition(|note| note.rule.is_some() && !verbose);
    if !plan.notes.is_empty() {
        text.push('\n');
    }
    for note in news {
        let _ = writeln!(text, "note: {}", note.shown());
    }
    if !expected.is_empty() {
        let (count, give) = (counted(expected.len(), "line"), expected.len() == 1);
        let give = if give { "gives a reason" } else { "give reasons" };
        let _ = writeln!(
            text,
            "note: {count} of the manifest {give} for libraries that no package ships; -v lists them"
        );
    }
}

fn table(plan: &Plan, text: &mut String) {
    let estimated = plan.distributions.iter().any(|d| d.estimate.is_some());
    // The names of ROCm's packages with the counts of a real tree fit 80 columns.
    let counts = iter::repeat_n(Column::right(), 8 + usize::from(estimated));
    let mut table = Table::new(iter::once(Column::left()).chain(counts));
    let head = ["", "files", "size"].into_iter().chain(estimated.then_some("compressed"));
    table.row(head.chain(["copy", "relink", "stub", "alias", "link", "absent"]));
    for distribution in &plan.distributions {
        let shown = |n: usize| if n == 0 { "-".to_owned() } else { n.to_string() };
        let count = |name: &str| {
            shown(distribution.all_members().filter(|m| m.step.name() == name).count())
        };
        let size = human_size(distribution.size());
        let compressed = distribution
            .estimate
            .map_or_else(|| "-".to_owned(), |bytes| format!("~{}", human_size(bytes)));
        let start = [title(distribution), distribution.file_count().to_string(), size];
        let steps = ["copy", "relink", "stub", "alias", "link"].map(count);
        let cells = start.into_iter().chain(estimated.then_some(compressed)).chain(steps);
        table.row(cells.chain([shown(distribution.absent.len())]));
    }
    *text += &table.to_string();
}

fn write_changes_since(plan: &Plan, text: &mut String) {
    let new: Vec<_> =
        plan.distributions.iter().filter_map(|it| Some((it, it.new.as_ref()?))).collect();
    let width = new.iter().map(|(it, _)| title(it).len());
    let width = width.chain(plan.earlier.iter().map(|it| it.name.as_str().len())).max();
    let table = || Table::new([Column::left().of(width.unwrap_or(0))]).indented(2);
    if !new.is_empty() {
        text.push_str("\nnew:\n");
        let mut rows = table();
        for (distribution, reason) in new {
            rows.row([title(distribution), reason.clone()]);
        }
        *text += &rows.to_string();
    }
    if !plan.earlier.is_empty() {
        let saved = human_size(plan.earlier.iter().map(|it| it.size).sum());
        let _ = writeln!(text, "\nof earlier nights, {saved} not built and not published:");
        let mut rows = table();
        for earlier in &plan.earlier {
            let version = format!("as {}", earlier.version);
            rows.row([earlier.name.to_string(), version, human_size(earlier.size)]);
        }
        *text += &rows.to_string();
    }
}

fn projects(plan: &Plan, text: &mut String) {
    let names = plan
        .projects
        .iter()
        .map(|p| p.name.as_str())
        .chain(plan.wheels.iter().map(|w| w.name.as_str()))
        .chain(plan.prefetched.iter().map(|w| w.name.as_str()));
    let width = names.map(str::len).max().unwrap_or(0);
    let table = || Table::new([Column::left().of(width)]).indented(2);
    if !plan.prefetched.is_empty() {
        text.push_str("\nwheels of others, fetched before the build:\n");
    }
    let mut prefetched = table();
    for wheel in &plan.prefetched {
        prefetched.row([wheel.name.to_string(), wheel.origin(), wheel.rule.to_string()]);
    }
    *text += &prefetched.to_string();
    if !plan.projects.is_empty() {
        text.push_str("\nprojects, in build order:\n");
    }
    let mut projects = table();
    for project in &plan.projects {
        let (name, directory) = (project.name.to_string(), project.directory().to_string());
        projects.row([name, directory, project.rule.to_string()]);
        for given in project.inputs() {
            projects.row([String::new(), format!("  {given}")]);
        }
    }
    *text += &projects.to_string();
    if !plan.wheels.is_empty() {
        text.push_str("\nfinished wheels:\n");
    }
    let mut wheels = table();
    for wheel in &plan.wheels {
        wheels.row([wheel.name.to_string(), wheel.origin(), wheel.rule.to_string()]);
    }
    *text += &wheels.to_string();
}

fn absent(plan: &Plan, text: &mut String) {
    for distribution in plan.distributions.iter().filter(|d| !d.absent.is_empty()) {
        let _ = writeln!(text, "\nnot in {}:", title(distribution));
        let mut table = Table::new([Column::left().at_most(60)]).indented(2);
        for absent in &distribution.absent {
            table.row([absent.path.to_string(), absent.reason.clone()]);
        }
        *text += &table.to_string();
    }
}

fn dropped(plan: &Plan, text: &mut String) {
    if plan.dropped.is_empty() {
        return;
    }
    let (files, bytes) =
        (plan.dropped.iter().map(|d| d.files).sum(), plan.dropped.iter().map(|d| d.size).sum());
    let _ = writeln!(text, "\ndropped: {}, {}", counted(files, "file"), human_size(bytes));
    let sizes = [Column::right().of(8), Column::right().of(11)];
    let mut table = Table::new(sizes.into_iter().chain([Column::left()])).indented(2);
    for d in &plan.dropped {
        let (size, files) = (human_size(d.size), counted(d.files, "file"));
        table.row([size, files, d.rule.clone(), d.reason.clone()]);
    }
    *text += &table.to_string();
}

const ARTIFACTS_SHOWN: usize = 8;

fn unowned(plan: &Plan, verbose: bool, text: &mut String) {
    if plan.unowned.is_empty() {
        return;
    }
    let bytes = plan.unowned.iter().map(|u| u.size).sum();
    let _ =
        writeln!(text, "\nunowned: {}, {}", counted(plan.unowned.len(), "file"), human_size(bytes));
    if verbose {
        let mut table = Table::new([Column::right().of(8)]).indented(2);
        for u in &plan.unowned {
            let (artifact, path) = (u.origin.artifact.to_string(), u.origin.path.to_string());
            table.row([human_size(u.size), artifact, path, u.reason.clone()]);
        }
        *text += &table.to_string();
        return;
    }
    let artifacts = by_artifact(&plan.unowned);
    let mut table = Table::new([Column::right().of(8), Column::right().of(11)]).indented(2);
    for (size, count, name) in artifacts.iter().take(ARTIFACTS_SHOWN) {
        table.row([human_size(*size), counted(*count, "file"), name.clone()]);
    }
    *text += &table.to_string();
    if artifacts.len() > ARTIFACTS_SHOWN {
        let _ = writeln!(
            text,
            "  and {} more artifacts; -v lists every file",
            artifacts.len() - ARTIFACTS_SHOWN
        );
    }
}

pub(super) fn by_artifact(unowned: &[Unowned]) -> Vec<(u64, usize, String)> {
    let mut sums: BTreeMap<&ArtifactId, (u64, usize)> = BTreeMap::new();
    for u in unowned {
        let (size, count) = sums.entry(&u.origin.artifact).or_default();
        (*size, *count) = (*size + u.size, *count + 1);
    }
    let mut artifacts: Vec<(u64, usize, String)> =
        sums.into_iter().map(|(id, (size, count))| (size, count, id.to_string())).collect();
    artifacts.sort_by(|a, b| (b.0, &a.2).cmp(&(a.0, &b.2)));
    artifacts
}

/// All members: path, step, size, source and rule.
pub fn files_text(plan: &Plan) -> String {
    let mut text = String::new();
    for distribution in &plan.distributions {
        let _ = writeln!(text, "{}", title(distribution));
        text += &lines(distribution.members.iter().chain(&distribution.licenses));
        if let Some(archive) = &distribution.archive {
            let _ = writeln!(text, "{} in {}", archive.path, title(distribution));
            text += &lines(&archive.members);
        }
        text.push('\n');
    }
    text
}

fn lines<'m>(members: impl IntoIterator<Item = &'m Member>) -> String {
    let columns = [Column::left().of(9), Column::right().of(8), Column::left().of(60)];
    let mut table = Table::new(columns.into_iter().chain([Column::left().of(16)])).indented(2);
    members.into_iter().for_each(|member| line(member, &mut table));
    table.to_string()
}

fn line(member: &Member, table: &mut Table) {
    let detail = match &member.step {
        Step::Copy { source } => from(member, source),
        Step::Relink { source, rpath, clear_execstack } => {
            let stack = if *clear_execstack { " executable stack cleared" } else { "" };
            format!("{} rpath {rpath}{stack}", from(member, source))
        }
        Step::Stub { target, .. } => format!("starts {target}"),
        Step::Alias { needed, .. } => format!("needs {needed}"),
        Step::Link { target } => format!("-> {target}"),
        Step::Directory | Step::Render { .. } => String::new(),
    };
    let size = if member.step == Step::Directory { String::new() } else { human_size(member.size) };
    let cells: [&dyn Display; 5] =
        [&member.step.name(), &size, &member.path, &member.rule, &detail];
    table.row(cells);
}

fn from(member: &Member, source: &SourcePath) -> String {
    if member.path.as_str().ends_with(source.path.as_str()) {
        source.artifact.to_string()
    } else {
        format!("{}:{}", source.artifact, source.path)
    }
}
