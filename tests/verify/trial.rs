//! Trial builds of sdists: built and imported ones, and code that is not run.

use std::path::{Path, PathBuf};

use fs_err as fs;
use tempfile::TempDir;

use super::cases::tar;
use crate::program::{command, stderr};

/// Returns a selector's sdist as rockpack writes it: path and text of each file.
pub fn selector(top: &str, module: &str) -> Vec<(String, String)> {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    let sources = runtime.join("meta");
    let name = |path: &Path, below: &Path| path.strip_prefix(below).unwrap().display().to_string();
    let mut files: Vec<(String, String)> = files(&sources)
        .into_iter()
        .filter(|path| !path.ends_with("LICENSE"))
        .map(|path| (name(&path, &sources), fs::read_to_string(path).unwrap()))
        .collect();
    for (path, _) in &mut files {
        if let Some((_, rest)) = path.strip_prefix("src/").and_then(|path| path.split_once('/')) {
            *path = format!("src/{module}/{rest}");
        }
    }
    let common = runtime.join("common");
    for path in self::files(&common) {
        let mut text = fs::read_to_string(&path).unwrap();
        if path.ends_with("_dist_info.py") {
            text += &facts(module);
        }
        files.push((format!("src/{module}/{}", name(&path, &common)), text));
    }
    let info = "Metadata-Version: 2.2\nName: demo\nVersion: 1.0\n";
    files.push(("PKG-INFO".to_owned(), info.to_owned()));
    files.into_iter().map(|(path, text)| (format!("{top}/{path}"), text)).collect()
}

/// Returns facts in rockpack's form.
fn facts(module: &str) -> String {
    format!("\n\n{}", FACTS.replace("MODULE", module))
}

const FACTS: &str = r#"DIST = {
    "command": "demo",
    "default_target": "gpu90",
    "distribution": "demo",
    "extras": {},
    "families": {},
    "libraries": {},
    "mode": "kpack",
    "packages": {},
    "requires": [],
    "selector": {
        "distribution": "demo",
        "module": "MODULE",
        "package": "meta",
    },
    "targets": {
        "linux": [
            "gpu90",
        ],
    },
    "version": "1.0",
}
"#;

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        match entry {
            path if path.ends_with("__pycache__") => {}
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push(path),
        }
    }
    found.sort();
    found
}

/// Writes the sdist into a directory.
fn write_sdist(files: &[(String, String)]) -> TempDir {
    let dir = TempDir::new().unwrap();
    let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    fs::write(dir.path().join("demo-1.0.tar.gz"), tar(&files, &[])).unwrap();
    dir
}

/// Returns status and messages of `verify`, with additional variables.
fn verified(dir: &Path, more: &[(&str, &str)]) -> (Option<i32>, String) {
    let args = ["wheel", "verify", "demo-1.0.tar.gz", "--manifest", "built-in"];
    let output = command(dir, &args).envs(more.iter().copied()).output().unwrap();
    (output.status.code(), stderr(&output))
}

#[test]
fn a_selector_of_any_module_is_built_and_imported() {
    for module in ["demo", "other_sdk"] {
        let dir = write_sdist(&selector("demo-1.0", module));
        assert_eq!(verified(dir.path(), &[]), (Some(0), String::new()), "{module}");
    }
}

#[test]
fn a_module_that_python_has_too_is_a_fault() {
    let dir = write_sdist(&selector("demo-1.0", "json"));
    let (status, told) = verified(dir.path(), &[]);
    assert_eq!(status, Some(1));
    assert!(told.contains("json is also a module of Python"), "{told}");
}

#[test]
fn an_entry_point_of_another_module_is_a_fault() {
    let mut files = selector("demo-1.0", "demo");
    let points = "[console_scripts]\nx = os:getcwd\n";
    files.push(("demo-1.0/entry_points.txt".to_owned(), points.to_owned()));
    let (status, told) = verified(write_sdist(&files).path(), &[]);
    assert_eq!(status, Some(1));
    assert!(told.contains("the entry point os:getcwd is not in demo"), "{told}");
}

/// Each file that a build or an import runs would leave a mark.
#[test]
fn foreign_code_is_not_run_and_a_note_names_it() {
    for path in [
        "backend/rocm_build.py",
        "src/demo/__init__.py",
        "src/demo/_dist_info.py",
        "src/demo/more.py",
        "src/sitecustomize.py",
        "src/more.pth",
    ] {
        let mut files = selector("demo-1.0", "demo");
        let dir = TempDir::new().unwrap();
        let mark = dir.path().join("mark");
        let code = format!("import pathlib; pathlib.Path({mark:?}).touch()\n");
        let path = format!("demo-1.0/{path}");
        match files.iter_mut().find(|(known, _)| *known == path) {
            Some((_, text)) => *text += &code,
            None => files.push((path.clone(), code)),
        }
        let (status, told) = verified(write_sdist(&files).path(), &[]);
        assert_eq!(status, Some(0), "{told}");
        assert!(!mark.exists(), "{path} was run");
        assert!(told.contains("not built and imported") && told.contains(&path), "{told}");
    }
}

#[test]
fn variables_of_python_have_no_effect() {
    let dir = write_sdist(&selector("demo-1.0", "demo"));
    let modules = dir.path().join("modules");
    fs::create_dir(&modules).unwrap();
    for name in ["sitecustomize", "usercustomize", "zipfile"] {
        let code = format!("open({:?}, 'w').close()\n", dir.path().join("mark"));
        fs::write(modules.join(format!("{name}.py")), code).unwrap();
    }
    let path = modules.display().to_string();
    assert_eq!(verified(dir.path(), &[("PYTHONPATH", &path)]), (Some(0), String::new()));
    assert!(!dir.path().join("mark").exists());
}

#[test]
fn a_machine_without_python_is_named_in_a_warning() {
    let dir = write_sdist(&selector("demo-1.0", "demo"));
    let (status, told) = verified(dir.path(), &[("PATH", "/nonexistent")]);
    assert_eq!(status, Some(0));
    assert!(told.contains("no `python3` in PATH"), "{told}");
    assert!(told.contains("install Python 3.10 or newer"), "{told}");
}
