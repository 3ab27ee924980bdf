//! Changed provenance statements: `verify` and `promote` refuse each.

use std::path::Path;

use fs_err as fs;
use record::recorded::statement_faults;
use serde_json::{Value, json};

use crate::demo_tree::scratch;
use crate::program::{Run, stderr, uncached};

const FILE: &str = "provenance.intoto.json";

type Change = fn(&mut Value);

/// Changes of one field each.
const CHANGES: [(&str, Change); 24] = [
    ("_type", |it| it["_type"] = json!("https://in-toto.io/Statement/v0.1")),
    ("no _type", |it| drop(it.as_object_mut().unwrap().remove("_type"))),
    ("predicateType", |it| it["predicateType"] = json!("https://slsa.dev/provenance/v0.2")),
    ("buildType", |it| build(it)["buildType"] = json!("urn:other:build:1")),
    ("no predicate", |it| drop(it.as_object_mut().unwrap().remove("predicate"))),
    ("a new field", |it| it["more"] = json!(1)),
    ("a new field of the predicate", |it| it["predicate"]["more"] = json!({})),
    ("no subjects", |it| it["subject"] = json!([])),
    ("subjects are no list", |it| it["subject"] = json!({})),
    ("one subject less", |it| drop(it["subject"].as_array_mut().unwrap().pop())),
    ("one subject more", |it| {
        let mut more = it["subject"][0].clone();
        more["name"] = json!("zzz-1.0-py3-none-any.whl");
        it["subject"].as_array_mut().unwrap().push(more);
    }),
    ("a subject twice", |it| {
        let one = it["subject"][0].clone();
        it["subject"].as_array_mut().unwrap().insert(0, one);
    }),
    ("other order", |it| it["subject"].as_array_mut().unwrap().reverse()),
    ("another name", |it| it["subject"][0]["name"] = json!("other-1.0-py3-none-any.whl")),
    ("a name that leads outside", |it| it["subject"][0]["name"] = json!("../x.whl")),
    ("another digest", |it| it["subject"][0]["digest"]["sha256"] = json!("0".repeat(64))),
    ("exchanged digests", |it| {
        let (one, two) = (it["subject"][0]["digest"].clone(), it["subject"][1]["digest"].clone());
        (it["subject"][0]["digest"], it["subject"][1]["digest"]) = (two, one);
    }),
    ("a digest in capitals", |it| {
        let digest = it["subject"][0]["digest"]["sha256"].as_str().unwrap().to_uppercase();
        it["subject"][0]["digest"]["sha256"] = json!(digest);
    }),
    ("a short digest", |it| it["subject"][0]["digest"]["sha256"] = json!("abc")),
    ("another algorithm", |it| it["subject"][0]["digest"] = json!({ "md5": "0".repeat(32) })),
    ("an input without digest", |it| {
        drop(build(it)["resolvedDependencies"][0].as_object_mut().unwrap().remove("digest"));
    }),
    ("an input with a short digest", |it| {
        build(it)["resolvedDependencies"][0]["digest"] = json!({ "sha256": "0" });
    }),
    ("a builder without a URI", |it| {
        it["predicate"]["runDetails"]["builder"]["id"] = json!("somebody");
    }),
    ("an invalid version", |it| build(it)["internalParameters"]["version"] = json!("new")),
];

fn build(statement: &mut Value) -> &mut Value {
    &mut statement["predicate"]["buildDefinition"]
}

fn assert_refused(dir: &Path, title: &str) {
    assert!(!statement_faults(&dir.join("out/dist")).unwrap().is_empty(), "{title}");
}

#[test]
fn changed_statements_are_refused() {
    let dir = scratch(true);
    let dir = dir.path();
    let run = |args: &[&str]| uncached(dir, args).output().unwrap();
    let args = ["build", "--artifact-dir", "artifacts", "-o", "out", "--version", "7.2.0rc1"];
    let args = [&args[..], &["--only", "meta,core", "--platform-tag", "linux_x86_64"]].concat();
    uncached(dir, &args).succeed();
    let path = dir.join("out/dist").join(FILE);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(statement_faults(&dir.join("out/dist")).unwrap(), []);
    for (title, change) in CHANGES {
        let mut statement: Value = serde_json::from_str(&text).unwrap();
        change(&mut statement);
        let changed = serde_json::to_string_pretty(&statement).unwrap() + "\n";
        assert_ne!(changed, text, "{title}");
        fs::write(&path, changed).unwrap();
        assert_refused(dir, title);
    }
    let promote = ["wheel", "promote", "out", "--to", "7.2.0", "-o", "new"];
    let verify = ["wheel", "verify", "out", "--manifest", "built-in"];
    for changed in ["", "{}", "[]", &text[..text.len() / 2], &format!("{text}x")] {
        fs::write(&path, changed).unwrap();
        assert_refused(dir, changed);
    }
    for (args, code) in [(&promote[..], Some(1)), (&verify, Some(1))] {
        let output = run(args);
        assert_eq!(output.status.code(), code, "{}", stderr(&output));
        assert!(
            stderr(&output).contains("not a provenance statement of rockpack"),
            "{}",
            stderr(&output)
        );
    }
    assert!(!dir.join("new").exists());
    fs::write(&path, &text).unwrap();
    // Without a list of checksums, statements are compared with the files.
    fs::remove_file(dir.join("out/dist/SHA256SUMS")).unwrap();
    assert_eq!(statement_faults(&dir.join("out/dist")).unwrap(), []);
    let mut statement: Value = serde_json::from_str(&text).unwrap();
    CHANGES[15].1(&mut statement);
    fs::write(&path, serde_json::to_string_pretty(&statement).unwrap() + "\n").unwrap();
    assert_refused(dir, "another digest than the file's");
    fs::write(&path, &text).unwrap();
    uncached(dir, &promote).succeed();
}
