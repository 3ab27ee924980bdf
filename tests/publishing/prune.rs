//! Old packages are removed, except needed ones.

use std::time::{Duration, SystemTime};

use index::publish::{PruneStep, Pruned, Retention, prune};
use manifest::Dated;

use super::failing::Failing;
use super::*;
use crate::program::{rockpack, text};

/// Retention of a month, for packages in the store since `days` ago.
pub fn monthly(form: Form) -> Retention {
    let (layout, now) = (Layout::from_form(form), SystemTime::now());
    Retention { layout, days: 30, date: Dated::Upload, now, yes: true, dry_run: false, jobs: 2 }
}

/// Publishes as if this many days ago.
pub fn days_ago(dir: &Path, root: &Path, form: Form, days: u64) {
    let before: BTreeSet<String> = contents(root).into_iter().map(|(key, _)| key).collect();
    published(dir, &Directory::new(root), &options(form));
    let then = SystemTime::now() - Duration::from_hours(24 * days);
    for (key, _) in contents(root).iter().filter(|(key, _)| !before.contains(key)) {
        let file = fs::File::options().write(true).open(root.join(key)).unwrap();
        file.into_parts().0.set_modified(then).unwrap();
    }
}

pub fn pruned(root: &Path, retention: &Retention) -> (Pruned, Vec<PruneStep>) {
    let steps = std::sync::Mutex::new(Vec::new());
    let report = |step: &PruneStep| steps.lock().unwrap().push(step.clone());
    let pruned = prune(&Directory::new(root), retention, &report).unwrap();
    (pruned, steps.into_inner().unwrap())
}

/// Marks a store as belonging to a stream, as publishing with --stream does.
pub fn of_stream(root: &Path, stream: &str) {
    let text = format!("{{\"stream\":\"{stream}\"}}\n");
    fs::write(root.join("rockpack-stream.json"), text).unwrap();
}

fn removed(steps: &[PruneStep]) -> BTreeSet<String> {
    let key = |step: &PruneStep| match step {
        PruneStep::Removed { key, .. } => Some(key.file_name().to_owned()),
        _ => None,
    };
    steps.iter().filter_map(key).collect()
}

#[test]
fn removes_old_packages_with_their_companions() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        days_ago(&small_set(dir.path(), "1.0"), &root, form, 40);
        days_ago(&small_set(dir.path(), "2.0"), &root, form, 20);
        let place = root.join(if form == Form::Flat { "" } else { "a-selector" });
        let patch = "a_selector-1.0-py3-none-any.whl.from-0123456789abcdef.patch";
        fs::write(place.join(patch), "").unwrap();
        let before = contents(&root);
        let (dry_run, steps) = pruned(&root, &Retention { dry_run: true, ..monthly(form) });
        assert_eq!(contents(&root), before, "a dry run writes nothing");
        let (summary, real_steps) = pruned(&root, &monthly(form));
        assert_eq!(
            (dry_run.removed, dry_run.kept, dry_run.pages),
            (4, 0, if form == Form::Flat { 2 } else { 8 })
        );
        assert_eq!((summary, removed(&real_steps)), (dry_run, removed(&steps)));
        assert_eq!(removed(&steps).len(), 4 + 3 + 1, "with METADATA and a patch");
        let names = check_index(&root, form);
        assert_eq!(names.len(), 4);
        assert!(names.iter().all(|name| name.contains("-2.0")), "{names:?}");
        assert!(contents(&root).iter().all(|(key, _)| !key.contains("-1.0")));
        let reason = steps.iter().find_map(|step| match step {
            PruneStep::Removed { because, .. } => Some(because.clone()),
            _ => None,
        });
        let reason = reason.unwrap();
        assert!(reason.starts_with("it was uploaded on 20"), "{reason}");
        assert!(reason.ends_with(", and packages stay 30 days"), "{reason}");
        assert_eq!(pruned(&root, &monthly(form)).0, Pruned { total: 4, ..Pruned::default() });
    }
}

