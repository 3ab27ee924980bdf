//! `pyproject.toml` of an sdist, as far as installers read it before a build (PEP 517, PEP 518, PEP
//! 621).

use base::names::{DistName, Requirement};
use base::source::Code;
use base::version::Version;
use toml::{Table, Value};
use wheel::archive::entry_points::is_dotted;
use wheel::package::Sdist;

use crate::Finding;

mod newer;

const NAME: &str = "pyproject.toml";
const BACKEND: &str = "build-backend";
const PATH: &str = "backend-path";

pub(super) fn check(sdist: &Sdist) -> Vec<Finding> {
    let Some((text, document)) = sdist.text(NAME).zip(sdist.project()) else { return Vec::new() };
    let document = match document {
        Ok(document) => document,
        Err(why) => return vec![fault("it is not TOML").because(why)],
    };
    if text.starts_with('\u{feff}') {
        return vec![fault("it begins with a byte order mark, which pip rejects")];
    }
    let mut findings = Vec::new();
    findings.extend(newer::feature(text).map(|feature| {
        fault("it uses TOML 1.1, which pip reads only with a new Python").because(feature)
    }));
    match document.get("build-system") {
        Some(system) => findings.extend(check_build_system(system, sdist)),
        None => findings.extend(setuptools_project(document, sdist)),
    }
    findings.extend(document.get("project").and_then(check_project));
    findings.extend(document.get("tool").and_then(check_uv));
    let groups = document.get("dependency-groups").filter(|groups| !groups.is_table());
    findings.extend(groups.map(|_| wrong_form("dependency-groups", "a table")));
    findings
}

/// Name of a backend inside the sdist, if it is `module:object`. [`check`] finds its module.
pub(super) fn backend(sdist: &Sdist) -> Option<String> {
    let system = sdist.project()?.as_ref().ok()?.get("build-system")?;
    let name = system.get(BACKEND)?.as_str()?;
    let is_inside = texts(system.get(PATH)?)?.into_iter().next().is_some();
    (is_inside && name.contains(':') && is_object(name)).then(|| name.to_owned())
}

/// Installers build with setuptools if there is no `build-system`.
fn setuptools_project(document: &Table, sdist: &Sdist) -> Option<Finding> {
    let has_name = document.contains_key("project")
        || ["setup.py", "setup.cfg"].iter().any(|name| sdist.has(name));
    let message = "it has neither a `build-system` nor a `project`, and setuptools finds no setup.py or setup.cfg";
    (!has_name).then(|| fault(message))
}

fn fault(message: impl Into<std::borrow::Cow<'static, str>>) -> Finding {
    Finding::error(Code::MetadataField, message).of(NAME)
}

/// Error for a key whose value has another form than the standard's.
fn wrong_form(key: &str, expected: &str) -> Finding {
    fault(format!("its `{key}` must be {expected}"))
}

fn check_build_system(system: &Value, sdist: &Sdist) -> Option<Finding> {
    let Some(system) = system.as_table() else {
        return Some(wrong_form("build-system", "a table"));
    };
    let requires = system.get("requires");
    if requires.is_none() {
        return Some(fault("its `build-system` lacks the key `requires`"));
    }
    if let Some(finding) = requirements("requires", requires) {
        return Some(finding);
    }
    let backend = match system.get(BACKEND).map(Value::as_str) {
        Some(None) => return Some(wrong_form(BACKEND, "a text")),
        Some(Some(name)) if !is_object(name) => {
            return Some(wrong_form(BACKEND, "the name of a module, or `module:object`"));
        }
        backend => backend.flatten(),
    };
    let paths = match system.get(PATH).map(texts) {
        Some(None) => return Some(wrong_form(PATH, "a list of texts")),
        paths => paths.flatten().unwrap_or_default(),
    };
    if paths.is_empty() {
        let is_empty = requires.and_then(Value::as_array).is_some_and(Vec::is_empty);
        let message = format!("its `requires` is empty, so nothing installs its `{BACKEND}`");
        return is_empty.then(|| fault(message));
    }
    let mut directories = Vec::new();
    for path in paths {
        let wrong =
            |message| Some(fault(format!("its `{PATH}` {message}")).because(format!("`{path}`")));
        let Some(directory) = directory(path) else { return wrong("leads outside the sdist") };
        if !directory.is_empty() && !sdist.has_below(&directory) {
            return wrong("names no directory of the sdist");
        }
        directories.push(directory);
    }
    let module = backend?.split(':').next().unwrap_or_default().replace('.', "/");
    let has_module = |directory: &String| {
        let source = |end: &str| sdist.has(&format!("{directory}{module}{end}"));
        source(".py") || source("/__init__.py")
    };
    let is_lost = !directories.iter().any(has_module);
    is_lost
        .then(|| fault(format!("no directory of its `{PATH}` has the module of its `{BACKEND}`")))
}

