//! Layout v5: products on separate shelves, and the index above them.

use serde_json::json as value;

use super::*;
use crate::program::{rockpack, text};

fn publish_v5(dir: &Path, dist: &str, more: &[&str]) -> Output {
    let words = ["index", "publish", dist, "store", "--layout", "v5", "--manifest", "built-in"];
    rockpack(dir, &[&words[..], &["--stream", "nightly"], more].concat())
}

#[test]
fn publishes_each_project_to_its_shelf_with_a_route() {
    let dir = TempDir::new().unwrap();
    let path_in = |path: &str| dir.path().join("store/v5").join(path);
    wheel(&dir.path().join("core"), "rocm-sdk-core", "1.0", &[]);
    wheel(&dir.path().join("core"), "rocm-sdk-device-gfx942", "1.0", &["rocm-sdk-core==1.0"]);
    wheel(&dir.path().join("torch"), "torch", "2.0+rocm1.0", &["rocm-sdk-core==1.0"]);
    let early = publish_v5(dir.path(), "torch", &[]);
    assert_eq!(early.status.code(), Some(1), "what it requires is on no shelf yet");
    assert!(!path_in("").exists());
    for dist in ["core", "torch"] {
        let output = publish_v5(dir.path(), dist, &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for (shelf, count) in [("rocm/core/whl-next", 2), ("rocm/pytorch/whl-next", 1)] {
        assert_eq!(check_index(&path_in(shelf), Form::Projects).len(), count);
    }
    let html = fs::read_to_string(path_in("rocm/pytorch/whl-next/torch/index.html")).unwrap();
    assert!(html.contains("<a href=\"torch-2.0%2Brocm1.0-py3-none-any.whl#sha256="), "{html}");

    let core = |package: &str| {
        value!({"owner_path": "core/whl-next", "package": package,
            "target": format!("/rocm/core/whl-next/{package}/")})
    };
    assert_eq!(
        json(&path_in("rocm-whl-next-routes.json")).unwrap(),
        value!({"schema_version": 2, "public_base": "/rocm/whl-next", "stream": "nightly", "routes": [
            core("rocm-sdk-core"), core("rocm-sdk-device-gfx942"),
            {"owner_path": "pytorch/whl-next", "package": "torch", "target": "/rocm/pytorch/whl-next/torch/"},
        ]})
    );
    let page = fs::read_to_string(path_in("rocm/whl-next/index.html")).unwrap();
    for name in ["rocm-sdk-core", "rocm-sdk-device-gfx942", "torch"] {
        assert!(page.contains(&format!("<a href=\"{name}/\">{name}</a>")), "{page}");
    }
    let validation = json(&path_in("validation.json")).unwrap();
    let unpublished = list(&validation, "unpublished_packages");
    let torchvision = value!({"name": "torchvision", "owner_path": "pytorch/whl-next",
        "product_root_index": "/rocm/pytorch/whl-next/index.html"});
    assert!(unpublished.contains(&&torchvision), "{unpublished:?}");
    let package = |owner: &str, name: &str| {
        let root = format!("/rocm/{owner}");
        value!({"name": name, "owner_path": owner, "source": "exact",
            "product_root_index": format!("{root}/index.html"),
            "package_index": format!("{root}/{name}/index.html")})
    };
    // The keys and values of TheRock's report for the same content.
    assert_eq!(
        validation,
        value!({
            "schema_version": 2, "public_base": "/rocm/whl-next", "stream": "nightly",
            "generation_mode": "content", "content_validated": false,
            "package_count": 3, "unpublished_package_count": unpublished.len(),
            "owners": {"core/whl-next": {"package_count": 2}, "pytorch/whl-next": {"package_count": 1}},
            "packages": [package("core/whl-next", "rocm-sdk-core"),
                package("core/whl-next", "rocm-sdk-device-gfx942"),
                package("pytorch/whl-next", "torch")],
            "unpublished_packages": unpublished,
        })
    );
}

#[test]
fn a_dry_run_lists_every_page_to_write() {
    let dir = TempDir::new().unwrap();
    let pages = |output: &Output| -> BTreeSet<String> {
        assert!(output.status.success(), "{}", text(&output.stderr));
        let lines = text(&output.stdout);
        lines.lines().filter(|line| line.starts_with("page ")).map(str::to_owned).collect()
    };
    // Two pages of the project, and four above the shelves. An unchanged wheel needs no page.
    for (name, count) in [("rocm", 2 + 4), ("torch", 2 + 4), ("rocm", 0)] {
        wheel(&dir.path().join(name), name, "1.0", &[]);
        let planned = pages(&publish_v5(dir.path(), name, &["--dry-run"]));
        assert_eq!(planned.len(), count, "{planned:?}");
        assert_eq!(pages(&publish_v5(dir.path(), name, &[])), planned);
    }
}

#[test]
fn pages_of_other_programs_lead_to_their_projects() {
    let dir = TempDir::new().unwrap();
    let core = dir.path().join("store/v5/rocm/core/whl-next");
    fs::create_dir_all(core.join("rocm")).unwrap();
    fs::write(core.join("index.html"), "<a href=\"rocm/\">rocm</a>").unwrap();
    fs::write(core.join("rocm/index.html"), "<a href=\"rocm-7.0.tar.gz\">rocm-7.0.tar.gz</a>")
        .unwrap();
    wheel(&dir.path().join("torch"), "torch", "2.0", &["rocm==7.0"]);
    let output = publish_v5(dir.path(), "torch", &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let routes = json(&dir.path().join("store/v5/rocm-whl-next-routes.json")).unwrap();
    assert_eq!(list(&routes, "routes").len(), 2);
}

#[test]
fn refuses_a_project_without_a_shelf() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("other"), "left-pad", "1.0", &[]);
    let output = publish_v5(dir.path(), "other", &[]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("no shelf takes `left_pad-1.0-py3-none-any.whl`"), "{stderr}");
    assert!(stderr.contains("`shelf` line"), "{stderr}");
    assert!(!dir.path().join("store").exists());
}

#[test]
fn reports_projects_on_a_wrong_shelf() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("torch"), "torch", "2.0", &[]);
    let astray = dir.path().join("store/v5/rocm/pytorch/whl-next");
    fs::create_dir_all(&astray).unwrap();
    fs::write(astray.join("index.json"), r#"{"projects":[{"name":"rocm"},{"name":"left.pad"}]}"#)
        .unwrap();
    assert!(publish_v5(dir.path(), "torch", &[]).status.success());
    let validation = json(&dir.path().join("store/v5/validation.json")).unwrap();
    assert_eq!(validation["unowned_packages"], value!(["left-pad", "rocm"]));
    assert_eq!(list(&validation, "packages").len(), 1);
}