#[test]
fn keeps_the_requirements_of_remaining_packages() {
    let dir = TempDir::new().unwrap();
    let (old, new, root) =
        (dir.path().join("old"), dir.path().join("new"), dir.path().join("store"));
    for version in ["1.0", "1.1", "1.2"] {
        wheel(&old, "b-part", version, &[&format!("c-part=={version}")]);
        wheel(&old, "c-part", version, &[]);
    }
    for version in ["1.0+local.9", "1.0.post1"] {
        wheel(&old, "c-part", version, &[]);
    }
    days_ago(&old, &root, Form::Projects, 100);
    wheel(&new, "a-selector", "2.0", &["b-part==1.0; sys_platform == 'win32'"]);
    days_ago(&new, &root, Form::Projects, 1);
    let (summary, steps) = pruned(&root, &monthly(Form::Projects));
    assert_eq!((summary.removed, summary.kept), (3, 5));
    let names = check_index(&root, Form::Projects);
    let expected = [
        "a_selector-2.0",
        "b_part-1.0",
        "b_part-1.2",
        "c_part-1.0",
        "c_part-1.0+local.9",
        "c_part-1.2",
    ];
    assert_eq!(names, expected.map(|name| format!("{name}-py3-none-any.whl")).into());
    let staying: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            PruneStep::Kept { key, because } => Some(format!("{} {because}", key.file_name())),
            _ => None,
        })
        .collect();
    assert_eq!(
        staying,
        [
            "b_part-1.0-py3-none-any.whl `a_selector-2.0-py3-none-any.whl` requires it",
            "b_part-1.2-py3-none-any.whl the newest complete version of `b-part` stays",
            "c_part-1.0+local.9-py3-none-any.whl `b_part-1.0-py3-none-any.whl` requires it",
            "c_part-1.0-py3-none-any.whl `b_part-1.0-py3-none-any.whl` requires it",
            "c_part-1.2-py3-none-any.whl the newest complete version of `c-part` stays",
        ]
    );
}

#[test]
fn keeps_packages_that_another_page_names() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    days_ago(&small_set(dir.path(), "1.0"), &root, Form::Projects, 40);
    days_ago(&small_set(dir.path(), "2.0"), &root, Form::Projects, 1);
    fs::create_dir(root.join("mirror")).unwrap();
    let link = "<a href='https://host/x/b_part-1.0-py3-none-any.whl#sha256=00'>b</a>";
    fs::write(root.join("mirror/all.html"), link).unwrap();
    let (summary, _) = pruned(&root, &monthly(Form::Projects));
    assert_eq!((summary.removed, summary.kept), (3, 1));
    let old = check_index(&root, Form::Projects).into_iter().filter(|name| name.contains("-1.0"));
    assert_eq!(old.collect::<Vec<_>>(), ["b_part-1.0-py3-none-any.whl"]);
}

#[test]
fn reads_the_date_in_versions() {
    let dir = TempDir::new().unwrap();
    let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
    for version in ["1.0a20200101", "1.0a20991231", "0.9"] {
        wheel(&dist, "b-part", version, &[]);
    }
    published(&dist, &Directory::new(&root), &options(Form::Flat));
    let by_version = Retention { date: Dated::Version, ..monthly(Form::Flat) };
    let (_, steps) = pruned(&root, &Retention { dry_run: true, ..by_version.clone() });
    assert!(
        matches!(&steps[1], PruneStep::Removed { because, .. } if because
            == "its version is of 2020-01-01, and packages stay 30 days"),
        "{steps:?}"
    );
    pruned(&root, &by_version);
    let names = check_index(&root, Form::Flat);
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(!names.contains("b_part-1.0a20200101-py3-none-any.whl"));
}

#[test]
fn keeps_unnamed_packages_for_a_day() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    let published_set = dir.path().join("other");
    wheel(&published_set, "c-part", "1.0", &[]);
    published(&published_set, &Directory::new(&root), &options(Form::Flat));
    let before = ["index.html", "packages.json"];
    let before = before.map(|page| (page, fs::read(root.join(page)).unwrap()));
    for (version, days) in [("1.0a20200101", 0), ("1.1a20200101", 2)] {
        let dist = dir.path().join(version);
        wheel(&dist, "b-part", version, &[]);
        days_ago(&dist, &root, Form::Flat, days);
    }
    // The page as before publishing.
    for (page, bytes) in before {
        fs::write(root.join(page), bytes).unwrap();
    }
    let (summary, _) = pruned(&root, &Retention { date: Dated::Version, ..monthly(Form::Flat) });
    assert_eq!(summary.removed, 1);
    assert!(root.join("b_part-1.0a20200101-py3-none-any.whl").exists());
}

