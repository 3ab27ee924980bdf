//! `rockpack index serve` as seen by clients, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ::index::simple::{self, Layout};
use fs_err as fs;
use tempfile::TempDir;

use super::packages::wheel;
use super::{rockpack, text};

/// Server of a directory, on a free port.
pub struct Serving {
    child: Child,
    pub url: String,
}

impl Serving {
    pub fn start(dir: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["index", "serve", "--verbose", "--port", "0"])
            .arg(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim_end().split_once(' ').map_or("", |(_, url)| url);
        let url = url.strip_suffix("simple/").unwrap_or(url).to_owned();
        Self { child, url }
    }

    pub fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().trim_end_matches('/')
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Client(BufReader::new(stream))
    }

    /// Ends it like Ctrl-C, and returns the logged requests.
    pub fn end(mut self) -> Vec<String> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success());
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has already ended, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Persistent connection.
pub struct Client(BufReader<TcpStream>);

pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value)
    }
}

impl Client {
    pub fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let own = self.0.get_ref().peer_addr().unwrap().to_string();
        let has_host = headers.iter().any(|(name, _)| *name == "Host");
        let host = [("Host", &*own)].into_iter().filter(|_| !has_host);
        let headers = host
            .chain(headers.iter().copied())
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect::<Vec<_>>()
            .concat();
        // One packet: the rest of a request in pieces waits 40 ms for the first one's acknowledgement.
        let request = format!("{method} {path} HTTP/1.1\r\n{headers}\r\n");
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let mut lines = std::iter::from_fn(|| {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
        });
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: Vec<_> = lines
            .map(|line| {
                line.split_once(": ")
                    .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                    .unwrap()
            })
            .collect();
        let mut answer = Answer { status, headers, body: Vec::new() };
        let length: usize = answer.header("content-length").parse().unwrap_or(0);
        if method != "HEAD" && status != 304 {
            answer.body = vec![0; length];
            self.0.read_exact(&mut answer.body).unwrap();
        }
        answer
    }
}

/// Serves a directory with an index, a file of ten bytes, and one of 3 MB.
fn served() -> (TempDir, Serving) {
    let dir = TempDir::new().unwrap();
    wheel(dir.path(), "one", "1.0+x", &[]);
    simple::write(dir.path(), Layout::Simple, None).unwrap();
    fs::write(dir.path().join("ten.bin"), b"0123456789").unwrap();
    fs::write(dir.path().join("large.bin"), large()).unwrap();
    fs::create_dir(dir.path().join("bare")).unwrap();
    let server = Serving::start(dir.path());
    (dir, server)
}

