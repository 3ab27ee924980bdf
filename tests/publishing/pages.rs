//! Content of pages, and the data that they keep.

use std::collections::BTreeMap;
use std::io::Read;

use super::failing::Failing;
use super::*;

#[test]
fn steps_are_in_order_and_a_second_run_is_empty() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join("store"));
    let options = Options { jobs: 1, ..options(Form::Projects) };
    let dry = Options { dry_run: true, ..options.clone() };
    let (dry_summary, dry_steps) = published(&set, &Directory::new(&root), &dry);
    assert!(!root.exists());
    let (summary, steps) = published(&set, &Directory::new(&root), &options);
    assert_eq!((dry_summary, dry_steps), (summary, steps.clone()));
    let shown: Vec<String> = steps
        .iter()
        .map(|step| match step {
            Step::Upload { key, .. } => format!("upload {key}"),
            Step::Metadata { key } => format!("metadata {key}"),
            Step::Page { key, more } => format!("page {key} {more}"),
            Step::Same { key } => format!("same {key}"),
            Step::Yank { file, reason } => format!("yank {file} {reason:?}"),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "upload a-selector/a_selector-1.0-py3-none-any.whl",
            "upload b-part/b_part-1.0-py3-none-any.whl",
            "upload c-part/c_part-1.0-py3-none-any.whl",
            "upload d-source/d_source-1.0.tar.gz",
            "metadata a-selector/a_selector-1.0-py3-none-any.whl.metadata",
            "metadata b-part/b_part-1.0-py3-none-any.whl.metadata",
            "metadata c-part/c_part-1.0-py3-none-any.whl.metadata",
            // Parts are first.
            "page b-part/index.html 1",
            "page c-part/index.html 1",
            "page a-selector/index.html 1",
            "page d-source/index.html 1",
            "page index.html 4",
        ]
    );
    let (again, steps) = published(&set, &Directory::new(&root), &options);
    assert_eq!((again.uploaded, again.same, again.pages), (0, 4, 0));
    assert!(steps.iter().all(|step| matches!(step, Step::Same { .. })));
}

#[test]
fn store_and_directory_have_equal_pages() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join("store"));
    wheel(&set, "b-part", "1.0+local.1", &[]);
    fs::write(set.join("d_source-1.0.tar.gz.yanked"), "too old\n").unwrap();
    published(&set, &Directory::new(&root), &options(Form::Projects));
    // In a directory, `simple/{project}/` links to the packages' place.
    let local = dir.path().join("local");
    for (key, bytes) in contents(&root) {
        fs::create_dir_all(local.join(&key).parent().unwrap()).unwrap();
        if !key.contains("index.") && !key.ends_with(".metadata") {
            fs::write(local.join(key), bytes).unwrap();
        }
    }
    fs::write(local.join("d-source/d_source-1.0.tar.gz.yanked"), "too old\n").unwrap();
    index::simple::write(&local, index::simple::Layout::Simple, None).unwrap();
    for page in
        ["b-part/index.html", "b-part/index.json", "d-source/index.html", "d-source/index.json"]
    {
        let directory = page.split('/').next().unwrap();
        let expected = fs::read_to_string(local.join("simple").join(page)).unwrap();
        let expected = expected.replace(&format!("../../{directory}/"), "");
        assert_eq!(fs::read_to_string(root.join(page)).unwrap(), expected, "{page}");
    }
}