#[test]
fn removes_nothing_while_requirements_are_unknown() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    days_ago(&small_set(dir.path(), "1.0"), &root, Form::Flat, 40);
    days_ago(&small_set(dir.path(), "2.0"), &root, Form::Flat, 1);
    fs::remove_file(root.join("b_part-2.0-py3-none-any.whl.metadata")).unwrap();
    of_stream(&root, "mine");
    let before = contents(&root);
    let manifest = dir.path().join("manifest");
    fs::create_dir(&manifest).unwrap();
    let stream = "include \"built-in\"\nchange \"stream\" \"dev\" keep=\"30 days\"\n";
    fs::write(
        manifest.join("packages.kdl"),
        stream.replace("change \"stream\" \"dev\"", "stream \"mine\""),
    )
    .unwrap();
    fs::write(manifest.join("families.kdl"), "include \"built-in\"\n").unwrap();
    let words =
        ["index", "prune", "store", "--layout", "flat", "--manifest", "manifest", "--stream"];
    let output = rockpack(dir.path(), &[&words[..], &["mine"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("`b_part-2.0-py3-none-any.whl`")
            && stderr.contains("rockpack index publish"),
        "{stderr}"
    );
    assert_eq!(contents(&root), before);
    let output = rockpack(dir.path(), &[&words[..], &["nihgtly"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `nightly`?"), "{}", text(&output.stderr));
    let output = rockpack(dir.path(), &[&words[..], &["stable"]].concat());
    assert_eq!(text(&output.stdout), "packages of stable are kept for ever\n");
}

/// Without its page, a package would seem to be of no page.
#[test]
fn removes_nothing_while_a_listed_page_is_hidden() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        days_ago(&small_set(dir.path(), "1.0"), &root, form, 40);
        days_ago(&small_set(dir.path(), "2.0"), &root, form, 1);
        let before = contents(&root);
        let page = if form == Form::Flat { "index.html" } else { "a-selector/index.html" };
        let store = Failing::new(Directory::new(&root), usize::MAX, false).hiding(page);
        let error = prune(&store, &monthly(form), &|_| {}).unwrap_err().to_string();
        assert!(error.contains(page) && error.contains("listed and cannot be found"), "{error}");
        assert_eq!(contents(&root), before);
    }
}

#[test]
fn steps_are_printed() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    for (version, days) in [("1.0", 40), ("2.0", 35)] {
        let dist = dir.path().join(version);
        wheel(&dist, "b-part", version, &[]);
        days_ago(&dist, &root, Form::Projects, days);
    }
    of_stream(&root, "dev");
    let words = ["index", "prune", "store", "--stream", "dev", "--manifest", "built-in"];
    let output = rockpack(dir.path(), &[&words[..], &["--dry-run"]].concat());
    let stdout = text(&output.stdout);
    let mut lines: Vec<&str> = stdout.lines().collect();
    let stays = lines.remove(0);
    let because = "b_part-2.0-py3-none-any.whl  the newest complete version of `b-part` stays";
    assert!(stays.starts_with("stays ") && stays.ends_with(because), "{stdout}");
    assert_eq!(lines[0], "page         -1  b-part/index.html", "{stdout}{}", text(&output.stderr));
    for (line, key) in [
        (lines[1], "b_part-1.0-py3-none-any.whl.metadata"),
        (lines[2], "b_part-1.0-py3-none-any.whl"),
    ] {
        assert!(
            line.starts_with("remove   ") && line.contains(&format!("  b-part/{key}  ")),
            "{stdout}"
        );
    }
    assert!(lines[3].starts_with("1 would be removed, "), "{stdout}");
    assert!(rockpack(dir.path(), &words).status.success());
    assert_eq!(
        check_index(&root, Form::Projects),
        ["b_part-2.0-py3-none-any.whl".to_owned()].into()
    );
}

#[test]
fn at_each_step_the_index_is_whole_and_the_next_run_finishes() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (small_set(dir.path(), "1.0"), small_set(dir.path(), "2.0"));
    let contains = |names: &BTreeSet<String>, name: &str, version: &str| {
        names.contains(&format!("{name}-{version}-py3-none-any.whl"))
    };
    for form in BOTH {
        let mut steps = 0;
        for lost in [false, true] {
            for count in 0.. {
                let root = dir.path().join(format!("{form:?}-{lost}-{count}"));
                days_ago(&first, &root, form, 40);
                days_ago(&second, &root, form, 1);
                let bucket = Directory::new(&root);
                let failing = Failing::new(bucket, count, lost);
                let result = prune(&failing, &monthly(form), &|_| ());
                let names = check_index(&root, form);
                for version in ["1.0", "2.0"] {
                    let parts =
                        ["b_part", "c_part"].iter().all(|part| contains(&names, part, version));
                    assert!(
                        parts || !contains(&names, "a_selector", version),
                        "{count}: {names:?}"
                    );
                }
                // The HTML names only existing files.
                for (key, bytes) in contents(&root).iter().filter(|(key, _)| key.ends_with("html"))
                {
                    let page = String::from_utf8_lossy(bytes);
                    let place = root.join(key);
                    let files =
                        page.split("href=\"").skip(1).filter_map(|rest| rest.split('#').next());
                    let is_package = |file: &&str| {
                        let extension = Path::new(file).extension();
                        extension.is_some_and(|extension| extension == "whl" || extension == "gz")
                    };
                    for file in files.filter(is_package) {
                        assert!(place.with_file_name(file).exists(), "{count}: {key} names {file}");
                    }
                }
                pruned(&root, &monthly(form));
                let names = check_index(&root, form);
                assert!(names.len() == 4 && contains(&names, "a_selector", "2.0"), "{names:?}");
                assert!(contents(&root).iter().all(|(key, _)| !key.contains("-1.0")), "{count}");
                let names_old = |(key, page): &(String, Vec<u8>)| {
                    key.ends_with("html") && String::from_utf8_lossy(page).contains("-1.0")
                };
                assert!(!contents(&root).iter().any(names_old), "{form:?} {lost} {count}");
                if result.is_ok() {
                    break;
                }
                steps += 1;
            }
        }
        // At least 7 objects, and the pages.
        assert!(steps >= 2 * (7 + 2), "{form:?}: {steps}");
    }
}

