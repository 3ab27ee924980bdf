//! A difference as text, for all printers: verdict, head, a row for each package, and sections of
//! lines.

use std::fmt::Write as _;

use super::{
    Also, Change, Diff, Difference, Extent, Moved, PackageChange, Place, Side, UnownedChange,
    verdict,
};
use base::text::{counted, human_size};

mod detail;
mod merge;
mod remarks;
mod values;

pub(super) use detail::{shortened, text};

pub(super) struct Report {
    /// Something is lost that the change does not allow.
    pub lost: bool,
    /// The verdict in one line, then further losses.
    pub verdict: Vec<String>,
    pub head: Vec<String>,
    pub rows: Vec<Row>,
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub mark: char,
    pub title: String,
    pub old: Option<Extent>,
    pub new: Option<Extent>,
}

#[derive(Debug, Clone)]
pub(super) struct Section {
    pub title: String,
    pub lines: Vec<Line>,
}

/// `+` for added, `-` for removed, `→` for moved, `~` for changed.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub mark: char,
    /// Path, pattern or field name.
    pub place: String,
    /// Files and candidates; `None` for a single named file.
    pub count: Option<(usize, usize)>,
    pub old: u64,
    pub new: u64,
    /// Sizes are a difference.
    pub signed: bool,
    pub detail: String,
    /// Metadata, not files.
    pub field: bool,
}

impl Row {
    pub fn file_change(&self) -> String {
        let files = |extent: Option<Extent>| extent.unwrap_or_default().files;
        match (files(self.old), files(self.new)) {
            (old, new) if new > old => format!("+{}", new - old),
            (old, new) if new < old => format!("-{}", old - new),
            _ => String::new(),
        }
    }

    pub fn size_change(&self) -> String {
        let size = |extent: Option<Extent>| extent.unwrap_or_default().size;
        size_change(size(self.old), size(self.new))
    }
}

impl Line {
    fn field(mark: char, field: &str, detail: String) -> Self {
        Self {
            mark,
            place: field.to_owned(),
            count: None,
            old: 0,
            new: 0,
            signed: true,
            detail,
            field: true,
        }
    }

    fn files(mark: char, place: &Place, signed: bool, detail: String) -> Self {
        let pattern = place.pattern.ends_with("**") || place.pattern.ends_with('…');
        let count = pattern.then_some((place.files, place.of));
        Self {
            mark,
            place: place.pattern.clone(),
            count,
            old: place.old_size,
            new: place.new_size,
            signed,
            detail,
            field: false,
        }
    }

    pub fn counted(&self) -> String {
        match self.count {
            None => String::new(),
            Some((files, of)) if files >= of => counted(files, "file"),
            Some((files, of)) => format!("{files} of {of}"),
        }
    }

    pub(crate) fn sized(&self) -> String {
        if self.signed {
            size_change(self.old, self.new)
        } else {
            human_size(self.old.max(self.new))
        }
    }
}

fn size_change(old: u64, new: u64) -> String {
    match new.cmp(&old) {
        std::cmp::Ordering::Greater => format!("+{}", human_size(new - old)),
        std::cmp::Ordering::Less => format!("-{}", human_size(old - new)),
        std::cmp::Ordering::Equal => String::new(),
    }
}

impl Report {
    pub fn new(diff: &Diff, files: bool) -> Self {
        let shown = diff.packages.iter().map(|package| {
            let section = self::package(package, files);
            merge::Shown {
                row: row(package),
                section: (!section.lines.is_empty()).then_some(section),
                package,
            }
        });
        let (rows, sections) = if files { apart(shown) } else { merge::packages(shown.collect()) };
        let lines = moves(diff, files);
        let lines = if files { lines } else { merge::moves(lines, &diff.moved) };
        let moved = Section { title: "moved".to_owned(), lines };
        let mut all_sections = vec![moved];
        all_sections.extend(sections);
        all_sections.push(unowned(&diff.unowned, files));
        all_sections.push(remarks::warnings(diff));
        all_sections.push(remarks::notes(diff));
        all_sections.retain(|section| !section.lines.is_empty());
        Self {
            lost: diff.unallowed_losses().next().is_some(),
            verdict: verdict::lines(diff),
            head: head(diff),
            rows: rows_with_sum(rows, diff),
            sections: all_sections,
        }
    }
}

fn apart<'d>(shown: impl Iterator<Item = merge::Shown<'d>>) -> (Vec<Row>, Vec<Section>) {
    let (rows, sections): (Vec<_>, Vec<_>) = shown.map(|shown| (shown.row, shown.section)).unzip();
    (rows, sections.into_iter().flatten().collect())
}

fn head(diff: &Diff) -> Vec<String> {
    let mut head = vec![format!("old  {}", diff.old.label), format!("new  {}", diff.new.label)];
    let change = |name: &str, of: fn(&Side) -> Option<String>| match (of(&diff.old), of(&diff.new))
    {
        (Some(old), Some(new)) if old != new => Some(format!("{name}{old} → {new}")),
        (old, new) => new.or(old).map(|value| format!("{name}{value}")),
    };
    let facts = [
        change("version ", |s| s.version.clone()),
        change("mode ", |s| s.mode.map(|m| m.to_string())),
        change("platform ", |s| s.platform_tag.clone()),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        head.push(format!("     {}", facts.join(", ")));
    }
    if let Some(first) = diff.directories.first() {
        let more = match diff.directories.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        head.push(format!("     platform directories: {} → {}{more}", first.old, first.new));
    }
    head
}

