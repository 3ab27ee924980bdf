//! Plans and catalogs match their schemas, and invalid documents fail, according to an independent
//! validator.

use std::path::Path;
use std::process::Command;

use ::catalog::Catalog;
use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::plan;

fn published(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&published("plan-1.schema.json")).unwrap()
}

/// Returns the places and messages of schema violations.
fn faults(validator: &Validator, plan: &Value) -> Vec<String> {
    validator.iter_errors(plan).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn the_published_schema_is_one() {
    let schema = published("plan-1.schema.json");
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    assert_eq!(schema["$id"], "urn:rockpack:schema:plan-1");
}

#[test]
fn catalogs_of_real_trees_and_the_plans_of_them_pass_their_schemas() {
    let (plans, catalogs) =
        (validator(), jsonschema::draft202012::new(&published("catalog-1.schema.json")).unwrap());
    for tree in ["kpack-small", "legacy-small"] {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/{tree}.catalog.json.xz"));
        let dir = TempDir::new().unwrap();
        let plain = dir.path().join("catalog.json");
        Catalog::load(&file).unwrap().save(&plain).unwrap();
        let mut catalog: Value =
            serde_json::from_str(&fs_err::read_to_string(&plain).unwrap()).unwrap();
        assert_eq!(faults(&catalogs, &catalog), Vec::<String>::new());
        catalog["artifacts"][0]["entries"][0]["kind"] = json!("pipe");
        assert!(!faults(&catalogs, &catalog).is_empty(), "an entry is one of a few kinds");
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        let output = command.args(["plan", "--json", "--catalog"]).arg(&file).output().unwrap();
        assert_eq!(
            faults(&plans, &serde_json::from_slice(&output.stdout).unwrap()),
            Vec::<String>::new()
        );
    }
}

/// Every document that a command prints passes its schema, and fails another one.
#[test]
fn documents_of_commands_pass_their_schemas() {
    let scratch = crate::demo_tree::scratch(true);
    let dir = scratch.path();
    let run = |args: &[&str]| {
        let mut command = crate::program::uncached(dir, args);
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|e| panic!("{e}: {shown}"))
    };
    let made =
        ["build", "--artifact-dir", "artifacts", "-o", "out", "--platform-tag", "linux_x86_64"];
    assert!(crate::program::uncached(dir, &made).output().unwrap().status.success());
    fs_err::write(dir.join("none.kdl"), "").unwrap();
    let tree = ["--artifact-dir", "artifacts"];
    let with = |args: &[&'static str]| [args, &tree[..]].concat();
    let documents = [
        ("diff", with(&["diff", "--json", "out"])),
        ("ledger", ["diff", "out", "out", "--ledger", "none.kdl", "--json"].to_vec()),
        ("shards", with(&["plan", "--format", "shards", "--shards", "3"])),
        ("explain", with(&["explain", "--json", "lib/libhiprtc.so.7"])),
        ("explain", with(&["explain", "--json", "bin/**"])),
        ("verify", ["wheel", "verify", "--json", "out/dist"].to_vec()),
        ("audit", ["wheel", "audit", "--json", "out/dist"].to_vec()),
        (
            "project-list",
            ["project", "list", "--json", "--sources", "artifacts", "--version", "1"].to_vec(),
        ),
        (
            "versions",
            ["help", "versions", "--json", "--override-base-version", "7.10.0", "--release-type"]
                .into_iter()
                .chain(["nightly", "--date", "20260813"])
                .collect(),
        ),
    ];
    for (name, args) in documents {
        let validator =
            jsonschema::draft202012::new(&published(&format!("{name}-1.schema.json"))).unwrap();
        let mut document = run(&args);
        assert_eq!(faults(&validator, &document), Vec::<String>::new(), "{args:?}");
        let format = |document: &mut Value| match name {
            "shards" => document["include"][0]["format"].take(),
            _ => document["format"].take(),
        };
        assert_eq!(format(&mut document), 1, "{args:?}");
        assert!(!faults(&validator, &document).is_empty(), "{args:?}: without its format");
    }
}

#[test]
fn each_event_of_a_build_passes_its_schema() {
    let scratch = crate::demo_tree::scratch(true);
    let tree = ["--artifact-dir", "artifacts", "--platform-tag", "linux_x86_64"];
    let args =
        [&["build", "-o", "out", "--cache", "cache", "--events", "events"], &tree[..]].concat();
    let mut command = crate::program::uncached(scratch.path(), &args);
    assert!(command.env_remove("ROCKPACK_NO_CACHE").output().unwrap().status.success());
    let validator = jsonschema::draft202012::new(&published("events-1.schema.json")).unwrap();
    let text = fs_err::read_to_string(scratch.path().join("events")).unwrap();
    for line in text.lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(faults(&validator, &event), Vec::<String>::new(), "{line}");
        event["colour"] = "red".into();
        assert!(!faults(&validator, &event).is_empty(), "{line}");
    }
    assert!(text.contains("cache-used"));
}

/// Returns the member of the first distribution with this step.
fn member<'p>(plan: &'p mut Value, step: &str) -> &'p mut Value {
    let distributions = plan["distributions"].as_array_mut().unwrap().iter_mut();
    let mut members = distributions.flat_map(|d| d["members"].as_array_mut().unwrap());
    members.find(|m| m["step"] == step).unwrap()
}

/// Change that makes a plan invalid.
type Change = fn(&mut Value);

#[test]
fn invalid_plans_do_not_pass() {
    let validator = validator();
    let sound: Value = serde_json::from_str(&plan(true)).unwrap();
    let changes: [(&str, Change); 12] = [
        ("an unknown step", |plan| member(plan, "copy")["step"] = "move".into()),
        ("a step without what it takes", |plan| {
            drop(member(plan, "relink").as_object_mut().unwrap().remove("rpath"));
        }),
        ("a property of another step", |plan| member(plan, "copy")["needed"] = "libx.so.1".into()),
        ("a missing field", |plan| drop(plan.as_object_mut().unwrap().remove("platform_tag"))),
        ("a missing field of a member", |plan| {
            drop(member(plan, "stub").as_object_mut().unwrap().remove("rule"));
        }),
        ("a wrong type", |plan| plan["notes"] = "none".into()),
        ("a number for a text", |plan| plan["version"] = json!(7.2)),
        ("a negative size", |plan| member(plan, "copy")["size"] = json!(-1)),
        ("a field that nobody knows", |plan| plan["distributions"][0]["colour"] = "red".into()),
        ("a path that leads outside", |plan| member(plan, "copy")["path"] = "lib/../../a".into()),
        ("another format", |plan| plan["format"] = json!(2)),
        ("a malformed mode", |plan| plan["mode"] = "split".into()),
    ];
    for (what, change) in changes {
        let mut plan = sound.clone();
        change(&mut plan);
        assert!(!faults(&validator, &plan).is_empty(), "{what} passes");
    }
}

#[test]
fn plans_pass_their_schema() {
    let validator = validator();
    for kpack in [true, false] {
        let plan: Value = serde_json::from_str(&plan(kpack)).unwrap();
        assert_eq!(faults(&validator, &plan), Vec::<String>::new());
        assert!(plan["distributions"].as_array().unwrap().len() > 5);
    }
}