#[test]
fn a_place_without_an_index_is_an_error() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let error = prune(&Directory::new(dir.path()), &monthly(form), &|_| {}).unwrap_err();
        assert!(error.to_string().starts_with("there are no pages with packages"), "{error}");
    }
    // Packages without pages may be other downloads.
    for (form, dist) in [(Form::Flat, "dist"), (Form::Projects, "dist/b-part")] {
        let path = wheel(&dir.path().join(dist), "b-part", "1.0", &[]);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.into_parts().0.set_modified(std::time::UNIX_EPOCH).unwrap();
        let place = Directory::new(&dir.path().join("dist"));
        let error = prune(&place, &monthly(form), &|_| {}).unwrap_err();
        assert!(error.to_string().starts_with("there are no pages with packages"), "{error}");
        assert!(path.exists());
    }
}

#[test]
fn keeps_packages_in_directories_of_other_names() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    days_ago(&small_set(dir.path(), "1.0"), &root, Form::Projects, 40);
    days_ago(&small_set(dir.path(), "2.0"), &root, Form::Projects, 1);
    let package = root.join("dl/b_part-1.0-py3-none-any.whl");
    fs::create_dir(root.join("dl")).unwrap();
    fs::copy(root.join("b-part/b_part-1.0-py3-none-any.whl"), &package).unwrap();
    let file = fs::File::options().write(true).open(&package).unwrap();
    file.into_parts().0.set_modified(std::time::UNIX_EPOCH).unwrap();
    let dry = Retention { dry_run: true, jobs: 8, ..monthly(Form::Projects) };
    let (_, steps) = pruned(&root, &dry);
    let keys: Vec<String> = steps
        .iter()
        .filter_map(|step| match step {
            PruneStep::Removed { key, .. } => Some(key.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(keys.len(), 4 + 3);
    assert!(keys.iter().all(|key| !key.starts_with("dl/")), "{keys:?}");
    for _ in 0..20 {
        assert_eq!(pruned(&root, &dry).1, steps, "the same lines in the same order");
    }
    pruned(&root, &monthly(Form::Projects));
    assert!(package.exists());
}

#[test]
fn keeps_the_newest_complete_version_of_any_age() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        days_ago(&small_set(dir.path(), "1.0"), &root, form, 400);
        days_ago(&small_set(dir.path(), "2.0"), &root, form, 300);
        // Half a set, as left by an interrupted build: its parts are in no store.
        let half = dir.path().join("half");
        wheel(&half, "a-selector", "3.0", &["b-part==3.0", "numpy"]);
        let incomplete = Options { incomplete: true, ..options(form) };
        published(&half, &Directory::new(&root), &incomplete);
        let later = SystemTime::now() + Duration::from_hours(24 * 365 * 100);
        let (summary, _) = pruned(&root, &Retention { now: later, ..monthly(form) });
        assert_eq!((summary.removed, summary.kept), (4 + 1, 4), "{form:?}");
        let names = check_index(&root, form);
        assert!(names.len() == 4 && names.iter().all(|name| name.contains("-2.0")), "{names:?}");
        let (again, _) = pruned(&root, &Retention { now: later, ..monthly(form) });
        assert_eq!((again.removed, again.kept), (0, 4), "{form:?}");
    }
}