fn row(package: &PackageChange) -> Row {
    let mark = match (package.old, package.new) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    };
    Row { mark, title: heading(package), old: package.old, new: package.new }
}

pub(super) fn heading(package: &PackageChange) -> String {
    package
        .was
        .as_ref()
        .map_or_else(|| package.title.clone(), |was| format!("{was} → {}", package.title))
}

fn rows_with_sum(mut rows: Vec<Row>, diff: &Diff) -> Vec<Row> {
    let sum = |pick: fn(&PackageChange) -> Option<Extent>| {
        let each = diff.packages.iter().filter_map(pick);
        each.fold(Extent::default(), |all, e| Extent {
            files: all.files + e.files,
            size: all.size + e.size,
        })
    };
    if diff.same > 0 {
        let changed = sum(|p| p.new);
        let rest = Extent {
            files: diff.new_total.files - changed.files,
            size: diff.new_total.size - changed.size,
        };
        rows.push(Row {
            mark: '=',
            title: counted(diff.same, "package"),
            old: Some(rest),
            new: Some(rest),
        });
    }
    rows.push(Row {
        mark: ' ',
        title: "all".to_owned(),
        old: Some(diff.old_total),
        new: Some(diff.new_total),
    });
    rows
}

pub(super) fn package(package: &PackageChange, files: bool) -> Section {
    let mut lines: Vec<Line> =
        package.fields.iter().flat_map(|f| values::field(f, files)).collect();
    let mut counts: Vec<(std::mem::Discriminant<Difference>, usize)> = Vec::new();
    for change in &package.changes {
        let kind = std::mem::discriminant(&change.difference);
        let index = counts.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
            counts.push((kind, 0));
            counts.len() - 1
        });
        counts[index].1 += 1;
        if files || counts[index].1 <= detail::MOST_GROUPS {
            lines.extend(change_lines(change, files));
        }
    }
    for (kind, count) in
        counts.into_iter().filter(|(_, count)| !files && *count > detail::MOST_GROUPS)
    {
        let rest = package
            .changes
            .iter()
            .filter(|c| std::mem::discriminant(&c.difference) == kind)
            .skip(detail::MOST_GROUPS);
        let more = rest.map(|c| c.files.len()).sum::<usize>();
        let message = format!("{} more differences of this kind", count - detail::MOST_GROUPS);
        let place = Place {
            pattern: "…".to_owned(),
            files: more,
            of: more,
            old_size: 0,
            new_size: 0,
            rule: None,
            also: Vec::new(),
        };
        lines.push(Line::files('~', &place, true, message));
    }
    Section { title: heading(package), lines }
}

fn change_lines(change: &Change, files: bool) -> Vec<Line> {
    let (mark, signed) = match change.difference {
        Difference::Appeared { .. } => ('+', false),
        Difference::Vanished { .. } => ('-', false),
        _ => ('~', true),
    };
    let mut places =
        if files { change.files.iter().map(alone).collect() } else { change.places.clone() };
    if change.difference == Difference::Size {
        places.sort_by_key(|p| std::cmp::Reverse(p.new_size.abs_diff(p.old_size)));
    }
    let of_bytes = matches!(
        change.difference,
        Difference::Appeared { .. }
            | Difference::Vanished { .. }
            | Difference::Step { .. }
            | Difference::Source { .. }
            | Difference::Size
            | Difference::Text
            | Difference::Content
    );
    let line = |place: &Place| {
        let line = Line::files(mark, place, signed, detail::text(&change.difference, place));
        if of_bytes { line } else { Line { old: 0, new: 0, ..line } }
    };
    places.iter().map(line).collect()
}

fn alone(file: &super::FileChange) -> Place {
    let (old_size, new_size) =
        (file.old_size.unwrap_or_default(), file.new_size.unwrap_or_default());
    Place {
        pattern: file.path.clone(),
        files: 1,
        of: 1,
        old_size,
        new_size,
        rule: file.rule.clone(),
        also: file.also.iter().map(|what| Also { what: what.clone(), files: 1 }).collect(),
    }
}

fn moves(diff: &Diff, files: bool) -> Vec<Line> {
    let to_line = |moved: &Moved, place: &Place, now: Option<&String>| {
        let mut line = Line::files('→', place, false, detail::moved(moved, place));
        if let Some(now) = now {
            let _ = write!(line.place, " → {now}");
        }
        line
    };
    let lines = diff.moved.iter().flat_map(|moved| {
        if !files {
            return moved
                .places
                .iter()
                .map(|place| to_line(moved, place, moved.pattern.as_ref()))
                .collect::<Vec<_>>();
        }
        let each = moved.files.iter().map(|file| {
            let place = Place {
                pattern: file.was.clone().unwrap_or_else(|| file.path.clone()),
                ..alone(file)
            };
            to_line(moved, &place, file.was.as_ref().map(|_| &file.path))
        });
        each.collect()
    });
    lines.collect()
}

fn unowned(changes: &[UnownedChange], files: bool) -> Section {
    let lines = changes.iter().flat_map(|change| {
        let places =
            if files { change.files.iter().map(alone).collect() } else { change.places.clone() };
        let mark = if change.now { '+' } else { '-' };
        places
            .into_iter()
            .map(move |place| Line::files(mark, &place, false, change.artifact.clone()))
    });
    let lines = lines.collect();
    Section {
        title: "unowned".to_owned(),
        lines: if files { lines } else { merge::unowned(lines) },
    }
}
