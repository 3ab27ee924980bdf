//! Scripts of an sdist before its build: `[project.scripts]` (PEP 621), and the `entry_points.txt`
//! of setuptools or rockpack.

use toml::{Table, Value};

use crate::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint};
use crate::package::entry_points::EntryPoints;

pub(super) const PROJECT: &str = "pyproject.toml";
const MOST_SCRIPTS: usize = 1000;

pub(super) fn is_list(path: &str) -> bool {
    let egg_info =
        path.strip_suffix("/entry_points.txt").and_then(|path| path.strip_suffix(".egg-info"));
    let is_top = |path: &str| !path.strip_prefix("src/").unwrap_or(path).contains('/');
    matches!(path, PROJECT | "entry_points.txt") || egg_info.is_some_and(is_top)
}

/// Reads scripts of such files; several declare the same ones. `project` is the parsed
/// `pyproject.toml`.
pub(super) fn read<'t>(
    lists: impl Iterator<Item = (&'t str, &'t str)>,
    project: Option<&Table>,
) -> Vec<EntryPoint> {
    let mut scripts: Vec<EntryPoint> = Vec::new();
    for (path, text) in lists.filter(|(path, _)| is_list(path)) {
        let entry_points = match path {
            PROJECT => project.map(of_project).unwrap_or_default(),
            _ => EntryPoints::parse(text).entries,
        };
        for entry in entry_points.into_iter().filter(EntryPoint::is_script).take(MOST_SCRIPTS) {
            if !scripts.contains(&entry) {
                scripts.push(entry);
            }
        }
    }
    scripts
}

fn of_project(document: &Table) -> Vec<EntryPoint> {
    let scripts = |key: &str, group: &'static str| {
        let table = document.get("project").and_then(|project| project.get(key)?.as_table());
        let entry = |(name, reference): (&String, &Value)| {
            let (name, reference) = (name.clone(), reference.as_str()?.to_owned());
            Some(EntryPoint { group: group.to_owned(), name, reference })
        };
        table.into_iter().flatten().filter_map(entry).collect::<Vec<_>>()
    };
    [scripts("scripts", CONSOLE_SCRIPTS), scripts("gui-scripts", "gui_scripts")].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_from_each_file_that_declares_them() {
        let project = "[project]\nname = \"a\"\n[project.scripts]\nrun = \"a.b:main\"\n\
                       [project.gui-scripts]\nshow = \"a:c\"\n[project.entry-points.x]\nn = \"m\"\n";
        let egg_info = "[console_scripts]\nrun = a.b:main\nold = a:old\n[x]\nn = m\n";
        let lists = [
            (PROJECT, project),
            ("src/a_b.egg-info/entry_points.txt", egg_info),
            ("tests/a.egg-info/entry_points.txt", "[console_scripts]\nt = t:t\n"),
        ];
        let document = toml::from_str(project).unwrap();
        let scripts = read(lists.into_iter(), Some(&document));
        let said: Vec<_> = scripts.iter().map(|s| (&*s.group, &*s.name, &*s.reference)).collect();
        let expected = [
            (CONSOLE_SCRIPTS, "run", "a.b:main"),
            ("gui_scripts", "show", "a:c"),
            (CONSOLE_SCRIPTS, "old", "a:old"),
        ];
        assert_eq!(said, expected);
        for text in
            ["", "[project", "project = 1", "[project]\nscripts = 1", "[project.scripts]\na = 1"]
        {
            let document = toml::from_str(text).ok();
            assert_eq!(read([(PROJECT, text)].into_iter(), document.as_ref()), [], "{text}");
        }
    }
}
