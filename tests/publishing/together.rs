//! Several concurrent publishers.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn concurrent_publications_lose_nothing() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        let sets: Vec<PathBuf> = (0..6)
            .map(|n| small_set(&dir.path().join(format!("{form:?}-{n}")), &format!("1.{n}")))
            .collect();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut most = 0;
                while !ended.load(Ordering::SeqCst) {
                    let names = check_index(&root, form);
                    assert!(names.len() >= most, "a name vanished");
                    most = names.len();
                }
            });
            let writers: Vec<_> = sets
                .iter()
                .map(|set| scope.spawn(|| published(set, &Directory::new(&root), &options(form))))
                .collect();
            let results: Vec<_> =
                writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            ended.store(true, Ordering::SeqCst);
            assert!(results.iter().all(Result::is_ok), "all publish");
            reader.join().unwrap();
        });
        assert_eq!(check_index(&root, form).len(), 6 * 4);
        // The HTML agrees with the data.
        let pages = match form {
            Form::Flat => vec![root.join("index.html")],
            Form::Projects => ["a-selector", "b-part", "c-part", "d-source"]
                .map(|name| root.join(name).join("index.html"))
                .to_vec(),
        };
        let links: usize = pages
            .iter()
            .map(|page| fs::read_to_string(page).unwrap().matches("<a href").count())
            .sum();
        assert_eq!(links, 6 * 4, "{form:?}");
    }
}

#[test]
fn equal_packages_of_concurrent_publications_are_one() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join("store"));
    let uploaded: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| published(&set, &Directory::new(&root), &options(Form::Projects)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().0.uploaded).sum()
    });
    assert!((4..=8).contains(&uploaded));
    assert_eq!(check_index(&root, Form::Projects).len(), 4);
}

#[test]
fn an_overtaken_publication_reports_the_existing_package() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    let options = Options { jobs: 1, ..options(Form::Projects) };
    for (overtaken, expected) in [
        ("a-selector", "nothing was written"),
        ("b-part", "1 package of this directory was uploaded, and no page names it"),
        ("c-part", "2 packages of this directory were uploaded, and no page names them"),
    ] {
        let root = dir.path().join(overtaken);
        let interfere = |step: &Step| match step {
            Step::Upload { key, .. } if key.as_str().starts_with(overtaken) => {
                fs::create_dir_all(root.join(overtaken)).unwrap();
                fs::write(root.join(key.as_str()), "theirs").unwrap();
            }
            _ => {}
        };
        let error = publish(&set, &Directory::new(&root), &options, &interfere).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("another program uploaded other bytes as `"), "{error}");
        assert!(error.ends_with(expected), "{error}");
        assert!(contents(&root).iter().all(|(key, _)| !key.ends_with("html")));
        assert!(!root.join("d-source").exists(), "nothing goes up after that");
    }
}
