//! Pages of a mirror without packages.

use super::*;
use crate::program::{rockpack, stderr, text};

const PUBLIC: &str = "https://example.com/whl";

fn mirrored(dir: &Path, more: &[&str]) -> Output {
    rockpack(dir, &[&["index", "mirror", "store", "pages", "--public", PUBLIC], more].concat())
}

#[test]
fn pages_lead_to_where_packages_are_with_hashes() {
    let dir = TempDir::new().unwrap();
    let pages = dir.path().join("pages");
    for (form, layout) in [(Form::Projects, "per-package"), (Form::Flat, "flat")] {
        let set = small_set(dir.path(), "1.0+x");
        fs::write(set.join("b_part-1.0+x-py3-none-any.whl.yanked"), "too old").unwrap();
        published(&set, &Directory::new(&dir.path().join("store")), &options(form));
        let output = mirrored(dir.path(), &["--layout", layout]);
        let stdout = text(&output.stdout);
        assert!(
            stdout.ends_with("4 packages of 4 projects; 10 pages written, 0 removed\n"),
            "{stdout}{}",
            text(&output.stderr)
        );
        let page = json(&pages.join("b-part/index.json")).unwrap();
        let file = list(&page, "files")[0];
        let place = if form == Form::Flat { "" } else { "b-part/" };
        let url = format!("{PUBLIC}/{place}b_part-1.0%2Bx-py3-none-any.whl");
        assert_eq!((&file["url"], &file["yanked"]), (&url.as_str().into(), &"too old".into()));
        let hash = file["hashes"]["sha256"].as_str().unwrap();
        let html = fs::read_to_string(pages.join("b-part/index.html")).unwrap();
        assert!(html.contains(&format!("<a href=\"{url}#sha256={hash}\"")), "{html}");
        assert!(file["core-metadata"]["sha256"].is_string());
        assert_eq!(contents(&pages).len(), 10, "pages alone");

        let again = text(&mirrored(dir.path(), &["--layout", layout]).stdout);
        assert_eq!(again, "4 packages of 4 projects; 0 pages written, 0 removed\n");
        let fewer = mirrored(dir.path(), &["--layout", layout, "--project", "B.part"]);
        assert!(
            text(&fewer.stdout).ends_with("1 package of 1 project; 2 pages written, 6 removed\n"),
            "{}",
            text(&fewer.stdout)
        );
        assert_eq!(contents(&pages).len(), 4);
        for place in [&pages, &dir.path().join("store")] {
            fs::remove_dir_all(place).unwrap();
        }
    }
}

#[test]
fn a_run_after_an_interruption_removes_pages_of_old_projects() {
    use super::failing::Failing;
    use index::publish::{Mirror, mirror};

    let dir = TempDir::new().unwrap();
    let store = Directory::new(&dir.path().join("store"));
    published(&small_set(dir.path(), "1.0"), &store, &options(Form::Projects));
    let mirrored = |dest: &dyn Bucket, projects: &[&str]| {
        let mirror_of = Mirror {
            layout: Layout::from_form(Form::Projects),
            public: format!("{PUBLIC}/"),
            projects: projects.iter().map(|&name| name.to_owned()).collect(),
            dry_run: false,
            cache: None,
        };
        mirror(&store, dest, &mirror_of, &|_| ())
    };
    let fewer = ["b-part", "c-part"];
    let expected = dir.path().join("expected");
    mirrored(&Directory::new(&expected), &fewer).unwrap();
    for lost in [false, true] {
        for count in 0.. {
            let root = dir.path().join(format!("pages-{lost}-{count}"));
            mirrored(&Directory::new(&root), &[]).unwrap();
            let failing = Failing::new(Directory::new(&root), count, lost);
            let is_done = mirrored(&failing, &fewer).is_ok();
            mirrored(&Directory::new(&root), &fewer).unwrap();
            assert!(contents(&root) == contents(&expected), "{count}: {:?}", names(&root));
            if is_done {
                assert!(count >= 4 + 2, "{count}");
                break;
            }
        }
    }
}

