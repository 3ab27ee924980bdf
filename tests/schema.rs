//! What is published in `schema/` holds: plans of real artifacts pass their schema, and what is
//! no plan doesn't. (That the schema is that of the types is tested beside the types.)

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::path::Path;
use std::process::Command;

use jsonschema::Validator;
use rockpack::catalog::Catalog;
use rockpack::elf::stub::{StubMachine, exec_stub};
use rockpack::plan::Plan;
use serde_json::{Value, json};
use tempfile::TempDir;

#[path = "../examples/demo_artifacts.rs"]
mod demo_artifacts;

fn published(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
    serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&published("plan-1.schema.json")).unwrap()
}

/// What `rockpack plan --json` prints of the demo artifacts.
fn plan(kpack: bool) -> String {
    let dir = TempDir::new().unwrap();
    let program = exec_stub(StubMachine::X86_64, "../lib/none").unwrap();
    demo_artifacts::make(&dir.path().join("artifacts"), kpack, &program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
    let output = command.args(["plan", "--artifact-dir", "artifacts", "--json"]).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The places and words of what the schema finds wrong.
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
    let (plans, catalogs) = (validator(), jsonschema::draft202012::new(&published("catalog-1.schema.json")).unwrap());
    for tree in ["kpack-small", "legacy-small"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/{tree}.catalog.json.xz"));
        let dir = TempDir::new().unwrap();
        let plain = dir.path().join("catalog.json");
        Catalog::load(&file).unwrap().save(&plain).unwrap();
        let mut catalog: Value = serde_json::from_str(&fs_err::read_to_string(&plain).unwrap()).unwrap();
        assert_eq!(faults(&catalogs, &catalog), Vec::<String>::new());
        catalog["artifacts"][0]["entries"][0]["kind"] = json!("pipe");
        assert!(!faults(&catalogs, &catalog).is_empty(), "an entry is one of a few kinds");
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        let output = command.args(["plan", "--json", "--catalog"]).arg(&file).output().unwrap();
        assert_eq!(faults(&plans, &serde_json::from_slice(&output.stdout).unwrap()), Vec::<String>::new());
    }
}

#[test]
fn plans_pass_the_schema_and_are_read_again() {
    let validator = validator();
    for kpack in [true, false] {
        let text = plan(kpack);
        let plan: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(faults(&validator, &plan), Vec::<String>::new());
        assert!(plan["distributions"].as_array().unwrap().len() > 5);
        let again = serde_json::to_string_pretty(&Plan::read(&text).unwrap()).unwrap() + "\n";
        assert_eq!(again, text);
    }
}

/// The member of the first distribution that has this step.
fn member<'p>(plan: &'p mut Value, step: &str) -> &'p mut Value {
    let distributions = plan["distributions"].as_array_mut().unwrap().iter_mut();
    let mut members = distributions.flat_map(|d| d["members"].as_array_mut().unwrap());
    members.find(|m| m["step"] == step).unwrap()
}

/// What makes something else of a plan.
type Change = fn(&mut Value);

#[test]
fn what_is_no_plan_does_not_pass() {
    let validator = validator();
    let sound: Value = serde_json::from_str(&plan(true)).unwrap();
    let changes: [(&str, Change); 12] = [
        ("an unknown step", |plan| member(plan, "copy")["step"] = "move".into()),
        ("a step without what it takes", |plan| drop(member(plan, "relink").as_object_mut().unwrap().remove("rpath"))),
        ("a property of another step", |plan| member(plan, "copy")["needed"] = "libx.so.1".into()),
        ("a missing field", |plan| drop(plan.as_object_mut().unwrap().remove("platform_tag"))),
        ("a missing field of a member", |plan| drop(member(plan, "stub").as_object_mut().unwrap().remove("rule"))),
        ("a wrong type", |plan| plan["notes"] = "none".into()),
        ("a number for a text", |plan| plan["version"] = json!(7.2)),
        ("a negative size", |plan| member(plan, "copy")["size"] = json!(-1)),
        ("a field that nobody knows", |plan| plan["distributions"][0]["colour"] = "red".into()),
        ("a path that leads outside", |plan| member(plan, "copy")["path"] = "lib/../../a".into()),
        ("another format", |plan| plan["format"] = json!(2)),
        ("a mode that is none", |plan| plan["mode"] = "split".into()),
    ];
    for (what, change) in changes {
        let mut plan = sound.clone();
        change(&mut plan);
        assert!(!faults(&validator, &plan).is_empty(), "{what} passes");
    }
}

/// Compares what `rockpack help manifest` prints with what is published.
fn compare(option: &str, name: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_rockpack")).args(["help", "manifest", option]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs_err::write(&path, &printed).unwrap();
    }
    let published = fs_err::read_to_string(&path).unwrap_or_default();
    assert!(published == printed, "{} is not what the decoder goes by; see UPDATE_EXPECT=1 and git diff", path.display());
}

#[test]
fn the_published_vocabulary_is_the_decoders() {
    compare("--markdown", "manifest.md");
    compare("--json", "manifest.json");
}
