//! `entry_points.txt` of a finished package (entry points specification).

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, FaultKind};
use crate::archive::entry_points::{CONSOLE_SCRIPTS, EntryPoint, Object};

const MOST_ENTRY_POINTS: usize = 1000;

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
        points.faults.extend(layout_fault(text));
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                group = name.trim();
                points.repeated(groups.insert(group), line);
                points.faults.extend(section_fault(name));
                continue;
            }
            if count == MOST_ENTRY_POINTS {
                let message = format!(
                    "it has more than {MOST_ENTRY_POINTS} entry points; rockpack read only these"
                );
                points.faults.push(Fault::new(FaultKind::EntryPoint, message));
                break;
            }
            count += 1;
            points.line(group, line);
            if let Some(entry) = points.entries.last().filter(|_| line.contains('=')) {
                // Scripts of both groups are programs of one directory.
                let group = if entry.is_script() { CONSOLE_SCRIPTS } else { group };
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
        self.entries.iter().map(|entry| (name(entry), entry.reference.clone())).collect()
    }

    /// Some installers reject a repeated section or name, others take the last.
    fn repeated(&mut self, is_new: bool, line: &str) {
        if !is_new {
            let fault = Fault::new(FaultKind::EntryPoint, "a section or name is there twice");
            self.faults.push(fault.because(format!("`{line}`")));
        }
    }

    fn line(&mut self, group: &str, line: &str) {
        let entry = line.split_once('=').map(|(name, reference)| EntryPoint {
            group: group.to_owned(),
            name: name.trim().to_owned(),
            reference: reference.trim().to_owned(),
        });
        if entry.as_ref().and_then(EntryPoint::object).is_none() {
            let fault = Fault::new(FaultKind::EntryPoint, "a line is not an entry point");
            self.faults.push(fault.because(format!("`{line}`")));
        }
        let script = entry.as_ref().filter(|entry| entry.is_script());
        self.faults.extend(script.and_then(|script| script_fault(script, line)));
        self.entries.extend(entry);
    }
}

fn fault(what: &'static str, line: &str) -> Fault {
    Fault::new(FaultKind::EntryPoint, what).because(format!("`{}`", line.escape_debug()))
}

/// Line ends of Python's `str.splitlines` other than `\n` and `\r`.
pub const LINE_ENDS: [char; 8] =
    ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Some installers read the file with `configparser`, others by lines.
fn layout_fault(text: &str) -> Option<Fault> {
    let lines = || text.lines();
    if let Some(line) = lines().find(|line| line.contains(['\r', '\0']) || line.contains(LINE_ENDS))
    {
        return Some(fault("a line has an end that only some installers know", line));
    }
    if let Some(line) = lines().find(|line| line.starts_with(' ') || line.starts_with('\t')) {
        let message = "an indented line, which installers join to the line above or not";
        return Some(fault(message, line)).filter(|_| !line.trim().is_empty());
    }
    let comment = lines().find(|line| line.starts_with(';'))?;
    Some(fault("a comment with `;`, which some installers take for an entry point", comment))
}

fn section_fault(name: &str) -> Option<Fault> {
    let line = || format!("[{name}]");
    if name == "DEFAULT" {
        return Some(fault("a section that some installers take for defaults of all", &line()));
    }
    let is_odd = name.is_empty() || name.trim() != name || name.contains(['[', ']']);
    is_odd.then(|| fault("a section whose name installers read differently", &line()))
}

fn script_fault(script: &EntryPoint, line: &str) -> Option<Fault> {
    if !is_file_name(&script.name) {
        return Some(fault("the name of a script is not a file name", line));
    }
    let is_read = !script.name.contains(char::is_whitespace)
        && !script.name.starts_with('[')
        && is_object(&script.reference);
    (!is_read)
        .then(|| fault("a script that some installers reject or make under another name", line))
}

/// Windows adds `.exe`.
const LONGEST_NAME: usize = 255 - ".exe".len();

fn is_file_name(name: &str) -> bool {
    !matches!(name, "." | "..")
        && !name.contains(['/', '\\'])
        && !name.contains(char::is_control)
        && name.len() <= LONGEST_NAME
}

/// Matches `a.b:c.d` and `a:b [extra,extra]`: pip allows no other blanks, and no empty list.
fn is_object(object: &str) -> bool {
    let (path, extras) = match object.split_once('[') {
        Some((path, extras)) => (path.trim_end_matches([' ', '\t']), Some(extras)),
        None => (object, None),
    };
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    let is_list = |extras: &str| {
        extras.strip_suffix(']').is_some_and(|inside| inside.split(',').map(str::trim).all(is_word))
    };
    !path.contains(char::is_whitespace) && !path.contains(']') && extras.is_none_or(is_list)
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
            "[console_scripts]\na = m:f\n[gui_scripts]\na = m:f\n",
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
    fn refuses_lines_that_installers_read_differently() {
        let count = |text: &str| EntryPoints::parse(text).faults.len();
        for text in [
            "# made\n[console_scripts]\na = m:f\nb = m.n:f.g\nc=m:f [x,y-z]\n",
            "[a.b]\nx y = m\n",
            "[console_scripts]\r\na = m:f\r\n",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
        for text in [
            "[[console_scripts]]\na = m:f\n",
            "[ console_scripts ]\na = m:f\n",
            "[DEFAULT]\na = m:f\n",
            "[console_scripts]\n; a = m:f\n",
            "[console_scripts]\n  a = m:f\n",
            "[console_scripts]\na = m:f\n  [x]\n",
            "[console_scripts]\na = m:f\u{2028}b = m:f\n",
            "[console_scripts]\na b = m:f\n",
            "[console_scripts]\n[a = m:f\n",
            "[console_scripts]\na = m : f\n",
            "[console_scripts]\na = m:f [x\n",
            "[console_scripts]\na = m:f []\n",
            &format!("[console_scripts]\n{} = m:f\n", "n".repeat(252)),
        ] {
            assert!(count(text) > 0, "{text}");
        }
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
