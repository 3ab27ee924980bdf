//! Model of a shared cache: its README shows its output.

use std::path::Path;
use std::process::{Command, Output};

use workbench::expected;

const CHAPTER: &str = "tests/remote/README.md";
const INPUTS: &str = "tests/remote/model.tsv";
const BEGIN: &str = "```text\n$ tests/remote/model\n";

fn file(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn model(changes: &[&str]) -> Output {
    Command::new("python3")
        .arg(file("tests/remote/model"))
        .args(changes.iter().flat_map(|change| ["--set", change]))
        .output()
        .expect("python3, 3.10 or newer, is needed for this test")
}

fn table(changes: &[&str]) -> String {
    let output = model(changes);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a column of the lines with a network.
fn column<'t>(table: &'t str, name: &str) -> Vec<&'t str> {
    let head = table.lines().next().unwrap();
    let end = head.find(name).unwrap() + name.len();
    let lines = table.lines().filter(|line| line.contains("Gbit/s"));
    lines.map(|line| line[..end].rsplit("  ").next().unwrap().trim()).collect()
}

#[test]
fn the_readme_has_the_output_of_the_model() {
    let chapter = fs_err::read_to_string(file(CHAPTER)).unwrap();
    let begin = chapter.find(BEGIN).expect("the page shows the table") + BEGIN.len();
    let end = begin + chapter[begin..].find("```").unwrap();
    let found = format!("{}{}{}", &chapter[..begin], table(&[]), &chapter[end..]);
    expected::compare(CHAPTER, &found);
}

#[test]
fn every_input_says_where_it_comes_from() {
    let inputs = fs_err::read_to_string(file(INPUTS)).unwrap();
    for line in inputs.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!(cells.len(), 4, "{line}");
        assert!(cells[3].len() >= 5, "{line}");
    }
}

#[test]
fn downloads_do_not_pay_for_new_content_or_slow_servers() {
    // All machines pack everything, and upload it in the available time.
    let all_new = table(&["changed=1"]);
    assert!(column(&all_new, "ratio").iter().all(|ratio| *ratio >= "1.00"), "{all_new}");
    // A download takes longer than packing at the highest level.
    let slow = table(&["hit=0.001", "hit_xz=0.001"]);
    assert!(column(&slow, "came").iter().all(|came| *came == "0%"), "{slow}");
    // A faster server feeds more machines.
    let fed: Vec<u32> = column(&table(&[]), "fed").iter().map(|fed| fed.parse().unwrap()).collect();
    assert!(fed.chunks(3).all(<[u32]>::is_sorted), "{fed:?}");
}

#[test]
fn an_input_that_there_is_not_is_an_error() {
    for (change, said) in [("cors=2", "no input `cors`"), ("cores=x", "write NAME=VALUE")] {
        let output = model(&[change]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(said), "{text}");
    }
}