#[test]
fn keeps_entries_of_other_packages() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    fs::create_dir_all(root.join("b-part")).unwrap();
    let theirs = r#"{"meta":{"api-version":"1.3"},"name":"b-part","versions":["0.9"],"files":[
        {"filename":"b_part-0.9-py3-none-any.whl","url":"https://elsewhere/b_part-0.9-py3-none-any.whl",
         "hashes":{"sha256":"ab","blake2b":"cd"},"size":7,"upload-time":"2001-02-03T04:05:06.789Z",
         "requires-python":">=3.1","core-metadata":{"sha256":"ef"},"yanked":"broken","provenance":null,"x-y":[1]},
        {"filename":"b_part-0.8-py3-none-any.whl","url":"b_part-0.8-py3-none-any.whl"}]}"#;
    fs::write(root.join("b-part/index.json"), theirs).unwrap();
    let set = small_set(dir.path(), "1.0");
    published(&set, &Directory::new(&root), &options(Form::Projects));
    let page = json(&root.join("b-part/index.json")).unwrap();
    let files = list(&page, "files");
    let theirs: Value = serde_json::from_str(theirs).unwrap();
    assert_eq!(page["versions"], serde_json::json!(["0.8", "0.9", "1.0"]));
    assert_eq!(files[1], &theirs["files"][0]);
    assert_eq!(files[0]["url"], theirs["files"][1]["url"]);
    let html = fs::read_to_string(root.join("b-part/index.html")).unwrap();
    assert!(html.contains(
        "<a href=\"https://elsewhere/b_part-0.9-py3-none-any.whl#sha256=ab\" data-requires-python=\"&gt;=3.1\" \
         data-core-metadata=\"sha256=ef\" data-dist-info-metadata=\"sha256=ef\" data-yanked=\"broken\">"
    ), "{html}");
    assert!(html.contains("<a href=\"b_part-0.8-py3-none-any.whl\">"), "{html}");
}

#[test]
fn upload_times_stay_and_packages_can_become_yanked() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join("store"));
    let uploaded_at =
        |seconds: &str| Options { time: Some(seconds.parse().unwrap()), ..options(Form::Flat) };
    published(&set, &Directory::new(&root), &uploaded_at("1000000000"));
    wheel(&set, "b-part", "1.1", &[]);
    fs::write(set.join("b_part-1.0-py3-none-any.whl.yanked"), "").unwrap();
    published(&set, &Directory::new(&root), &uploaded_at("1100000000"));
    fs::remove_file(set.join("b_part-1.0-py3-none-any.whl.yanked")).unwrap();
    published(&set, &Directory::new(&root), &uploaded_at("1200000000"));
    let page = json(&root.join("packages.json")).unwrap();
    let time_and_yank_of = |name: &str| {
        let files = list(&page, "files");
        let file = *files.iter().find(|file| file["filename"] == name).unwrap();
        (file["upload-time"].as_str().unwrap().to_owned(), file["yanked"].clone())
    };
    assert_eq!(
        time_and_yank_of("b_part-1.0-py3-none-any.whl"),
        ("2001-09-09T01:46:40Z".into(), true.into())
    );
    assert_eq!(
        time_and_yank_of("b_part-1.1-py3-none-any.whl"),
        ("2004-11-09T11:33:20Z".into(), false.into())
    );
}

#[test]
fn refuses_other_bytes_before_any_write() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join("store"));
    for form in BOTH {
        let store = root.join(format!("{form:?}"));
        published(&set, &Directory::new(&store), &options(form));
        let before = contents(&store);
        let other_set = dir.path().join("other");
        wheel(&other_set, "b-part", "1.0", &["c-part"]);
        wheel(&other_set, "e-new", "1.0", &[]);
        let error =
            publish(&other_set, &Directory::new(&store), &options(form), &|_| ()).unwrap_err();
        let message = error.to_string();
        assert!(
            message
                .starts_with("1 is already in the store with other bytes; nothing was written: `"),
            "{message}"
        );
        assert!(message.contains("b_part-1.0-py3-none-any.whl`"), "{message}");
        assert_eq!(contents(&store), before);
        // Also if only the page names them.
        let key = if form == Form::Flat { "" } else { "b-part/" };
        fs::remove_file(store.join(format!("{key}b_part-1.0-py3-none-any.whl"))).unwrap();
        publish(&other_set, &Directory::new(&store), &options(form), &|_| ()).unwrap_err();
    }
}

