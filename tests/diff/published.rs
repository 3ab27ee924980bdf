//! Published versions of an index, compared without their download.

use tempfile::TempDir;

use crate::index::packages::{sdist, wheel, wheel_of};
use crate::program::{rockpack, stderr, succeed, text};

const OLD: &str = "1.0a20261127";
const NEW: &str = "1.0a20261128";

/// Bytes of the large wheel's module.
const LARGE: usize = 4 << 20;

/// Publishes two nights: in the second one, a file of the large wheel changes, and `x-gone` is not
/// made. Its selector requires an older package.
fn nights() -> TempDir {
    let dir = TempDir::new().unwrap();
    for (version, letter) in [(OLD, "a"), (NEW, "b")] {
        let set = dir.path().join(version);
        wheel_of(&set, "x-large", version, &[], letter.repeat(LARGE));
        sdist(&set, "x", version);
        if version == OLD {
            wheel(&set, "x-gone", version, &[]);
            wheel(&set, "x-old", version, &[]);
        } else {
            wheel(&set, "x-user", version, &[&format!("x-old=={OLD}")]);
        }
        let (layout, place) = (["--layout", "per-package"], set.to_str().unwrap());
        succeed(dir.path(), &[&["index", "publish", place, "store"], &layout[..]].concat());
    }
    dir
}

fn address_at(place: &str, version: &str) -> String {
    format!("{place}@{version}")
}

#[test]
fn reads_changes_of_a_night_from_its_headers() {
    let dir = nights();
    let (old, new) = (address_at("store", OLD), address_at("store", NEW));
    let output = rockpack(dir.path(), &["diff", &old, &new]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let (lines, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(lines.starts_with("1 package is not built now: x-gone;"), "{lines}");
    assert!(lines.contains("x_large.py") && lines.contains("content"), "{lines}");
    // The second night has a package of the first one.
    assert!(!lines.contains("x-old"), "{lines}");
    assert!(errors.contains(&format!("{new}: read ")), "{errors}");
    assert!(errors.contains(" of 4.19 MB in 4 packages"), "{errors}");
    // A directory is read by the same facts.
    let output = rockpack(dir.path(), &["diff", &old, OLD]);
    assert_eq!(text(&output.stdout), "no difference\n", "{}", stderr(&output));
}

#[test]
fn refuses_an_index_without_the_version_or_against_a_plan() {
    let dir = nights();
    for (args, expected) in [
        (vec!["diff", "store@1.0", "store@1.0a20261128"], "has the version 1.0"),
        (vec!["diff", "https://example.org/whl", OLD], "`https://example.org/whl` has no version"),
        (vec!["diff", "store@1.0a20261128"], "an index is compared with another one"),
    ] {
        let output = rockpack(dir.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

#[cfg(feature = "stores")]
mod web {
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fs_err as fs;

    use super::*;

    /// Serves a directory, with ranges or without, and counts sent bytes of packages.
    fn serve(root: &Path, ranges: bool) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (root, sent) = (root.to_owned(), Arc::new(AtomicUsize::new(0)));
        let counter = sent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, counter) = (root.clone(), counter.clone());
                std::thread::spawn(move || drop(answer(&stream, &root, ranges, &counter)));
            }
        });
        (address, sent)
    }

    fn answer(
        mut stream: &TcpStream,
        root: &Path,
        ranges: bool,
        sent: &AtomicUsize,
    ) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let head: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let words: Vec<&str> = head.first().map_or(vec![], |line| line.split(' ').collect());
        let [method, path, _] = words[..] else { return Ok(()) };
        let close = "Connection: close\r\nLast-Modified: Mon, 02 Nov 2026 00:00:00 GMT\r\n";
        let Ok(bytes) = fs::read(root.join(path.trim_start_matches('/'))) else {
            return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n{close}\r\n");
        };
        let range = head.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let is_it = ranges && name.eq_ignore_ascii_case("range");
            let (from, to) = value.strip_prefix("bytes=").filter(|_| is_it)?.split_once('-')?;
            Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?))
        });
        let (status, part, more) = match range {
            Some((from, to)) => {
                let to = to.min(bytes.len() - 1);
                let more = format!("Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                ("206 Partial Content", &bytes[from..=to], more)
            }
            None => ("200 OK", &bytes[..], String::new()),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"{}\"\r\n{more}{close}\r\n",
            part.len(),
            bytes.len()
        )?;
        if method != "HEAD" {
            if path.strip_suffix(".whl").is_some() {
                sent.fetch_add(part.len(), Ordering::SeqCst);
            }
            stream.write_all(part)?;
        }
        Ok(())
    }

    #[test]
    fn reads_a_thirtieth_of_large_packages_over_http() {
        let dir = nights();
        let (address, sent) = serve(&dir.path().join("store"), true);
        let sides = [address_at(&address, OLD), address_at(&address, NEW)];
        let output = rockpack(dir.path(), &["diff", &sides[0], &sides[1]]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let lines = text(&output.stdout);
        assert!(lines.starts_with("1 package is not built now: x-gone;"), "{lines}");
        assert!(lines.contains("x_large.py"), "{lines}");
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent > 0 && sent * 30 < 2 * LARGE, "{sent} bytes");
    }

    #[test]
    fn refuses_a_server_that_sends_no_parts() {
        let dir = nights();
        let (address, sent) = serve(&dir.path().join("store"), false);
        let sides = [address_at(&address, OLD), address_at(&address, NEW)];
        let output = rockpack(dir.path(), &["diff", &sides[0], &sides[1]]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("the server does not send parts of files"), "{text}");
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < 2 * LARGE, "{sent} bytes");
    }
}