fn check_project(project: &Value) -> Option<Finding> {
    let Some(project) = project.as_table() else { return Some(wrong_form("project", "a table")) };
    let Some(name) = project.get("name") else {
        return Some(fault("its `project` lacks the key `name`"));
    };
    if name.as_str().is_none_or(|name| name.parse::<DistName>().is_err()) {
        return Some(wrong_form("project.name", "the name of a distribution"));
    }
    let dynamic = match project.get("dynamic").map(texts) {
        Some(None) => return Some(wrong_form("project.dynamic", "a list of texts")),
        dynamic => dynamic.flatten().unwrap_or_default(),
    };
    match project.get("version") {
        None if !dynamic.contains(&"version") => {
            return Some(fault("its `project` lacks the key `version`"));
        }
        Some(version) if version.as_str().is_none_or(|text| text.parse::<Version>().is_err()) => {
            return Some(wrong_form("project.version", "a version"));
        }
        _ => {}
    }
    let python = project.get("requires-python");
    let is_range = |value: &Value| {
        value.as_str().is_some_and(|text| text.parse::<pep440_rs::VersionSpecifiers>().is_ok())
    };
    if python.is_some_and(|python| !is_range(python)) {
        return Some(wrong_form("project.requires-python", "a range of versions"));
    }
    requirements("project.dependencies", project.get("dependencies"))
        .or_else(|| extras(project.get("optional-dependencies")?))
}

fn extras(extras: &Value) -> Option<Finding> {
    let key = "project.optional-dependencies";
    let Some(extras) = extras.as_table() else { return Some(wrong_form(key, "a table of lists")) };
    if let Some(name) = extras.keys().find(|name| base::names::normalized(name).is_none()) {
        return Some(
            wrong_form(key, "a table whose keys are names of extras").because(format!("`{name}`")),
        );
    }
    extras.values().find_map(|list| requirements(key, Some(list)))
}

/// Checks `tool.uv`, because uv reads it in each project that it builds, and fails on a wrong one.
fn check_uv(tool: &Value) -> Option<Finding> {
    let Some(tool) = tool.as_table() else { return Some(wrong_form("tool", "a table")) };
    let uv = tool.get("uv")?;
    let Some(uv) = uv.as_table() else { return Some(wrong_form("tool.uv", "a table")) };
    let is_source = |value: &Value| value.is_table() || value.is_array();
    let is_sound = |table: &Table| table.values().all(is_source);
    if uv.get("sources").is_some_and(|sources| !sources.as_table().is_some_and(is_sound)) {
        return Some(wrong_form("tool.uv.sources", "a table of tables or lists"));
    }
    let is_index = |value: &Value| value.get("url").is_some_and(Value::is_str);
    let is_list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(is_index));
    let index = uv.get("index").filter(|index| !is_list(index));
    index.map(|_| wrong_form("tool.uv.index", "a list of tables with a `url`"))
}

fn requirements(key: &str, list: Option<&Value>) -> Option<Finding> {
    let list = list?;
    let Some(list) = texts(list) else { return Some(wrong_form(key, "a list of requirements")) };
    let wrong = list.into_iter().find(|text| text.parse::<Requirement>().is_err())?;
    Some(wrong_form(key, "a list of requirements").because(format!("`{wrong}`")))
}

fn texts(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn is_object(name: &str) -> bool {
    let (module, object) =
        name.split_once(':').map_or((name, None), |(module, object)| (module, Some(object)));
    is_dotted(module) && object.is_none_or(is_dotted)
}

/// Path with a final `/`, or empty for the root; `None` outside.
fn directory(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut inside = Vec::new();
    for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        match segment {
            ".." => _ = inside.pop()?,
            name => inside.push(name),
        }
    }
    // An empty segment, so that the last one ends with a slash too.
    inside.push("");
    Some(inside.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        let document: Table = toml::from_str(text).unwrap();
        let system =
            document.get("build-system").and_then(|one| check_build_system(one, &Sdist::default()));
        let project = document.get("project").and_then(check_project);
        let uv = document.get("tool").and_then(check_uv);
        [system, project, uv].into_iter().flatten().count()
    }

    #[test]
    fn refuses_projects_that_an_installer_does_not_build() {
        for text in [
            "[build-system]\nrequires = [\"a>=1\"]\nbuild-backend = \"a.b:c\"\n",
            "[build-system]\nrequires = []\nbackend-path = [\"a/..\"]\n",
            "[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \">=3.8\"\n",
            "[project]\nname = \"a\"\ndynamic = [\"version\"]\noptional-dependencies.x = [\"b\"]\n",
            "[tool.uv.sources]\na = { path = \"b\" }\n",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
        for text in [
            "build-system = 1\n",
            "[build-system]\n",
            "[build-system]\nrequires = \"x\"\n",
            "[build-system]\nrequires = [\"a=1\"]\n",
            "[build-system]\nrequires = []\nbuild-backend = 1\n",
            "[build-system]\nrequires = []\nbuild-backend = \"a\"\n",
            "[build-system]\nrequires = []\nbackend-path = [\"gone\"]\n",
            "[tool.uv]\nindex = [{ url = 1 }]\n",
            "[build-system]\nrequires = []\nbackend-path = [\"..\"]\n",
            "[build-system]\nrequires = []\nbackend-path = [\"/a\"]\n",
            "[build-system]\nrequires = []\nbuild-backend = \"a\"\nbackend-path = [\".\"]\n",
            "[project]\nversion = \"1\"\n",
            "[project]\nname = \"a\"\n",
            "[project]\nname = \"a\"\nversion = 1.0\n",
            "[project]\nname = \"a\"\nversion = \"1\"\nrequires-python = \"three\"\n",
            "[project]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"a=1\"]\n",
            "[project]\nname = \"a\"\nversion = \"1\"\noptional-dependencies.-a- = []\n",
            "[tool.uv.sources]\na = 1\n",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
    }
}
