//! `rockpack artifact scan`, and commands that use its saved catalog.

use std::path::Path;

use catalog::{Catalog, CatalogError};
use fs_err as fs;
use tempfile::TempDir;

use crate::demo_tree;
use crate::program::{rockpack, stderr};

/// Makes a directory with the demo artifacts in `artifacts`, and their catalog in `c.json`.
fn scratch(kpack: bool) -> TempDir {
    let dir = demo_tree::scratch(kpack);
    succeeds(dir.path(), &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "c.json"]);
    dir
}

/// Returns standard output followed by standard error.
fn succeeds(dir: &Path, args: &[&str]) -> String {
    let output = rockpack(dir, args);
    assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn text(dir: &TempDir) -> String {
    fs::read_to_string(dir.path().join("c.json")).unwrap()
}

/// Returns messages and exit status for a `c.json` with this content.
fn refusal(dir: &TempDir, content: &str) -> (String, Option<i32>) {
    fs::write(dir.path().join("c.json"), content).unwrap();
    let output = rockpack(dir.path(), &["plan", "--catalog", "c.json"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("c.json"), "the file is named:\n{stderr}");
    // Joins the lines of wrapped messages.
    (stderr.replace("\n  │ ", " "), output.status.code())
}

#[test]
fn a_plan_of_the_catalog_is_the_plan_of_the_directory() {
    for kpack in [true, false] {
        let dir = scratch(kpack);
        for name in ["c.json.zst", "c.json.xz"] {
            succeeds(
                dir.path(),
                &["artifact", "scan", "--artifact-dir", "artifacts", "--output", name],
            );
            assert!(
                fs::metadata(dir.path().join(name)).unwrap().len() < text(&dir).len() as u64 / 4,
                "{name} is compressed"
            );
        }
        for output in [&[][..], &["-v"], &["--format", "files"], &["--json"]] {
            let plan = |from: &[&str]| succeeds(dir.path(), &[&["plan"], from, output].concat());
            let expected = plan(&["--artifact-dir", "artifacts"]);
            for name in ["c.json", "c.json.zst", "c.json.xz"] {
                assert_eq!(plan(&["--catalog", name]), expected, "{name} {output:?}");
            }
        }
    }
}

#[test]
fn a_catalog_has_no_facts_of_the_machine() {
    let (one, other) = (scratch(true), scratch(true));
    assert_eq!(text(&one), text(&other), "equal artifacts, equal catalogs");
    assert!(!text(&one).contains(one.path().to_str().unwrap()));
    assert_eq!(
        text(&one),
        succeeds(one.path(), &["artifact", "scan", "--artifact-dir", "artifacts", "--jobs", "1"]),
        "printed without -o"
    );
    assert_eq!(
        text(&one),
        succeeds(one.path(), &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "-"])
    );
    fs::rename(one.path().join("artifacts"), one.path().join("moved")).unwrap();
    assert_eq!(text(&one), succeeds(one.path(), &["artifact", "scan", "--artifact-dir", "moved"]));
}

#[test]
fn a_changed_file_is_a_changed_line() {
    let dir = scratch(true);
    let before = text(&dir);
    let header = dir.path().join("artifacts/core-hip_dev_generic/stage/include/hip/hip_runtime.h");
    fs::write(header, "longer than it was before\n").unwrap();
    let after = succeeds(dir.path(), &["artifact", "scan", "--artifact-dir", "artifacts"]);
    let changed: Vec<_> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!((changed.len(), before.lines().count()), (1, after.lines().count()));
    assert!(changed[0].1.contains("include/hip/hip_runtime.h"));
}

#[test]
fn sorts_an_unsorted_catalog() {
    let dir = scratch(true);
    let expected = succeeds(dir.path(), &["plan", "--catalog", "c.json", "--json"]);
    let mut json: serde_json::Value = serde_json::from_str(&text(&dir)).unwrap();
    json["artifacts"].as_array_mut().unwrap().reverse();
    for artifact in json["artifacts"].as_array_mut().unwrap() {
        artifact["entries"].as_array_mut().unwrap().reverse();
    }
    let before = text(&dir);
    fs::write(dir.path().join("c.json"), json.to_string()).unwrap();
    assert_eq!(succeeds(dir.path(), &["plan", "--catalog", "c.json", "--json"]), expected);
    let mut again = Vec::new();
    Catalog::load(&dir.path().join("c.json")).unwrap().write_json(&mut again).unwrap();
    assert_eq!(String::from_utf8(again).unwrap(), before);
}

#[test]
fn refuses_files_that_are_not_catalogs() {
    let dir = scratch(true);
    let good = text(&dir);
    let broken = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert!(text != good, "{from} is in a catalog");
        refusal(&dir, &text)
    };
    let expect = |(said, status): (String, Option<i32>), needle: &str| {
        assert!(said.contains(needle), "{needle:?} is not in:\n{said}");
        assert_eq!(status, Some(1), "{said}");
    };
    expect(broken("\"format\":1", "\"format\":2"), "has format 2, but this program reads format 1");
    expect(broken("\"format\":1,\n\"build\"", "\"format\":3,\n\"built\""), "has format 3");
    expect(
        broken("\"path\":\"bin/amd-smi\"", "\"path\":\"bin/../amd-smi\""),
        "`bin/../amd-smi` has `..`, which can lead outside at line",
    );
    expect(broken("\"path\":\"bin/amd-smi\"", "\"path\":\"/bin/amd-smi\""), "is absolute");
    expect(broken("\"base\":\"stage\"", "\"base\":\"../stage\""), "`../stage` has `..`");
    expect(broken("\"component\":\"lib\"", "\"component\":\"libs\""), "unknown variant `libs`");
    expect(broken("\"kind\":\"directory\"", "\"kind\":\"dir\""), "unknown variant `dir`");
    expect(
        broken("\"path\":\"bin/amd-smi\"", "\"sha256\":\"12ab\",\"path\":\"bin/amd-smi\""),
        "is not the SHA-256 of",
    );
    expect(broken("\"artifacts\":[", "\"artifacts\":[],\"rest\":["), "unknown field `rest`");
    let (head, _) = good.split_once("\"artifacts\":[").unwrap();
    expect(refusal(&dir, &format!("{head}\"artifacts\":[]}}")), "it has no artifact");
    expect(refusal(&dir, "garbage"), "is not a catalog of artifacts: expected value at line 1");
    expect(refusal(&dir, ""), "is not a catalog");
    let plan = rockpack(dir.path(), &["plan", "--artifact-dir", "artifacts", "--json"]).stdout;
    let plan = String::from_utf8(plan).unwrap();
    expect(refusal(&dir, &plan), "is a plan, not a catalog of artifacts: give it with --plan");
    expect(refusal(&dir, &good[..good.len() / 2]), "is not a catalog");
    expect(refusal(&dir, &(good.clone() + "x")), "trailing characters");
    let entry = good
        .lines()
        .find(|line| line.contains("\"path\":\"bin/amd-smi\""))
        .unwrap()
        .trim_end_matches(',');
    expect(broken(entry, &format!("{entry},\n{entry}")), "has `bin/amd-smi` of `stage` twice");
}