#[test]
fn a_yanked_version_is_not_the_newest_that_stays() {
    let dir = TempDir::new().unwrap();
    let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
    for version in ["1.0", "2.0", "3.0"] {
        let path = wheel(&dist, "b-part", version, &[]);
        if version == "3.0" {
            fs::write(format!("{}.yanked", path.display()), "broken").unwrap();
        }
    }
    days_ago(&dist, &root, Form::Projects, 400);
    pruned(&root, &monthly(Form::Projects));
    assert_eq!(
        check_index(&root, Form::Projects),
        ["b_part-2.0-py3-none-any.whl".to_owned()].into()
    );
}

/// Packages whose names remain, of a store where `a-selector` requires a `b-part` older than 2.
fn parts_that_remain(change: impl Fn(&Path, &Path)) -> BTreeSet<String> {
    let dir = TempDir::new().unwrap();
    let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
    for version in ["1.0", "1.1", "2.0"] {
        wheel(&dist, "b-part", version, &[]);
    }
    wheel(&dist, "a-selector", "5.0", &["b-part<2"]);
    change(&dist, &root);
    days_ago(&dist, &root, Form::Projects, 400);
    change(&dist, &root);
    pruned(&root, &monthly(Form::Projects));
    let names = names(&root.join("b-part")).into_iter();
    names.filter(|name| Path::new(name).extension() == Some("whl".as_ref())).collect()
}

#[test]
fn a_version_that_no_installer_takes_meets_no_requirement() {
    let usable = ["b_part-1.1-py3-none-any.whl", "b_part-2.0-py3-none-any.whl"];
    let whole = parts_that_remain(|_, _| {});
    assert_eq!(whole, usable.map(str::to_owned).into());
    let yanked = parts_that_remain(|dist, _| {
        fs::write(dist.join("b_part-1.1-py3-none-any.whl.yanked"), "broken").unwrap();
    });
    let usable = ["b_part-1.0-py3-none-any.whl", "b_part-2.0-py3-none-any.whl"];
    assert_eq!(yanked, usable.map(str::to_owned).into());
    // Uploaded by a run that has not written its pages.
    let unlisted = parts_that_remain(|_, root| {
        let package = root.join("b-part/b_part-1.1-py3-none-any.whl");
        if package.exists() {
            unlist(&root.join("b-part"), "b_part-1.1");
            fs::File::options()
                .write(true)
                .open(package)
                .unwrap()
                .set_modified(SystemTime::now())
                .unwrap();
        }
    });
    assert!(unlisted.is_superset(&usable.map(str::to_owned).into()), "{unlisted:?}");
}