/// Page of other simple tools, with three packages.
const THEIRS: &str = "<!DOCTYPE html><html><body><a href=\"../\">up</a>
    <A HREF='b_part-0.9%2Bx-py3-none-any.whl#sha256=ABCD' data-requires-python='&gt;=3.1' data-core-metadata='sha256=ef'
       data-yanked='broken &amp; old'>b_part-0.9+x-py3-none-any.whl</a>
    <a href=https://elsewhere/b-part-0.8.tar.gz#md5=12>b-part-0.8.tar.gz</a>
    <a href=b_part-0.7-py3-none-any.whl>b_part</a><a href=b_part-0.7-py3-none-any.whl.metadata>m</a></body></html>";

#[test]
fn keeps_entries_of_other_programs_html() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        let place = if form == Form::Flat { root.clone() } else { root.join("b-part") };
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("index.html"), THEIRS).unwrap();
        let data = if form == Form::Flat { "packages.json" } else { "index.json" };
        if form == Form::Projects {
            let top = "<a href='b-part/'>B.part</a><a href=./e-theirs/index.html>e</a>";
            fs::write(root.join("index.html"), top).unwrap();
        }
        published(&set, &Directory::new(&root), &options(form));
        let page = json(&place.join(data)).unwrap();
        let entry = |name: &str| {
            let files = list(&page, "files");
            (*files.iter().find(|file| file["filename"] == name).unwrap()).clone()
        };
        let wheel = entry("b_part-0.9+x-py3-none-any.whl");
        assert_eq!(wheel["url"], "b_part-0.9%2Bx-py3-none-any.whl");
        assert_eq!(wheel["hashes"], serde_json::json!({"sha256": "abcd"}));
        assert_eq!(wheel["requires-python"], ">=3.1");
        assert_eq!(wheel["core-metadata"]["sha256"], "ef");
        assert_eq!(wheel["yanked"], "broken & old");
        assert_eq!(entry("b-part-0.8.tar.gz")["hashes"], serde_json::json!({"md5": "12"}));
        assert_eq!(entry("b_part-0.7-py3-none-any.whl")["hashes"], serde_json::json!({}));
        assert!(entry("b_part-1.0-py3-none-any.whl")["size"].is_u64());
        let html = fs::read_to_string(place.join("index.html")).unwrap();
        assert!(html.contains("<a href=\"https://elsewhere/b-part-0.8.tar.gz#md5=12\">"), "{html}");
        if form == Form::Projects {
            let top = json(&root.join("index.json")).unwrap();
            assert!(list(&top, "projects").contains(&&serde_json::json!({"name": "e-theirs"})));
        }

        // The other program updates its page, and does not know the data.
        let more = "<a href=b_part-1.1-py3-none-any.whl#sha256=11>b_part</a>";
        fs::write(place.join("index.html"), more).unwrap();
        published(&set, &Directory::new(&root), &options(form));
        let page = json(&place.join(data)).unwrap();
        let count = if form == Form::Flat { 4 + 4 } else { 4 + 1 };
        assert_eq!(list(&page, "files").len(), count, "{page}");
        let html = fs::read_to_string(place.join("index.html")).unwrap();
        assert_eq!(html.matches("<a href").count(), count);
    }
}

#[test]
fn replaces_no_unmergeable_page() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    let root = dir.path().join("store");
    let package = "b_part-1.0-py3-none-any.whl";
    for (page, text, expected) in [
        ("b-part/index.html", "<a href=logs/>", "links to `logs/`, which would be lost"),
        ("b-part/index.html", "<base href=/x/><a href=x-1.zip>", "relative to `/x/` (`<base>`)"),
        (
            "b-part/index.html",
            &format!("<a href={package}#sha256={:064}>", 0),
            "in the store with other bytes",
        ),
        ("index.html", "<a href=/whl/b-part/>", "links to `/whl/b-part/`, which would be lost"),
    ] {
        fs::create_dir_all(root.join("b-part")).unwrap();
        fs::write(root.join(page), text).unwrap();
        let bucket = Directory::new(&root);
        let error = publish(&set, &bucket, &options(Form::Projects), &|_| ()).unwrap_err();
        let message = base::text::with_causes(&error);
        assert!(message.contains(expected), "{message}");
        assert_eq!(contents(&root), [(page.to_owned(), text.as_bytes().to_vec())]);
        fs::remove_file(root.join(page)).unwrap();
    }
}