#[test]
fn the_manifest_names_packages_outside_of_the_index() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &["numpy", "typing-extensions"]);
    let manifest = dir.path().join("manifest");
    fs::create_dir(&manifest).unwrap();
    let packages_kdl = "include \"built-in\"\noutside \"numpy\" \"typing-*\"\n";
    fs::write(manifest.join("packages.kdl"), packages_kdl).unwrap();
    fs::write(manifest.join("families.kdl"), "include \"built-in\"\n").unwrap();
    let output = rockpack(dir.path(), &["index", "publish", "dist", "store"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("`numpy`") && stderr.contains("`typing-extensions`"), "{stderr}");
    let output =
        rockpack(dir.path(), &["index", "publish", "dist", "store", "--manifest", "manifest"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn concurrent_publications_lose_no_route() {
    let dir = TempDir::new().unwrap();
    let names = ["rocm", "torch", "triton", "jaxlib", "apex"];
    for name in names {
        wheel(&dir.path().join(name), name, "1.0", &[]);
    }
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(|| assert!(publish_v5(dir.path(), name, &[]).status.success()));
        }
    });
    let routes = json(&dir.path().join("store/v5/rocm-whl-next-routes.json")).unwrap();
    let published: BTreeSet<&str> =
        list(&routes, "routes").iter().map(|route| route["package"].as_str().unwrap()).collect();
    assert_eq!(published, BTreeSet::from(names));
}

#[test]
fn a_store_keeps_its_stream() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("core"), "rocm", "1.0", &[]);
    assert!(publish_v5(dir.path(), "core", &[]).status.success());
    let before = contents(&dir.path().join("store"));
    wheel(&dir.path().join("core"), "rocm", "1.1", &[]);
    let words = ["index", "publish", "core", "store", "--layout", "v5", "--manifest", "built-in"];
    for more in [&[][..], &["--stream", "stable"], &["--dry-run"]] {
        let output = rockpack(dir.path(), &[&words[..], more].concat());
        let messages = crate::program::stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{messages}");
        let expected = "`store` belongs to the stream `nightly` (recorded in `v5/rocm-whl-next-routes.json`), not to";
        assert!(
            messages.contains(expected) && messages.contains("give --stream nightly"),
            "{messages}"
        );
        assert_eq!(contents(&dir.path().join("store")), before);
    }
    let prune =
        ["index", "prune", "store", "--layout", "v5", "--stream", "dev", "--as-of", "4000000000"];
    let output = rockpack(dir.path(), &[&prune[..], &["--manifest", "built-in"]].concat());
    let messages = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("), not to `dev`"), "{messages}");
    assert_eq!(contents(&dir.path().join("store")), before);
    assert!(publish_v5(dir.path(), "core", &[]).status.success());
}

/// Returns the rows of one kind in facts/ownership.tsv: streams, packages and shelves of the public
/// index.
fn ownership(kind: &str) -> Vec<Vec<String>> {
    let facts = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/ownership.tsv");
    let facts = fs::read_to_string(facts).unwrap();
    let rows = facts.lines().map(|line| line.split('\t').map(str::to_owned).collect());
    let rows = rows.filter(|row: &Vec<String>| row[0] == kind).map(|row| row[1..].to_vec());
    let rows: Vec<Vec<String>> = rows.collect();
    assert!(!rows.is_empty(), "no row has the kind {kind}");
    rows
}

#[test]
fn shelves_match_the_public_index() {
    let dir = TempDir::new().unwrap();
    let packages = ownership("PACKAGE");
    for package in &packages {
        wheel(&dir.path().join("dist"), &package[0], "1.0", &[]);
    }
    let output = publish_v5(dir.path(), "dist", &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let routes = json(&dir.path().join("store/v5/rocm-whl-next-routes.json")).unwrap();
    let shelves: Vec<(&str, &str)> = list(&routes, "routes")
        .iter()
        .map(|route| (route["package"].as_str().unwrap(), route["owner_path"].as_str().unwrap()))
        .collect();
    let expected: BTreeSet<(&str, &str)> =
        packages.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
    assert_eq!(shelves.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn streams_of_the_public_index_are_declared() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "rocm-sdk-core", "1.0", &[]);
    for row in ownership("STREAM") {
        let [stream] = &row[..] else { panic!("{row:?} is not one name") };
        let words = ["index", "publish", "dist", stream, "--layout", "v5", "--stream", stream];
        let output = rockpack(dir.path(), &[&words[..], &["--manifest", "built-in"]].concat());
        assert!(output.status.success(), "{stream}: {}", text(&output.stderr));
    }
}
