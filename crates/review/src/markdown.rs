use std::collections::BTreeMap;

use super::text::{self, by_artifact};
use base::text::plural;
use base::text::{counted, human_size, thousands};
use plan::title;
use plan::{Distribution, Dropped, Member, Plan, ProjectBuild, Step, TakenWheel, Warning};

mod page;

use base::text::markdown::{code, html_code, prose};
use page::{Page, Section};

/// Size limit in bytes. The rest of GitHub's 65,536 characters is for the workflow's own text.
pub const MARKDOWN_LIMIT: usize = 60_000;

const DIRECTORIES: usize = 8;

const ARTIFACTS: usize = 12;

const STEPS: [&str; 6] = ["copy", "relink", "stub", "alias", "link", "render"];

/// At most [`MARKDOWN_LIMIT`] bytes.
pub fn markdown_text(plan: &Plan) -> String {
    let mut page = Page::new(MARKDOWN_LIMIT);
    page.section(&Section {
        head: &headline(plan),
        rows: &[],
        foot: "",
        what: "",
        otherwise: (0, ""),
        share: MARKDOWN_LIMIT,
    });
    distributions(plan, &mut page);
    projects(plan, &mut page);
    unowned(plan, &mut page);
    dropped(plan, &mut page);
    warnings(plan, &mut page);
    notes(plan, &mut page);
    for distribution in &plan.distributions {
        directories(distribution, &mut page);
    }
    page.finish()
}

fn headline(plan: &Plan) -> String {
    let files: usize = plan.distributions.iter().map(Distribution::file_count).sum();
    let bytes: u64 = plan.distributions.iter().map(Distribution::size).sum();
    let other_tags = text::other_tags(plan).into_iter();
    let other_tags =
        other_tags.map(|(tag, names)| format!("; {} for {}", code(tag), names.join(", ")));
    let other_tags = other_tags.collect::<Vec<_>>().concat();
    format!(
        "### Packages of version {}\n\n**{}**, {}, **{}** installed; {}platform {}{other_tags}\n",
        code(plan.version.as_str()),
        counted(plan.distributions.len(), "distribution"),
        counted_with_thousands(files, "file"),
        human_size(bytes),
        plan.mode.map(|mode| format!("{mode} mode, ")).unwrap_or_default(),
        code(&plan.platform_tag)
    )
}

fn counted_with_thousands(count: usize, what: &str) -> String {
    format!("{} {}", thousands(count), plural(count, what))
}

fn distributions(plan: &Plan, page: &mut Page) {
    let estimated = plan.distributions.iter().any(|d| d.estimate.is_some());
    let (compressed, line) = if estimated { (" compressed |", "--:|") } else { ("", "") };
    let head = format!(
        "\n| distribution | files | installed |{compressed} {} | absent |\n|:--|--:|--:|{line}{}--:|\n",
        STEPS.join(" | "),
        "--:|".repeat(STEPS.len())
    );
    let rows: Vec<String> = plan.distributions.iter().map(|d| distribution(d, estimated)).collect();
    page.section(&Section {
        head: &head,
        rows: &rows,
        foot: "",
        what: "distributions",
        otherwise: (rows.len(), "distributions"),
        share: MARKDOWN_LIMIT / 2,
    });
}

fn distribution(distribution: &Distribution, estimated: bool) -> String {
    let mut steps = [0; STEPS.len()];
    for member in distribution.all_members() {
        if let Some(at) = STEPS.iter().position(|name| *name == member.step.name()) {
            steps[at] += 1;
        }
    }
    let steps: Vec<String> =
        steps.iter().chain([&distribution.absent.len()]).map(|n| shown(*n)).collect();
    let (files, size) = (thousands(distribution.file_count()), human_size(distribution.size()));
    let estimate = distribution
        .estimate
        .map_or_else(|| "–".to_owned(), |bytes| format!("~{}", human_size(bytes)));
    let compressed = if estimated { format!(" {estimate} |") } else { String::new() };
    format!(
        "| {} | {files} | {size} |{compressed} {} |",
        code(&title(distribution)),
        steps.join(" | ")
    )
}

fn shown(count: usize) -> String {
    if count == 0 { "–".to_owned() } else { thousands(count) }
}

fn projects(plan: &Plan, page: &mut Page) {
    if plan.projects.is_empty() && plan.wheels.is_empty() {
        return;
    }
    let cells =
        |lines: Vec<String>| lines.iter().map(|line| code(line)).collect::<Vec<_>>().join("<br>");
    let project = |p: &ProjectBuild| {
        format!(
            "| {} | {} | {} |",
            code(p.name.as_str()),
            code(p.directory().as_str()),
            cells(p.inputs())
        )
    };
    let wheel = |w: &TakenWheel| {
        format!("| {} | {} | a finished wheel |", code(w.name.as_str()), code(&w.origin()))
    };
    let prefetched = plan.prefetched.iter().map(|w| {
        format!("| {} | {} | a wheel of others |", code(w.name.as_str()), code(&w.origin()))
    });
    let projects = plan.projects.iter().map(project).chain(plan.wheels.iter().map(wheel));
    let rows: Vec<String> = prefetched.chain(projects).collect();
    let head = "\n**Python projects in build order, and wheels**\n\n| distribution | from | \
        built with |\n|:--|:--|:--|\n";
    let otherwise = (rows.len(), "Python projects and wheels");
    page.section(&Section {
        head,
        rows: &rows,
        foot: "",
        what: "rows",
        otherwise,
        share: MARKDOWN_LIMIT / 8,
    });
}

