//! Check of the functions that console scripts start: the template of the package must define them.

use crate::Templates;
use base::names::RelPath;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Manifest, Package, ScriptTarget};

/// Reports functions of scripts that the template of their package does not define.
pub fn undefined_script_functions(manifest: &Manifest, templates: &Templates) -> Problems {
    let mut problems = Problems::new();
    for package in manifest.packages.values() {
        let Some(files) = templates.get(package.template()).filter(|f| !f.is_empty()) else {
            continue;
        };
        for script in &package.scripts {
            if let ScriptTarget::Function(function) = &script.target.value
                && let Some(label) = label_if_undefined(package, function, files)
            {
                let (package_name, name) = (&*package.name, &*script.name);
                let message = format!(
                    "script `{name}` of package `{package_name}` starts `{function}`, which does \
                     not exist"
                );
                let problem = Problem::error(Code::ScriptTarget, message);
                let problem = problem.label(&script.target.place, label);
                let template = package.template();
                problems.push(problem.help(format!("name a function of template `{template}`")));
            }
        }
    }
    problems
}

fn label_if_undefined(
    package: &Package,
    function: &str,
    files: &[(RelPath, String)],
) -> Option<String> {
    let (module, object) = function.split_once(':')?;
    let modules: Vec<(String, &str)> = files.iter().filter_map(|(p, t)| module_of(p, t)).collect();
    let Some((_, text)) = modules.iter().find(|(name, _)| name == module) else {
        let names = modules.iter().map(|(name, _)| name.as_str());
        let near = nearest(module, names).map(|near| format!("; did you mean `{near}`?"));
        let package = &*package.name;
        let near = near.unwrap_or_default();
        return Some(format!("package `{package}` has no module `{module}`{near}"));
    };
    let name = object.split('.').next().unwrap_or(object);
    let names = top_level_names(text);
    if names.contains(&name) {
        return None;
    }
    let near = nearest(name, names).map(|near| format!("; did you mean `{module}:{near}`?"));
    Some(format!("`{module}` does not define it{}", near.unwrap_or_default()))
}

/// Returns the dotted name of a Python file inside the import package, with its text. The import
/// package of an sdist is `src/NAME`.
fn module_of<'t>(path: &RelPath, text: &'t str) -> Option<(String, &'t str)> {
    let stem = path.as_str().strip_suffix(".py")?;
    let stem = match stem.strip_prefix("src/") {
        Some(rest) => rest.split_once('/')?.1,
        None => stem,
    };
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    Some((stem.replace('/', "."), text))
}

/// Returns the names that lines at column 0 define or import. Names of an import in parentheses, or
/// in an `if` or `try`, are not among them: a template must define its functions at the top. The
/// `as` of an import is among them, because a name too many only misses an error.
fn top_level_names(text: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    // Blocks, comments and docstrings.
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '"'])) {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let name = match line.strip_prefix("def ").or_else(|| line.strip_prefix("class ")) {
            Some(rest) => rest.split(|c| !is_name(c)).next(),
            None if line.starts_with("from ") || line.starts_with("import ") => {
                let imported = line.split_once("import ").map_or("", |(_, names)| names);
                names.extend(imported.split(|c| !is_name(c)).filter(|name| !name.is_empty()));
                None
            }
            None => {
                line.split_once('=').map(|(name, _)| name.split(':').next().unwrap_or(name).trim())
            }
        };
        names.extend(name.filter(|name| !name.is_empty()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_the_top_of_a_module_are_defined() {
        let text = "from a import one, two as three\nasync def main():\n    def inner(): pass\nclass C(B):\nx: int = 1\ny = 2\n";
        let expected = ["one", "two", "as", "three", "main", "C", "x", "y"];
        assert_eq!(top_level_names(text), expected);
    }

    #[test]
    fn modules_are_below_the_import_package() {
        let module = |path: &str| module_of(&path.parse().unwrap(), "").map(|(name, _)| name);
        assert_eq!(module("src/demo/__main__.py").as_deref(), Some("__main__"));
        assert_eq!(module("src/demo/a/__init__.py").as_deref(), Some("a"));
        assert_eq!(module("a/b.py").as_deref(), Some("a.b"));
        assert_eq!(module("LICENSE"), None);
    }
}
