use super::*;

const HEADERS: Headers<'static> =
    Headers { content_type: "", cache_control: "", content_encoding: "", sha256: None };

fn key(text: &str) -> RelPath {
    text.parse().unwrap()
}

fn read(bucket: &dyn Bucket, path: &str) -> Vec<u8> {
    bucket.get(&key(path), None).unwrap().bytes(bucket, 1 << 20).unwrap()
}

fn directory() -> (tempfile::TempDir, Box<dyn Bucket>) {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("file://{}/made/later", dir.path().display());
    let bucket = open(&url, &Options::default()).unwrap();
    (dir, bucket)
}

#[test]
fn creates_objects_once_and_replaces_only_expected_ones() {
    let (_dir, bucket) = directory();
    let object_key = key("a/b+c");
    assert_eq!(bucket.head(&object_key).unwrap(), None);
    let create = |bytes| bucket.create(&object_key, Body::Bytes(bytes), &HEADERS).unwrap();
    let made = create(b"one");
    assert_eq!(made, ConditionalWrite::Done(bucket.head(&object_key).unwrap().unwrap()));
    assert_eq!(create(b"two"), ConditionalWrite::Refused);
    assert_eq!(read(&*bucket, "a/b+c"), b"one");

    let object = bucket.head(&object_key).unwrap().unwrap();
    assert_eq!((object.size, object.etag.is_some()), (3, true));
    let replace = |bytes| bucket.replace(&object, Body::Bytes(bytes), &HEADERS).unwrap();
    assert!(replace(b"three").is_done());
    assert_eq!(replace(b"four"), ConditionalWrite::Refused);
    assert_eq!(read(&*bucket, "a/b+c"), b"three");

    bucket.delete(&object_key).unwrap();
    bucket.delete(&object_key).unwrap();
    assert_eq!(replace(b"five"), ConditionalWrite::Refused);
    assert!(bucket.list(None).unwrap().is_empty());
    bucket.put(&object_key, Body::Bytes(b"six"), &HEADERS).unwrap();
    bucket.put(&object_key, Body::Bytes(b"seven"), &HEADERS).unwrap();
    assert_eq!(read(&*bucket, "a/b+c"), b"seven");
}

