//! Draft of a `python-project` node for a directory of a checkout.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use toml::{Table, Value};

use super::{kdl_string, reads};
use base::directory::entries;
use base::names::{Requirement, normalized};
use base::regular;

/// Limit of a project's file in bytes, because it is read into memory.
const LONGEST_FILE: u64 = 4 << 20;
const TEST_DIRECTORIES: [&str; 2] = ["tests", "test"];

pub(super) struct DraftProject {
    /// Normalized name.
    pub name: String,
    /// Directory in the checkout.
    subdirectory: PathBuf,
    /// Names of the distributions that the build and the package require.
    requires: BTreeSet<String>,
    /// Names of environment variables that setup.py and CMakeLists.txt read.
    variables: BTreeSet<String>,
    test_directory: Option<&'static str>,
}

/// Returns whether a directory has a setup.py, or a pyproject.toml of a package.
pub(super) fn is_project(directory: &Path) -> bool {
    directory.join("setup.py").is_file()
        || read_settings(directory).is_some_and(|s| describes_package(&s))
}

/// Returns whether a pyproject.toml describes a package: others only configure programs.
fn describes_package(settings: &Table) -> bool {
    ["project", "build-system"].iter().any(|name| settings.contains_key(*name))
}

fn read_settings(directory: &Path) -> Option<Table> {
    regular::read_to_string(directory.join("pyproject.toml"), LONGEST_FILE).ok()?.parse().ok()
}

impl DraftProject {
    /// Reads a project; `None` if the directory has none. Unreadable or malformed files count as absent:
    /// the user edits the draft anyway.
    pub fn read(checkout: &Path, directory: &Path) -> io::Result<Option<Self>> {
        if !is_project(directory) {
            return Ok(None);
        }
        let settings = read_settings(directory).unwrap_or_default();
        let text = |name: &str| {
            regular::read_to_string(directory.join(name), LONGEST_FILE).unwrap_or_default()
        };
        let (script, cmake) = (text("setup.py"), text("CMakeLists.txt"));
        let directory_name = || Some(directory.file_name()?.to_string_lossy().into_owned());
        let name =
            in_table(&settings, "project", "name").and_then(Value::as_str).map(str::to_owned);
        let name = name.or_else(|| name_from_line(&text("setup.cfg"), false));
        let name = name.or_else(|| name_from_line(&script, true));
        let name = name.or_else(directory_name).unwrap_or_default();
        let lists = [("build-system", "requires"), ("project", "dependencies")];
        let lists =
            lists.iter().filter_map(|(table, key)| in_table(&settings, table, key)?.as_array());
        let requirement = |value: &Value| value.as_str()?.parse::<Requirement>().ok();
        let requires = lists.flatten().filter_map(requirement).map(|required| required.name);
        let mut variables = reads::variables(&script);
        variables.extend(reads::variables(&cmake));
        Ok(Some(Self {
            name: normalized(&name).unwrap_or(name),
            subdirectory: directory.strip_prefix(checkout).unwrap_or(Path::new("")).to_owned(),
            requires: requires.collect(),
            variables,
            test_directory: test_directory(directory)?,
        }))
    }

    /// Returns the checkout's name and the directory in it.
    pub fn place(&self, checkout: &str) -> String {
        Path::new(checkout).join(&self.subdirectory).to_string_lossy().into_owned()
    }

    /// Writes the project as a `python-project` node. Of its requirements, only those in `names`, the
    /// projects of the manifest, become an `after` line.
    pub fn node(&self, checkout: &str, names: &BTreeSet<String>) -> String {
        let subdirectory = self.subdirectory.to_string_lossy();
        let mut source = format!("source {}", kdl_string(checkout));
        if !subdirectory.is_empty() {
            let _ = write!(source, " subdirectory={}", kdl_string(&subdirectory));
        }
        let mut lines = vec![source];
        let after =
            self.requires.iter().filter(|name| names.contains(*name) && **name != self.name);
        let after: Vec<String> = after.map(|name| kdl_string(name)).collect();
        if !after.is_empty() {
            lines.push(format!("after {}", after.join(" ")));
        }
        if !self.variables.is_empty() {
            lines.push(
                "// Variables that setup.py or CMakeLists.txt reads; {devel} is the installed tree that projects are built against:"
                    .to_owned(),
            );
        }
        for name in &self.variables {
            lines.push(format!(
                "// env {} {}",
                kdl_string(name),
                kdl_string(reads::likely_value(name))
            ));
        }
        // No `test` line if the path has a brace, which would begin a placeholder.
        if let Some(tests) = self.test_directory.filter(|_| !subdirectory.contains(['{', '}'])) {
            let place = match &*subdirectory {
                "" => format!("{{source}}/{tests}"),
                subdirectory => format!("{{source}}/{subdirectory}/{tests}"),
            };
            lines.push("test-requires \"pytest\"".to_owned());
            lines.push(format!(r#"test "{{python}}" "-m" "pytest" {}"#, kdl_string(&place)));
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("    {line}\n")).collect();
        format!("python-project {} {{\n{}}}\n", kdl_string(&self.name), lines.concat())
    }
}

fn in_table<'t>(settings: &'t Table, table: &str, key: &str) -> Option<&'t Value> {
    settings.get(table)?.get(key)
}

/// Returns the name in the first line `name = NAME` of a setup.cfg, or `name="NAME"` of a setup.py, at
/// any indentation. `None` for a setup.py whose name is not a text in quotes, such as a variable; the names
/// in a setup.cfg need no quotes.
fn name_from_line(text: &str, is_python: bool) -> Option<String> {
    let value = text.lines().map(str::trim).find_map(|line| {
        line.strip_prefix("name")?.trim_start().strip_prefix('=').map(str::trim)
    })?;
    let value = value.trim_end_matches(',').trim_end();
    let in_quotes =
        ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    normalized(if is_python { in_quotes? } else { in_quotes.unwrap_or(value) })
}

fn test_directory(directory: &Path) -> io::Result<Option<&'static str>> {
    for name in TEST_DIRECTORIES {
        let place = directory.join(name);
        let is_test = |entry: &fs::DirEntry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            file.starts_with("test_") && Path::new(&file).extension().is_some_and(|e| e == "py")
        };
        if place.is_dir() && entries(&place)?.iter().any(is_test) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