#[test]
fn distinguishes_damaged_from_unreadable_archives() {
    let dir = scratch(true);
    for name in ["c.json.zst", "c.json.xz"] {
        let file = dir.path().join(name);
        Catalog::load(&dir.path().join("c.json")).unwrap().save(&file).unwrap();
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        let output = rockpack(dir.path(), &["plan", "--catalog", name]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(name) && stderr.contains("cannot be decompressed"), "{stderr}");
        assert_eq!(output.status.code(), Some(1));
    }
    let output = rockpack(dir.path(), &["plan", "--catalog", "none.json"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("none.json"));
    assert_eq!(output.status.code(), Some(2));
    assert!(matches!(Catalog::load(&dir.path().join("none.json")), Err(CatalogError::Read { .. })));
    assert_eq!(
        rockpack(
            dir.path(),
            &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "none/c.json"]
        )
        .status
        .code(),
        Some(2)
    );
}

#[test]
fn a_build_needs_the_artifacts_themselves() {
    let dir = scratch(true);
    let output = rockpack(dir.path(), &["build", "--catalog", "c.json", "-o", "out"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("no file contents") && stderr.contains("--artifact-dir"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
    assert!(!dir.path().join("out").exists());
}

/// Each job of a matrix has only the catalog and the artifacts of its packages.
#[test]
fn jobs_of_a_matrix_make_the_packages_of_one_build() {
    let dir = scratch(true);
    let at = dir.path();
    let version = ["--version", "7.2.0"];
    let build = ["build", "--artifact-dir", "artifacts", "-o", "whole"];
    succeeds(at, &[&build[..], &version].concat());
    let shards = ["plan", "--catalog", "c.json", "--format", "shards", "--shards", "3"];
    let said = succeeds(at, &[&shards[..], &version].concat());
    let (line, _) = said.split_once('\n').unwrap();
    let matrix: serde_json::Value = serde_json::from_str(line).unwrap();
    let jobs = matrix["include"].as_array().unwrap();
    assert_eq!(jobs.len(), 3);
    let mut outputs = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let artifacts = at.join(format!("some-{number}"));
        fs::create_dir(&artifacts).unwrap();
        for archive in job["archives"].as_array().unwrap() {
            let name = archive.as_str().unwrap();
            std::os::unix::fs::symlink(at.join("artifacts").join(name), artifacts.join(name))
                .unwrap();
        }
        let (artifacts, output) = (format!("some-{number}"), format!("job-{number}"));
        let places = ["--artifact-dir", &artifacts, "-o", &output];
        let only = ["--only", job["only"].as_str().unwrap()];
        succeeds(at, &[&["build", "--catalog", "c.json"], &places[..], &only, &version].concat());
        outputs.push(output);
    }
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    succeeds(at, &[&["merge"], &outputs[..], &["-o", "united"]].concat());
    let sums = |place: &str| fs::read_to_string(at.join(place).join("dist/SHA256SUMS")).unwrap();
    assert_eq!(sums("united"), sums("whole"));
}

/// Saves the plan of these arguments.
fn save_plan(dir: &Path, args: &[&str]) {
    let output = rockpack(dir, &[&["plan", "--json"], args].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(dir.join("plan.json"), output.stdout).unwrap();
}

/// Returns the messages of a refused build, without line breaks, which depend on the width.
fn not_built(dir: &Path, args: &[&str], status: i32) -> String {
    let output = rockpack(dir, &[&["build", "-o", "none"], args].concat());
    let messages = stderr(&output);
    assert_eq!(output.status.code(), Some(status), "{messages}");
    assert!(!dir.join("none").exists());
    messages
}

#[test]
fn a_build_of_a_plan_makes_its_packages_or_nothing() {
    let scratch = scratch(true);
    let dir = scratch.path();
    let artifacts = ["--artifact-dir", "artifacts"];
    save_plan(dir, &["--catalog", "c.json", "--version", "9.1.0"]);
    succeeds(dir, &[&["build", "-o", "plain", "--version", "9.1.0"][..], &artifacts].concat());
    let planned = ["--plan", "plan.json"];
    // The version is from the plan.
    succeeds(dir, &[&["build", "-o", "out"][..], &artifacts, &planned].concat());
    let sums = |name: &str| fs::read_to_string(dir.join(name).join("dist/SHA256SUMS")).unwrap();
    assert_eq!(sums("out"), sums("plain"));
    // A job of a matrix builds a part of the plan from the saved catalog.
    let part = ["build", "-o", "part", "--only", "core", "--catalog", "c.json"];
    succeeds(dir, &[&part[..], &artifacts, &planned].concat());
    assert!(sums("part").lines().all(|line| sums("plain").contains(line)));

    let said = not_built(dir, &[&artifacts[..], &planned, &["--version", "9.2.0"]].concat(), 1);
    assert!(said.contains("would differ from plan.json: version: 9.1.0 → 9.2.0"), "{said}");
    let said = not_built(dir, &[&artifacts[..], &planned, &["--only", "cores"]].concat(), 2);
    assert!(said.contains("--only cores: no package of the plan has this name"), "{said}");
    let whole = fs::read_to_string(dir.join("plan.json")).unwrap();
    save_plan(dir, &["--catalog", "c.json", "--version", "9.1.0", "--only", "core"]);
    let said = not_built(dir, &[&artifacts[..], &planned].concat(), 1);
    assert!(said.contains(": is not in it"), "{said}");
    fs::write(
        dir.join("plan.json"),
        whole.replacen("\"executable\": true", "\"executable\": false", 1),
    )
    .unwrap();
    assert_ne!(whole, fs::read_to_string(dir.join("plan.json")).unwrap());
    let said = not_built(dir, &[&artifacts[..], &planned].concat(), 1);
    assert!(said.contains("`rockpack diff plan.json` and the same options"), "{said}");
    // The level of compression is part of the plan: it changes the bytes.
    fs::write(dir.join("plan.json"), &whole).unwrap();
    let said = not_built(dir, &[&artifacts[..], &planned, &["--compression", "fast"]].concat(), 1);
    assert!(said.contains("rocm-sdk-core: compression default → fast; "), "{said}");
    // An empty variable for the plan is an error, unlike no variable.
    let said = not_built(dir, &[&artifacts[..], &["--plan", ""]].concat(), 2);
    assert!(said.contains("--plan"), "{said}");
    fs::write(dir.join("plan.json"), "{}").unwrap();
    let said = not_built(dir, &[&artifacts[..], &planned].concat(), 1);
    assert!(said.contains("cannot read plan.json: this is not a plan"), "{said}");
}
