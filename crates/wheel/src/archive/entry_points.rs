//! `entry_points.txt`: commands and plug-ins of a distribution (entry points specification).

use indexmap::IndexMap;

/// Group of console commands.
pub const CONSOLE_SCRIPTS: &str = "console_scripts";

/// Named Python object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryPoint {
    /// Group ([`CONSOLE_SCRIPTS`]).
    pub group: String,
    /// Name; for commands the file name.
    pub name: String,
    /// `package.module:attribute`.
    pub object: String,
}

/// Object of an entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<'e> {
    /// Dotted name of the module.
    pub module: &'e str,
    /// Dotted name in the module.
    pub attribute: Option<&'e str>,
}

/// Matches Python identifiers with dots between them; reserved words are not refused.
pub fn is_dotted(text: &str) -> bool {
    let is_identifier = |text: &str| {
        text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.split('.').all(is_identifier)
}

impl EntryPoint {
    /// Returns whether installers make a program of the entry.
    pub fn is_script(&self) -> bool {
        matches!(&*self.group, CONSOLE_SCRIPTS | "gui_scripts")
    }

    /// Parses the object; `None` if installers reject the entry.
    pub fn object(&self) -> Option<Object<'_>> {
        // Brackets contain extras required by the entry.
        let object = self.object.split('[').next().unwrap_or_default().trim();
        let (module, attribute) = object
            .split_once(':')
            .map_or((object, None), |(module, attribute)| (module.trim(), Some(attribute.trim())));
        let sound = !self.group.is_empty()
            && !self.name.is_empty()
            && is_dotted(module)
            && attribute.is_none_or(is_dotted);
        (sound && (attribute.is_some() || !self.is_script()))
            .then_some(Object { module, attribute })
    }
}

/// Entry point that installers reject or misinterpret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryPointError {
    /// Invalid group.
    #[error("`{group}` is not the name of a group of entry points")]
    Group {
        /// Group.
        group: String,
    },
    /// Invalid name.
    #[error("`{}` is not the name of an entry point: use letters, digits, `.`, `-`, `_` and `+`", .name.escape_debug())]
    Name {
        /// Name.
        name: String,
    },
    /// Invalid object.
    #[error("the entry point `{name}` has the object `{}`: write `package.module:function`", .object.escape_debug())]
    Object {
        /// Entry.
        name: String,
        /// Object.
        object: String,
    },
    /// Duplicate name in a group.
    #[error("the group {group} has the entry point `{name}` twice")]
    Twice {
        /// Group.
        group: String,
        /// Name.
        name: String,
    },
}

/// Formats the file in order of first occurrence.
///
/// # Errors
/// If an entry is malformed or a duplicate.
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
