//! Selection of a run's needed archives, and its report before any download.

use super::*;

fn fetch_plan(dir: &Path, more: &[&str]) -> Value {
    let address = address(dir);
    let args = [&["artifact", "fetch", &address, "--dry-run", "--json"], more].concat();
    serde_json::from_str(&succeed(dir, &args).0).unwrap()
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
fn fetches_no_archive_without_needed_files() {
    let dir = scratch();
    let dir = dir.path();
    for name in ["unheard-of_lib_generic.tar.zst", "blas_test_generic.tar.zst"] {
        add(dir, name);
    }
    fs::create_dir_all(dir.join("store/17-linux/logs")).unwrap();
    fs::write(dir.join("store/17-linux/logs/base_lib_generic.tar.zst"), "no archive").unwrap();
    fs::write(dir.join("store/17-linux/index.html"), "").unwrap();
    let fetch_plan = fetch_plan(dir, &["--mode", "kpack"]);
    assert_eq!(
        keys(&fetch_plan["unneeded"]),
        ["blas_test_generic.tar.zst", "unheard-of_lib_generic.tar.zst"]
    );
    assert_eq!(fetch_plan["missing"], serde_json::json!([]));
    assert!(!dir.join("fetched").exists());
    // A fetch gets exactly the needed archives. Plans of them, of the run, and of all artifacts are equal.
    let address = address(dir);
    succeed(dir, &["artifact", "fetch", &address, "-o", "fetched", "--mode", "kpack"]);
    let mut expected: Vec<String> = Vec::new();
    for key in keys(&fetch_plan["archives"]) {
        expected.extend([key.to_owned(), format!("{key}.sha256sum")]);
    }
    assert_eq!(files(&dir.join("fetched")).into_keys().collect::<Vec<_>>(), expected);
    let distributions = |place: &str| {
        let (text, _) = succeed(dir, &["plan", "--artifact-dir", place, "--json"]);
        let plan: Value = serde_json::from_str(&text).unwrap();
        plan["distributions"].clone()
    };
    assert_eq!(distributions("fetched"), distributions("artifacts"));
    assert_eq!(distributions(&address), distributions("artifacts"));
}

#[test]
fn archives_with_packaged_files_are_needed() {
    let dir = scratch();
    let dir = dir.path();
    let fetch_plan = fetch_plan(dir, &[]);
    let needed = keys(&fetch_plan["archives"]);
    let (text, _) = succeed(dir, &["plan", "--artifact-dir", "artifacts", "--json"]);
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
fn fetches_no_unrequested_family() {
    let dir = scratch();
    let dir = dir.path();
    let whole_plan = fetch_plan(dir, &[]);
    let family_plan = fetch_plan(dir, &["--linux-amdgpu-families", "gfx942"]);
    let count = |fetch_plan: &Value, isa: &str| {
        keys(&fetch_plan["archives"]).iter().filter(|key| key.contains(isa)).count()
    };
    assert!(count(&whole_plan, "gfx942") > 0 && count(&whole_plan, "gfx1100") > 0);
    assert_eq!(
        (count(&family_plan, "gfx942"), count(&family_plan, "gfx1100")),
        (count(&whole_plan, "gfx942"), 0)
    );
    let built =
        built(dir, "out", &["--artifact-dir", &address(dir), "--linux-amdgpu-families", "gfx942"]);
    assert!(built.keys().any(|name| name.contains("gfx942")), "{built:?}");
    assert!(!built.keys().any(|name| name.contains("gfx1100")), "{built:?}");
    let address = address(dir);
    let text = refusal(
        dir,
        1,
        &["artifact", "fetch", &address, "--dry-run", "--linux-amdgpu-families", "gfx906"],
    );
    assert!(text.contains("gfx906 is requested, but no artifact is for it"), "{text}");
    // `gfx942` requests the artifacts of `gfx942:xnack+`, too.
    let paths: Vec<_> =
        fs::read_dir(dir.join("store/17-linux")).unwrap().map(|e| e.unwrap().path()).collect();
    // A dry run does not read the checksums, which still name the old archives.
    for path in paths.iter().filter(|path| path.to_str().unwrap().contains("gfx942")) {
        let name = path.file_name().unwrap().to_str().unwrap().replace("gfx942", "gfx942:xnack+");
        fs::rename(path, path.with_file_name(name)).unwrap();
    }
    let featured = fetch_plan(dir, &["--linux-amdgpu-families", "gfx942"]);
    assert_eq!(count(&featured, "gfx942:xnack+"), count(&whole_plan, "gfx942"));
}

#[test]
fn reports_missing_archives_before_any_transfer() {
    let dir = scratch();
    let (dir, address) = (dir.path(), address(dir.path()));
    fs::remove_file(dir.join("store/17-linux/base_lib_generic.tar.zst")).unwrap();
    let args = ["artifact", "fetch", &*address, "--dry-run"];
    let output = rockpack(dir, &args);
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(stdout.contains("missing\n  base lib, for core  <built in>/packages.kdl:"), "{stdout}");
    let text = stderr(&output);
    assert!(text.contains("artifact `base` has no component `lib` for this package"), "{text}");
    for way in [
        vec!["artifact", "fetch", &*address, "-o", "fetched"],
        vec!["build", "--artifact-dir", &*address, "-o", "out"],
    ] {
        let text = refusal(dir, 1, &way);
        assert!(text.contains("`base` has no component `lib`"), "{text}");
        assert!(!text.contains("fetching"), "{text}");
        assert!(!dir.join("fetched").exists() && !dir.join("out").exists());
    }
}

#[test]
fn prefers_zstd_of_two_archives_of_an_artifact() {
    let dir = scratch();
    let dir = dir.path();
    let run = dir.join("store/17-linux");
    fs::write(run.join("base_lib_generic.tar.xz"), "not even an archive").unwrap();
    archive(&dir.join("artifacts/base_run_generic"), &run.join("base_run_generic.tar.xz"));
    fs::remove_file(run.join("base_run_generic.tar.zst")).unwrap();
    let fetch_plan = fetch_plan(dir, &[]);
    assert_eq!(keys(&fetch_plan["unneeded"]), ["base_lib_generic.tar.xz"]);
    assert_eq!(fetch_plan["unneeded"][0]["reason"], "zstd-is-there");
    assert!(keys(&fetch_plan["archives"]).contains(&"base_run_generic.tar.xz"));
    let packages = built(dir, "b", &["--artifact-dir", &address(dir)]);
    assert_eq!(packages, built(dir, "a", &["--artifact-dir", "artifacts"]));
}

#[test]
fn fetches_the_archives_of_a_drop_rule_that_must_match() {
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
    let fetch_plan = fetch_plan(dir, &["--mode", "kpack"]);
    assert!(keys(&fetch_plan["archives"]).contains(&"blas_test_generic.tar.zst"), "{fetch_plan}");
    succeed(dir, &["plan", "--artifact-dir", &address(dir), "--mode", "kpack"]);
}