fn unowned(plan: &Plan, page: &mut Page) {
    if plan.unowned.is_empty() {
        return;
    }
    let bytes = plan.unowned.iter().map(|u| u.size).sum();
    let head = format!(
        "\n**Unowned:** {}, {}\n\n| artifact | files | size |\n|:--|--:|--:|\n",
        counted_with_thousands(plan.unowned.len(), "file"),
        human_size(bytes)
    );
    let artifacts = by_artifact(&plan.unowned);
    let row = |(size, count, name): &(u64, usize, String)| {
        format!("| {} | {} | {} |", code(name), thousands(*count), human_size(*size))
    };
    let mut rows: Vec<String> = artifacts.iter().take(ARTIFACTS).map(row).collect();
    if artifacts.len() > ARTIFACTS {
        let (bytes, files) = artifacts[ARTIFACTS..]
            .iter()
            .fold((0, 0), |(b, f), (size, count, _)| (b + size, f + count));
        let more = counted_with_thousands(artifacts.len() - ARTIFACTS, "more artifact");
        rows.push(format!("| {more} | {} | {} |", thousands(files), human_size(bytes)));
    }
    let otherwise = (plan.unowned.len(), "unowned files");
    page.section(&Section {
        head: &head,
        rows: &rows,
        foot: "",
        what: "rows",
        otherwise,
        share: MARKDOWN_LIMIT / 8,
    });
}

fn dropped(plan: &Plan, page: &mut Page) {
    if plan.dropped.is_empty() {
        return;
    }
    let row = |d: &Dropped| {
        format!(
            "| {} | {} | {} | {} |",
            code(&d.rule),
            prose(&d.reason),
            thousands(d.files),
            human_size(d.size)
        )
    };
    let rows: Vec<String> = plan.dropped.iter().map(row).collect();
    let head = "\n**Dropped on purpose**\n\n| rule | why | files | size |\n|:--|:--|--:|--:|\n";
    page.section(&Section {
        head,
        rows: &rows,
        foot: "",
        what: "rules",
        otherwise: (rows.len(), "drop rules"),
        share: MARKDOWN_LIMIT / 8,
    });
}

fn warnings(plan: &Plan, page: &mut Page) {
    if plan.warnings.is_empty() {
        return;
    }
    let (expected, news): (Vec<&Warning>, Vec<&Warning>) =
        plan.warnings.iter().partition(|warning| warning.expected.is_some());
    let rows: Vec<String> = news.into_iter().chain(expected).map(warning).collect();
    page.section(&Section {
        head: "\n**Warnings**\n\n",
        rows: &rows,
        foot: "",
        what: "warnings",
        otherwise: (rows.len(), "warnings"),
        share: MARKDOWN_LIMIT / 6,
    });
}

fn warning(warning: &Warning) -> String {
    let places: Vec<String> = warning
        .places
        .iter()
        .map(|place| format!("{}: {}", code(&place.rule), prose(&place.text)))
        .collect();
    let places =
        if places.is_empty() { String::new() } else { format!(" ({})", places.join("; ")) };
    let remedy = match (&warning.expected, &warning.help) {
        (Some(why), _) => format!(" Expected: {}", prose(&why.shown())),
        (None, Some(help)) => format!(" Help: {}", prose(help)),
        (None, None) => String::new(),
    };
    format!("- {}: {}{places}.{remedy}", code(&warning.code), prose(&warning.message))
}

fn notes(plan: &Plan, page: &mut Page) {
    if plan.notes.is_empty() {
        return;
    }
    let rows: Vec<String> =
        plan.notes.iter().map(|note| format!("- {}", prose(&note.shown()))).collect();
    let otherwise = (rows.len(), "notes");
    page.section(&Section {
        head: "\n**Notes**\n\n",
        rows: &rows,
        foot: "",
        what: "notes",
        otherwise,
        share: MARKDOWN_LIMIT / 6,
    });
}

fn directories(distribution: &Distribution, page: &mut Page) {
    let mut totals: BTreeMap<&str, (u64, usize)> = BTreeMap::new();
    let files =
        distribution.members.iter().chain(distribution.archive.iter().flat_map(|a| &a.members));
    for member in files.filter(|m| m.step != Step::Directory) {
        let (size, count) = totals.entry(directory(member)).or_default();
        (*size, *count) = (*size + member.size, *count + 1);
    }
    let mut largest: Vec<(&str, u64, usize)> =
        totals.into_iter().map(|(path, (size, count))| (path, size, count)).collect();
    largest.sort_by(|a, b| (b.1, b.2, a.0).cmp(&(a.1, a.2, b.0)));
    let row = |(path, size, count): &(&str, u64, usize)| {
        format!("| {} | {} | {} |", code(path), thousands(*count), human_size(*size))
    };
    let mut rows: Vec<String> = largest.iter().take(DIRECTORIES).map(row).collect();
    if largest.len() > DIRECTORIES {
        let (bytes, files) = largest[DIRECTORIES..]
            .iter()
            .fold((0, 0), |(b, f), (_, size, count)| (b + size, f + count));
        let more = thousands(largest.len() - DIRECTORIES);
        rows.push(format!("| {more} more | {} | {} |", thousands(files), human_size(bytes)));
    }
    let before = format!(
        "\n<details><summary>Largest directories of {}, {}</summary>\n\n| directory | files in it | installed |\n|:--|--:|--:|\n",
        html_code(&title(distribution)),
        human_size(distribution.size())
    );
    page.section(&Section {
        head: &before,
        rows: &rows,
        foot: "\n</details>\n",
        what: "rows",
        otherwise: (1, "lists of largest directories"),
        share: MARKDOWN_LIMIT / 8,
    });
}

fn directory(member: &Member) -> &str {
    member.path.as_str().rsplit_once('/').map_or(".", |(directory, _)| directory)
}
