//! Selection of a run's needed archives, and its report before any download.

use super::*;

fn plan(dir: &Path, more: &[&str]) -> Value {
    let address = address(dir);
    let args = [&["artifact", "fetch", &address, "--dry-run", "--json"], more].concat();
    serde_json::from_str(&done(dir, &args).0).unwrap()
}

fn keys(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect()
}

/// Adds an archive of an artifact that the demo lacks.
fn add(dir: &Path, name: &str) {
    let artifact = dir.join("more");
    fs::create_dir_all(artifact.join("stage/lib")).unwrap();
    fs::write(artifact.join("artifact_manifest.txt"), "stage\n").unwrap();
    fs::write(artifact.join("stage/lib/more.txt"), name).unwrap();
    archive(&artifact, &dir.join("store/17-linux").join(name));
}

#[test]
fn what_a_plan_takes_nothing_of_is_not_fetched() {
    let dir = scratch();
    let dir = dir.path();
    for name in ["unheard-of_lib_generic.tar.zst", "blas_test_generic.tar.zst"] {
        add(dir, name);
    }
    fs::create_dir_all(dir.join("store/17-linux/logs")).unwrap();
    fs::write(dir.join("store/17-linux/logs/base_lib_generic.tar.zst"), "no archive").unwrap();
    fs::write(dir.join("store/17-linux/index.html"), "").unwrap();
    let told = plan(dir, &["--mode", "kpack"]);
    assert_eq!(
        keys(&told["unneeded"]),
        ["blas_test_generic.tar.zst", "unheard-of_lib_generic.tar.zst"]
    );
    assert_eq!(told["missing"], serde_json::json!([]));
    assert!(!dir.join("fetched").exists());
    // Exactly these are fetched, and their plan equals the plan of all.
    let address = address(dir);
    done(dir, &["artifact", "fetch", &address, "-o", "fetched", "--mode", "kpack"]);
    let mut expected: Vec<String> = Vec::new();
    for key in keys(&told["archives"]) {
        expected.extend([key.to_owned(), format!("{key}.sha256sum")]);
    }
    assert_eq!(files(&dir.join("fetched")).into_keys().collect::<Vec<_>>(), expected);
    let of = |place: &str| {
        let (text, _) = done(dir, &["plan", "--artifact-dir", place, "--json"]);
        let plan: Value = serde_json::from_str(&text).unwrap();
        plan["distributions"].clone()
    };
    assert_eq!(of("fetched"), of("artifacts"));
    assert_eq!(of(&address), of("artifacts"));
}

#[test]
fn each_archive_that_a_package_has_files_of_is_needed() {
    let dir = scratch();
    let dir = dir.path();
    let told = plan(dir, &[]);
    let needed = keys(&told["archives"]);
    let (text, _) = done(dir, &["plan", "--artifact-dir", "artifacts", "--json"]);
    let plan: Value = serde_json::from_str(&text).unwrap();
    let mut sources = std::collections::BTreeSet::new();
    let mut values = vec![&plan["distributions"]];
    while let Some(value) = values.pop() {
        if let Some(id) = value.get("artifact").filter(|id| id.is_object()) {
            let field = |name: &str| id[name].as_str().unwrap();
            sources.insert(format!(
                "{}_{}_{}.tar.zst",
                field("name"),
                field("component"),
                field("family")
            ));
        }
        match value {
            Value::Array(list) => values.extend(list),
            Value::Object(map) => values.extend(map.values()),
            _ => {}
        }
    }
    assert!(sources.len() > 10, "{sources:?}");
    for source in &sources {
        assert!(needed.contains(&source.as_str()), "{source} is not among {needed:?}");
    }
}

