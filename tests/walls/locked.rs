//! Requirements that are resolved before the first build, and locked ones.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::regular;
use fs_err as fs;

use super::requirements::write_linked_wheel;
use super::{CALLERS, Place};
use crate::program::stderr;

/// Backend whose wheel stores the version of a requirement.
const STORING: &str = "import whole_wheel\n\
    def get_requires_for_build_wheel(config_settings=None):\n    return ['helper']\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    import helper, tool\n    text = tool.VERSION + helper.VERSION\n    \
    return whole_wheel.write(directory, 'one', '1', {'one.py': f'TEXT = {text!r}\\n'})\n";

/// Backend without requirements.
const PLAIN: &str = "import os, whole_wheel\n\
    def build_wheel(directory, config_settings=None, metadata_directory=None):\n    \
    name = os.path.basename(os.environ['PROJECT'])\n    \
    return whole_wheel.write(directory, name, '1', {f'{name}.py': ''})\n";

fn system(requires: &str) -> String {
    format!(
        "[build-system]\nrequires = [{requires}]\nbuild-backend = \"backend\"\nbackend-path = \
         [\".\"]\n"
    )
}

fn plain(place: &Place, name: &str, requires: &str) {
    place.project(name, &[("pyproject.toml", &system(requires)), ("backend.py", PLAIN)]);
}

fn declared(name: &str, lines: &str) -> String {
    format!(
        "python-project \"{name}\" {{\n    source \"{name}\"\n    env \"PROJECT\" \"{name}\"\n    {lines}\n}}\n"
    )
}

#[test]
fn resolves_requirements_before_the_first_build() {
    let Some(place) = Place::new() else { return };
    plain(&place, "first", "");
    plain(&place, "behind", "\"first\", \"absent-static\"");
    plain(&place, "node", "");
    plain(&place, "asked", "");
    let asked = format!(
        "{PLAIN}def get_requires_for_build_wheel(c=None):\n    return ['absent-dynamic']\n"
    );
    fs::write(place.path("src/asked/backend.py"), asked).unwrap();
    // Its command corrects the file, before and behind another project.
    plain(&place, "corrected", "\"absent-before\"");
    plain(&place, "late", "\"absent-before\"");
    let correct = "run \"sed\" \"-i\" \"s/.absent-before.//\" \"pyproject.toml\"";
    let nodes = declared("first", "")
        + &declared("behind", "after \"first\"")
        + &declared("node", "after \"first\"\n    build-requires \"absent-node\"")
        + &declared("asked", "")
        + &declared("corrected", correct)
        + &declared("late", &format!("after \"first\"\n    {correct}"));
    let output = place.build(CALLERS[0], &nodes, &["--jobs", "2"], &[]);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let at = |line: &str| text.find(line).unwrap_or_else(|| panic!("no `{line}` in {text}"));
    let built = at("first: started");
    assert!(at("requirements of 6 projects") < built, "{text}");
    for (name, requirement) in
        [("behind", "absent-static"), ("node", "absent-node"), ("asked", "absent-dynamic")]
    {
        assert!(at(&format!("{name}: failed")) < built, "{text}");
        assert!(!text.contains(&format!("{name}: started")), "{text}");
        let log = place.text(&format!("out/logs/{name}.log"));
        assert!(log.contains(requirement) && log.contains("to build it alone again"), "{log}");
    }
    for name in ["first", "corrected", "late"] {
        let wheel = place.path(&format!("out/dist/{name}-1-py3-none-any.whl"));
        assert!(wheel.is_file(), "{name}: {text}");
    }
    let log = place.text("out/logs/late.log");
    assert!(log.contains("before its commands: fetching the sdist of absent-before"), "{log}");
}

/// An index of the files in a directory, with the number of its answers.
fn index(links: PathBuf) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let answers = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answers.fetch_add(1, Ordering::Relaxed);
            answer(&mut stream.unwrap(), &links);
        }
    });
    (port, count)
}

