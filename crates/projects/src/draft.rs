//! First manifest of projects: a node for each project below a directory, from its pyproject.toml
//! or setup.py.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::git_program::git_in;
use super::remote::public_address;
use base::directory::entries;
use base::source::printable;

mod project;
mod reads;

use project::DraftProject;

/// Maximum depth of a project below its checkout: 3 finds `a/b/c/pyproject.toml`. Deeper ones are rarely projects, and
/// a large tree takes long.
pub const MAX_DEPTH: usize = 3;

/// Directories that are not searched, because their projects are examples, tests, results or dependencies.
const SKIPPED_DIRECTORIES: [&str; 8] =
    ["build", "dist", "docs", "examples", "node_modules", "test", "tests", "third_party"];

/// A manifest to start from.
#[derive(Debug)]
pub struct Draft {
    /// Directory for `--sources`.
    pub sources: PathBuf,
    /// Text of packages.kdl.
    pub text: String,
}

/// Drafts a manifest of the checkout in `directory` or, if that has no .git and is no project, of the checkouts in it;
/// `None` without projects.
///
/// # Errors
///
/// Fails if a directory or file cannot be read.
pub fn draft(directory: &Path) -> io::Result<Option<Draft>> {
    let directory = directory.canonicalize()?;
    let is_checkout = directory.join(".git").exists() || project::is_project(&directory);
    let (sources, checkouts) = match directory.parent() {
        Some(parent) if is_checkout => (parent.to_owned(), vec![directory.clone()]),
        _ => (directory.clone(), visible_subdirectories(&directory)?),
    };
    let mut projects: BTreeMap<PathBuf, Vec<DraftProject>> = BTreeMap::new();
    let (mut names, mut omitted) = (BTreeSet::new(), Vec::new());
    for checkout in checkouts {
        let mut projects_of_checkout = Vec::new();
        find_projects(&checkout, &checkout, MAX_DEPTH, &mut projects_of_checkout)?;
        // A name can have only one node: the first directory wins.
        projects_of_checkout.retain(|project| {
            let is_new = names.insert(project.name.clone());
            if !is_new {
                omitted.push((project.name.clone(), project.place(&name_of(&checkout))));
            }
            is_new
        });
        if !projects_of_checkout.is_empty() {
            projects.insert(checkout, projects_of_checkout);
        }
    }
    let text = manifest_text(&projects, &names, &omitted);
    Ok((!projects.is_empty()).then_some(Draft { sources, text }))
}

/// Returns the directories in a directory, except hidden ones.
fn visible_subdirectories(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut directories = Vec::new();
    for entry in entries(directory)? {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if entry.file_type()?.is_dir() && !is_hidden {
            directories.push(entry.path());
        }
    }
    Ok(directories)
}

