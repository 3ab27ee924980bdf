//! Requirements of all forms, names of the manifest, and sdists.

use std::fmt::Write as _;
use std::process::Output;

use fs_err as fs;

use super::{CALLERS, Place};
use crate::program::stderr;

const HOOKS: &str = "import os, whole_wheel\n\
    def get_requires_for_build_wheel(config_settings=None):\n    return REQUIRED\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    return whole_wheel.write(directory, NAME, '1', FILES)\n";

const SYSTEM: &str =
    "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";

/// Writes a project whose backend returns `required`, a Python expression.
fn write_project(place: &Place, name: &str, required: &str) {
    let module = name.replace('-', "_");
    let backend = format!("{HOOKS}REQUIRED = {required}\nNAME = '{module}'\nFILES = {{}}\n");
    place.project(name, &[("pyproject.toml", SYSTEM), ("backend.py", &backend)]);
}

/// Writes a wheel with these requirements into `links`, which pip's settings name.
pub(crate) fn write_linked_wheel(place: &Place, name: &str, version: &str, requires: &str) {
    let script = format!(
        "import sys; sys.path.insert(0, 'src/one')\nimport whole_wheel\n\
         whole_wheel.write('links', '{name}', '{version}', {{'{name}.py': 'VERSION = {version:?}\\n'}})\n\
         import zipfile\n\
         file = 'links/{name}-{version}-py3-none-any.whl'\n\
         with zipfile.ZipFile(file) as archive:\n    members = {{n: archive.read(n) for n in archive.namelist()}}\n\
         key = next(n for n in members if n.endswith('METADATA'))\n\
         members[key] += {requires:?}.encode()\n\
         with zipfile.ZipFile(file, 'w') as archive:\n    [archive.writestr(n, t) for n, t in members.items()]\n"
    );
    let mut command = std::process::Command::new(&place.python);
    let output = command.args(["-c", &script]).current_dir(place.dir.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn build(place: &Place, nodes: &str, options: &[&str]) -> (Output, String) {
    let output = place.build(CALLERS[0], nodes, options, &[]);
    let text = stderr(&output);
    (output, text)
}

#[test]
fn refuses_requirements_that_are_not_a_name_with_versions() {
    let Some(place) = Place::new() else { return };
    let forms = [
        ("one", "['helper @ file://' + os.getcwd()]"),
        ("two", "['--extra-index-url http://127.0.0.1:1/SECRET']"),
        ("three", "['helper\\n-e .']"),
        ("four", "['./']"),
        ("five", "['helper==${HOME}']"),
    ];
    let mut nodes = String::new();
    for (name, required) in forms {
        write_project(&place, name, required);
        writeln!(nodes, "python-project \"{name}\" {{ source \"{name}\"; }}").unwrap();
    }
    // A command that rewrites the file with the requirements.
    write_project(&place, "six", "[]");
    nodes += "python-project \"six\" {\n    source \"six\"\n    \
              run \"{python}\" \"rewrite.py\"\n}\n";
    let rewritten = SYSTEM.replace("[]\nbuild", "[\"helper @ file:///tmp/helper\"]\nbuild");
    let rewrite = format!("open('pyproject.toml', 'w').write({rewritten:?})\n");
    fs::write(place.path("src/six/rewrite.py"), rewrite).unwrap();
    let (output, text) = build(&place, &nodes, &["--jobs", "2"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for name in ["one", "two", "three", "four", "five", "six"] {
        assert!(text.contains(&format!("building `{name}` failed")), "{name}: {text}");
        let log = place.text(&format!("out/logs/{name}.log"));
        assert!(log.contains("error: it requires `"), "{name}: {log}");
        assert!(!log.contains(" install ") && !log.contains(" download "), "{name}: {log}");
    }
    // Wrapped lines of a picture begin with `· `.
    let text = text.replace("· ", "");
    assert!(text.contains("an address; provide its wheel by `prefetch \"helper\"`"), "{text}");
    assert!(text.contains("a name with versions, without options and paths"), "{text}");
}

#[test]
fn no_index_provides_a_name_of_the_manifest() {
    let Some(place) = Place::new() else { return };
    write_project(&place, "one", "[]");
    write_project(&place, "direct", "['one']");
    write_project(&place, "indirect", "['between']");
    write_project(&place, "testing", "[]");
    write_linked_wheel(&place, "one", "99", "");
    write_linked_wheel(&place, "between", "1", "Requires-Dist: one\n");
    let declared = |name: &str, more: &str| {
        format!("python-project \"{name}\" {{ source \"{name}\"; {more} }}\n")
    };
    let test = "test-requires \"one\"; test \"{python}\" \"-c\" \"import one\"";
    let nodes = declared("one", "")
        + &declared("direct", "")
        + &declared("indirect", "")
        + &declared("testing", test)
        + &declared("behind", "after \"one\"");
    write_project(&place, "behind", "['one']");
    let (output, printed) = build(&place, &nodes, &["--only", "behind"]);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    let message = "`behind` is built after `one`, which is neither built now nor in out";
    assert!(printed.contains(message) && printed.contains("add `one` to --only"), "{printed}");
    assert!(!place.path("out/dist").exists());
    let only = ["--only", "direct", "--only", "indirect", "--only", "testing"];
    let options = [&only[..], &["--projects", "tests"]].concat();
    let (output, printed) = build(&place, &nodes, &options);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    for name in ["direct", "indirect", "testing.tests"] {
        let log = place.text(&format!("out/logs/{name}.log"));
        assert!(log.contains("it requires `one`, a name of this manifest"), "{name}: {log}");
        assert!(!log.contains(" install "), "{name}: {log}");
    }
    // The wheel of an earlier build satisfies them.
    let (output, printed) = build(&place, &nodes, &["--only", "one"]);
    assert!(output.status.success(), "{printed}");
    let (output, printed) = build(&place, &nodes, &["--only", "behind"]);
    assert!(output.status.success(), "{printed}");
    let log = place.text("out/logs/behind.log");
    assert!(log.contains("Successfully installed one-1"), "{log}");
}

/// Backend of an sdist that reports its network in its wheel.
const REPORTING: &str = "import os, sys, socket, whole_wheel\n\
    def get_requires_for_build_wheel(config_settings=None):\n    return ['dynamic']\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    import dynamic, static\n    \
    network = os.stat('/proc/self/ns/net').st_ino\n    \
    return whole_wheel.write(directory, 'legacy', '2', {'legacy.py': f'NETWORK = {network}\\n'})\n";

#[test]
fn builds_sdists_of_requirements_behind_walls() {
    let Some(place) = Place::new() else { return };
    let backend = format!(
        "{}REQUIRED = ['legacy>=1']\nNAME = 'one'\n",
        HOOKS.replace("'1', FILES)", "'1', {'one.py': open_network()})")
    );
    let backend = backend
        + "def open_network():\n    import legacy\n    \
        assert legacy.NETWORK != HOST, 'the sdist had the network of the machine'\n    return ''\n";
    let host = std::os::unix::fs::MetadataExt::ino(&fs::metadata("/proc/self/ns/net").unwrap());
    let backend = format!("{backend}HOST = {host}\n");
    place.project("one", &[("pyproject.toml", SYSTEM), ("backend.py", &backend)]);
    write_linked_wheel(&place, "static", "1", "");
    write_linked_wheel(&place, "dynamic", "1", "");
    let system = SYSTEM.replace("[]\nbuild", "[\"static\"]\nbuild");
    let files = [("pyproject.toml", &*system), ("backend.py", REPORTING)];
    place.project("legacy-2", &[]);
    for (file, text) in files {
        fs::write(place.path("src/legacy-2").join(file), text).unwrap();
    }
    let info = "Metadata-Version: 2.1\nName: legacy\nVersion: 2\n";
    fs::write(place.path("src/legacy-2/PKG-INFO"), info).unwrap();
    let output = std::process::Command::new("tar")
        .args(["-czf", "links/legacy-2.tar.gz", "-C", "src", "legacy-2"])
        .current_dir(place.dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let nodes = "python-project \"one\" { source \"one\"; }\n";
    let (output, text) = build(&place, nodes, &[]);
    let log = place.text("out/logs/one.log");
    assert!(output.status.success(), "{text}\n{log}");
    assert!(log.contains("Successfully installed legacy-2"), "{log}");
}
