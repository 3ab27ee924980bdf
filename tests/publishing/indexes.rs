//! Directories with a selector for a second index: each index is published completely.

use super::prune::{days_ago, monthly, pruned};
use super::*;
use crate::index::second::built;
use crate::program::{rockpack, text};

fn rocm(names: &BTreeSet<String>) -> bool {
    names.contains("rocm-7.2.0.tar.gz")
}

#[test]
fn the_second_index_has_a_separate_directory() {
    let dir = built("");
    for form in BOTH {
        let store = TempDir::new().unwrap();
        let bucket = Directory::new(store.path());
        let options = options(form);
        let dist = dir.path().join("out/dist");
        let (summary, _) = published(&dist, &bucket, &options);
        assert_eq!((summary.uploaded, summary.same), (16, 0));
        let (first, second) =
            (check_index(store.path(), form), check_index(&store.path().join("whl"), form));
        assert_eq!(first, second);
        assert!(first.len() == 8 && rocm(&first), "{first:?}");
        let selector_of = |base: &str| {
            let project = if form == Form::Flat { "" } else { "rocm/" };
            fs::read(store.path().join(base).join(format!("{project}rocm-7.2.0.tar.gz"))).unwrap()
        };
        let hash = |bytes: &[u8]| Sha256::of(bytes).to_string();
        assert_ne!(hash(&selector_of("")), hash(&selector_of("whl")));
        let (again, _) = published(&dist, &bucket, &options);
        assert_eq!((again.uploaded, again.same, again.pages), (0, 16, 0));
    }
}

const SHELF: &str = "shelf \"v5/rocm/core/whl\" public=\"/rocm/core/whl/\" index=\"whl\" {
    project \"rocm\" \"rocm-*\"
}
";

fn publish_v5(dir: &Path) -> Output {
    let words = ["index", "publish", "out/dist", "store", "--layout", "v5", "--stream", "nightly"];
    rockpack(dir, &[&words[..], &["--manifest", "."]].concat())
}

#[test]
fn a_shelf_can_be_for_the_second_index() {
    let dir = built(SHELF);
    let output = publish_v5(dir.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let path_in = |path: &str| dir.path().join("store/v5").join(path);
    for shelf in ["rocm/core/whl", "rocm/core/whl-next"] {
        assert_eq!(check_index(&path_in(shelf), Form::Projects).len(), 8, "{shelf}");
    }
    let selector = |shelf: &str| fs::read(path_in(shelf).join("rocm/rocm-7.2.0.tar.gz")).unwrap();
    assert_ne!(selector("rocm/core/whl"), selector("rocm/core/whl-next"));
    let wheel = "rocm-sdk-core/rocm_sdk_core-7.2.0-py3-none-linux_x86_64.whl";
    let file = |shelf: &str| fs::read(path_in(shelf).join(wheel)).unwrap();
    assert_eq!(file("rocm/core/whl"), file("rocm/core/whl-next"));
    let routes = fs::read_to_string(path_in("rocm-whl-next-routes.json")).unwrap();
    assert!(!routes.contains("/rocm/core/whl/"), "the aggregate leads to the others: {routes}");

    let words =
        ["index", "mirror", "store", "pages", "--public", "https://example.com", "--layout", "v5"];
    let output = rockpack(dir.path(), &[&words[..], &["--manifest", "."]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = json(&dir.path().join("pages/rocm/index.json")).unwrap();
    let urls: Vec<&str> =
        list(&page, "files").iter().map(|file| file["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["https://example.com/rocm/core/whl-next/rocm/rocm-7.2.0.tar.gz"]);
}

/// Makes packages of a newer version below `dir`.
fn newer(dir: &Path) -> &'static str {
    let words = ["build", "--artifact-dir", "artifacts", "-o", "newer"];
    let more = ["--platform-tag", "linux_x86_64", "--version", "7.3.0"];
    crate::program::succeed(dir, &[&words[..], &more].concat());
    "newer/dist"
}

#[test]
fn shelves_of_both_indexes_are_pruned_together() {
    let dir = built(SHELF);
    assert!(publish_v5(dir.path()).status.success());
    let root = dir.path().join("store");
    let old = contents(&root);
    let newer = newer(dir.path());
    for (key, _) in old {
        let file = fs::File::options().write(true).open(root.join(key)).unwrap();
        let then = std::time::SystemTime::now() - std::time::Duration::from_hours(24 * 200);
        file.into_parts().0.set_modified(then).unwrap();
    }
    let publish = ["index", "publish", newer, "store", "--layout", "v5", "--stream", "nightly"];
    let output = rockpack(dir.path(), &[&publish[..], &["--manifest", "."]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let words =
        ["index", "prune", "store", "--layout", "v5", "--stream", "nightly", "--manifest", "."];
    let output = rockpack(dir.path(), &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for shelf in ["rocm/core/whl", "rocm/core/whl-next"] {
        let names = check_index(&root.join("v5").join(shelf), Form::Projects);
        assert_eq!(names.iter().filter(|name| name.contains("7.2.0")).count(), 0, "{shelf}");
        assert_eq!(names.len(), 8, "{shelf}");
    }
}

#[test]
fn an_index_without_a_shelf_is_refused_before_anything_is_written() {
    let dir = built("");
    let output = publish_v5(dir.path());
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("no shelf is for the index `whl`"), "{stderr}");
    assert!(stderr.contains("index=\"whl\""), "{stderr}");
    assert!(!dir.path().join("store").exists());
}

/// The pages of one index keep files that the other names: the second is pruned first.
#[test]
fn prunes_each_index_separately() {
    let (dir, store) = (built(""), TempDir::new().unwrap());
    let (dist, newer) = (dir.path().join("out/dist"), newer(dir.path()));
    for form in BOTH {
        let root = store.path().join(format!("{form:?}"));
        days_ago(&dist, &root, form, 40);
        days_ago(&dir.path().join(newer), &root, form, 1);
        let counts = |root: &Path| {
            let summary = pruned(root, &monthly(form)).0;
            (summary.removed, summary.kept)
        };
        assert_eq!(counts(&root), (0, 8), "the other index names them");
        assert_eq!(check_index(&root.join("whl"), form).len(), 16);
        assert_eq!(counts(&root.join("whl")), (8, 0));
        assert_eq!(counts(&root), (8, 0));
        assert!(contents(&root).iter().all(|(key, _)| !key.contains("-7.2.0")));
    }
}