/// Removes the lines and entries of a package from the pages of a project.
fn unlist(place: &Path, package: &str) {
    let html = fs::read_to_string(place.join("index.html")).unwrap();
    let lines = html.lines().filter(|line| !line.contains(package));
    fs::write(place.join("index.html"), lines.collect::<Vec<_>>().join("\n")).unwrap();
    let mut page = json(&place.join("index.json")).unwrap();
    page["files"].as_array_mut().unwrap().retain(|file| !file.to_string().contains(package));
    fs::write(place.join("index.json"), page.to_string()).unwrap();
}

#[test]
fn packages_with_addresses_on_a_server_are_listed() {
    for address in ["/whl/b-part/", "https://example.invalid/whl/b-part/", "//example.invalid/"] {
        let dir = TempDir::new().unwrap();
        let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
        for version in ["1.0", "2.0"] {
            wheel(&dist, "b-part", version, &[]);
        }
        days_ago(&dist, &root, Form::Projects, 400);
        // Pages of another program.
        for page in ["index.html", "index.json"].map(|name| root.join("b-part").join(name)) {
            let text = fs::read_to_string(&page).unwrap();
            let text = text.replace("\"b_part-", &format!("\"{address}b_part-"));
            fs::write(&page, text.replace(&format!("\"filename\":\"{address}"), "\"filename\":\""))
                .unwrap();
        }
        let (summary, steps) = pruned(&root, &monthly(Form::Projects));
        let old = "b_part-1.0-py3-none-any.whl";
        assert_eq!(summary.removed, 1, "{address}: {steps:?}");
        assert!(removed(&steps).contains(old), "{address}");
        assert!(root.join("b-part/b_part-2.0-py3-none-any.whl").exists(), "{address}");
        for page in ["index.html", "index.json"].map(|name| root.join("b-part").join(name)) {
            let text = fs::read_to_string(&page).unwrap();
            assert!(!text.contains("b_part-1.0") && text.contains("b_part-2.0"), "{text}");
        }
    }
}

#[test]
fn a_list_of_variants_requires_nothing() {
    let dir = TempDir::new().unwrap();
    let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
    for version in ["1.0", "2.0"] {
        wheel(&dist, "b-part", version, &[]);
    }
    days_ago(&dist, &root, Form::Projects, 400);
    let (name, place) = ("b_part-2.0-variants.json", root.join("b-part"));
    fs::write(place.join(name), "{}").unwrap();
    let mut page = json(&place.join("index.json")).unwrap();
    let files = page["files"].as_array_mut().unwrap();
    let mut file = files[0].clone();
    (file["filename"], file["url"]) = (name.into(), name.into());
    files.push(file);
    fs::write(place.join("index.json"), page.to_string()).unwrap();
    let (summary, steps) = pruned(&root, &monthly(Form::Projects));
    assert_eq!(summary.removed, 1, "{steps:?}");
    assert!(place.join(name).exists() && place.join("b_part-2.0-py3-none-any.whl").exists());
}

