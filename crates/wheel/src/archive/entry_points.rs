//! `entry_points.txt`: commands and plug-ins of a distribution (entry points specification).

use indexmap::IndexMap;

/// Group of console commands.
pub const CONSOLE_SCRIPTS: &str = "console_scripts";

/// One line of `entry_points.txt`: a name for a Python object, in a group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryPoint {
    /// Group, such as [`CONSOLE_SCRIPTS`].
    pub group: String,
    /// Name; for commands the file name.
    pub name: String,
    /// Text after `=`: `package.module:attribute`, sometimes with `[extras]`.
    pub reference: String,
}

/// Parsed reference of an entry point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<'e> {
    /// Dotted name of the module.
    pub module: &'e str,
    /// Dotted name in the module.
    pub attribute: Option<&'e str>,
}

/// Returns whether the text is a dotted Python name. Keywords pass, because installers do not check
/// them either.
pub fn is_dotted(text: &str) -> bool {
    let is_identifier = |text: &str| {
        text.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    text.split('.').all(is_identifier)
}

impl EntryPoint {
    /// Returns whether installers create a command for the entry.
    pub fn is_script(&self) -> bool {
        matches!(&*self.group, CONSOLE_SCRIPTS | "gui_scripts")
    }

    /// Parses the reference; `None` if installers reject the entry.
    pub fn object(&self) -> Option<Object<'_>> {
        // Brackets contain extras required by the entry.
        let reference = self.reference.split('[').next().unwrap_or_default().trim();
        let (module, attribute) =
            reference.split_once(':').map_or((reference, None), |(module, attribute)| {
                (module.trim(), Some(attribute.trim()))
            });
        let is_well_formed = !self.group.is_empty()
            && !self.name.is_empty()
            && is_dotted(module)
            && attribute.is_none_or(is_dotted);
        (is_well_formed && (attribute.is_some() || !self.is_script()))
            .then_some(Object { module, attribute })
    }
}

/// Entry point that this writer refuses. Installers accept more: extras, and plug-ins without an
/// attribute. rockpack writes neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryPointError {
    /// Invalid group.
    #[error("invalid entry point group `{}`: use letters, digits and `_`, with `.` between words", .group.escape_debug())]
    Group {
        /// Group.
        group: String,
    },
    /// Invalid name.
    #[error("invalid entry point name `{}`: use letters, digits, `.`, `-`, `_` and `+`, and not only dots", .name.escape_debug())]
    Name {
        /// Name.
        name: String,
    },
    /// Invalid reference.
    #[error("invalid object reference `{}` of the entry point `{name}`: write `package.module:attribute`, in ASCII and without extras", .reference.escape_debug())]
    Reference {
        /// Entry.
        name: String,
        /// Reference.
        reference: String,
    },
    /// Duplicate name in a group.
    #[error("duplicate entry point `{name}` in the group `{group}`: remove or rename one")]
    Duplicate {
        /// Group.
        group: String,
        /// Name.
        name: String,
    },
}

/// Formats `entry_points.txt`. Groups, and the entries of each, keep the order of `entries`.
///
/// # Errors
/// If an entry is malformed or a duplicate.
pub fn entry_points(entries: &[EntryPoint]) -> Result<String, EntryPointError> {
    let mut groups: IndexMap<&str, IndexMap<&str, &str>> = IndexMap::new();
    for entry in entries {
        validate(entry)?;
        let group = groups.entry(&entry.group).or_default();
        if group.insert(&entry.name, &entry.reference).is_some() {
            return Err(EntryPointError::Duplicate {
                group: entry.group.clone(),
                name: entry.name.clone(),
            });
        }
    }
    let lines = |entries: IndexMap<&str, &str>| {
        let parts = entries.iter().flat_map(|(name, reference)| [*name, " = ", *reference, "\n"]);
        parts.collect::<String>()
    };
    let sections: Vec<String> = groups
        .into_iter()
        .map(|(group, entries)| format!("[{group}]\n{}", lines(entries)))
        .collect();
    Ok(sections.join("\n"))
}

fn validate(entry: &EntryPoint) -> Result<(), EntryPointError> {
    let EntryPoint { group, name, reference } = entry;
    if !group.split('.').all(|word| !word.is_empty() && word.chars().all(is_word_char)) {
        return Err(EntryPointError::Group { group: group.clone() });
    }
    // The name of a command is its file name: `.` and `..` are directories. `all` also refuses an
    // empty name.
    if name.chars().all(|c| c == '.')
        || !name.chars().all(|c| is_word_char(c) || matches!(c, '.' | '-' | '+'))
    {
        return Err(EntryPointError::Name { name: name.clone() });
    }
    let is_plain = reference.chars().all(|c| is_word_char(c) || matches!(c, '.' | ':'));
    if !is_plain || entry.object().is_none_or(|object| object.attribute.is_none()) {
        return Err(EntryPointError::Reference {
            name: name.clone(),
            reference: reference.clone(),
        });
    }
    Ok(())
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(group: &str, name: &str, reference: &str) -> EntryPoint {
        EntryPoint { group: group.into(), name: name.into(), reference: reference.into() }
    }

    #[test]
    fn formats_entries_by_group() {
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
    fn rejects_malformed_groups_names_and_references() {
        let error = |group: &str, name: &str, reference: &str| {
            entry_points(&[entry(group, name, reference)]).unwrap_err()
        };
        for group in ["", "a]\n[b", "a..b", "a b"] {
            let expected = EntryPointError::Group { group: group.to_owned() };
            assert_eq!(error(group, "n", "m:f"), expected, "{group:?}");
        }
        for name in ["", "a = b", "a\nb", "../n", ".", ".."] {
            let expected = EntryPointError::Name { name: name.to_owned() };
            assert_eq!(error("g", name, "m:f"), expected, "{name:?}");
        }
        for reference in ["m", "m:", "m:f:g", "m:1f", "m..n:f", "m:f\n", "m:f [x]", "é:f"] {
            let (name, reference) = ("n".to_owned(), reference.to_owned());
            let refused = error("g", "n", &reference);
            assert_eq!(refused, EntryPointError::Reference { name, reference });
        }
        assert_eq!(
            error("a]\n[b", "n", "m:f").to_string(),
            "invalid entry point group `a]\\n[b`: use letters, digits and `_`, with `.` between words"
        );
    }

    #[test]
    fn rejects_a_duplicate_name_in_a_group() {
        let duplicates = [entry("g", "n", "m:f"), entry("g", "n", "m:g")];
        assert_eq!(
            entry_points(&duplicates).unwrap_err().to_string(),
            "duplicate entry point `n` in the group `g`: remove or rename one"
        );
        assert!(entry_points(&[entry("g", "n", "m:f"), entry("h", "n", "m:f")]).is_ok());
    }
}
