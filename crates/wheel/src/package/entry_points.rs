//! `entry_points.txt` of a finished package (entry points specification).

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, FaultKind};
use crate::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint, Object};

const MOST: usize = 1000;

/// Entries of a file, and its malformed lines.
#[derive(Debug, Default)]
pub struct EntryPoints {
    /// All lines with `=`, in order.
    pub entries: Vec<EntryPoint>,
    /// Faults of lines; malformed lines are their detail.
    pub faults: Vec<Fault>,
}

impl EntryPoints {
    /// Parses the file.
    pub fn parse(text: &str) -> Self {
        let (mut points, mut group, mut count) = (Self::default(), "", 0);
        let (mut groups, mut names) = (BTreeSet::new(), BTreeSet::new());
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                group = name.trim();
                points.repeated(groups.insert(group), line);
                continue;
            }
            if count == MOST {
                let what =
                    format!("it has more than {MOST} entry points; rockpack read only these");
                points.faults.push(Fault::new(FaultKind::EntryPoint, what));
                break;
            }
            count += 1;
            points.line(group, line);
            if let Some(entry) = points.entries.last().filter(|_| line.contains('=')) {
                let is_new = names.insert((group, entry.name.clone()));
                points.repeated(is_new, line);
            }
        }
        points
    }

    /// Valid entries with their objects.
    pub fn sound(&self) -> impl Iterator<Item = (&EntryPoint, Object<'_>)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.object()?)))
    }

    /// Objects by script name; other names include their group.
    pub fn by_name(&self) -> BTreeMap<String, String> {
        let name = |entry: &EntryPoint| match &*entry.group {
            CONSOLE_SCRIPTS => entry.name.clone(),
            group => format!("[{group}] {}", entry.name),
        };
        self.entries.iter().map(|entry| (name(entry), entry.object.clone())).collect()
    }

    /// Some installers reject a repeated section or name, others take the last.
    fn repeated(&mut self, is_new: bool, line: &str) {
        if !is_new {
            let fault = Fault::new(FaultKind::EntryPoint, "a section or name is there twice");
            self.faults.push(fault.because(format!("`{line}`")));
        }
    }

    fn line(&mut self, group: &str, line: &str) {
        let entry = line.split_once('=').map(|(name, object)| EntryPoint {
            group: group.to_owned(),
            name: name.trim().to_owned(),
            object: object.trim().to_owned(),
        });
        if entry.as_ref().and_then(EntryPoint::object).is_none() {
            let fault = Fault::new(FaultKind::EntryPoint, "a line is not an entry point");
            self.faults.push(fault.because(format!("`{line}`")));
        }
        if entry.as_ref().is_some_and(|entry| entry.is_script() && !is_file_name(&entry.name)) {
            let what = "the name of a script is not a file name";
            self.faults.push(Fault::new(FaultKind::EntryPoint, what).because(format!("`{line}`")));
        }
        self.entries.extend(entry);
    }
}

fn is_file_name(name: &str) -> bool {
    !matches!(name, "." | "..") && !name.contains(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_from_their_group() {
        let points =
            EntryPoints::parse("# made\n[console_scripts]\na = m:f\nb=n:g [x]\n\n[other]\nc = o\n");
        let said: Vec<String> =
            points.by_name().iter().map(|(name, object)| format!("{name} -> {object}")).collect();
        assert_eq!(said, ["[other] c -> o", "a -> m:f", "b -> n:g [x]"]);
        let attributes: Vec<_> = points.sound().map(|(_, object)| object.attribute).collect();
        assert_eq!(attributes, [Some("f"), Some("g"), None]);
        assert!(points.faults.is_empty());
    }

    #[test]
    fn repeated_names_and_paths_are_faults() {
        for text in [
            "[console_scripts]\na = m:f\na = m:g\n",
            "[console_scripts]\na = m:f\n[console_scripts]\nb = m:g\n",
            "[console_scripts]\nsub/a = m:f\n",
            "[gui_scripts]\n../a = m:f\n",
            "[gui_scripts]\n.. = m:f\n",
        ] {
            assert_eq!(EntryPoints::parse(text).faults.len(), 1, "{text}");
        }
        let other = EntryPoints::parse("[a]\nx/y = m\n[b]\nx/y = m\n");
        assert!(other.faults.is_empty(), "only scripts are files");
    }

    #[test]
    fn lines_that_are_no_entries_are_faults() {
        let points = EntryPoints::parse("a = m:f\n[g]\nb\nc = 1m\n[gui_scripts]\nd = m\n");
        let details: Vec<_> = points.faults.iter().filter_map(|f| f.detail.as_deref()).collect();
        assert_eq!(details, ["`a = m:f`", "`b`", "`c = 1m`", "`d = m`"]);
        assert_eq!((points.entries.len(), points.sound().count()), (3, 0));
        let many = (0..1002).map(|index| format!("a{index} = m\n"));
        let many = EntryPoints::parse(&("[g]\n".to_owned() + &many.collect::<String>()));
        assert_eq!((many.entries.len(), many.faults.len()), (1000, 1));
    }
}