#[test]
fn families_that_are_not_asked_for_stay_where_they_are() {
    let dir = scratch();
    let dir = dir.path();
    let all = plan(dir, &[]);
    let one = plan(dir, &["--linux-amdgpu-families", "gfx942"]);
    let of = |told: &Value, isa: &str| {
        keys(&told["archives"]).iter().filter(|key| key.contains(isa)).count()
    };
    assert!(of(&all, "gfx942") > 0 && of(&all, "gfx1100") > 0);
    assert_eq!((of(&one, "gfx942"), of(&one, "gfx1100")), (of(&all, "gfx942"), 0));
    let built =
        built(dir, "out", &["--artifact-dir", &address(dir), "--linux-amdgpu-families", "gfx942"]);
    assert!(built.keys().any(|name| name.contains("gfx942")), "{built:?}");
    assert!(!built.keys().any(|name| name.contains("gfx1100")), "{built:?}");
    let address = address(dir);
    let text = refused(
        dir,
        1,
        &["artifact", "fetch", &address, "--dry-run", "--linux-amdgpu-families", "gfx906"],
    );
    assert!(text.contains("no artifact for gfx906"), "{text}");
    // Features make no other ISA.
    let device: Vec<_> =
        fs::read_dir(dir.join("store/17-linux")).unwrap().map(|e| e.unwrap().path()).collect();
    for path in device.iter().filter(|path| path.to_str().unwrap().contains("gfx942")) {
        let name = path.file_name().unwrap().to_str().unwrap().replace("gfx942", "gfx942:xnack+");
        fs::rename(path, path.with_file_name(name)).unwrap();
    }
    let featured = plan(dir, &["--linux-amdgpu-families", "gfx942"]);
    assert_eq!(of(&featured, "gfx942:xnack+"), of(&all, "gfx942"));
}

#[test]
fn what_is_missing_is_told_before_anything_moves() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    fs::remove_file(dir.join("store/17-linux/base_lib_generic.tar.zst")).unwrap();
    let args = ["artifact", "fetch", &*address, "--dry-run"];
    let output = rockpack(dir, &args);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(told.contains("missing\n  base lib, for core  <built in>/packages.kdl:"), "{told}");
    let text = said(&output);
    assert!(text.contains("artifact `base` has no component `lib` for this package"), "{text}");
    for way in [
        vec!["artifact", "fetch", &*address, "-o", "fetched"],
        vec!["build", "--artifact-dir", &*address, "-o", "out"],
    ] {
        let text = refused(dir, 1, &way);
        assert!(text.contains("`base` has no component `lib`"), "{text}");
        assert!(!text.contains("fetching"), "{text}");
        assert!(!dir.join("fetched").exists() && !dir.join("out").exists());
    }
}

#[test]
fn of_two_archives_of_one_artifact_zstd_is_taken() {
    let dir = scratch();
    let dir = dir.path();
    let run = dir.join("store/17-linux");
    fs::write(run.join("base_lib_generic.tar.xz"), "not even an archive").unwrap();
    archive(&dir.join("artifacts/base_run_generic"), &run.join("base_run_generic.tar.xz"));
    fs::remove_file(run.join("base_run_generic.tar.zst")).unwrap();
    let told = plan(dir, &[]);
    assert_eq!(keys(&told["unneeded"]), ["base_lib_generic.tar.xz"]);
    assert_eq!(told["unneeded"][0]["reason"], "zstd-is-there");
    assert!(keys(&told["archives"]).contains(&"base_run_generic.tar.xz"));
    let packages = built(dir, "b", &["--artifact-dir", &address(dir)]);
    assert_eq!(packages, built(dir, "a", &["--artifact-dir", "artifacts"]));
}

#[test]
fn a_rule_that_has_to_match_keeps_what_it_leaves_out() {
    let dir = scratch();
    let dir = dir.path();
    add(dir, "blas_test_generic.tar.zst");
    declare_store(dir);
    let text = fs::read_to_string(dir.join("packages.kdl")).unwrap();
    fs::write(
        dir.join("packages.kdl"),
        text + "drop \"**\" component=\"test\" artifact=\"blas\" reason=\"tests are not shipped\"\n",
    )
    .unwrap();
    let told = plan(dir, &["--mode", "kpack"]);
    assert!(keys(&told["archives"]).contains(&"blas_test_generic.tar.zst"), "{told}");
    done(dir, &["plan", "--artifact-dir", &address(dir), "--mode", "kpack"]);
}
