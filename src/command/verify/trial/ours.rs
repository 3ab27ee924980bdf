//! Comparison of an sdist's code with the runtime's sources of this program.

use base::python_literal;
use plan::Templates;
use wheel::archive::egg_info;

const BACKEND: &str = "backend/";
const SOURCES: &str = "src/";
const PROJECT: &str = "pyproject.toml";
/// File from a template, with facts at its end.
const FACTS: &str = "_dist_info.py";

/// Returns the import package.
/// Fails with the name of another file that a build or an import could run.
pub(super) fn module(
    top: &str,
    files: &[(String, Vec<u8>)],
    templates: &Templates,
) -> Result<String, String> {
    let foreign = |path: &str| format!("`{path}` does not have the form that this rockpack writes");
    let mut modules: Vec<&str> = Vec::new();
    let mut has_backend = false;
    for (path, content) in files {
        let Some(below) = path.strip_prefix(top).and_then(|path| path.strip_prefix('/')) else {
            return Err(foreign(path));
        };
        let runs = below == PROJECT || below.starts_with(BACKEND) || below.starts_with(SOURCES);
        if !runs || egg_info::file_of(below).is_some() {
            continue;
        }
        has_backend |= below.starts_with(BACKEND);
        let source = match below.strip_prefix(SOURCES).map(|rest| rest.split_once('/')) {
            None => Source::Exact(below),
            Some(Some((module, rest))) => {
                modules.push(module);
                Source::In(rest)
            }
            Some(None) => return Err(foreign(path)),
        };
        if !std::str::from_utf8(content).is_ok_and(|text| source.contains(text, templates)) {
            return Err(foreign(path));
        }
    }
    modules.dedup();
    match modules[..] {
        [module] if has_backend => Ok(module.to_owned()),
        _ => Err("it has no import package and backend of rockpack".to_owned()),
    }
}

enum Source<'p> {
    Exact(&'p str),
    /// Path in an import package of any name.
    In(&'p str),
}

impl Source<'_> {
    fn contains(&self, text: &str, templates: &Templates) -> bool {
        templates.values().flatten().any(|(path, original)| {
            let path = path.as_str();
            match self {
                Self::Exact(expected) => *expected == path && original == text,
                Self::In(FACTS) => path == FACTS && ends_with_facts(text, original),
                Self::In(rest) => {
                    let below = path.strip_prefix(SOURCES).and_then(|path| path.split_once('/'));
                    (below.map(|(_, below)| below) == Some(rest) || path == *rest)
                        && original == text
                }
            }
        })
    }
}

/// Returns true if only data in a literal follows the template.
fn ends_with_facts(text: &str, template: &str) -> bool {
    let Some(facts) = text.strip_prefix(template) else { return false };
    let Some(value) = python_literal::data(facts) else { return false };
    facts == format!("\n\n{}", python_literal::assignment("DIST", &value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn templates() -> Templates {
        let files = |files: &[(&str, &str)]| {
            files.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect()
        };
        let meta = [("pyproject.toml", "p"), ("backend/b.py", "b"), ("src/x/__init__.py", "i")];
        Templates::from([
            ("meta".to_owned(), files(&meta)),
            ("common".to_owned(), files(&[("_names.py", "n"), ("_dist_info.py", "d\n")])),
        ])
    }

    fn checked(changes: &[(&str, &str)]) -> Result<String, String> {
        let mut files = vec![
            ("t/PKG-INFO", "Name: t"),
            ("t/pyproject.toml", "p"),
            ("t/backend/b.py", "b"),
            ("t/src/other/__init__.py", "i"),
            ("t/src/other/_names.py", "n"),
            ("t/src/other/_dist_info.py", "d\n\n\nDIST = {\n    \"a\": None,\n}\n"),
            ("t/src/t.egg-info/requires.txt", "anything"),
        ];
        for (path, text) in changes {
            files.retain(|(kept, _)| kept != path);
            files.push((path, text));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        module("t", &files, &templates())
    }

    #[test]
    fn accepts_own_code_under_any_module() {
        assert_eq!(checked(&[]).unwrap(), "other");
        assert_eq!(checked(&[("t/README.md", "x")]).unwrap(), "other");
    }

    #[test]
    fn any_other_code_is_foreign() {
        for (path, text) in [
            ("t/pyproject.toml", "p "),
            ("t/backend/b.py", "c"),
            ("t/backend/c.py", "b"),
            ("t/src/other/__init__.py", "i\nimport os"),
            ("t/src/other/os.py", ""),
            ("t/src/other/_dist_info.py", "d\n\n\nDIST = {\n    \"a\": x(),\n}\n"),
            ("t/src/other/_dist_info.py", "d\n\n\nDIST = {}\nx()\n"),
            ("t/src/other/_dist_info.py", "x()\nd\n\n\nDIST = {}\n"),
            ("t/src/other/_dist_info.py", "d\n"),
            ("t/src/a.pth", "import os"),
            ("t/src/second/__init__.py", "i"),
            ("u/src/other/__init__.py", "i"),
        ] {
            assert!(checked(&[(path, text)]).is_err(), "{path}: {text}");
        }
    }
}
