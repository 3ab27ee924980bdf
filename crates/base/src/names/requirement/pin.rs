//! Replacement of pinned versions.

use pep440_rs::{Operator, VersionSpecifier};

use super::Requirement;

impl Requirement {
    /// Returns the version of an exact pin.
    pub fn pinned(&self) -> Option<String> {
        let is_exact = |clause: &&VersionSpecifier| {
            matches!(clause.operator(), Operator::Equal | Operator::ExactEqual)
        };
        self.versions.as_ref()?.iter().find(is_exact).map(|clause| clause.version().to_string())
    }

    /// Replaces versions pinned with `==` or `===`; `None` if no version changes.
    pub fn repinned(&self, new: impl Fn(&str) -> Option<String>) -> Option<String> {
        self.versions.as_ref()?;
        let end = self.text.find(';').unwrap_or(self.text.len());
        let (specifiers, marker) = self.text.split_at(end);
        let start = specifiers.find(['<', '>', '=', '!', '~'])?;
        let (name, specifiers) = specifiers.split_at(start);
        let mut changed = false;
        let clauses: Vec<String> = specifiers
            .split(',')
            .map(|clause| {
                let replaced = self::clause(clause, &new);
                changed |= replaced.is_some();
                replaced.unwrap_or_else(|| clause.to_owned())
            })
            .collect();
        changed.then(|| format!("{name}{}{marker}", clauses.join(",")))
    }
}

fn clause(text: &str, new: impl Fn(&str) -> Option<String>) -> Option<String> {
    let operator = text.find("==").filter(|offset| text[..*offset].trim().is_empty())?;
    let rest = text[operator..].trim_start_matches('=');
    let version = rest.trim().trim_end_matches(')').trim_end();
    let start = text.len() - rest.trim_start().len();
    let after = &text[start + version.len()..];
    new(version).map(|new| format!("{}{new}{after}", &text[..start]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_versions_pinned_by_equal_signs() {
        let pinned = |text: &str| text.parse::<Requirement>().unwrap().pinned();
        for text in ["a==1.0", "a[b]>0, ==1.0; extra == 'c'", "a===1.0"] {
            assert_eq!(pinned(text).as_deref(), Some("1.0"), "{text}");
        }
        for text in ["a", "a>=1.0", "a==1.0.*", "a @ https://example.org/a-1.0.whl"] {
            assert_eq!(pinned(text), None, "{text}");
        }
    }

    #[test]
    fn replaces_pinned_versions_only() {
        let repinned = |text: &str| {
            let new = |version: &str| (version == "1.0rc1").then(|| "1.0".to_owned());
            text.parse::<Requirement>().unwrap().repinned(new)
        };
        for (old, new) in [
            ("a==1.0rc1", "a==1.0"),
            (
                "a[b, c] == 1.0rc1 ; sys_platform == \"linux\"",
                "a[b, c] == 1.0 ; sys_platform == \"linux\"",
            ),
            ("a (==1.0rc1)", "a (==1.0)"),
            ("a!=1.0rc2, ===1.0rc1", "a!=1.0rc2, ===1.0"),
        ] {
            assert_eq!(repinned(old).as_deref(), Some(new));
        }
        for unpinned in [
            "a",
            "a>=1.0rc1",
            "a==1.0rc10",
            "a!=1.0rc1",
            "a==1.0.*",
            "a; python_version == '1.0rc1'",
        ] {
            assert_eq!(repinned(unpinned), None, "{unpinned}");
        }
    }
}
