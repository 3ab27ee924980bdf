//! Failing web server on loopback: temporary errors are retried, and permanent ones name the key.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Mutex;
use std::time::Duration;

use index::store::{Access, Options};

use super::*;

/// Fault in answering a request for [`KEY`].
#[derive(Debug, Clone, Copy)]
enum Trouble {
    /// Answers that the service is unavailable.
    Unavailable,
    /// Sends half of the body and closes.
    Reset,
    /// Sends half of the body, and then nothing until the client's timeout.
    Stall,
}

/// Serves files of a directory over HTTP/1.1, with entity tags and ranges.
struct Server {
    root: PathBuf,
    trouble: Trouble,
    /// Number of further requests with the fault.
    remaining: Mutex<u32>,
}

impl Server {
    /// Serves until the test ends. Returns the address.
    fn start(root: PathBuf, trouble: Trouble, times: u32) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Arc::new(Self { root, trouble, remaining: Mutex::new(times) });
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                // A client that disconnects is no failure of the server.
                std::thread::spawn(move || drop(server.talk(&stream)));
            }
        });
        address
    }

    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?);
        loop {
            let mut request = String::new();
            lines.read_line(&mut request)?;
            let words: Vec<&str> = request.split_whitespace().collect();
            let [method, path, _] = words[..] else { return Ok(()) };
            let mut headers = BTreeMap::new();
            loop {
                let mut line = String::new();
                lines.read_line(&mut line)?;
                let Some((name, value)) = line.trim().split_once(": ") else { break };
                headers.insert(name.to_lowercase(), value.to_owned());
            }
            if !self.answer(stream, method, path.trim_start_matches('/'), &headers)? {
                return Ok(());
            }
        }
    }

    /// Answers a request. Returns whether the connection stays open.
    fn answer(
        &self,
        mut stream: &TcpStream,
        method: &str,
        key: &str,
        headers: &BTreeMap<String, String>,
    ) -> io::Result<bool> {
        if key.starts_with("denied/") {
            write!(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        let Ok(bytes) = fs::read(self.root.join(key)) else {
            write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        };
        let range = headers.get("range").and_then(|text| text.strip_prefix("bytes="));
        let from = range.and_then(|text| text.split('-').next()?.parse().ok()).unwrap_or(0_usize);
        let status = if range.is_some() { "206 Partial Content" } else { "200 OK" };
        let (last, length) = (bytes.len().saturating_sub(1), bytes.len());
        let body = &bytes[from.min(length)..];
        let trouble = (method == "GET" && key == KEY).then(|| {
            let mut remaining = self.remaining.lock().unwrap();
            let now = *remaining > 0;
            *remaining = remaining.saturating_sub(1);
            now
        });
        let trouble = (trouble == Some(true)).then_some(self.trouble);
        if matches!(trouble, Some(Trouble::Unavailable)) {
            write!(stream, "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n")?;
            return Ok(true);
        }
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"{key}{length}\"\r\n",
            body.len()
        )?;
        write!(stream, "Last-Modified: Mon, 02 Nov 2026 00:00:00 GMT\r\n")?;
        if range.is_some() {
            write!(stream, "Content-Range: bytes {from}-{last}/{length}\r\n")?;
        }
        write!(stream, "\r\n")?;
        if method == "HEAD" {
            return Ok(true);
        }
        let Some(trouble) = trouble else {
            stream.write_all(body)?;
            return Ok(true);
        };
        stream.write_all(&body[..body.len() / 2])?;
        if matches!(trouble, Trouble::Stall) {
            std::thread::sleep(Duration::from_secs(20));
        }
        Ok(false)
    }
}

/// Returns the needed archives below an address; the server has no list.
fn archives_at(address: &str) -> Vec<RemoteArchive> {
    let options = Options {
        access: Access::Anonymous,
        retries: 3,
        pause: Duration::from_millis(5),
        stall: Duration::from_millis(300),
        listener: None,
        ..Options::default()
    };
    let bucket: Arc<dyn Bucket> = store::open(address, &options).unwrap().into();
    let head = |key: &str| bucket.head(&key.parse().unwrap()).unwrap();
    let object = head(KEY).unwrap();
    vec![RemoteArchive::new(bucket.clone(), object, head(&format!("{KEY}.sha256sum")))]
}

