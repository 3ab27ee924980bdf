//! Packages fetched from an index by exact version and SHA-256.

use super::*;
use crate::program::{rockpack, stderr, succeed, text};

/// Publishes the demo, fetches it from the store, and promotes it.
#[test]
fn a_published_set_is_fetched_and_promoted() {
    let dir = TempDir::new().unwrap();
    let built = crate::index::demo("linux_x86_64");
    let (built, place) = (built.to_str().unwrap(), dir.path());
    succeed(place, &["index", "publish", built, "store", "--outside", "setuptools"]);
    let version = |name: &str| {
        let (project, version) = index::simple::project_of(name)?;
        Some(format!("{project}=={version}"))
    };
    let packages = names(Path::new(built));
    let pins: Vec<String> = packages.iter().filter_map(|name| version(name)).collect();
    let pins: Vec<&str> = pins.iter().map(String::as_str).collect();
    let fetch = [&["index", "fetch", "store", "-o", "rc"][..], &pins].concat();
    let stdout = succeed(place, &fetch);
    assert!(stdout.ends_with(&format!("{} files fetched, 0 unchanged\n", pins.len())), "{stdout}");
    for name in packages.iter().filter(|name| version(name).is_some()) {
        assert_eq!(hash(&place.join("rc").join(name)), hash(&Path::new(built).join(name)));
    }
    assert_eq!(names(&place.join("rc")).len(), pins.len());
    succeed(place, &["wheel", "promote", "rc", "--to", "7.2.0", "-o", "release"]);
    let promoted = names(&place.join("release/dist"));
    let promoted = promoted.iter().filter_map(|name| index::simple::project_of(name));
    assert_eq!(promoted.filter(|(_, version)| version.as_str() == "7.2.0").count(), pins.len());
}

#[test]
fn fetches_only_files_with_a_listed_hash() {
    let dir = TempDir::new().unwrap();
    let set = dir.path().join("dist");
    let (wheel_path, sdist_path) =
        (wheel(&set, "num-py", "2.0", &[]), sdist(&set, "num-py", "2.0"));
    wheel(&set, "num-py", "2.1", &[]);
    fs::write(format!("{}.yanked", wheel_path.display()), "too slow").unwrap();
    published(&set, &Directory::new(&dir.path().join("store")), &options(Form::Projects));
    let list = |hash: &str| {
        let text = format!("Num.Py==2.0.0 \\\n    --hash=sha256:{hash}\n");
        fs::write(dir.path().join("list.txt"), text).unwrap();
    };
    let fetch = ["index", "fetch", "store", "-r", "list.txt", "-o", "taken"];
    let refused = |args: &[&str], status, expected: &[&str]| {
        let output = rockpack(dir.path(), args);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        for expected in expected {
            assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        }
        assert_eq!(names(&dir.path().join("taken")), [""; 0]);
    };
    list(&"0".repeat(64));
    refused(
        &fetch,
        1,
        &["no file of num-py==2.0.0 in `store` has the SHA-256 0000", "list.txt:1:1"],
    );
    list("0");
    refused(&fetch, 1, &["`0` is not a SHA-256", "list.txt:1:1"]);
    let fetch_pin = |pin| ["index", "fetch", "store", pin, "-o", "taken"];
    refused(
        &fetch_pin("num-py==3"),
        1,
        &["`store` has no num-py==3", "the newest version there is 2.1"],
    );
    refused(&fetch_pin("num-py"), 2, &["`num-py` is not NAME==VERSION"]);
    list(&hash(&wheel_path));
    let output = text(&rockpack(dir.path(), &fetch).stdout);
    assert!(output.ends_with("1 file fetched, 0 unchanged\n"), "{output}");
    let name = "num_py-2.0-py3-none-any.whl";
    assert_eq!(names(&dir.path().join("taken")), [name.to_owned(), format!("{name}.yanked")]);
    let reason = fs::read_to_string(dir.path().join("taken").join(format!("{name}.yanked")));
    assert_eq!(reason.unwrap(), "too slow");
    let output = text(&rockpack(dir.path(), &fetch_pin("num-py==2.0")).stdout);
    assert!(output.ends_with("1 file fetched, 1 unchanged\n"), "{output}");
    assert_eq!(hash(&dir.path().join("taken/num_py-2.0.tar.gz")), hash(&sdist_path));
    fs::write(dir.path().join("taken").join(name), "other").unwrap();
    let output = rockpack(dir.path(), &fetch);
    assert!(stderr(&output).contains("has another SHA-256 than its page"), "{}", stderr(&output));
}

