//! Nights in an index.

use super::*;

fn publish(dir: &Path, dest: &str) -> String {
    succeed(dir, &["index", "publish", &format!("{dest}/dist"), "index"])
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A night publishes its new packages; its selector requires the others in their own versions.
#[test]
fn a_night_publishes_new_packages_and_requires_the_rest() {
    let dir = scratch(true);
    let path = dir.path();
    build(path, "7.14.0a1", "n1", &[]);
    publish(path, "n1");
    build(path, "7.14.0a2", "n2", &["--since", "index"]);
    publish(path, "n2");
    let device = walkdir::WalkDir::new(path.join("artifacts/blas_lib_gfx942")).sort_by_file_name();
    let mut files = device.into_iter().map(|entry| entry.unwrap().into_path());
    let is_code = |file: &PathBuf| file.is_file() && !file.ends_with("artifact_manifest.txt");
    change(&files.find(is_code).unwrap(), Change::Byte);
    build(path, "7.14.0a3", "n3", &["--since", &format!("file://{}/index", path.display())]);
    let names: Vec<String> = wheels(&path.join("n3")).into_keys().collect();
    assert_eq!(names, ["rocm-sdk-device", "rocm-sdk-device-gfx942"]);
    let statement = json(&path.join("n3/dist/provenance.intoto.json"));
    let definition = &statement["predicate"]["buildDefinition"];
    let earlier = &definition["internalParameters"]["earlier"];
    assert_eq!(earlier["rocm-sdk-core"], "7.14.0a2");
    let of_device = |subject: &&Value| subject["name"].as_str().unwrap().contains("gfx942");
    let subject = statement["subject"].as_array().unwrap().iter().find(of_device).unwrap();
    let content = subject["annotations"]["content"].as_str().unwrap();
    assert!(publish(path, "n3").contains("3 uploaded"));
    let page = json(&path.join("index/rocm-sdk-device-gfx942/index.json"));
    let file = page["files"].as_array().unwrap().last().unwrap();
    let list = path
        .join("index/rocm-sdk-device-gfx942")
        .join(format!("{}.content", file["filename"].as_str().unwrap()));
    assert_eq!(file["_content"]["sha256"], sha256(&list).unwrap());
    let text = fs::read_to_string(&list).unwrap();
    assert_eq!(record::content::PackageContent::read(&text).unwrap().digest(), content);
    check_third_selector(path);
    // A changed list of contents is rejected.
    fs::write(&list, text.replacen(" - ", " x ", 1)).unwrap();
    let output = rockpack(path, &night("plan", "7.14.0a4", &["--since", "index"]));
    assert!(stderr(&output).contains("does not have the SHA-256"), "{}", stderr(&output));
}

/// Checks that the selector of the third night requires each package in its own version.
fn check_third_selector(dir: &Path) {
    let metadata = fs::read(dir.join("n3/dist/rocm-7.14.0a3.tar.gz")).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&*metadata));
    let mut texts = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
        texts.entry(name).or_insert(text);
    }
    let info = &texts["PKG-INFO"];
    for line in [
        "Version: 7.14.0a3\n",
        "Requires-Dist: rocm-sdk-core==7.14.0a2\n",
        "Requires-Dist: rocm-sdk-device-gfx942==7.14.0a3; extra == \"device-gfx942\"\n",
        "Requires-Dist: rocm-sdk-device-gfx1100==7.14.0a2; extra == \"device-gfx1100\"\n",
    ] {
        assert!(info.contains(line), "{line}{info}");
    }
    let facts = record::content::facts::read(&texts["_dist_info.py"]).unwrap();
    assert_eq!(facts["versions"]["rocm-sdk-libraries"], "7.14.0a2");
    assert!(facts["versions"].get("rocm-sdk-device-gfx942").is_none());
}

#[test]
fn refuses_to_publish_a_package_that_differs_from_its_provenance() {
    let dir = two_nights();
    let file = dir.path().join("since/dist/provenance.intoto.json");
    let text = fs::read_to_string(&file).unwrap();
    let statement: Value = serde_json::from_str(&text).unwrap();
    let subjects = statement["subject"].as_array().unwrap();
    let content = subjects.iter().find_map(|it| it["annotations"]["content"].as_str()).unwrap();
    fs::write(&file, text.replacen(content, &"0".repeat(64), 1)).unwrap();
    let output = rockpack(dir.path(), &["index", "publish", "since/dist", "index"]);
    assert!(
        stderr(&output).contains("differs from the one in its provenance"),
        "{}",
        stderr(&output)
    );
    assert!(!dir.path().join("index").exists());
}

/// The plan has the digest of the archive before compression with xz, and the finished wheel has
/// the one after it, so they are never equal.
#[test]
fn a_package_with_an_xz_archive_is_new_each_night() {
    let dir = scratch(true);
    let path = dir.path();
    let xz = ["--xz-preset", "0"];
    build(path, "7.14.0a1", "n1", &xz);
    publish(path, "n1");
    build(path, "7.14.0a2", "n2", &[&["--since", "index"], &xz[..]].concat());
    publish(path, "n2");
    let plan = night("plan", "7.14.0a3", &["--since", "index", "--json", "--xz-preset", "0"]);
    let plan: Value = serde_json::from_str(&succeed(path, &plan)).unwrap();
    let is_devel = |it: &&Value| it["name"] == "rocm-sdk-devel";
    let devel = plan["distributions"].as_array().unwrap().iter().find(is_devel).unwrap();
    assert_eq!(devel["new"], "its archive is compressed with xz");
    assert!(devel.get("content").is_none_or(Value::is_null));
    assert!(plan["earlier"].as_array().unwrap().iter().any(|it| it["name"] == "rocm-sdk-core"));
}