fn large() -> Vec<u8> {
    (0..750_000_u32).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn ranges_tags_and_methods() {
    let (dir, server) = served();
    let mut client = server.connect();
    let whole = client.ask("GET", "/ten.bin", &[]);
    assert_eq!(
        (whole.status, &whole.body[..], whole.header("accept-ranges")),
        (200, &b"0123456789"[..], "bytes")
    );
    for (range, status, content_range, body) in [
        ("bytes=2-4", 206, "bytes 2-4/10", "234"),
        ("bytes=-3", 206, "bytes 7-9/10", "789"),
        ("bytes=8-", 206, "bytes 8-9/10", "89"),
        ("bytes=10-", 416, "bytes */10", "the file has no such bytes\n"),
        ("bytes=0-1,4-5", 200, "", "0123456789"),
    ] {
        let part = client.ask("GET", "/ten.bin", &[("Range", range)]);
        assert_eq!(
            (part.status, part.header("content-range"), text(&part.body).as_str()),
            (status, content_range, body),
            "{range}"
        );
    }
    let head = client.ask("HEAD", "/ten.bin", &[("Range", "bytes=2-4")]);
    assert_eq!((head.status, head.header("content-length")), (200, "10"));
    let tag = whole.header("etag").to_owned();
    for (known, status) in
        [(tag.as_str(), 304), ("*", 304), (&format!("\"other\", W/{tag}"), 304), ("\"other\"", 200)]
    {
        assert_eq!(
            client.ask("GET", "/ten.bin", &[("If-None-Match", known)]).status,
            status,
            "{known}"
        );
    }
    let stale = client.ask("GET", "/ten.bin", &[("Range", "bytes=2-4"), ("If-Range", "\"other\"")]);
    assert_eq!((stale.status, stale.body.len()), (200, 10));
    assert_eq!(
        client.ask("GET", "/ten.bin", &[("Range", "bytes=2-4"), ("If-Range", &tag)]).status,
        206
    );
    fs::write(dir.path().join("new"), b"0123456789").unwrap();
    fs::rename(dir.path().join("new"), dir.path().join("ten.bin")).unwrap();
    assert_eq!(
        client.ask("GET", "/ten.bin", &[("If-None-Match", &tag)]).status,
        200,
        "a file that was replaced has another tag"
    );
    let post = client.ask("POST", "/ten.bin", &[("Content-Length", "0")]);
    assert_eq!((post.status, post.header("allow")), (405, "GET, HEAD"));
    // All of this used one connection.
    assert!(server.end().iter().any(|line| line == "GET 206 3 /ten.bin bytes=2-4"));
}

#[test]
fn pages_come_in_the_form_that_is_asked_for() {
    let (_dir, server) = served();
    let mut client = server.connect();
    let json = "application/vnd.pypi.simple.v1+json";
    let pip = format!("{json}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01");
    for (accept, status, content_type) in [
        (pip.as_str(), 200, json),
        ("text/html", 200, "text/html; charset=utf-8"),
        ("*/*", 200, "text/html; charset=utf-8"),
        (&format!("{json};q=0.1, text/html"), 200, "text/html; charset=utf-8"),
        ("application/vnd.pypi.simple.latest+json", 200, json),
        ("image/png", 406, "text/plain; charset=utf-8"),
    ] {
        let page = client.ask("GET", "/simple/one/", &[("Accept", accept)]);
        assert_eq!(
            (page.status, page.header("content-type"), page.header("vary")),
            (status, content_type, "Accept"),
            "{accept}"
        );
    }
    let overview = client.ask("GET", "/", &[("Accept", &pip)]);
    assert_eq!(
        (overview.status, overview.header("content-type")),
        (200, "text/html; charset=utf-8"),
        "there is no other form"
    );
    let moved = client.ask("GET", "/simple", &[]);
    assert_eq!((moved.status, moved.header("location")), (301, "/simple/"));
    assert_eq!(client.ask("GET", "/bare/", &[]).status, 404);
    let metadata = client.ask("GET", "/one-1.0%2Bx-py3-none-any.whl.metadata", &[]);
    assert!(
        metadata.status == 200 && text(&metadata.body).contains("Name: one\n"),
        "{}",
        text(&metadata.body)
    );
    assert_eq!(
        client.ask("GET", "/one-1.0+x-py3-none-any.whl", &[]).header("content-type"),
        "application/zip"
    );
    server.end();
}

#[test]
fn nothing_hidden_or_outside_is_served() {
    let (dir, server) = served();
    fs::write(dir.path().parent().unwrap().join("rockpack-outside"), "x").unwrap();
    let mut client = server.connect();
    let name = dir.path().file_name().unwrap().to_str().unwrap();
    for path in [
        "/../rockpack-outside",
        "/%2e%2e/rockpack-outside",
        "/simple/..%2f..%2frockpack-outside",
        &format!("/../{name}/ten.bin"),
        "/.rockpack-index.json",
        "/ten.bin/",
        "/ten.bin%00",
    ] {
        assert!(matches!(client.ask("GET", path, &[]).status, 400 | 404), "{path}");
    }
    fs::remove_file(dir.path().parent().unwrap().join("rockpack-outside")).unwrap();
    server.end();
}

/// Links to other directories, FIFOs, devices and paths of other hosts are not found, and requests
/// for them do not delay others.
#[test]
fn what_is_no_file_of_the_directory_is_nothing() {
    let (dir, server) = served();
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "x").unwrap();
    for (link, target) in [
        ("outlink", outside.path().to_str().unwrap()),
        ("zero", "/dev/zero"),
        ("inlink", "ten.bin"),
    ] {
        std::os::unix::fs::symlink(target, dir.path().join(link)).unwrap();
    }
    let fifo = dir.path().join("fifo");
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let mut client = server.connect();
    for path in ["/outlink/secret", "/outlink", "/outlink/", "/zero", "/fifo"] {
        assert_eq!(client.ask("GET", path, &[]).status, 404, "{path}");
    }
    assert_eq!(client.ask("GET", "/inlink", &[]).body, b"0123456789");
    // More requests than threads for the disk.
    for _ in 0..600 {
        assert_eq!(client.ask("GET", "/fifo", &[]).status, 404);
    }
    let address = server.address();
    for (host, status) in [(address, 200), ("example.org", 421), ("127.0.0.1:1", 421)] {
        let answer = client.ask("GET", &format!("http://{host}/ten.bin"), &[]);
        assert_eq!(answer.status, status, "{host}");
        assert_eq!(client.ask("GET", "/ten.bin", &[("Host", host)]).status, status, "{host}");
    }
    server.end();
}

#[test]
fn many_clients_at_once_and_an_end_that_waits_for_nobody_idle() {
    let (_dir, server) = served();
    let expected = large();
    // This client is connected and sends no request.
    let mut idle = server.connect();
    assert_eq!(idle.ask("GET", "/ten.bin", &[]).status, 200);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = server.connect();
                for _ in 0..4 {
                    assert_eq!(client.ask("GET", "/large.bin", &[]).body, expected);
                }
            });
        }
    });
    let started = Instant::now();
    assert_eq!(server.end().len(), 65);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn only_loopback_and_only_directories_are_served() {
    let dir = TempDir::new().unwrap();
    for (args, said) in [
        (&["index", "serve", "--bind", "0.0.0.0", "."][..], "is not a loopback address"),
        (&["index", "serve", "--bind", "::", "."], "is not a loopback address"),
        (&["index", "serve", "nowhere"], "cannot serve `nowhere`"),
    ] {
        let refused = rockpack(dir.path(), args);
        assert!(
            refused.status.code() == Some(2) && text(&refused.stderr).contains(said),
            "{}",
            text(&refused.stderr)
        );
    }
    let bare = rockpack(dir.path(), &["index", "serve", "--port", "0", "."]);
    assert!(
        bare.status.code() == Some(2)
            && text(&bare.stderr).contains(". has no index to serve")
            && text(&bare.stderr).contains("write an index with `rockpack index write .`"),
        "{}",
        text(&bare.stderr)
    );
    simple::write(dir.path(), Layout::Simple, None).unwrap();
    let server = Serving::start(dir.path());
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let taken = rockpack(dir.path(), &["index", "serve", "--port", &port, "."]);
    assert!(
        taken.status.code() == Some(2)
            && text(&taken.stderr).contains("cannot listen on 127.0.0.1"),
        "{}",
        text(&taken.stderr)
    );
    server.end();
}
