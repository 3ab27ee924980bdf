//! First manifest of projects: a node for each project below a directory, from its pyproject.toml
//! or setup.py.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use super::git_program::git_in;
use super::remote::public_address;
use base::directory::entries;

mod project;
mod reads;

use project::DraftProject;

/// Directories between a checkout and a project in it.
const DEPTH: usize = 3;

/// Directories without projects of the checkout.
const OTHERS: [&str; 8] =
    ["build", "dist", "docs", "examples", "node_modules", "test", "tests", "third_party"];

/// A manifest to start from.
#[derive(Debug)]
pub struct Draft {
    /// Directory for `--sources`.
    pub sources: PathBuf,
    /// Text of packages.kdl.
    pub text: String,
}

/// Drafts a manifest of the checkout in `directory`, or of the checkouts below it; `None` without
/// projects.
///
/// # Errors
///
/// Fails if a directory or file cannot be read.
pub fn draft(directory: &Path) -> io::Result<Option<Draft>> {
    let directory = directory.canonicalize()?;
    let is_checkout = directory.join(".git").exists() || project::is_project(&directory);
    let (sources, checkouts) = match directory.parent() {
        Some(parent) if is_checkout => (parent.to_owned(), vec![directory.clone()]),
        _ => (directory.clone(), below(&directory)?),
    };
    let mut projects: BTreeMap<PathBuf, Vec<DraftProject>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for checkout in checkouts {
        let mut projects_of_checkout = Vec::new();
        collect(&checkout, &checkout, DEPTH, &mut projects_of_checkout)?;
        projects_of_checkout.retain(|project| names.insert(project.name.clone()));
        if !projects_of_checkout.is_empty() {
            projects.insert(checkout, projects_of_checkout);
        }
    }
    let text = text(&projects, &names);
    Ok((!projects.is_empty()).then_some(Draft { sources, text }))
}

/// Directories below, without hidden ones.
fn below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut directories = Vec::new();
    for entry in entries(directory)? {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if entry.file_type()?.is_dir() && !is_hidden {
            directories.push(entry.path());
        }
    }
    Ok(directories)
}

fn collect(
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
    for inner in below(directory)? {
        let name = inner.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !OTHERS.contains(&name.as_str()) {
            collect(checkout, &inner, depth - 1, projects)?;
        }
    }
    Ok(())
}

fn text(projects: &BTreeMap<PathBuf, Vec<DraftProject>>, names: &BTreeSet<String>) -> String {
    let mut text =
        "// packages.kdl: Python packages, built from checkouts. `rockpack help manifest \
                    python-project` explains\n// every line.\n"
            .to_owned();
    let directory =
        |checkout: &Path| checkout.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let addresses = projects.keys().filter_map(|path| Some((directory(path), address(path)?)));
    for (index, (name, address)) in addresses.enumerate() {
        let blank = if index == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{blank}source {} git={}", quoted(&name), quoted(&address));
    }
    for (checkout, project) in projects.iter().flat_map(|(path, projects_of_checkout)| {
        projects_of_checkout.iter().map(move |project| (path, project))
    }) {
        let _ = write!(text, "\n{}", project.node(&directory(checkout), names));
    }
    text
}

fn address(checkout: &Path) -> Option<String> {
    let output = git_in(checkout, &["config", "--get", "remote.origin.url"]).ok()?;
    public_address(String::from_utf8_lossy(&output).trim())
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use fs_err as fs;

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
    fn a_name_that_python_computes_is_that_of_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let odd = "a\"b";
        let script = |name: &str| format!("setup(\n    name={name},\n)\n");
        write(
            dir.path(),
            &[
                ("one/setup.py", &script("PACKAGE_NAME")),
                ("two/setup.py", &script("f\"two-{VERSION}\"")),
                ("three/setup.py", &script("'example-three'")),
                (&format!("four/{odd}/setup.py"), &script("'four'")),
                (&format!("four/{odd}/tests/test_four.py"), ""),
                ("five/a{b/setup.py", &script("'five'")),
                ("five/a{b/tests/test_five.py", ""),
            ],
        );
        let text = draft(dir.path()).unwrap().unwrap().text;
        for name in ["one", "two", "example-three", "four", "five"] {
            assert!(text.contains(&format!("python-project \"{name}\"")), "{name}: {text}");
        }
        assert!(text.contains(r#"test "{python}" "-m" "pytest" "{source}/a\"b/tests""#), "{text}");
        assert!(!text.contains("a{b/tests"), "{text}");
    }

    #[test]
    fn a_checkout_itself_is_below_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &[("wave/setup.cfg", "[metadata]\nname = wave\n"), ("wave/setup.py", "")],
        );
        let draft = draft(&dir.path().join("wave")).unwrap().unwrap();
        assert_eq!(draft.sources, dir.path().canonicalize().unwrap());
        assert!(draft.text.ends_with("python-project \"wave\" {\n    source \"wave\"\n}\n"));
        assert!(super::draft(&dir.path().join("..").join("..").join("dev/null")).is_err());
    }
}