#[test]
fn more_than_half_of_the_packages_go_only_with_yes() {
    let dir = TempDir::new().unwrap();
    let (dist, root) = (dir.path().join("dist"), dir.path().join("store"));
    for version in ["1.0", "2.0", "3.0"] {
        wheel(&dist, "b-part", version, &[]);
    }
    days_ago(&dist, &root, Form::Projects, 400);
    of_stream(&root, "nightly");
    let before = contents(&root);
    let words = ["index", "prune", "store", "--stream", "nightly", "--manifest", "built-in"];
    let output = rockpack(dir.path(), &words);
    let messages = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("2 of the 3 packages in `store` would be removed"), "{messages}");
    assert!(messages.contains("remove them with --yes"), "{messages}");
    assert_eq!(contents(&root), before);
    let output = rockpack(dir.path(), &[&words[..], &["--dry-run"]].concat());
    assert!(output.status.success());
    let stdout = text(&output.stdout);
    assert!(
        stdout.contains("2 of 3 packages are more than half: remove them with --yes"),
        "{stdout}"
    );
    assert_eq!(contents(&root), before);
    let output = rockpack(dir.path(), &[&words[..], &["--yes"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        check_index(&root, Form::Projects),
        ["b_part-3.0-py3-none-any.whl".to_owned()].into()
    );
}

#[test]
fn a_store_records_its_stream_and_refuses_others() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &[]);
    for layout in ["per-package", "flat"] {
        let root = dir.path().join(layout);
        let publish =
            ["index", "publish", "dist", layout, "--layout", layout, "--manifest", "built-in"];
        let prune = ["index", "prune", layout, "--layout", layout, "--manifest", "built-in"];
        let run = |words: &[&str], more: &[&str]| {
            let output = rockpack(dir.path(), &[words, more].concat());
            (output.status.code(), crate::program::stderr(&output), text(&output.stdout))
        };
        assert_eq!(run(&publish, &[]).0, Some(0));
        assert!(!root.join("rockpack-stream.json").exists(), "no stream was given");
        let before = contents(&root);
        let (status, messages, _) = run(&prune, &["--stream", "nightly"]);
        assert_eq!(status, Some(1), "{messages}");
        assert!(messages.contains("has no record of its stream"), "{messages}");
        assert!(messages.contains("--stream nightly` with the same --layout"), "{messages}");
        let (_, _, dry) = run(&publish, &["--stream", "nightly", "--dry-run"]);
        assert!(dry.contains("  rockpack-stream.json\n") && dry.contains("1 page"), "{dry}");
        assert_eq!(contents(&root), before);
        // Also for packages that already exist.
        let (status, messages, summary) = run(&publish, &["--stream", "nightly"]);
        assert_eq!(status, Some(0), "{messages}");
        assert_eq!(summary, dry.replace("would be ", ""));
        let recorded = fs::read_to_string(root.join("rockpack-stream.json")).unwrap();
        assert_eq!(recorded, "{\"stream\":\"nightly\"}\n");
        let before = contents(&root);
        for (words, more) in [
            (&prune[..], &["--stream", "dev"][..]),
            (&publish, &["--stream", "dev"]),
            (&publish, &["--stream", "dev", "--dry-run"]),
            (&publish, &[]),
        ] {
            let (status, messages, _) = run(words, more);
            assert_eq!(status, Some(1), "{messages}");
            let expected = "belongs to the stream `nightly` (recorded in";
            assert!(
                messages.contains(expected) && messages.contains("give --stream nightly"),
                "{messages}"
            );
            assert_eq!(contents(&root), before);
        }
        assert_eq!(run(&prune, &["--stream", "nightly"]).0, Some(0));
        assert_eq!(run(&publish, &["--stream", "nightly"]).0, Some(0));
        assert_eq!(run(&publish, &["--stream", "monthly"]).0, Some(2), "no stream of packages.kdl");
    }
}

/// The first run reads METADATA; later runs read one record for each project.
#[test]
fn requirements_are_read_once() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    for (number, days) in [(1, 90), (2, 80), (3, 20), (4, 10)] {
        days_ago(&small_set(dir.path(), &format!("{number}.0")), &root, Form::Projects, days);
    }
    let run = |days| {
        let failing = Failing::new(Directory::new(&root), usize::MAX, false);
        let retention = Retention { days, ..monthly(Form::Projects) };
        let pruned = prune(&failing, &retention, &|_| ()).unwrap();
        let requests = failing.requests.into_inner().unwrap();
        let read = |r: &&String| r.starts_with("get ") && !r.contains("index.") && r.contains('/');
        (pruned.removed, requests.iter().filter(read).cloned().collect::<Vec<_>>())
    };
    let (removed, read) = run(85);
    assert_eq!(removed, 4);
    let metadata = read.iter().filter(|request| request.ends_with(".metadata")).count();
    assert_eq!(metadata, 4 * 3, "{read:#?}");
    let (removed, read) = run(70);
    assert_eq!(removed, 4);
    assert!(read.iter().all(|r| r.ends_with("/rockpack-requirements.json")), "{read:#?}");
    assert_eq!(read.len(), 4);

    // A changed METADATA is read again.
    let metadata = root.join("a-selector/a_selector-4.0-py3-none-any.whl.metadata");
    let text = fs::read_to_string(&metadata).unwrap();
    fs::remove_file(&metadata).unwrap();
    fs::write(&metadata, text + "\n").unwrap();
    let (_, read) = run(15);
    assert!(read.iter().any(|r| r.ends_with("a_selector-4.0-py3-none-any.whl.metadata")));
    assert_eq!(read.iter().filter(|r| r.ends_with(".metadata")).count(), 1, "{read:#?}");
}
