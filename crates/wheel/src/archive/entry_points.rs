//! `entry_points.txt`: the commands and plug-ins that a distribution offers (entry points specification).

use indexmap::IndexMap;

/// The group whose entries become commands.
pub const CONSOLE_SCRIPTS: &str = "console_scripts";

/// One entry: under `name` in `group` stands the Python object `object`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryPoint {
    /// The group, for example [`CONSOLE_SCRIPTS`].
    pub group: String,
    /// What it is called; a command's file name.
    pub name: String,
    /// `package.module:attribute`.
    pub object: String,
}

/// What an entry leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<'e> {
    /// The module's dotted name.
    pub module: &'e str,
    /// What in it, dotted too.
    pub attribute: Option<&'e str>,
}

impl EntryPoint {
    /// Whether installers write a script for it.
    pub fn is_script(&self) -> bool {
        matches!(&*self.group, CONSOLE_SCRIPTS | "gui_scripts")
    }

    /// What it leads to (`module:attribute [extra]`); `None` when it is no entry that installers take.
    pub fn object(&self) -> Option<Object<'_>> {
        // What follows in brackets are extras that the entry needs.
        let object = self.object.split('[').next().unwrap_or_default().trim();
        let (module, attribute) = object
            .split_once(':')
            .map_or((object, None), |(module, attribute)| (module.trim(), Some(attribute.trim())));
        let identifier = |text: &str| {
            text.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let dotted = |text: &str| text.split('.').all(identifier);
        let sound = !self.group.is_empty()
            && !self.name.is_empty()
            && dotted(module)
            && attribute.is_none_or(dotted);
        // A script calls something.
        (sound && (attribute.is_some() || !self.is_script()))
            .then_some(Object { module, attribute })
    }
}

/// An entry point that installers would not take, or take for something else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryPointError {
    /// A group is words of letters, digits and `_`, `.` between them.
    #[error("`{group}` is not the name of a group of entry points")]
    Group {
        /// The group.
        group: String,
    },
    /// Neither a name in an INI file nor a file's.
    #[error("`{}` is not the name of an entry point: use letters, digits, `.`, `-`, `_` and `+`", .name.escape_debug())]
    Name {
        /// The name.
        name: String,
    },
    /// Not the path of a Python object.
    #[error("the entry point `{name}` has the object `{}`: write `package.module:function`", .object.escape_debug())]
    Object {
        /// The entry's name.
        name: String,
        /// Its object.
        object: String,
    },
    /// Two entries of a group under one name.
    #[error("the group {group} has the entry point `{name}` twice")]
    Twice {
        /// The group.
        group: String,
        /// The name.
        name: String,
    },
}

/// The file's content: groups and their entries, both in the order in which they come first.
///
/// # Errors
/// On the first entry with a malformed group, name or object, or that comes twice.
pub fn entry_points(entries: &[EntryPoint]) -> Result<String, EntryPointError> {
    let mut groups: IndexMap<&str, IndexMap<&str, &str>> = IndexMap::new();
    for entry in entries {
        check(entry)?;
        let group = groups.entry(&entry.group).or_default();
        if group.insert(&entry.name, &entry.object).is_some() {
            return Err(EntryPointError::Twice {
                group: entry.group.clone(),
                name: entry.name.clone(),
            });
        }
    }
    let lines = |entries: IndexMap<&str, &str>| {
        entries.iter().flat_map(|(name, object)| [*name, " = ", *object, "\n"]).collect::<String>()
    };
    let sections: Vec<String> = groups
        .into_iter()
        .map(|(group, entries)| format!("[{group}]\n{}", lines(entries)))
        .collect();
    Ok(sections.join("\n"))
}

fn check(entry: &EntryPoint) -> Result<(), EntryPointError> {
    let EntryPoint { group, name, object } = entry;
    if !group.split('.').all(|word| !word.is_empty() && word.chars().all(in_word)) {
        return Err(EntryPointError::Group { group: group.clone() });
    }
    if name.is_empty() || !name.chars().all(|c| in_word(c) || matches!(c, '.' | '-' | '+')) {
        return Err(EntryPointError::Name { name: name.clone() });
    }
    let plain = object.chars().all(|c| in_word(c) || matches!(c, '.' | ':'));
    if !plain || entry.object().is_none_or(|object| object.attribute.is_none()) {
        return Err(EntryPointError::Object { name: name.clone(), object: object.clone() });
    }
    Ok(())
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(group: &str, name: &str, object: &str) -> EntryPoint {
        EntryPoint { group: group.into(), name: name.into(), object: object.into() }
    }

    #[test]
    fn entries_stand_in_their_groups() {
        let entries = [
            entry(CONSOLE_SCRIPTS, "tool++", "pkg._cli:main"),
            entry("pkg.plugins", "one", "pkg:One.make"),
            entry(CONSOLE_SCRIPTS, "a-tool", "pkg.__main__:main"),
        ];
        let expected = "[console_scripts]\ntool++ = pkg._cli:main\na-tool = pkg.__main__:main\n\n[pkg.plugins]\none = pkg:One.make\n";
        assert_eq!(entry_points(&entries).unwrap(), expected);
        assert_eq!(entry_points(&[]).unwrap(), "");
    }

    #[test]
    fn what_breaks_the_file_is_refused() {
        for (group, name, object) in [
            ("a]\n[b", "n", "m:f"),
            ("", "n", "m:f"),
            ("g", "", "m:f"),
            ("g", "a = b", "m:f"),
            ("g", "a\nb", "m:f"),
            ("g", "../n", "m:f"),
            ("g", "n", "m"),
            ("g", "n", "m:"),
            ("g", "n", "m:f:g"),
            ("g", "n", "m:1f"),
            ("g", "n", "m..n:f"),
            ("g", "n", "m:f\n"),
        ] {
            assert!(
                entry_points(&[entry(group, name, object)]).is_err(),
                "{group:?} {name:?} {object:?}"
            );
        }
    }

    #[test]
    fn a_name_comes_once_a_group() {
        let twice = [entry("g", "n", "m:f"), entry("g", "n", "m:g")];
        assert_eq!(
            entry_points(&twice).unwrap_err().to_string(),
            "the group g has the entry point `n` twice"
        );
        assert!(entry_points(&[entry("g", "n", "m:f"), entry("h", "n", "m:f")]).is_ok());
    }
}
