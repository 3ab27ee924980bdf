//! The plan as aligned text, equal on all machines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::catalog::{ArtifactId, Origin};
use crate::{Member, Note, Plan, Step, Unowned, title};
use base::text::{counted, human_size};

/// Summarizes the plan: one line per distribution, then dropped and unowned files, and notes.
pub fn summary_text(plan: &Plan, verbose: bool) -> String {
    let mut text =
        format!("version {}, {} mode, platform {}\n\n", plan.version, plan.mode, plan.platform_tag);
    table(plan, &mut text);
    projects(plan, &mut text);
    if verbose {
        absent(plan, &mut text);
    }
    dropped(plan, &mut text);
    unowned(plan, verbose, &mut text);
    notes(plan, verbose, &mut text);
    text
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
    let width = plan.distributions.iter().map(|d| title(d).len()).max().unwrap_or(0);
    let estimated = plan.distributions.iter().any(|d| d.estimate.is_some());
    let mut row = |title: &str, cells: [&str; 9]| {
        let [files, size, compressed, copy, relink, stub, alias, link, absent] = cells;
        let compressed = if estimated { format!("  {compressed:>10}") } else { String::new() };
        let _ = writeln!(
            text,
            "{title:width$}  {files:>6}  {size:>8}{compressed}  {copy:>6}  {relink:>6}  {stub:>5}  {alias:>5}  {link:>6}  {absent:>6}"
        );
    };
    row("", ["files", "size", "compressed", "copy", "relink", "stub", "alias", "link", "absent"]);
    for distribution in &plan.distributions {
        let shown = |n: usize| if n == 0 { "-".to_owned() } else { n.to_string() };
        let count = |name: &str| {
            shown(distribution.all_members().filter(|m| m.step.name() == name).count())
        };
        let (files, size) =
            (distribution.file_count().to_string(), human_size(distribution.size()));
        let compressed = distribution
            .estimate
            .map_or_else(|| "-".to_owned(), |bytes| format!("~{}", human_size(bytes)));
        let steps = ["copy", "relink", "stub", "alias", "link"].map(count);
        let [copy, relink, stub, alias, link] = steps.each_ref().map(String::as_str);
        row(
            &title(distribution),
            [
                &files,
                &size,
                &compressed,
                copy,
                relink,
                stub,
                alias,
                link,
                &shown(distribution.absent.len()),
            ],
        );
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
    if !plan.prefetched.is_empty() {
        text.push_str("\nwheels of others, which are fetched before anything is built:\n");
    }
    for wheel in &plan.prefetched {
        let _ = writeln!(text, "  {:width$}  {}  {}", wheel.name, wheel.origin(), wheel.rule);
    }
    if !plan.projects.is_empty() {
        text.push_str("\nprojects, in the order in which they are built:\n");
    }
    for project in &plan.projects {
        let _ =
            writeln!(text, "  {:width$}  {}  {}", project.name, project.directory(), project.rule);
        for given in project.given() {
            let _ = writeln!(text, "  {:width$}    {given}", "");
        }
    }
    if !plan.wheels.is_empty() {
        text.push_str("\nwheels that are taken:\n");
    }
    for wheel in &plan.wheels {
        let _ = writeln!(text, "  {:width$}  {}  {}", wheel.name, wheel.origin(), wheel.rule);
    }
}

fn absent(plan: &Plan, text: &mut String) {
    for distribution in plan.distributions.iter().filter(|d| !d.absent.is_empty()) {
        let _ = writeln!(text, "\nnot in {}:", title(distribution));
        let width =
            distribution.absent.iter().map(|a| a.path.as_str().len()).max().unwrap_or(0).min(60);
        for absent in &distribution.absent {
            let _ = writeln!(text, "  {:width$}  {}", absent.path, absent.reason);
        }
    }
}

fn dropped(plan: &Plan, text: &mut String) {
    if plan.dropped.is_empty() {
        return;
    }
    let (files, bytes) =
        (plan.dropped.iter().map(|d| d.files).sum(), plan.dropped.iter().map(|d| d.size).sum());
    let _ = writeln!(text, "\ndropped: {}, {}", counted(files, "file"), human_size(bytes));
    let width = plan.dropped.iter().map(|d| d.rule.len()).max().unwrap_or(0);
    for d in &plan.dropped {
        let _ = writeln!(
            text,
            "  {:>8}  {:>11}  {:width$}  {}",
            human_size(d.size),
            counted(d.files, "file"),
            d.rule,
            d.reason
        );
    }
}

const ARTIFACTS_SHOWN: usize = 8;

fn unowned(plan: &Plan, verbose: bool, text: &mut String) {
    if plan.unowned.is_empty() {
        return;
    }
    let bytes = plan.unowned.iter().map(|u| u.size).sum();
    let _ = writeln!(
        text,
        "\nin no package: {}, {}",
        counted(plan.unowned.len(), "file"),
        human_size(bytes)
    );
    if verbose {
        for u in &plan.unowned {
            let _ = writeln!(
                text,
                "  {:>8}  {}  {}  {}",
                human_size(u.size),
                u.origin.artifact,
                u.origin.path,
                u.reason
            );
        }
        return;
    }
    let artifacts = by_artifact(&plan.unowned);
    for (size, count, name) in artifacts.iter().take(ARTIFACTS_SHOWN) {
        let _ =
            writeln!(text, "  {:>8}  {:>11}  {name}", human_size(*size), counted(*count, "file"));
    }
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

/// Lists all members: path, step, size, source and rule.
pub fn files_text(plan: &Plan) -> String {
    let mut text = String::new();
    for distribution in &plan.distributions {
        let _ = writeln!(text, "{}", title(distribution));
        for member in distribution.members.iter().chain(&distribution.licenses) {
            line(member, &mut text);
        }
        if let Some(archive) = &distribution.archive {
            let _ = writeln!(text, "{} in {}", archive.path, title(distribution));
            for member in &archive.members {
                line(member, &mut text);
            }
        }
        text.push('\n');
    }
    text
}

fn line(member: &Member, text: &mut String) {
    let detail = match &member.step {
        Step::Copy { source } => from(member, source),
        Step::Relink { source, rpath } => format!("{} rpath {rpath}", from(member, source)),
        Step::Stub { target, .. } => format!("starts {target}"),
        Step::Alias { needed, .. } => format!("needs {needed}"),
        Step::Link { target } => format!("-> {target}"),
        Step::Directory | Step::Render { .. } => String::new(),
    };
    let size = if member.step == Step::Directory { String::new() } else { human_size(member.size) };
    let line = format!(
        "  {:<9}  {size:>8}  {:<60}  {:<16}  {detail}",
        member.step.name(),
        member.path,
        member.rule
    );
    let _ = writeln!(text, "{}", line.trim_end());
}

fn from(member: &Member, source: &Origin) -> String {
    if member.path.as_str().ends_with(source.path.as_str()) {
        source.artifact.to_string()
    } else {
        format!("{}:{}", source.artifact, source.path)
    }
}
