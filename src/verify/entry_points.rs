//! Entry points: whether what they name is there (entry points specification).

use std::collections::BTreeMap;

use super::Finding;
use super::layout::SCRIPTS;
use crate::archive::entry_points::CONSOLE_SCRIPTS;
use crate::source::Code;

mod source;

/// No package has more entry points.
const MOST: usize = 1000;
/// A module has so few files beside each other.
const FEW: usize = 64;

/// `name = module:attribute [extra]` in a group.
#[derive(Debug)]
pub(super) struct Point {
    group: String,
    name: String,
    module: String,
    attribute: Option<String>,
}

impl Point {
    fn said(&self) -> String {
        format!(
            "{} = {}",
            self.name,
            [Some(&*self.module), self.attribute.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(":")
        )
    }

    fn is_script(&self) -> bool {
        matches!(&*self.group, CONSOLE_SCRIPTS | "gui_scripts")
    }

    /// Where installers write a script for it.
    pub fn script(&self) -> Option<String> {
        self.is_script().then(|| format!("{SCRIPTS}{}", self.name))
    }
}

/// Reads an `entry_points.txt`; lines that are no entries are findings.
pub(super) fn parse(text: &str) -> (Vec<Point>, Vec<Finding>) {
    let (mut points, mut found, mut group) = (Vec::new(), Vec::new(), String::new());
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.trim().clone_into(&mut group);
            continue;
        }
        if points.len() + found.len() == MOST {
            found.push(Finding::error(
                Code::EntryPoint,
                format!("it has more than {MOST} entry points; the others were not read"),
            ));
            break;
        }
        match point(&group, line) {
            Some(point) => points.push(point),
            None => found.push(
                Finding::error(Code::EntryPoint, "a line is no entry point")
                    .because(format!("`{line}`")),
            ),
        }
    }
    (points, found)
}

fn point(group: &str, line: &str) -> Option<Point> {
    let (name, object) = line.split_once('=')?;
    // What follows in brackets are extras that the entry needs.
    let object = object.split_once('[').map_or(object, |(object, _)| object).trim();
    let (module, attribute) = object
        .split_once(':')
        .map_or((object, None), |(module, attribute)| (module, Some(attribute.trim())));
    let identifier = |text: &str| {
        text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let dotted = |text: &str| text.split('.').all(identifier);
    let point = Point {
        group: group.to_owned(),
        name: name.trim().to_owned(),
        module: module.trim().to_owned(),
        attribute: attribute.map(str::to_owned),
    };
    let sound = !group.is_empty()
        && !point.name.is_empty()
        && dotted(&point.module)
        && point.attribute.as_deref().is_none_or(dotted);
    // A script calls something.
    (sound && (point.attribute.is_some() || !point.is_script())).then_some(point)
}

/// Whether the module is in the wheel and, where it is Python source, has the attribute. `text` reads a member.
pub(super) fn check(
    point: &Point,
    installed: &BTreeMap<String, String>,
    text: impl Fn(&str) -> Option<String>,
) -> Option<Finding> {
    let path = point.module.replace('.', "/");
    let error = |what: &'static str| {
        Some(Finding::error(Code::EntryPoint, what).because(format!("`{}`", point.said())))
    };
    let sources = [format!("{path}.py"), format!("{path}/__init__.py")];
    let Some(member) = sources.iter().find_map(|source| installed.get(source)) else {
        let compiled = [format!("{path}."), format!("{path}/__init__.")];
        let is_library = |rest: &str| {
            !rest.contains('/') && ["so", "pyd", "pyc"].iter().any(|end| rest.ends_with(end))
        };
        let is_compiled =
            compiled.iter().any(|start| below(installed, start).take(FEW).any(is_library));
        // A directory without `__init__.py` is a module too (PEP 420), which defines nothing.
        let is_directory =
            point.attribute.is_none() && below(installed, &format!("{path}/")).next().is_some();
        let absent = "an entry point names a module that is not in the wheel";
        return if is_directory || is_compiled { None } else { error(absent) };
    };
    let attribute = point.attribute.as_deref()?.split('.').next()?;
    let source = text(member).unwrap_or_default();
    if source::defines(&source, attribute)
        || installed.contains_key(&format!("{path}/{attribute}.py"))
    {
        return None;
    }
    error("an entry point names something that its module does not define")
}

/// What follows `start` in the paths that begin with it.
fn below<'i>(
    installed: &'i BTreeMap<String, String>,
    start: &str,
) -> impl Iterator<Item = &'i str> {
    let start = start.to_owned();
    installed.range(start.clone()..).map_while(move |(path, _)| path.strip_prefix(&*start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_entries_or_findings() {
        let (points, found) =
            parse("# made\n[console_scripts]\na = m.n:f [x]\nb = m\n\n[g]\nc = m\nd\ne = m:1\n");
        let said: Vec<String> =
            points.iter().map(|point| format!("{} {}", point.group, point.said())).collect();
        assert_eq!(said, ["console_scripts a = m.n:f", "g c = m"]);
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
