//! A project of a checkout.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use toml::{Table, Value};

use super::{quoted, reads};
use base::directory::entries;
use base::names::{Requirement, normalized};
use base::regular;

/// Limit of a project's file in bytes, because it is read into memory.
const LONGEST_FILE: u64 = 4 << 20;
const TESTS: [&str; 2] = ["tests", "test"];

pub(super) struct DraftProject {
    /// Normalized name.
    pub name: String,
    /// Directory in the checkout.
    below: PathBuf,
    /// Requirements of build and package.
    requires: BTreeSet<String>,
    /// Variables that its build reads.
    variables: BTreeSet<String>,
    /// Directory of tests.
    tests: Option<&'static str>,
}

/// Returns true for a directory with a build script.
pub(super) fn is_project(directory: &Path) -> bool {
    directory.join("setup.py").is_file() || read_settings(directory).is_some_and(|s| is_built(&s))
}

/// True for settings of a package: others are those of linters.
fn is_built(settings: &Table) -> bool {
    ["project", "build-system"].iter().any(|name| settings.contains_key(*name))
}

fn read_settings(directory: &Path) -> Option<Table> {
    regular::read_to_string(directory.join("pyproject.toml"), LONGEST_FILE).ok()?.parse().ok()
}

impl DraftProject {
    pub fn read(checkout: &Path, directory: &Path) -> io::Result<Option<Self>> {
        if !is_project(directory) {
            return Ok(None);
        }
        let settings = read_settings(directory).unwrap_or_default();
        let text = |name: &str| {
            regular::read_to_string(directory.join(name), LONGEST_FILE).unwrap_or_default()
        };
        let (script, cmake) = (text("setup.py"), text("CMakeLists.txt"));
        let last = || Some(directory.file_name()?.to_string_lossy().into_owned());
        let name =
            in_table(&settings, "project", "name").and_then(Value::as_str).map(str::to_owned);
        let name = name.or_else(|| value_of(&text("setup.cfg"), "name"));
        let name = name.or_else(|| value_of(&script, "name")).or_else(last).unwrap_or_default();
        let lists = [("build-system", "requires"), ("project", "dependencies")];
        let lists =
            lists.iter().filter_map(|(table, key)| in_table(&settings, table, key)?.as_array());
        let requirement = |value: &Value| value.as_str()?.parse::<Requirement>().ok();
        let requires = lists.flatten().filter_map(requirement).map(|required| required.name);
        let mut variables = reads::variables(&script);
        variables.extend(reads::variables(&cmake));
        Ok(Some(Self {
            name: normalized(&name).unwrap_or(name),
            below: directory.strip_prefix(checkout).unwrap_or(Path::new("")).to_owned(),
            requires: requires.collect(),
            variables,
            tests: tests(directory)?,
        }))
    }

    /// Node of the manifest; `names` are its projects.
    pub fn node(&self, checkout: &str, names: &BTreeSet<String>) -> String {
        let below = self.below.to_string_lossy();
        let mut source = format!("source {}", quoted(checkout));
        if !below.is_empty() {
            let _ = write!(source, " subdirectory={}", quoted(&below));
        }
        let mut lines = vec![source];
        let after =
            self.requires.iter().filter(|name| names.contains(*name) && **name != self.name);
        let after: Vec<String> = after.map(|name| quoted(name)).collect();
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
            lines.push(format!("// env {} {}", quoted(name), quoted(reads::likely_value(name))));
        }
        if let Some(tests) = self.tests {
            let place =
                if below.is_empty() { tests.to_owned() } else { format!("{below}/{tests}") };
            lines.push("test-requires \"pytest\"".to_owned());
            lines.push(format!(r#"test "{{python}}" "-m" "pytest" "{{source}}/{place}""#));
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("    {line}\n")).collect();
        format!("python-project {} {{\n{}}}\n", quoted(&self.name), lines.concat())
    }
}

fn in_table<'t>(settings: &'t Table, table: &str, key: &str) -> Option<&'t Value> {
    settings.get(table)?.get(key)
}

/// Value of `key = value` or `key="value"` at the beginning of a line.
fn value_of(text: &str, key: &str) -> Option<String> {
    let line = text
        .lines()
        .map(str::trim)
        .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('=').map(str::trim))?;
    let value = line.trim_end_matches(',').trim_matches(['"', '\'']);
    normalized(value)
}

fn tests(directory: &Path) -> io::Result<Option<&'static str>> {
    for name in TESTS {
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
