//! `rockpack check`, and problems in every format: exit status, standard output, standard error.

use std::path::Path;
use std::process::Command;

use binary::elf::stub::{StubMachine, exec_stub};
use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{rockpack, text};

const PACKAGES: &str = include_str!("../packages.kdl");

/// Makes a repository with the manifest in `packaging`.
fn repository(packages: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let packaging = dir.path().join("packaging");
    crate::repository::copy(&packaging, "");
    fs::write(packaging.join("packages.kdl"), packages).unwrap();
    dir
}

/// Returns the line of the first mistake.
fn line() -> usize {
    1 + PACKAGES.lines().position(|line| line.starts_with("    rpath \"core\" ")).unwrap()
}

/// Returns a manifest with two mistakes: an unknown package, and a name given twice, in two places.
fn mistaken() -> String {
    let twice = "    find-library \"rpp\"\n";
    PACKAGES.replacen("\n    rpath \"core\" ", "\n    rpath \"cor\" ", 1).replacen(
        twice,
        &twice.repeat(2),
        1,
    )
}

/// Returns exit status, standard output, standard error.
fn check(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = rockpack(dir, &[&["check"], args].concat());
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_manifest_that_is_fine_is_one_line() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (status, out, err) = check(here, &[]);
    assert_eq!((status, err.as_str()), (0, ""), "the repository's own files are clean");
    assert!(
        out.starts_with("packages.kdl and families.kdl: 7 packages, ")
            && out.ends_with(" rules, 34 ISAs, fine\n"),
        "{out}"
    );
    let (_, rules) = out.split_once(':').unwrap();
    let nowhere = TempDir::new().unwrap();
    for (dir, manifest, called) in [
        (nowhere.path(), "built-in", "<built in>"),
        (repository(PACKAGES).path(), "packaging", "packaging"),
    ] {
        let expected = format!("{called}/packages.kdl and {called}/families.kdl:{rules}");
        assert_eq!(check(dir, &["--manifest", manifest]).1, expected);
    }
}