#[test]
fn reads_whole_bytes_of_the_expected_object() {
    let (dir, bucket) = directory();
    let (object_key, file) = (key("x"), dir.path().join("file"));
    fs_err::write(&file, b"0123456789").unwrap();
    bucket.create(&object_key, Body::File(&file), &HEADERS).unwrap();
    let etag = bucket.head(&object_key).unwrap().unwrap().etag;
    assert_eq!(bucket.get_range(&object_key, 3..6, etag.as_deref()).unwrap(), b"345");
    let short = bucket.get_range(&object_key, 8..12, None).unwrap_err().to_string();
    assert!(short.starts_with("cannot read `x` in `"), "{short}");
    let content = bucket.get(&object_key, None).unwrap();
    assert_eq!(content.bytes(&*bucket, 9).unwrap_err().kind, ErrorKind::TooLarge);

    bucket.put(&object_key, Body::Bytes(b"9876543210"), &HEADERS).unwrap();
    assert_eq!(bucket.get(&object_key, etag.as_deref()).unwrap_err().kind, ErrorKind::Changed);
    assert_eq!(
        bucket.get_range(&object_key, 0..1, etag.as_deref()).unwrap_err().kind,
        ErrorKind::Changed
    );
    assert_eq!(bucket.get(&key("y"), None).unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(bucket.get(&key("x/y"), None).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn lists_omit_unfinished_objects() {
    let (dir, bucket) = directory();
    for path in ["b/2", "b/1", "bc/3", "a"] {
        bucket.create(&key(path), Body::Bytes(path.as_bytes()), &HEADERS).unwrap();
    }
    fs_err::write(dir.path().join("made/later/b/.rockpack-object-1"), "").unwrap();
    let keys = |below: Option<&str>| {
        let objects = bucket.list(below.map(key).as_ref()).unwrap();
        objects.iter().map(|object| object.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(None), ["a", "b/1", "b/2", "bc/3"]);
    assert_eq!(keys(Some("b")), ["b/1", "b/2"]);
    assert!(keys(Some("c")).is_empty());
}

#[test]
fn removes_leftovers_of_killed_processes_but_no_locked_file() {
    use rustix::fs::{FlockOperation, flock};
    let (dir, bucket) = directory();
    let place = dir.path().join("made/later/b");
    bucket.put(&key("b/1"), Body::Bytes(b"1"), &HEADERS).unwrap();
    let names = || {
        let names = fs_err::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let strays = || {
        // Same process ID, as on another machine.
        let prefix = format!(".rockpack-object-{}-", std::process::id());
        for number in 0..50 {
            fs_err::write(place.join(format!("{prefix}{number}")), "half").unwrap();
        }
        let file = fs_err::File::create(place.join(".rockpack-object-1-1")).unwrap();
        flock(file.file(), FlockOperation::LockExclusive).unwrap();
        file
    };
    let again = || open(dir.path().join("made/later").to_str().unwrap(), &Options::default());
    let held = strays();
    again().unwrap().put(&key("b/2"), Body::Bytes(b"2"), &HEADERS).unwrap();
    assert_eq!(names(), [".rockpack-object-1-1", "1", "2"]);
    drop(held);
    drop(strays());
    let bucket = again().unwrap();
    bucket.delete(&key("b/1")).unwrap();
    assert_eq!(names(), ["2"]);
    bucket.delete(&key("b/2")).unwrap();
    assert!(!place.exists());
}

#[test]
fn one_of_many_concurrent_writers_wins() {
    let (_dir, bucket) = directory();
    let object_key = key("p/one");
    let race = |act: &(dyn Fn(&[u8]) -> bool + Sync)| {
        let bodies: Vec<Vec<u8>> = (0..8).map(|n| vec![n; 100_000]).collect();
        std::thread::scope(|scope| {
            let tries: Vec<_> = bodies.iter().map(|body| scope.spawn(|| act(body))).collect();
            tries.into_iter().map(|t| t.join().unwrap()).filter(|won| *won).count()
        })
    };
    let create =
        |body: &[u8]| bucket.create(&object_key, Body::Bytes(body), &HEADERS).unwrap().is_done();
    assert_eq!(race(&create), 1);
    let object = bucket.head(&object_key).unwrap().unwrap();
    let replace =
        |body: &[u8]| bucket.replace(&object, Body::Bytes(body), &HEADERS).unwrap().is_done();
    assert_eq!(race(&replace), 1);
    assert_eq!(bucket.list(None).unwrap().len(), 1);
}

#[cfg(not(feature = "stores"))]
#[test]
fn a_url_without_its_feature_names_the_feature() {
    let error = open("s3://bucket/run", &Options::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.to_string().contains("without the feature `stores`"), "{error}");
}

#[cfg(feature = "stores")]
mod network {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use base::event::{Event, Listener, Reporter, Request};

    use super::*;

    fn options() -> Options {
        let (pause, stall) = (Duration::from_millis(1), Duration::from_millis(300));
        Options { retries: 2, pause, stall, ..Options::default() }
    }

    /// The prefix `…` keeps the connection open.
    fn server(answers: Vec<&'static str>) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/run", listener.local_addr().unwrap());
        let asked = std::thread::spawn(move || {
            let mut held = Vec::new();
            let asked = answers.iter().map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let lines: Vec<String> =
                    lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
                let text = answer.trim_start_matches('…');
                stream.write_all(text.as_bytes()).unwrap();
                if text.len() < answer.len() {
                    held.push(stream);
                }
                lines.join("\n")
            });
            asked.collect()
        });
        (url, asked)
    }

    const WHOLE: &str =
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: \"e\"\r\nConnection: close\r\n\r\nabcdef";
    const HALF: &str =
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: \"e\"\r\nConnection: close\r\n\r\nabc";
    const STALLED: &str =
        "…HTTP/1.1 200 OK\r\nContent-Length: 6\r\nETag: \"e\"\r\nConnection: close\r\n\r\nabc";
    const REST: &str = "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\nContent-Range: bytes 3-5/6\r\nETag: \"e\"\r\nConnection: close\r\n\r\ndef";
    const BUSY: &str =
        "HTTP/1.1 503 Slow Down\r\nContent-Length: 6\r\nConnection: close\r\n\r\nsecret";

    #[test]
    fn retries_temporary_failures_of_a_store() {
        for answers in [
            vec![WHOLE],
            vec![BUSY, BUSY, WHOLE],
            vec!["", WHOLE],
            vec!["…", WHOLE],
            vec![HALF, REST],
            vec![STALLED, REST],
        ] {
            let (url, asked) = server(answers.clone());
            let bucket = super::super::open(&url, &options()).unwrap();
            assert_eq!(read(&*bucket, "a b+c"), b"abcdef", "{answers:?}");
            let asked = asked.join().unwrap();
            assert!(asked[0].starts_with("GET /run/a%20b"), "{asked:?}");
        }
    }

    struct Heard(std::sync::mpsc::Sender<Request>);

    impl Reporter for Heard {
        fn report(&self, event: Event) {
            let Event::Requested(request) = event else { panic!("{event:?}") };
            self.0.send(request).unwrap();
        }
    }

    #[test]
    fn reports_each_try_of_a_request_with_status_and_bytes() {
        let (url, asked) = server(vec![BUSY, HALF, REST]);
        let (sender, heard) = std::sync::mpsc::channel();
        let listener = Some(Listener::new(Heard(sender)));
        let bucket = super::super::open(&url, &Options { listener, ..options() }).unwrap();
        assert_eq!(read(&*bucket, "x"), b"abcdef");
        drop(bucket);
        let host = url.split('/').nth(2).unwrap();
        let heard = heard.into_iter().map(|request| {
            assert_eq!(
                (&*request.method, &*request.host, &*request.path, request.sent),
                ("GET", host, "/run/x", 0)
            );
            (request.status, request.retry, request.received)
        });
        let expected = [("503", 0, 0), ("200", 1, 3), ("206", 2, 3)];
        let expected = expected.map(|(status, retry, bytes)| (status.to_owned(), retry, bytes));
        assert_eq!(heard.collect::<Vec<_>>(), expected);
        asked.join().unwrap();
    }

    #[test]
    fn an_unchanged_object_is_not_transferred() {
        const SAME: &str = "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nConnection: close\r\n\r\n";
        let (url, asked) = server(vec![WHOLE, SAME, WHOLE]);
        let bucket = super::super::open(&url, &options()).unwrap();
        let object = bucket.get(&key("x"), None).unwrap().object;
        assert!(bucket.get_changed(&object).unwrap().is_none());
        let changed = Object { etag: Some("\"f\"".to_owned()), ..object };
        assert!(bucket.get_changed(&changed).unwrap().is_some());
        let asked = asked.join().unwrap();
        let condition = |etag| format!("if-none-match: \"{etag}\"");
        assert!(
            asked[1].contains(&condition("e")) && asked[2].contains(&condition("f")),
            "{asked:?}"
        );
    }

    #[test]
    fn gives_up_on_a_dripping_server() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://{}/run", listener.local_addr().unwrap());
        let drips = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.map(Result::unwrap).take_while(|line| !line.is_empty()).for_each(drop);
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").unwrap();
            let mut dripped = 0;
            while stream.write_all(b"x").is_ok() && dripped < 100_000 {
                dripped += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            dripped
        });
        let bucket = super::super::open(&url, &options()).unwrap();
        let read = bucket.get(&key("x"), None).and_then(|content| content.bytes(&*bucket, 100_000));
        let error = read.unwrap_err().to_string();
        assert!(error.contains("less than 1024 bytes each second"), "{error}");
        drop(bucket);
        assert!(drips.join().unwrap() < 1000);
    }

    #[test]
    fn a_lasting_failure_is_an_error_with_the_key() {
        let changed = REST.replace("\"e\"", "\"f\"").leak();
        for (answers, expected) in [
            (vec![BUSY, BUSY, BUSY], "503"),
            (vec![HALF, changed], ""),
            (vec!["HTTP/1.1 404 None\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"], "404"),
            (vec!["HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"], "403"),
        ] {
            let (url, asked) = server(answers.clone());
            let bucket = super::super::open(&url, &options()).unwrap();
            let read = bucket.get(&key("x"), None).and_then(|content| content.bytes(&*bucket, 99));
            let error = read.unwrap_err().to_string();
            assert!(error.starts_with(&format!("cannot read `x` in `{url}`: ")), "{error}");
            assert!(error.contains(expected), "{answers:?}: {error}");
            asked.join().unwrap();
        }
    }

    #[test]
    fn a_web_server_has_no_list() {
        let bucket = super::super::open("http://127.0.0.1:9/x", &options()).unwrap();
        let error = bucket.list(None).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
    }
}