fn answer(stream: &mut TcpStream, links: &std::path::Path) {
    let mut request = [0; 4096];
    let length = stream.read(&mut request).unwrap_or_default();
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default();
    let mut parts = path.trim_matches('/').split('/').skip(1);
    let (name, file) = (parts.next().unwrap_or_default(), parts.next());
    let body = file.map_or_else(
        || {
            let entries = fs::read_dir(links).unwrap();
            let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let of_name = files.filter(|file| file.starts_with(&format!("{name}-")));
            let links = of_name.map(|file| format!("<a href=\"{file}\">{file}</a>"));
            links.collect::<Vec<_>>().concat().into()
        },
        |file| fs::read(links.join(file)).unwrap_or_default(),
    );
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
}

#[test]
fn installs_locked_requirements_without_an_index() {
    let Some(place) = Place::new() else { return };
    place.project("one", &[("pyproject.toml", &system("\"tool>=1\"")), ("backend.py", STORING)]);
    write_linked_wheel(&place, "tool", "1", "");
    write_linked_wheel(&place, "helper", "3", "");
    let (port, count) = index(place.path("links"));
    let address = format!("http://127.0.0.1:{port}/simple");
    let build = |options: &[&str]| -> (Output, String) {
        let variables =
            [("PIP_FIND_LINKS", ""), ("PIP_NO_INDEX", "0"), ("PIP_INDEX_URL", &*address)];
        let nodes = "python-project \"one\" { source \"one\"; }\n";
        let options = [options, &["--requirements", "locks", "--projects", "rebuild"]].concat();
        let output = place.build(CALLERS[0], nodes, &options, &variables);
        let text = stderr(&output) + &place.text("out/logs/one.log");
        (output, text)
    };
    let wheel = place.path("out/dist/one-1-py3-none-any.whl");
    let (output, text) = build(&[]);
    assert!(output.status.success(), "{text}");
    let first = regular::sha256(&wheel).unwrap();
    assert!(count.load(Ordering::Relaxed) > 2, "the index was asked: {text}");
    let lock = place.path("locks/pylock.one.toml");
    let listed = fs::read_to_string(&lock).unwrap();
    assert!(listed.contains("name = \"helper\"") && listed.contains("name = \"tool\""), "{listed}");
    // A newer version that a build with an index would take.
    write_linked_wheel(&place, "tool", "2", "");
    fs::remove_dir_all(place.path("out")).unwrap();
    let asked = count.load(Ordering::Relaxed);
    let (output, text) = build(&["--locked"]);
    assert!(output.status.success(), "{text}");
    assert_eq!(regular::sha256(&wheel).unwrap(), first, "{text}");
    assert_eq!(count.load(Ordering::Relaxed), asked, "no index was asked: {text}");
    let (output, text) = build(&[]);
    assert!(output.status.success(), "{text}");
    assert_ne!(regular::sha256(&wheel).unwrap(), first, "without --locked, it is the newer one");
    fs::write(&lock, &listed).unwrap();
    // A list that lacks a requirement of the backend, then one of pyproject.toml.
    for name in ["helper", "tool"] {
        let tables = listed.split("\n[[packages]]\n");
        let kept: Vec<_> =
            tables.filter(|table| !table.starts_with(&format!("name = \"{name}\""))).collect();
        fs::write(&lock, kept.join("\n[[packages]]\n")).unwrap();
        let (output, text) = build(&["--locked"]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("its lock ") && text.contains(&format!("lacks `{name}")), "{text}");
    }
    fs::write(&lock, &listed).unwrap();
    let file = place.path("locks/wheels/tool-1-py3-none-any.whl");
    fs::write(&file, "changed").unwrap();
    let (output, text) = build(&["--locked"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("has another SHA-256 than the list"), "{text}");
    fs::remove_file(&file).unwrap();
    let (_, text) = build(&["--locked"]);
    assert!(text.contains("its lock: `wheels/tool-1-py3-none-any.whl` is missing"), "{text}");
    fs::remove_file(&lock).unwrap();
    let (output, text) = build(&["--locked"]);
    assert!(!output.status.success() && text.contains("pylock.one.toml"), "{text}");
}