#[test]
fn retries_temporary_faults_and_names_the_key_of_lasting_ones() {
    let scratch = scratch();
    let run = scratch.path().join("store/17-linux");
    let whole = sha256(run.join(KEY)).unwrap();
    for trouble in [Trouble::Unavailable, Trouble::Reset, Trouble::Stall] {
        let dest = scratch.path().join(format!("{trouble:?}"));
        fs::create_dir(&dest).unwrap();
        let archives = archives_at(&Server::start(run.clone(), trouble, 2));
        let fetched = fetch::download(&archives, &dest, &Demands::default()).unwrap();
        assert_eq!(fetched[0].archive.locked.sha256.to_string(), whole, "{trouble:?}");
        assert_eq!(sha256(dest.join(KEY)).unwrap(), whole, "{trouble:?}");
        fs::remove_dir_all(&dest).unwrap();
        fs::create_dir(&dest).unwrap();
        let archives = archives_at(&Server::start(run.clone(), trouble, u32::MAX));
        let text =
            single_message(&fetch::download(&archives, &dest, &Demands::default()).unwrap_err());
        assert!(text.contains(KEY), "{trouble:?}: {text}");
        assert!(files(&dest).is_empty(), "{trouble:?}: {:?}", files(&dest));
    }
}

#[test]
fn requests_each_key_of_a_run_without_a_list() {
    let scratch = scratch();
    let dir = scratch.path();
    let address = Server::start(dir.join("store"), Trouble::Unavailable, 0);
    let run = format!("{address}/17-linux/");
    let http = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command.args(args).current_dir(dir).env("ROCKPACK_MANIFEST", "built-in");
        command.env("ROCKPACK_NO_CACHE", "1").env("NO_COLOR", "1").output().unwrap()
    };
    let families = ["--linux-amdgpu-families", "gfx942,gfx1100", "--mode", "kpack"];
    let output = http(&[&["artifact", "fetch", &*run, "-o", "fetched"], &families[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    succeed(
        dir,
        &[&["artifact", "fetch", &*super::address(dir), "-o", "local"], &families[..]].concat(),
    );
    assert_eq!(files(&dir.join("fetched")), files(&dir.join("local")));
    let output = http(&["artifact", "fetch", &run, "-o", "none"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("it has no listing"), "{}", stderr(&output));
    // No variable would help.
    let denied = format!("{address}/denied");
    let output = http(&[&["artifact", "fetch", &*denied, "-o", "none"], &families[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("use a public web server"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("AWS_"), "{}", stderr(&output));
}

#[test]
fn a_key_that_stops_a_list_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let include = "include \"built-in\"\n";
    let store = "store \"b\" url=\"s3://b/{run}-{system}\" unsigned=#true\n";
    fs::write(dir.path().join("packages.kdl"), format!("{include}{store}")).unwrap();
    fs::write(dir.path().join("families.kdl"), include).unwrap();
    for key in ["17-linux/a//b", "17-linux/../b"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let object = format!(
            "<Contents><Key>{key}</Key><Size>1</Size><ETag>\"e\"</ETag>\
             <LastModified>2026-11-02T00:00:00.000Z</LastModified></Contents>"
        );
        let body = format!(
            "<ListBucketResult><IsTruncated>false</IsTruncated>{object}</ListBucketResult>"
        );
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.map(Result::unwrap).take_while(|line| !line.is_empty()).for_each(drop);
            let size = body.len();
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n{body}").unwrap();
        });
        let mut command =
            uncached(dir.path(), &["artifact", "fetch", "--store", "b", "--run", "17", "--all"]);
        command.arg("--dry-run").env("AWS_ENDPOINT", endpoint).env("AWS_ALLOW_HTTP", "true");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("`s3://b/17-linux`: cannot list it: "), "{text}");
        assert!(text.contains(key) && text.contains("remove the object"), "{text}");
    }
}

#[test]
fn a_signal_removes_received_bytes() {
    let scratch = scratch();
    let dir = scratch.path();
    let address = Server::start(dir.join("store/17-linux"), Trouble::Stall, u32::MAX);
    let families = ["--linux-amdgpu-families", "gfx942", "--mode", "kpack"];
    let (tmp, fetched) = (dir.join("tmp"), dir.join("fetched"));
    fs::create_dir(&tmp).unwrap();
    for (args, place, prefix) in [
        // Files unpacked by a build are unnamed.
        (vec!["build", "--artifact-dir", &*address, "-o", "out"], &tmp, ""),
        (vec!["artifact", "fetch", &*address, "-o", "fetched"], &fetched, ".rockpack-fetch-"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command.args(args).args(families).current_dir(dir).env("ROCKPACK_MANIFEST", "built-in");
        command.env("ROCKPACK_NO_CACHE", "1").env("TMPDIR", &tmp);
        let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
        let partial_count = || {
            let names = fs::read_dir(place).into_iter().flatten().flatten().map(|e| e.file_name());
            names.filter(|name| name.to_str().unwrap().starts_with(prefix)).count()
        };
        let start = std::time::Instant::now();
        let started = |child: &Child| partial_count() > 0 || signals::unnamed(child, &tmp) > 0;
        while !started(&child) && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(started(&child), "{prefix}");
        assert_eq!(partial_count() > 0, !prefix.is_empty(), "{prefix}");
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(partial_count(), 0, "{prefix}");
    }
    assert!(!dir.join("out").exists() && !fetched.join(KEY).exists());
}