#[test]
fn shelves_are_one_index_with_separate_addresses() {
    let dir = TempDir::new().unwrap();
    for name in ["rocm", "torch"] {
        wheel(&dir.path().join("dist"), name, "1.0", &[]);
    }
    let words = ["index", "publish", "dist", "store", "--layout", "v5", "--manifest", "built-in"];
    assert!(rockpack(dir.path(), &words).status.success());
    let output = mirrored(dir.path(), &["--layout", "v5", "--manifest", "built-in"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (name, shelf) in [("rocm", "core"), ("torch", "pytorch")] {
        let page = json(&dir.path().join("pages").join(name).join("index.json")).unwrap();
        let url = format!("{PUBLIC}/rocm/{shelf}/whl-next/{name}/{name}-1.0-py3-none-any.whl");
        assert_eq!(list(&page, "files")[0]["url"], url.as_str());
    }
}

#[test]
fn refuses_mirrors_without_packages_hashes_or_address() {
    let dir = TempDir::new().unwrap();
    let store = dir.path().join("store");
    let refused = |more: &[&str], status, expected: &str| {
        let output = mirrored(dir.path(), more);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    };
    refused(&[], 1, "no pages with packages in `store`");
    published(&small_set(dir.path(), "1.0"), &Directory::new(&store), &options(Form::Projects));
    refused(&["--project", "e-none"], 1, "no page has packages of `e-none`");
    let output = rockpack(dir.path(), &["index", "mirror", "store", "pages"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("add --public with the public address of `store`"));
    fs::create_dir(store.join("e-bare")).unwrap();
    fs::write(store.join("e-bare/index.html"), "<a href=e_bare-1.0.tar.gz>e</a>").unwrap();
    fs::write(store.join("index.html"), "<a href=e-bare/>e-bare</a>").unwrap();
    refused(&[], 1, "no page contains the SHA-256 of `e_bare-1.0.tar.gz`");
    assert!(!dir.path().join("pages").exists());
    fs::create_dir(dir.path().join("pages")).unwrap();
    fs::write(dir.path().join("pages/index.html"), "mine").unwrap();
    refused(&["--project", "b-part"], 1, "`index.html` in `pages` was not made by rockpack");
    assert_eq!(contents(&dir.path().join("pages")).len(), 1);
}

#[test]
fn refuses_a_published_index_as_a_mirror() {
    let dir = TempDir::new().unwrap();
    let (store, pages) = (dir.path().join("store"), dir.path().join("pages"));
    published(&small_set(dir.path(), "1.0"), &Directory::new(&store), &options(Form::Projects));
    let refused = |args: &[&str], status, expected: &str| {
        let output = mirrored(dir.path(), args);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stdout));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    for form in BOTH {
        let published_set = dir.path().join(format!("other-{form:?}"));
        wheel(&published_set, "e-other", "1.0", &[]);
        published(&published_set, &Directory::new(&pages), &options(form));
        let before = contents(&pages);
        for more in [&[][..], &["--project", "b-part"], &["--dry-run"]] {
            refused(more, 1, "in `pages` links to packages next to it");
        }
        assert_eq!(contents(&pages), before);
        fs::remove_dir_all(&pages).unwrap();
    }
    let indexed = dir.path().join("set-1.0");
    rockpack(&indexed, &["index", "write", "."]);
    fs::rename(indexed, &pages).unwrap();
    let before = contents(&pages);
    refused(&[], 1, "`index.html` in `pages` links to packages next to it");
    assert_eq!(contents(&pages), before);
    let before = contents(&store);
    for dest in ["store", "./store/", &format!("file://{}", store.display())] {
        let output = rockpack(dir.path(), &["index", "mirror", "store", dest, "--public", PUBLIC]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("SOURCE and DEST are both"), "{}", stderr(&output));
    }
    assert_eq!(contents(&store), before);
}

#[test]
fn ignores_an_invalid_sha_256() {
    let dir = TempDir::new().unwrap();
    let place = dir.path().join("store/b-part");
    fs::create_dir_all(&place).unwrap();
    fs::write(dir.path().join("store/index.json"), r#"{"projects":[{"name":"b-part"}]}"#).unwrap();
    let page = |name: &str, hash: &str| {
        let page = serde_json::json!({"files": [
            {"filename": name, "url": "b_part-1.0.tar.gz", "hashes": {"sha256": hash}}]});
        fs::write(place.join("index.json"), page.to_string()).unwrap();
    };
    let digits = "0123456789abcdef".repeat(4);
    for hash in ["", "zz", "aa", &digits[1..], &format!("{digits}0"), &digits.replace('a', "g")] {
        page("b_part-1.0.tar.gz", hash);
        let output = mirrored(dir.path(), &[]);
        assert_eq!(output.status.code(), Some(1), "{hash}: {}", text(&output.stdout));
        let is_hex = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let expected = if is_hex {
            "no page contains the SHA-256 of `b_part-1.0.tar.gz`"
        } else {
            "its entry `b_part-1.0.tar.gz` has an invalid value: hashes"
        };
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    for name in ["../../x-1.0.tar.gz", "a\\x-1.0.tar.gz", "a\nx-1.0.tar.gz", ".."] {
        page(name, &digits);
        let output = mirrored(dir.path(), &[]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", text(&output.stdout));
        let expected = "it contains the invalid file name";
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    page("b_part-1.0.tar.gz", &digits.to_uppercase());
    assert!(mirrored(dir.path(), &[]).status.success());
}

#[test]
fn hostile_pages_are_not_copied() {
    let dir = TempDir::new().unwrap();
    let (place, pages) = (dir.path().join("store/b-part"), dir.path().join("pages"));
    fs::create_dir_all(&place).unwrap();
    fs::write(dir.path().join("store/index.json"), r#"{"projects":[{"name":"b-part"}]}"#).unwrap();
    let digits = "0123456789abcdef".repeat(4);
    let write = |change: &dyn Fn(&mut serde_json::Value)| {
        let (name, hashes) = ("b_part-1.0.tar.gz", serde_json::json!({"sha256": digits}));
        let mut page = serde_json::json!({
            "meta": {"api-version": "1.0"},
            "files": [{"filename": name, "url": name, "hashes": hashes}],
        });
        change(&mut page);
        fs::write(place.join("index.json"), page.to_string()).unwrap();
    };
    let of_address = |key: &'static str, url: &'static str| {
        move |page: &mut serde_json::Value| page["files"][0][key] = url.into()
    };
    let refused = |expected: &str| {
        let output = mirrored(dir.path(), &[]);
        assert_eq!(output.status.code(), Some(1), "{expected}: {}", text(&output.stdout));
        let messages = stderr(&output);
        assert!(
            messages.contains(expected) && !messages.contains('\u{1b}'),
            "{expected}: {messages}"
        );
        assert!(!pages.exists(), "{expected}");
    };
    for url in [
        "file:///etc/b_part-1.0.tar.gz",
        "javascript://%0aalert(1)//b_part-1.0.tar.gz",
        "javascript:alert(1)//b_part-1.0.tar.gz",
        "https://me:secret@example.com/b_part-1.0.tar.gz",
        "https://example.com/\u{1b}[31m/b_part-1.0.tar.gz",
    ] {
        for key in ["url", "provenance"] {
            write(&of_address(key, url));
            refused("is not https:// or http://");
        }
    }
    write(&|page| page["meta"]["api-version"] = "2.0".into());
    refused("it has version 2.0 of the API");
    write(&|page| page["files"][0]["hashes"] = serde_json::json!({"md5": "ab", "SHA256": digits}));
    refused("no page contains the SHA-256 of `b_part-1.0.tar.gz`");
    write(&|page| {
        let mut again = page["files"][0].clone();
        again["hashes"]["sha256"] = digits.replace('0', "1").into();
        page["files"].as_array_mut().unwrap().push(again);
    });
    refused("it names `b_part-1.0.tar.gz` with another SHA-256");
    for (key, value) in [
        ("core-metadata", serde_json::json!("<script>")),
        ("core-metadata", serde_json::json!({"sha256": "\"><script>"})),
        ("dist-info-metadata", serde_json::json!({"<b>": digits})),
        ("hashes", serde_json::json!({"sha256": digits, "md5": "<script>"})),
    ] {
        write(&|page| page["files"][0][key] = value.clone());
        refused(&format!("its entry `b_part-1.0.tar.gz` has an invalid value: {key}"));
    }
    write(&|page| page["files"] = serde_json::json!([]));
    refused("no pages with packages");
    // A fragment of the address must not contradict the hash.
    write(&of_address("url", "b_part-1.0.tar.gz#sha256=00"));
    assert!(mirrored(dir.path(), &[]).status.success());
    let html = fs::read_to_string(pages.join("b-part/index.html")).unwrap();
    assert!(html.contains(&format!("b_part-1.0.tar.gz#sha256={digits}\"")), "{html}");
    fs::remove_file(place.join("index.json")).unwrap();
    let page = "<meta name=pypi:repository-version content=2.0><a href=b_part-1.0.tar.gz#sha256=";
    fs::write(place.join("index.html"), format!("{page}{digits}>b</a>")).unwrap();
    fs::remove_dir_all(&pages).unwrap();
    refused("it has version 2.0 of the API");
}

/// Serves the same answer to each request until the test ends, and returns the address.
#[cfg(feature = "stores")]
fn answering(answer: Vec<u8>) -> String {
    use std::io::{BufRead, BufReader, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/whl/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(&stream).lines();
            let _ =
                lines.take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty())).count();
            // A client may leave early.
            let _ = stream.write_all(&answer);
        }
    });
    address
}

#[test]
#[cfg(feature = "stores")]
fn refuses_answers_of_a_hostile_server() {
    let dir = TempDir::new().unwrap();
    let whole = r#"{"projects":[{"name":"b-part"}]}"#;
    let page = |header: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {header}\r\nConnection: close\r\n");
        [format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
    };
    let mut packed = Vec::new();
    let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, whole.as_bytes()).unwrap();
    encoder.finish().unwrap();
    let mut short = page("200 OK", whole.as_bytes());
    short.truncate(short.len() - 2);
    for (answer, expected) in [
        (
            page("302 Found\r\nLocation: file:///etc/passwd", b""),
            "it redirects to an address that is",
        ),
        (page("302 Found\r\nLocation: /whl/index.json", b""), "it redirects more than 10 times"),
        (page("200 OK\r\nContent-Encoding: gzip", &packed), "missing field `files`"),
        (page("200 OK", &packed[..packed.len() - 9]), "cannot read `index."),
        (short, "it ends early"),
        (page("200 OK", &b"[".repeat(1 << 20)), "it is not JSON of an index page"),
        (page("200 OK", b"<a href=\"../../etc/\">x</a>"), "it is not JSON of an index page"),
    ] {
        let source = answering(answer);
        let output = rockpack(dir.path(), &["index", "mirror", &source, "pages"]);
        let messages = stderr(&output);
        assert!(!output.status.success() && messages.contains(expected), "{expected}: {messages}");
        assert!(!dir.path().join("pages").exists(), "{expected}");
    }
}

#[cfg(feature = "stores")]
#[test]
fn links_of_a_web_server_can_begin_with_its_path() {
    let dir = TempDir::new().unwrap();
    let name = "num_py-2.0-py3-none-any.whl";
    let sha256 = hash(&wheel(&dir.path().join("made"), "num-py", "2.0", &[]));
    let source = super::pinned::web::serve(move |address, path| {
        let body = match path {
            "/simple/index.html" => format!(
                "<a href=/>up</a><a href=/simple/num-py/>a</a><a href={address}/simple/num-py/>b</a>"
            ),
            "/other/index.html" => "<a href=/elsewhere/num-py/>a</a>".to_owned(),
            "/simple/num-py/index.html" | "/other/num-py/index.html" => {
                format!("<a href=/files/{name}#sha256={sha256}>a</a>")
            }
            _ => return None,
        };
        Some(("200 OK", String::new(), body.into_bytes()))
    });
    let mirrored = |place: &str, more: &[&str]| {
        let place = format!("{source}/{place}/");
        rockpack(dir.path(), &[&["index", "mirror", &place, "pages"], more].concat())
    };
    for (place, more) in [("simple", &[][..]), ("other", &["--project", "num-py"])] {
        let output = mirrored(place, more);
        assert!(output.status.success(), "{place}: {}", stderr(&output));
        let page = json(&dir.path().join("pages/num-py/index.json")).unwrap();
        assert_eq!(list(&page, "files")[0]["url"], format!("{source}/files/{name}").as_str());
    }
    let output = mirrored("other", &[]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "it links to `/elsewhere/num-py/`, which would be lost";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