#[test]
fn mistakes_are_all_shown_and_the_status_is_1() {
    let dir = repository(&mistaken());
    let (status, out, err) = check(dir.path(), &["--manifest", "packaging"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert_eq!(err.matches('×').count(), 2, "{err}");
    assert!(
        err.contains(&format!("[packaging/packages.kdl:{}:11]", line())),
        "a picture names the file as it was asked for: {err}"
    );
}

#[test]
fn a_locale_without_utf_8_gets_ascii() {
    let dir = repository(&mistaken());
    for (locale, is_ascii) in [("C", true), ("C.UTF-8", false)] {
        let mut command =
            crate::program::command(dir.path(), &["check", "--manifest", "packaging"]);
        let output = command.env("LC_ALL", locale).output().unwrap();
        assert_eq!(output.stderr.is_ascii(), is_ascii, "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("packages.kdl:"), "{locale}");
    }
}

#[test]
fn a_manifest_that_is_not_there_is_the_command_lines_fault() {
    let dir = TempDir::new().unwrap();
    let (status, out, err) = check(dir.path(), &["--manifest", "gone"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        err.contains("gone/packages.kdl") && err.contains("give --manifest a directory"),
        "{err}"
    );
    assert_eq!(check(dir.path(), &["--message-format", "xml"]).0, 2);
}

#[test]
fn doubtful_lines_are_warnings_and_pass() {
    let doubtful = PACKAGES
        .replacen("\n    rpath \"core\" \"lib\" ", "\n    rpath \"core\" \"share\" ", 1)
        .replacen("    requires \"libraries\"\n", "", 1);
    let (status, out, err) = check(repository(&doubtful).path(), &["--manifest", "packaging"]);
    assert_eq!(status, 0);
    assert!(out.ends_with("fine\n"));
    assert!(
        err.contains("`share` is an unusual directory for libraries")
            && err.contains("`device` overlays `libraries`, but does not"),
        "{err}"
    );
}

#[test]
fn json_is_one_object_a_line_and_nothing_else() {
    let dir = repository(&mistaken());
    let (status, out, err) =
        check(dir.path(), &["--manifest", "packaging", "--message-format", "json"]);
    assert_eq!((status, out.as_str()), (1, ""));
    let lines: Vec<Value> = err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        serde_json::json!({
            "severity": "error",
            "code": "unknown-package",
            "message": "unknown package `cor`",
            "help": "the packages are `meta`, `core`, `libraries`, `device`, `gpu`, `profiler` and `devel`",
            "labels": [{
                "file": "packaging/packages.kdl", "name": "packages.kdl",
                "line": line(), "column": 11, "end_line": line(), "end_column": 16, "text": "did you mean `core`?",
            }],
            "related": [],
        })
    );
    assert_eq!(lines[1]["code"], "given-twice");
    assert_eq!(lines[1]["labels"].as_array().unwrap().len(), 2);
    assert_eq!(lines.len(), 2);
}

#[test]
fn json_reports_problems_without_a_place() {
    let dir = TempDir::new().unwrap();
    let plan = ["plan", "--manifest", "built-in", "--artifact-dir", "gone"];
    let output = rockpack(dir.path(), &[&["--message-format", "json"], &plan[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    let line: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(
        (&line["code"], &line["labels"]),
        (&"environment".into(), &Value::Array(Vec::new()))
    );
}

#[test]
fn annotations_name_files_by_their_path_in_the_repository() {
    let dir = repository(&mistaken());
    let at = line();
    let expected = format!(
        "::error file=packaging/packages.kdl,line={at},endLine={at},col=11,endColumn=16,title=rockpack%3A unknown-package::unknown package `cor`%0Adid you mean `core`?%0Ahelp: the packages are"
    );
    for (cwd, manifest) in [
        (dir.path().to_path_buf(), "packaging"),
        (dir.path().join("packaging"), "."),
        (dir.path().join("packaging"), "../packaging"),
    ] {
        let (status, out, err) =
            check(&cwd, &["--manifest", manifest, "--message-format", "github"]);
        assert_eq!((status, out.as_str(), err.lines().count()), (1, "", 2));
        assert!(err.starts_with(&expected), "{err}");
    }
    let absolute = dir.path().join("packaging");
    assert!(
        check(
            Path::new("/"),
            &["--manifest", absolute.to_str().unwrap(), "--message-format", "github"]
        )
        .2
        .starts_with(&expected)
    );
    let mut inner = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    inner
        .args(["check", "--message-format", "github"])
        .current_dir(&absolute)
        .env("GITHUB_WORKSPACE", &absolute);
    let said = inner.output().unwrap().stderr;
    assert!(
        text(&said).starts_with(&format!("::error file=packages.kdl,line={},", line())),
        "the workspace is where the runner says: {}",
        text(&said)
    );
}

#[test]
fn annotations_of_errors_precede_annotations_of_warnings() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("a/base_lib_generic/stage/lib")).unwrap();
    fs::write(dir.path().join("a/base_lib_generic/artifact_manifest.txt"), "stage\ngone\n")
        .unwrap();
    fs::write(dir.path().join("a/base_lib_generic/stage/lib/x"), "x").unwrap();
    let output = rockpack(
        here,
        &[
            "plan",
            "-v",
            "--artifact-dir",
            dir.path().join("a").to_str().unwrap(),
            "--version-suffix=-7",
            "--message-format",
            "github",
        ],
    );
    let err = text(&output.stderr);
    let notice = "manifest: packages.kdl\n::notice title=rockpack%3A absent-base::";
    assert!(err.starts_with(notice), "{err}");
    let error = "\n::error title=rockpack%3A impossible-name::--version-suffix: `-7` cannot";
    assert!(err.contains(error), "{err}");
}

/// Checks the requirements of the SARIF 2.1.0 schema for the output of this program.
fn assert_sarif(document: &Value) {
    assert_eq!(document["version"], "2.1.0");
    assert!(document["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let [run] = &document["runs"].as_array().unwrap()[..] else { panic!("one run") };
    let known = |keys: &[&str], value: &Value| {
        value.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str()))
    };
    assert!(known(&["tool", "columnKind", "invocations", "results"], run), "{run}");
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
    assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string() && driver["version"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    assert!(
        rules
            .iter()
            .all(|rule| rule["id"].is_string() && rule["shortDescription"]["text"].is_string())
    );
    let levels = ["none", "note", "warning", "error"];
    for result in run["results"].as_array().unwrap() {
        assert!(
            known(
                &["ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations"],
                result
            ),
            "{result}"
        );
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(
            result["message"]["text"].is_string()
                && levels.contains(&result["level"].as_str().unwrap())
        );
        assert_eq!(
            result["locations"].as_array().unwrap().len(),
            1,
            "code scanning shows the first"
        );
        for location in result["locations"]
            .as_array()
            .unwrap()
            .iter()
            .chain(result["relatedLocations"].as_array().unwrap())
        {
            let physical = &location["physicalLocation"];
            let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!uri.starts_with('/') && !uri.contains([' ', '\\']), "{uri}");
            let region = &physical["region"];
            let number = |key: &str| region[key].as_u64().unwrap();
            assert!(number("startLine") >= 1 && number("startColumn") >= 1);
            assert!(
                (number("endLine"), number("endColumn"))
                    >= (number("startLine"), number("startColumn"))
            );
        }
    }
    for notification in run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap() {
        assert!(
            notification["message"]["text"].is_string()
                && levels.contains(&notification["level"].as_str().unwrap())
        );
        assert!(rules.iter().any(|rule| rule["id"] == notification["descriptor"]["id"]));
    }
}

#[test]
fn sarif_is_one_document_whether_or_not_something_is_wrong() {
    let dir = repository(&mistaken());
    let (status, out, err) =
        check(dir.path(), &["--manifest", "packaging", "--message-format", "sarif"]);
    assert_eq!((status, out.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&err).unwrap();
    assert_sarif(&document);
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["ruleId"], "unknown-package");
    let physical = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(
        physical["artifactLocation"],
        serde_json::json!({"uri": "packaging/packages.kdl", "uriBaseId": "%SRCROOT%"})
    );
    assert_eq!(
        physical["region"],
        serde_json::json!({"startLine": line(), "startColumn": 11, "endLine": line(), "endColumn": 16})
    );
    assert_eq!(results[1]["relatedLocations"].as_array().unwrap().len(), 1, "the other party");

    let (status, out, err) = check(
        repository(PACKAGES).path(),
        &["--manifest", "packaging", "--message-format", "sarif"],
    );
    assert_eq!(status, 0);
    assert!(out.ends_with("fine\n"), "the result stays where results go");
    let document: Value = serde_json::from_str(&err).unwrap();
    assert_sarif(&document);
    assert_eq!(document["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn sarif_reports_problems_without_a_place_as_notifications() {
    let dir = TempDir::new().unwrap();
    let (status, _, err) = check(dir.path(), &["--manifest", "gone", "--message-format", "sarif"]);
    assert_eq!(status, 2);
    let document: Value = serde_json::from_str(&err).unwrap();
    assert_sarif(&document);
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["descriptor"]["id"], "environment");
}

/// Progress is for people: machine-readable output contains none.
#[test]
fn json_and_sarif_contain_no_progress_of_a_build() {
    let dir = TempDir::new().unwrap();
    catalog::demo::make(
        &dir.path().join("artifacts"),
        true,
        &exec_stub(StubMachine::X86_64, "true").unwrap(),
    )
    .unwrap();
    let build = |format: &str| {
        let args = [
            "build",
            "--artifact-dir",
            "artifacts",
            "-o",
            "out",
            "--only",
            "core",
            "--message-format",
            format,
            "--manifest",
            "built-in",
        ];
        let output = rockpack(dir.path(), &args);
        assert!(
            output.status.success() && text(&output.stdout).starts_with("package "),
            "{}",
            text(&output.stderr)
        );
        text(&output.stderr)
    };
    let told = "manifest: <built in>/packages.kdl\nwriting 1 package from ";
    assert!(build("human").starts_with(told) && build("github").starts_with(told));
    assert_eq!(build("json"), "");
    let document: Value = serde_json::from_str(&build("sarif")).unwrap();
    assert_sarif(&document);
}