fn find_projects(
    checkout: &Path,
    directory: &Path,
    depth: usize,
    projects: &mut Vec<DraftProject>,
) -> io::Result<()> {
    if let Some(project) = DraftProject::read(checkout, directory)? {
        projects.push(project);
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for inner in visible_subdirectories(directory)? {
        if !SKIPPED_DIRECTORIES.contains(&name_of(&inner).as_str()) {
            find_projects(checkout, &inner, depth - 1, projects)?;
        }
    }
    Ok(())
}

fn name_of(directory: &Path) -> String {
    directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn manifest_text(
    projects: &BTreeMap<PathBuf, Vec<DraftProject>>,
    names: &BTreeSet<String>,
    omitted: &[(String, String)],
) -> String {
    let mut text =
        "// packages.kdl: Python packages, built from checkouts. `rockpack help manifest \
                    python-project` explains\n// every line.\n"
            .to_owned();
    let addresses = projects.keys().filter_map(|path| Some((name_of(path), remote_address(path)?)));
    for (index, (name, address)) in addresses.enumerate() {
        let blank = if index == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{blank}source {} git={}", kdl_string(&name), kdl_string(&address));
    }
    for (checkout, project) in projects.iter().flat_map(|(path, projects_of_checkout)| {
        projects_of_checkout.iter().map(move |project| (path, project))
    }) {
        let _ = write!(text, "\n{}", project.node(&name_of(checkout), names));
    }
    for (name, place) in omitted {
        let (name, place) = (kdl_string(name), kdl_string(place));
        let _ = writeln!(
            text,
            "\n// {place} has no node, because its project has the name {name}, too."
        );
    }
    text
}

fn remote_address(checkout: &Path) -> Option<String> {
    // A directory without .git can be in another repository, of which git would give the address.
    if !checkout.join(".git").exists() {
        return None;
    }
    let output = git_in(checkout, &["config", "--get", "remote.origin.url"]).ok()?;
    public_address(String::from_utf8_lossy(&output).trim())
}

/// Formats a quoted string of KDL, in which line breaks and control characters are escaped.
fn kdl_string(text: &str) -> String {
    let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
    format!("\"{}\"", printable(&escaped))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use base::source::Source;
    use fs_err as fs;
    use manifest::kdl::{self, Value};

    use super::super::git_program::git;
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let place = root.join(name);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
    }

    #[test]
    fn a_manifest_has_the_projects_of_all_checkouts() {
        let dir = tempfile::tempdir().unwrap();
        let wave =
            "[build-system]\nrequires = [\"setuptools\"]\n[project]\nname = \"Example_Wave\"\n";
        let cython = "[build-system]\nrequires = [\"cython\", \"example-wave>=1\"]\n";
        write(
            dir.path(),
            &[
                ("wave/pyproject.toml", wave),
                (
                    "wave/setup.py",
                    "import os\nroot = os.environ.get(\"EXAMPLE_PATH\", os.getenv('PATH'))\n",
                ),
                ("wave/CMakeLists.txt", "set(ISAS $ENV{EXAMPLE_ISAS})\n"),
                ("wave/tests/test_wave.py", ""),
                ("more/python/cython/pyproject.toml", cython),
                ("more/python/cython/setup.py", "setup(\n    name='example-wave-cython',\n)\n"),
                ("more/docs/pyproject.toml", wave),
                ("settings/pyproject.toml", "[tool.ruff]\nline-length = 100\n"),
            ],
        );
        let draft = draft(dir.path()).unwrap().unwrap();
        assert_eq!(draft.sources, dir.path().canonicalize().unwrap());
        let expected = "
python-project \"example-wave-cython\" {
    source \"more\" subdirectory=\"python/cython\"
    after \"example-wave\"
}

python-project \"example-wave\" {
    source \"wave\"
    // Variables that setup.py or CMakeLists.txt reads; {devel} is the installed tree that projects are built against:
    // env \"EXAMPLE_ISAS\" \"{isas}\"
    // env \"EXAMPLE_PATH\" \"{devel}\"
    test-requires \"pytest\"
    test \"{python}\" \"-m\" \"pytest\" \"{source}/tests\"
}
";
        assert!(draft.text.ends_with(expected), "{}", draft.text);
    }

    #[test]
    fn uses_the_directory_name_if_python_computes_the_name() {
        let dir = tempfile::tempdir().unwrap();
        let script = |name: &str| format!("setup(\n    name={name},\n)\n");
        write(
            dir.path(),
            &[
                ("one/setup.py", &script("PACKAGE_NAME")),
                ("two/setup.py", &script("f\"two-{VERSION}\"")),
                ("three/setup.py", &script("'example-three'")),
            ],
        );
        let text = draft(dir.path()).unwrap().unwrap().text;
        for name in ["one", "two", "example-three"] {
            assert!(text.contains(&format!("python-project \"{name}\"")), "{name}: {text}");
        }
    }

    #[test]
    fn escapes_quotes_and_line_breaks_of_paths_and_leaves_out_tests_behind_braces() {
        let dir = tempfile::tempdir().unwrap();
        let script = |name: &str| format!("setup(\n    name='{name}',\n)\n");
        write(
            dir.path(),
            &[
                ("four/a\"b/setup.py", &script("four")),
                ("four/a\"b/tests/test_four.py", ""),
                ("five/a{b/setup.py", &script("five")),
                ("five/a{b/tests/test_five.py", ""),
                ("six\n\u{2028}\u{7f}/a\\\r/setup.py", &script("six")),
            ],
        );
        let text = draft(dir.path()).unwrap().unwrap().text;
        assert!(text.contains(r#"test "{python}" "-m" "pytest" "{source}/a\"b/tests""#), "{text}");
        assert!(!text.contains("a{b/tests"), "{text}");
        let nodes = kdl::parse(&Source::new("packages.kdl", text)).unwrap();
        let value = |text: &str| Value::Text(text.to_owned());
        let six = nodes.iter().find(|node| node.entries[0].value == value("six")).unwrap();
        let source = &six.block.as_ref().unwrap()[0];
        assert_eq!(source.entries[0].value, value("six\n\u{2028}\u{7f}"));
        assert_eq!(source.property("subdirectory"), Some(&value("a\\\r")));
    }

    #[test]
    fn names_the_directory_of_a_second_project_of_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let script = "setup(\n    name='demo',\n)\n";
        write(dir.path(), &[("a/setup.py", script), ("b/inner/setup.py", script)]);
        let text = draft(dir.path()).unwrap().unwrap().text;
        assert_eq!(text.matches("python-project \"demo\"").count(), 1, "{text}");
        let line = "// \"b/inner\" has no node, because its project has the name \"demo\", too.\n";
        assert!(text.ends_with(line), "{text}");
    }

    #[test]
    fn a_directory_without_git_has_no_address_of_the_repository_around_it() {
        if !workbench::skips::has("git", "addresses of checkouts") {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let address = "https://example.org/all.git";
        write(dir.path(), &[("wave/setup.py", ""), ("clone/setup.py", "")]);
        for place in [dir.path().to_owned(), dir.path().join("clone")] {
            git(&[OsStr::new("init"), OsStr::new("--quiet"), place.as_os_str()]).unwrap();
            git_in(&place, &["config", "remote.origin.url", address]).unwrap();
        }
        let checkouts = [dir.path().join("wave"), dir.path().join("clone")];
        let addresses = checkouts.each_ref().map(|checkout| remote_address(checkout));
        assert_eq!(addresses, [None, Some(address.to_owned())]);
    }

    #[test]
    fn fails_without_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let error = draft(&dir.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn sources_of_a_single_checkout_are_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[("wave/setup.cfg", "[metadata]\nname = wave\n"), ("wave/setup.py", "")],
        );
        let draft = draft(&dir.path().join("wave")).unwrap().unwrap();
        assert_eq!(draft.sources, dir.path().canonicalize().unwrap());
        assert!(draft.text.ends_with("python-project \"wave\" {\n    source \"wave\"\n}\n"));
    }
}