#[test]
fn undoes_no_edit_by_hand() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    wheel(&set, "b-part", "1.1", &[]);
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        let store = Directory::new(&root);
        let (page, data) = match form {
            Form::Flat => ("index.html", "packages.json"),
            Form::Projects => ("b-part/index.html", "b-part/index.json"),
        };
        let link = "<a href=\"https://elsewhere/b_part-0.9-py3-none-any.whl\">old</a>\n";
        for (old, new, says) in [
            ("<a href=\"b_part-1.1", "<a data-yanked href=\"b_part-1.1", "yanks `b_part-1.1"),
            ("</h1>\n", &format!("</h1>\n{link}"), "names `https://elsewhere/b_part-0.9-"),
        ] {
            published(&set, &store, &options(form));
            let made = fs::read_to_string(root.join(page)).unwrap();
            fs::write(root.join(page), made.replace(old, new)).unwrap();
            let before = contents(&root);
            let next = dir.path().join("next");
            wheel(&next, "b-part", "1.2", &[]);
            let message = publish(&next, &store, &options(form), &|_| ()).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`{page}` in `")), "{message}");
            assert!(
                message.contains(says) && message.contains(&format!("unlike `{data}`, it ")),
                "{message}"
            );
            assert_eq!(contents(&root), before);
            fs::write(root.join(page), made).unwrap();
            published(&set, &store, &options(form));
        }
        // In both files, or only in the data, it stays.
        let text = fs::read_to_string(root.join(data)).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let file = document["files"].as_array_mut().unwrap();
        let file = file.iter_mut().find(|file| file["filename"] == "b_part-1.1-py3-none-any.whl");
        file.unwrap()["yanked"] = "by hand".into();
        fs::write(root.join(data), document.to_string()).unwrap();
        published(&set, &store, &options(form));
        let html = fs::read_to_string(root.join(page)).unwrap();
        assert!(html.contains("data-yanked=\"by hand\">b_part-1.1-"), "{html}");
        published(&set, &store, &options(form));
    }
    let root = dir.path().join("Projects");
    let top = fs::read_to_string(root.join("index.html")).unwrap();
    let more = top.replace("</h1>", "</h1><a href=\"e-more/\">e-more</a>");
    fs::write(root.join("index.html"), more).unwrap();
    let output = crate::program::rockpack(dir.path(), &["index", "publish", "set-1.0", "Projects"]);
    let messages = crate::program::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert!(messages.contains("unlike `index.json`, it names `e-more/`"), "{messages}");
    assert!(messages.contains("change `index.json` in the same way"), "{messages}");
}

#[test]
fn reverts_a_yank() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    let yank = set.join("b_part-1.0-py3-none-any.whl.yanked");
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        let (page, data) = match form {
            Form::Flat => ("index.html", "packages.json"),
            Form::Projects => ("b-part/index.html", "b-part/index.json"),
        };
        let yanks = || {
            let texts = [page, data].map(|file| fs::read_to_string(root.join(file)).unwrap());
            texts.map(|text| text.matches("broken").count())
        };
        fs::write(&yank, "for now").unwrap();
        published(&set, &Directory::new(&root), &options(form));
        fs::write(&yank, "broken").unwrap();
        let (_, steps) = published(&set, &Directory::new(&root), &options(form));
        let (file, reason) = ("b_part-1.0-py3-none-any.whl".to_owned(), Some("broken".to_owned()));
        assert!(steps.contains(&Step::Yank { file, reason }), "{steps:?}");
        assert_eq!(yanks(), [1, 1], "the last reason counts");
        let yanked = fs::read_to_string(root.join(page)).unwrap();
        fs::remove_file(&yank).unwrap();
        published(&set, &Directory::new(&root), &options(form));
        assert_eq!(yanks(), [1, 1], "without a word, it stays");
        fs::write(&yank, "False\n").unwrap();
        let dry = Options { dry_run: true, ..options(form) };
        assert_eq!(published(&set, &Directory::new(&root), &dry).0.pages, 2);
        let (summary, _) = published(&set, &Directory::new(&root), &options(form));
        assert_eq!((summary.pages, yanks()), (2, [0, 0]));
        // A yank on another program's page can be undone too.
        let theirs = yanked.replacen("content=\"rockpack\"", "content=\"other\"", 1);
        fs::write(root.join(page), theirs).unwrap();
        let (summary, _) = published(&set, &Directory::new(&root), &options(form));
        assert_eq!((summary.pages, yanks()), (1, [0, 0]));
        fs::remove_file(&yank).unwrap();
        let before = contents(&root);
        let (summary, _) = published(&set, &Directory::new(&root), &options(form));
        assert_eq!((summary.pages, contents(&root)), (0, before), "it stays");
    }
    fs::write(&yank, "false").unwrap();
    assert!(crate::program::rockpack(dir.path(), &["index", "write", "set-1.0"]).status.success());
    let page = fs::read_to_string(set.join("simple/b-part/index.html")).unwrap();
    assert!(!page.contains("yanked"), "{page}");
}

/// An interrupted undo of a yank does not affect later publishing.
#[test]
fn a_half_reverted_yank_blocks_no_publication() {
    let dir = TempDir::new().unwrap();
    let (set, next) = (small_set(dir.path(), "1.0"), dir.path().join("next"));
    wheel(&next, "b-part", "1.1", &[]);
    let yank = set.join("b_part-1.0-py3-none-any.whl.yanked");
    for form in BOTH {
        for count in 0.. {
            let root = dir.path().join(format!("{form:?}-{count}"));
            fs::write(&yank, "broken").unwrap();
            published(&set, &Directory::new(&root), &options(form));
            fs::write(&yank, "false").unwrap();
            let failing = Failing::new(Directory::new(&root), count, false);
            let result = publish(&set, &failing, &options(form), &|_| ());
            published(&next, &Directory::new(&root), &options(form));
            published(&set, &Directory::new(&root), &options(form));
            let text: Vec<u8> = contents(&root).into_iter().flat_map(|(_, bytes)| bytes).collect();
            assert!(!String::from_utf8_lossy(&text).contains("broken"), "{form:?} {count}");
            if result.is_ok() {
                assert!(count >= 2, "both files of a page are written: {count}");
                break;
            }
        }
    }
}

#[test]
fn reports_a_fault_of_a_page_once() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    let root = dir.path().join("store");
    published(&set, &Directory::new(&root), &options(Form::Projects));
    let data = root.join("b-part/index.json");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replace("\"yanked\":false", "\"yanked\":false,\"yanked\":false"))
        .unwrap();
    let prune = ["index", "prune", "store", "--stream", "dev", "--manifest", "built-in"];
    let mirror = ["index", "mirror", "store", "pages", "--public", "https://h/"];
    for args in [&["index", "publish", "set-1.0", "store"][..], &prune, &mirror] {
        let messages = crate::program::stderr(&crate::program::rockpack(dir.path(), args));
        let expected = "cannot read `b-part/index.json` in `store` as an index page: it is not JSON of an index page: \
                        duplicate field `yanked`";
        assert!(messages.contains(expected), "{messages}");
        assert_eq!(messages.matches("duplicate field").count(), 1, "{messages}");
        assert!(messages.contains("correct the page"), "{messages}");
        assert_eq!(
            messages.contains("or publish to another place"),
            args[1] == "publish",
            "{messages}"
        );
    }
    fs::write(&data, text).unwrap();
    let link = "<a href=b_part-1.0-py3-none-any.whl>b</a>";
    fs::write(root.join("b-part/index.html"), link).unwrap();
    let error =
        publish(&set, &Directory::new(&root), &options(Form::Projects), &|_| ()).unwrap_err();
    let message = base::text::with_causes(&error);
    let expected = "it names `b_part-1.0-py3-none-any.whl` without a SHA-256";
    assert!(
        message.starts_with("cannot merge the entries of `b-part/index.html` in")
            && message.ends_with(expected),
        "{message}"
    );
}

/// Each page is transferred once; the second look asks for its entity tag alone.
#[test]
fn requests_of_a_night_do_not_grow_with_the_index() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let root = dir.path().join(format!("{form:?}"));
        let night = |number: usize| {
            let set = small_set(dir.path(), &format!("{number}.0"));
            let failing = Failing::new(Directory::new(&root), usize::MAX, false);
            publish(&set, &failing, &options(form), &|_| ()).unwrap();
            failing.requests.into_inner().unwrap()
        };
        let nights: Vec<Vec<String>> = (1..12).map(night).collect();
        assert_eq!(nights[1].len(), nights[10].len(), "{:#?}", nights[10]);
        let names = ["index.html", "index.json", "packages.json"];
        let is_page = |request: &&String| names.iter().any(|name| request.ends_with(name));
        let pages = nights[10].iter().filter(is_page);
        let mut counts = BTreeMap::<&String, usize>::new();
        pages.for_each(|request| *counts.entry(request).or_default() += 1);
        assert!(counts.values().all(|count| *count == 1), "{counts:#?}");
        let verbs: BTreeSet<&str> = counts.keys().filter_map(|r| r.split(' ').next()).collect();
        assert!(verbs.is_subset(&BTreeSet::from(["get", "head", "replace"])), "{verbs:?}");
    }
}

/// An index with pages of a version that did not compress them is continued.
#[test]
fn compressed_pages_are_the_plain_ones() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let (plain, packed) = (format!("{form:?}"), format!("{form:?}-packed"));
        let (plain, packed) = (dir.path().join(plain), dir.path().join(packed));
        let encoding = || Failing::new(Directory::new(&packed), usize::MAX, false).encoding();
        for number in 1..4 {
            let set = small_set(dir.path(), &format!("{number}.0"));
            published(&set, &Directory::new(&plain), &options(form));
            let bucket = encoding();
            let store: &dyn Bucket = if number == 1 { &Directory::new(&packed) } else { &bucket };
            assert!(publish(&set, store, &options(form), &|_| ()).unwrap().pages > 0);
            assert_eq!(publish(&set, &encoding(), &options(form), &|_| ()).unwrap().pages, 0);
        }
        let mut compressed = 0;
        let decoded = contents(&packed).into_iter().map(|(path, bytes)| {
            let is_page = [".html", ".json"].iter().any(|ending| path.ends_with(ending));
            if !is_page || !bytes.starts_with(&[0x1f, 0x8b]) {
                return (path, bytes);
            }
            compressed += 1;
            let mut page = Vec::new();
            flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut page).unwrap();
            (path, page)
        });
        assert_eq!(decoded.collect::<Vec<_>>(), contents(&plain));
        assert_eq!(
            compressed,
            if form == Form::Flat { 2 } else { 8 },
            "the page of all projects stays"
        );
    }
}

#[test]
fn checksums_in_capitals_are_of_the_same_package() {
    let dir = TempDir::new().unwrap();
    let (set, root) = (dir.path().join("set"), dir.path().join("store"));
    let package = wheel(&set, "b-part", "1.0", &[]);
    let name = package.file_name().unwrap().to_str().unwrap();
    fs::create_dir_all(root.join("b-part")).unwrap();
    fs::copy(&package, root.join("b-part").join(name)).unwrap();
    let hashes = serde_json::json!({"sha256": hash(&package).to_uppercase()});
    let page = serde_json::json!({"files": [{"filename": name, "url": name, "hashes": hashes}]});
    fs::write(root.join("b-part/index.json"), page.to_string()).unwrap();
    let (summary, _) = published(&set, &Directory::new(&root), &options(Form::Projects));
    assert_eq!((summary.uploaded, summary.same), (0, 1));
    assert_eq!(check_index(&root, Form::Projects).len(), 1);
}