#[test]
fn links_lead_out_of_no_store_and_names_have_one_hash() {
    let dir = TempDir::new().unwrap();
    let (name, digits) = ("num_py-2.0-py3-none-any.whl", "0123456789abcdef".repeat(4));
    fs::create_dir_all(dir.path().join("store/num-py")).unwrap();
    fs::write(dir.path().join(name), "secret").unwrap();
    let entry = |url: &str, digits: &str| {
        format!(r#"{{"filename":"{name}","url":"{url}","hashes":{{"sha256":"{digits}"}}}}"#)
    };
    let refused = |files: String, expected: &str| {
        let page = format!(r#"{{"files":[{files}]}}"#);
        fs::write(dir.path().join("store/num-py/index.json"), page).unwrap();
        let fetch = ["index", "fetch", "store", "num-py==2.0", "-o", "taken"];
        let output = rockpack(dir.path(), &fetch);
        let messages = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(
            messages.contains(expected) && !messages.contains("hunter2"),
            "{expected}: {messages}"
        );
        // SHA-256 of the file that a link names.
        assert!(!messages.contains("2bb80d53"), "{messages}");
        assert_eq!(names(&dir.path().join("taken")), [""; 0]);
    };
    let local = format!("file://{}/{name}", dir.path().display());
    let only = "a link of a page must be https:// or http://";
    for (url, expected) in [
        (&*format!("file:///{name}"), only),
        (&*local, only),
        (&*format!("s3://bucket/{name}"), only),
        (&*format!("az://container@account/{name}"), only),
        (&*format!("https://me:hunter2@h/{name}"), only),
        (&*format!("javascript:alert(1)//{name}"), only),
        (&*format!("../../{name}"), "leads out of `store`"),
        (&*format!("/{name}"), "leads out of `store`"),
        (&*format!("//host/{name}"), "leads out of `store`"),
    ] {
        refused(entry(url, &digits), expected);
    }
    let other_digits = digits.replace('0', "1");
    let two = [entry(name, &digits), entry(name, &other_digits)].join(",");
    refused(two, "it names `num_py-2.0-py3-none-any.whl` with another SHA-256");
    let twice = entry(name, &digits).replace("}}", &format!(r#","sha256":"{other_digits}"}}}}"#));
    refused(twice, "two hashes of one algorithm");
}

#[test]
fn secrets_of_addresses_are_in_no_message() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("set")).unwrap();
    fs::write(dir.path().join("list.txt"), "a @ https://me:hunter2@h/a-1.whl\n").unwrap();
    for args in [
        &["index", "mirror", "s3://AK:hunter2@b", "pages"][..],
        &["index", "mirror", "az://u:hunter2@account/p", "pages"],
        &["index", "mirror", "set", "pages", "--public", "https://h/?sig=hunter2"],
        &["index", "mirror", "https://u:hunter2%40host/whl", "pages"],
        &["index", "publish", "set", "https://u:hunter2@h/"],
        &["index", "publish", "set", "s3://b", "--public", "https://h/?sig=hunter2"],
        &["index", "fetch", "https://u:hunter2%40host", "a==1", "-o", "taken"],
        &["index", "fetch", "set", "a@https://u:hunter2@h/a.whl", "-o", "taken"],
        &["index", "fetch", "set", "-r", "list.txt", "-o", "taken"],
        &["artifact", "fetch", "ftp://u:hunter2@h", "-o", "taken", "--all"],
        &["artifact", "fetch", "u:hunter2@h", "-o", "taken", "--all"],
        &["build", "--builder-id", "https://u:hunter2@h/b"],
    ] {
        let output = rockpack(dir.path(), args);
        assert!(!output.status.success(), "{args:?}");
        let text = stderr(&output) + &text(&output.stdout);
        assert!(!text.contains("hunter2"), "{args:?}: {text}");
    }
}

#[test]
fn a_yank_is_taken_back_with_the_index() {
    let dir = TempDir::new().unwrap();
    let name = "num_py-2.0-py3-none-any.whl";
    wheel(&dir.path().join("dist"), "num-py", "2.0", &[]);
    let yanked = |store: &str| {
        let page = json(&dir.path().join(store).join("num-py/index.json")).unwrap();
        list(&page, "files")[0]["yanked"].clone()
    };
    // Publishes with this text in FILE.yanked, copies the index, and returns the messages and the
    // fetched text.
    let copied = |text: &str| {
        fs::write(dir.path().join("dist").join(format!("{name}.yanked")), text).unwrap();
        succeed(dir.path(), &["index", "publish", "dist", "store"]);
        let fetch = ["index", "fetch", "store", "num-py==2.0", "-o", "taken"];
        let output = rockpack(dir.path(), &fetch);
        assert!(output.status.success(), "{}", stderr(&output));
        succeed(dir.path(), &["index", "publish", "taken", "copy"]);
        assert_eq!(yanked("copy"), yanked("store"), "{text}");
        let text = fs::read_to_string(dir.path().join("taken").join(format!("{name}.yanked")));
        (stderr(&output), text.unwrap())
    };
    assert_eq!(copied("too slow"), (String::new(), "too slow".to_owned()));
    let (messages, text) = copied("false");
    assert!(messages.contains(&format!("`{name}.yanked` now takes the yank back")), "{messages}");
    assert_eq!((text.as_str(), yanked("copy")), ("false", false.into()));
    assert_eq!(copied("false"), (String::new(), "false".to_owned()));
    assert_eq!(copied("").1, "");

    // The reason `false` of another program is no text that takes a yank back.
    let page = dir.path().join("store/num-py/index.json");
    let text =
        fs::read_to_string(&page).unwrap().replace("\"yanked\":true", "\"yanked\":\"false\"");
    fs::write(&page, text).unwrap();
    succeed(dir.path(), &["index", "fetch", "store", "num-py==2.0", "-o", "taken"]);
    succeed(dir.path(), &["index", "publish", "taken", "copy"]);
    assert_eq!((yanked("store"), yanked("copy")), ("false".into(), "\"false\"".into()));
}

#[cfg(feature = "stores")]
pub mod web {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    use super::*;

    pub type Answer = (&'static str, String, Vec<u8>);

    /// Answers each path; unknown ones with 404. Returns the address.
    pub fn serve(answer: impl Fn(&str, &str) -> Option<Answer> + Send + Sync + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let own_address = address.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let request = lines.next().and_then(Result::ok).unwrap_or_default();
                lines.take_while(|line| line.as_ref().is_ok_and(|l| !l.is_empty())).for_each(drop);
                let path = request.split(' ').nth(1).unwrap_or_default();
                let not_found = || ("404 Not Found", String::new(), Vec::new());
                let (status, header, body) = answer(&own_address, path).unwrap_or_else(not_found);
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{header}Connection: close\r\n\
                     Last-Modified: Mon, 02 Nov 2026 00:00:00 GMT\r\n\r\n"
                );
                let _ = stream.write_all(&[head.as_bytes(), &body].concat());
            }
        });
        address
    }

    /// An index that shows a page only at the address of its directory, with files on another host.
    #[test]
    fn files_on_another_host_have_the_hash_of_the_list() {
        let dir = TempDir::new().unwrap();
        let package = wheel(&dir.path().join("made"), "num-py", "2.0", &[]);
        let (sha256, bytes) = (hash(&package), fs::read(&package).unwrap());
        let files = serve(move |_, path| {
            let body = match path {
                "/a/b/num_py-2.0-py3-none-any.whl" => bytes.clone(),
                "/a/bad/num_py-2.0-py3-none-any.whl" => b"other".to_vec(),
                _ => return None,
            };
            Some(("200 OK", String::new(), body))
        });
        let link = format!("{files}/a/b/num_py-2.0-py3-none-any.whl");
        let bad = link.replace("/b/", "/bad/");
        let links = [
            ("good", format!("{link}#sha256={sha256}")),
            ("bad", format!("{bad}#sha256={sha256}")),
            ("bare", link),
        ];
        let index = serve(move |address, path| {
            let (kind, rest) = path.strip_prefix('/')?.split_once('/')?;
            let (_, link) = links.iter().find(|(name, _)| *name == kind)?;
            let html = format!("<a href=num-py-1.0.exe>x</a><a href=\"{link}\">num_py</a>");
            let location = format!("Location: {address}{path}/\r\n");
            match rest {
                "num-py" => Some(("301 Moved Permanently", location, Vec::new())),
                "num-py/" => Some(("200 OK", String::new(), html.into_bytes())),
                _ => None,
            }
        });
        let list = format!("num-py==2.0 --hash=sha256:{sha256}\n");
        fs::write(dir.path().join("list.txt"), list).unwrap();
        let fetch = |kind: &str| {
            let source = format!("{index}/{kind}");
            rockpack(dir.path(), &["index", "fetch", &source, "-r", "list.txt", "-o", "taken"])
        };
        for (kind, expected) in [
            ("none", "has no num-py==2.0"),
            ("bare", "has no SHA-256 of `num_py-2.0-py3-none-any.whl`"),
            ("bad", "cannot fetch `num_py-2.0-py3-none-any.whl`: it has the SHA-256 d9298a10"),
        ] {
            let output = fetch(kind);
            assert_eq!(output.status.code(), Some(1), "{kind}: {}", stderr(&output));
            assert!(stderr(&output).contains(expected), "{kind}: {}", stderr(&output));
            assert_eq!(names(&dir.path().join("taken")), [""; 0]);
        }
        let output = fetch("good");
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(hash(&dir.path().join("taken/num_py-2.0-py3-none-any.whl")), sha256);
    }

    /// A server with the patch, without it, and with hostile ones.
    #[test]
    fn applies_valid_patches_of_a_web_server() {
        let dir = TempDir::new().unwrap();
        let patch = crate::publishing::patches::nights(dir.path());
        succeed(dir.path(), &["index", "delta", "old", "new"]);
        for night in ["old", "new"] {
            succeed(dir.path(), &["index", "publish", night, "store"]);
        }
        let right = fs::read(dir.path().join("new").join(&patch)).unwrap();
        // A window of 2 GiB, without size, and blocks of 128 KiB without end.
        let mut endless = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3];
        endless.extend([0x02, 0x00, 0x10, b'a'].repeat(5_000));
        let page = b"<html>not found</html>".to_vec();
        let long = vec![0; 100_000];
        let patches = [("right", right), ("page", page), ("endless", endless), ("long", long)];
        let root = dir.path().join("store");
        let index = serve(move |_, path| {
            let (kind, rest) = path.strip_prefix('/')?.split_once('/')?;
            let body = if rest.rsplit_once('.').is_some_and(|(_, end)| end == "patch") {
                patches.iter().find(|(name, _)| *name == kind)?.1.clone()
            } else {
                fs::read(root.join(rest)).ok()?
            };
            Some(("200 OK", String::new(), body))
        });
        for (kind, way, warning) in [
            ("right", "patch", ""),
            ("absent", "fetch", ""),
            ("page", "fetch", ""),
            ("endless", "fetch", "is damaged or unreadable: it is no patch with a size"),
            ("long", "fetch", "it is larger than the limit of 25"),
        ] {
            let source = format!("{index}/{kind}");
            let fetch =
                |pin: &str| rockpack(dir.path(), &["index", "fetch", &source, pin, "-o", kind]);
            assert!(fetch("big-part==1.0a1").status.success());
            let output = fetch("big-part==1.0a2");
            assert!(output.status.success(), "{kind}: {}", stderr(&output));
            assert!(text(&output.stdout).starts_with(way), "{kind}: {}", text(&output.stdout));
            assert!(stderr(&output).contains(warning), "{kind}: {}", stderr(&output));
            assert_eq!(
                stderr(&output).is_empty(),
                warning.is_empty(),
                "{kind}: {}",
                stderr(&output)
            );
            let name = "big_part-1.0a2-py3-none-any.whl";
            let (made, new) = (dir.path().join(kind).join(name), dir.path().join("new").join(name));
            assert_eq!(hash(&made), hash(&new), "{kind}");
            assert_eq!(names(&dir.path().join(kind)).len(), 2, "{kind}");
        }
    }
}
