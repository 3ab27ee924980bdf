//! Merges packages that only differ in ISA or family.

use indexmap::IndexMap;
use indexmap::map::Entry;

use super::super::{Extent, Moved, PackageChange};
use super::{Line, Row, Section};

pub(super) struct Shown<'d> {
    pub row: Row,
    pub section: Option<Section>,
    pub package: &'d PackageChange,
}

pub(super) fn packages(shown: Vec<Shown<'_>>) -> (Vec<Row>, Vec<Section>) {
    let mut kinds: IndexMap<Shape, Vec<Shown<'_>>> = IndexMap::new();
    for (index, shown) in shown.into_iter().enumerate() {
        kinds.entry(shape(index, &shown)).or_default().push(shown);
    }
    let (mut rows, mut sections) = (Vec::new(), Vec::new());
    for alike in kinds.into_values() {
        let (row, section) = together(alike);
        rows.extend(row);
        sections.extend(section);
    }
    (rows, sections)
}

fn together(alike: Vec<Shown<'_>>) -> (Option<Row>, Option<Section>) {
    let count = alike.len();
    let mut rest = alike.into_iter();
    let Some(Shown { mut row, mut section, package }) = rest.next() else { return (None, None) };
    if count == 1 {
        return (Some(row), section);
    }
    row.title = format!("{} ({count} packages)", general(&row.title, package.variant.as_deref()));
    for other in rest {
        row.old = sum(row.old, other.row.old);
        row.new = sum(row.new, other.row.new);
        if let (Some(section), Some(other)) = (&mut section, other.section) {
            section.title.clone_from(&row.title);
            let lines = std::mem::take(&mut section.lines).into_iter().zip(&other.lines);
            section.lines =
                lines.map(|(line, more)| join(&line, package.variant.as_deref(), more)).collect();
        }
    }
    (Some(row), section)
}

#[derive(PartialEq, Eq, Hash)]
enum Shape {
    Alone(usize),
    Kind { mark: char, package: String, title: String, lines: Vec<(char, String, String)> },
}

fn shape(index: usize, shown: &Shown<'_>) -> Shape {
    let Shown { row, section, package } = shown;
    let (Some(variant), Some(name)) = (package.variant.as_deref(), &package.package) else {
        return Shape::Alone(index);
    };
    let lines = section.iter().flat_map(|s| &s.lines).map(|line| signature(line, Some(variant)));
    Shape::Kind {
        mark: row.mark,
        package: name.clone(),
        title: general(&row.title, Some(variant)),
        lines: lines.collect(),
    }
}

fn signature(line: &Line, variant: Option<&str>) -> (char, String, String) {
    // Size differences vary between ISAs.
    let detail = if line.detail.starts_with("size ") {
        "size".to_owned()
    } else {
        general(&line.detail, variant)
    };
    (line.mark, general(&line.place, variant), detail)
}

fn general(text: &str, variant: Option<&str>) -> String {
    match variant {
        Some(variant) => text.replace(variant, "*").replace(&variant.replace('-', "_"), "*"),
        None => text.to_owned(),
    }
}

fn sum(one: Option<Extent>, other: Option<Extent>) -> Option<Extent> {
    let (a, b) = (one?, other?);
    Some(Extent { files: a.files + b.files, size: a.size + b.size })
}

fn join(line: &Line, variant: Option<&str>, more: &Line) -> Line {
    let is_same = line.place == more.place && line.detail == more.detail;
    let (mark, place, detail) = if is_same {
        (line.mark, line.place.clone(), line.detail.clone())
    } else {
        signature(line, variant)
    };
    let (first, second) = (line.count.unwrap_or((1, 1)), more.count.unwrap_or((1, 1)));
    let count = (!line.field).then_some((first.0 + second.0, first.1 + second.1));
    Line {
        mark,
        place,
        count,
        old: line.old + more.old,
        new: line.new + more.new,
        detail,
        signed: line.signed,
        field: line.field,
    }
}

pub(super) fn unowned(lines: Vec<Line>) -> Vec<Line> {
    let mut kinds: IndexMap<(char, String, String), Line> = IndexMap::new();
    for line in lines {
        // Artifact names have no `_`.
        let artifact = line
            .detail
            .rsplit_once('_')
            .map_or(line.detail.as_str(), |(artifact, _)| artifact)
            .to_owned();
        let general = format!("{artifact}_*");
        match kinds.entry((line.mark, line.place.clone(), artifact)) {
            Entry::Vacant(new) => _ = new.insert(line),
            Entry::Occupied(mut known) => {
                let joined =
                    join(known.get(), None, &Line { detail: known.get().detail.clone(), ..line });
                *known.get_mut() = Line { detail: general, ..joined };
            }
        }
    }
    kinds.into_values().collect()
}

pub(super) fn moves(lines: Vec<Line>, moved: &[Moved]) -> Vec<Line> {
    let ends = moved.iter().flat_map(|m| {
        m.places.iter().map(move |_| (m.from.variant.as_deref(), m.to.variant.as_deref()))
    });
    let mut kinds: IndexMap<(char, String, String), (Line, Option<String>)> = IndexMap::new();
    for (line, (from, to)) in lines.into_iter().zip(ends) {
        let variant = to.or(from);
        let key = signature(&line, variant);
        match kinds.get_mut(&key) {
            None => _ = kinds.insert(key, (line, variant.map(str::to_owned))),
            Some((known, first)) => {
                *known = join(known, first.as_deref(), &line);
                *first = None;
            }
        }
    }
    kinds.into_values().map(|(line, _)| line).collect()
}
