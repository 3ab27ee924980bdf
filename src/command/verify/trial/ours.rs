//! Code of an sdist, compared with the runtime's sources that this program ships.

use base::python_literal;
use plan::Templates;
use wheel::archive::egg_info;

/// The directory below the top in which a backend may be.
const BACKEND: &str = "backend/";
/// The directory with the import package.
const SOURCES: &str = "src/";
/// The file that names the backend.
const PROJECT: &str = "pyproject.toml";
/// The file that ends with facts, in the template that every package has.
const FACTS: &str = "_dist_info.py";

/// The import package of an sdist whose code is all ours.
///
/// # Errors
/// When a file that a build or an import could run is not one of ours; the text names it.
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
            None => Source::At(below),
            Some(Some((module, rest))) => {
                modules.push(module);
                Source::In(rest)
            }
            Some(None) => return Err(foreign(path)),
        };
        if !std::str::from_utf8(content).is_ok_and(|text| source.has(text, templates)) {
            return Err(foreign(path));
        }
    }
    modules.dedup();
    match modules[..] {
        [module] if has_backend => Ok(module.to_owned()),
        _ => Err("it has no import package and backend of rockpack".to_owned()),
    }
}

/// Where a file is in templates.
enum Source<'p> {
    /// At this path.
    At(&'p str),
    /// At this path in an import package, whatever its name.
    In(&'p str),
}

impl Source<'_> {
    /// Whether a template has this text there.
    fn has(&self, text: &str, templates: &Templates) -> bool {
        templates.values().flatten().any(|(path, known)| {
            let path = path.as_str();
            match self {
                Self::At(at) => *at == path && known == text,
                Self::In(FACTS) => path == FACTS && ends_with_facts(text, known),
                Self::In(rest) => {
                    let below = path.strip_prefix(SOURCES).and_then(|path| path.split_once('/'));
                    (below.map(|(_, below)| below) == Some(rest) || path == *rest) && known == text
                }
            }
        })
    }
}

/// Whether a text is the template, and behind it data that nothing but a literal is in.
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
            files.retain(|(known, _)| known != path);
            files.push((path, text));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        module("t", &files, &templates())
    }

    #[test]
    fn code_of_ours_under_any_module_is_known() {
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
