//! `rockpack build --remote` with a server in this process that can misbehave.
//!
//! With any server, the packages have the same bytes as without it, at most one warning is printed,
//! and no secret is printed or written.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use fs_err as fs;
use serde_json::Value;
use tempfile::TempDir;

use super::demo_tree;

mod farm;
mod packages;
mod server;

use server::{Fault, Server};

/// Header that every server of these tests requires.
const TOKEN: &str = "Bearer tell-nobody";

/// The demo with files large enough for requests, and its packages.
struct Demo {
    dir: TempDir,
    local_sums: String,
    took: Duration,
}

/// Lines of the manifest; the variables have the addresses.
const REMOTES: &str = r#"
remote "upload" upload=#true
remote "silo" silo="other"
remote "short" upload=#true timeout="1s" tries=3
remote "required" required=#true
remote "tls" { tls certificate="no.pem"; }
remote "pem" cache="grpcs://127.0.0.1:1" { tls certificate="no.pem"; }
remote "unset" { header "authorization" env="NOT_SET"; }
remote "file" { header "authorization" file="nowhere"; }
remote "machine" { machine "OSFamily" "Linux"; }
remote "by-env" { header "Authorization" env="TOKEN"; }
remote "by-file" { header "authorization" file="token"; }
remote "wrong" { header "authorization" env="WRONG"; }
"#;

/// Variables of servers.
const HEADER: &str = "ROCKPACK_REMOTE_HEADER";
const CACHE: &str = "ROCKPACK_REMOTE_CACHE";
const EXECUTOR: &str = "ROCKPACK_REMOTE_EXECUTOR";

/// Writes a manifest with `remote` lines into the directory `own`.
fn declare(dir: &Path, remotes: &str) {
    fs::create_dir_all(dir.join("own")).unwrap();
    let include = "include \"built-in\"\n";
    fs::write(dir.join("own/packages.kdl"), format!("{include}{remotes}")).unwrap();
    fs::write(dir.join("own/families.kdl"), include).unwrap();
}

/// Returns compressible text, different for each seed.
fn text(seed: usize, lines: usize) -> String {
    let line = |n: usize| format!("{:x} {n} line of file {seed}\n", n * n * (seed + 7));
    (0..lines).map(line).collect()
}

impl Demo {
    fn new() -> Self {
        // One fits in a message, one needs a stream, and one is read from the devel archive.
        Self::with_lines([20_000, 400_000, 30_000])
    }

    fn with_lines(lines: [usize; 3]) -> Self {
        let dir = demo_tree::scratch(true);
        for (path, seed, lines) in [
            ("amd-llvm_run_generic/stage/lib/llvm/bin/large.txt", 1, lines[0]),
            ("amd-llvm_run_generic/stage/lib/llvm/bin/larger.txt", 2, lines[1]),
            ("amd-llvm_dev_generic/stage/lib/llvm/include/large.h", 3, lines[2]),
        ] {
            let path = dir.path().join("artifacts").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text(seed, lines)).unwrap();
        }
        declare(dir.path(), REMOTES);
        let mut demo = Self { dir, local_sums: String::new(), took: Duration::ZERO };
        let began = Instant::now();
        demo.local_sums = demo.build("without", "", &[]).sums;
        demo.took = began.elapsed();
        demo
    }

    /// Builds into a directory of this name, with an empty cache, and with the server at `url` if
    /// it is not empty.
    fn build(&self, name: &str, url: &str, args: &[&str]) -> Built {
        let began = Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["build", "--artifact-dir", "artifacts", "-o", name, "--jobs", "2"])
            .args(["--manifest", "own"])
            .args(["--compression", "max", "--xz-preset", "1"])
            .args(["--version", "7.2.0.dev0", "--cache", &format!("{name}-cache")])
            .args(args)
            .current_dir(self.dir.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "200")
            .env("NETRC", "/dev/null")
            .env("TOKEN", TOKEN)
            .env(HEADER, format!("authorization={TOKEN}"))
            .env(CACHE, url)
            .output()
            .unwrap();
        Built::new(&self.dir.path().join(name), &output, began.elapsed())
    }

    fn build_with(&self, name: &str, server: &Server, args: &[&str]) -> Built {
        let built = self.build(name, &server.url(), args);
        assert_eq!(built.sums, self.local_sums, "{name}: other bytes\n{}", built.printed);
        built
    }

    /// Returns a server filled by another machine.
    fn filled(&self) -> Server {
        let server = Server::start(TOKEN);
        let built = self.build_with("filling", &server, &["--remote", "upload"]);
        assert!(built.printed.contains(" sent, "), "{}", built.printed);
        assert_eq!(built.warnings(), 0, "{}", built.printed);
        fs::remove_dir_all(self.dir.path().join("filling")).unwrap();
        fs::remove_dir_all(self.dir.path().join("filling-cache")).unwrap();
        server
    }
}

struct Built {
    printed: String,
    sums: String,
    took: Duration,
}

/// Fails for secrets, and for characters of a server that a terminal acts on.
fn assert_clean(text: &str) {
    let is_odd = |c: char| base::source::is_active(c) && c != '\n';
    assert!(!text.contains("tell-nobody") && !text.contains(is_odd), "{text:?}");
}

impl Built {
    fn new(dest: &Path, output: &Output, took: Duration) -> Self {
        let bytes = [&output.stdout[..], &output.stderr].concat();
        let printed = String::from_utf8_lossy(&bytes).into_owned();
        assert!(output.status.success(), "{printed}");
        let read = |name| fs::read_to_string(dest.join("dist").join(name)).unwrap();
        for text in [&printed, &read("provenance.intoto.json")] {
            assert_clean(text);
        }
        Self { printed, sums: read("SHA256SUMS"), took }
    }

    fn warnings(&self) -> usize {
        self.printed.matches("the shared cache").count()
    }

    /// Returns the numbers of received and of requested files.
    fn received(&self) -> (usize, usize) {
        let line = self.printed.lines().find(|line| line.starts_with("shared cache ")).unwrap();
        let counts = line.split(": ").nth(1).unwrap();
        if counts.starts_with("no file requested") {
            return (0, 0);
        }
        let words: Vec<&str> = counts.split(' ').collect();
        (words[0].parse().unwrap(), words[2].parse().unwrap())
    }
}

#[test]
fn a_second_machine_reuses_the_first_ones_files() {
    let demo = Demo::new();
    let server = demo.filled();
    let entries = server.entries();
    assert_eq!(entries, 3, "one of each kind");
    let built = demo.build_with("second", &server, &["--events", "events"]);
    let (hits, requests) = built.received();
    assert_requests(&demo.dir.path().join("events"), &server);
    // A busy machine may start to pack a file before it arrives; none is missing or rejected.
    assert!(hits == requests && 2 * hits >= entries, "{}", built.printed);
    assert!(built.warnings() == 0 && !built.printed.contains(" sent"), "{}", built.printed);
    // Received files are kept and not requested again.
    fs::remove_dir_all(demo.dir.path().join("second")).unwrap();
    let again = demo.build_with("second", &server, &[]);
    assert_eq!(again.received().0, 0, "{}", again.printed);
    assert!(again.printed.contains("were packed in the cache"), "{}", again.printed);
    // Another silo has separate entries.
    let silo = demo.build_with("silo", &server, &["--remote", "silo"]);
    assert_eq!(silo.received().0, 0, "{}", silo.printed);
}

/// Checks that the events have all requests, and their bytes.
fn assert_requests(events: &Path, server: &Server) {
    let text = fs::read_to_string(events).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<&Value> =
        events.iter().filter(|event| event["event"] == "requested").collect();
    let count =
        |method: &str| requests.iter().filter(|request| request["method"] == method).count();
    assert!(count("GetCapabilities") == 1 && count("GetActionResult") > 0, "{requests:?}");
    assert!(count("Read") + count("BatchReadBlobs") > 0, "{requests:?}");
    assert!(
        requests.iter().all(|request| request["host"] == server.url() && request["status"] == "Ok")
    );
    let received: u64 = requests.iter().map(|request| request["received"].as_u64().unwrap()).sum();
    let traffic = &events.last().unwrap()["traffic"];
    assert!(received > 100_000, "{requests:?}");
    assert_eq!(
        (&traffic["requests"], &traffic["received"]),
        (&requests.len().into(), &received.into())
    );
    assert!(!text.contains("tell-nobody"));
}

#[test]
fn faults_of_a_server_change_no_package() {
    let demo = Demo::new();
    let server = demo.filled();
    assert_same_with(&demo, &server, &Fault::ALL);
}

#[test]
fn false_answers_of_a_server_change_no_package_and_cost_no_time() {
    let demo = Demo::with_lines([20_000, 20_000, 20_000]);
    let server = demo.filled();
    assert_same_with(&demo, &server, &Fault::SMALL);
    for (fault, warnings) in [(Fault::HasAll, 1), (Fault::HasNone, 0)] {
        let server = Server::start(TOKEN);
        server.misbehave(Some(fault));
        let built = demo.build_with(&format!("sending-{fault:?}"), &server, &["--remote", "short"]);
        assert_eq!(built.warnings(), warnings, "{fault:?}: {}", built.printed);
        assert_eq!(server.entries() == 3, warnings == 0, "{fault:?}: {}", built.printed);
    }
}

fn assert_same_with(demo: &Demo, server: &Server, faults: &[Fault]) {
    let mut wrong = Vec::new();
    for &fault in faults {
        server.misbehave(Some(fault));
        let built = demo.build_with(&format!("{fault:?}"), server, &[]);
        let (hits, _) = built.received();
        let warned = usize::from(fault.is_reported());
        if built.warnings() != warned || fault.leaves_nothing() && hits > 0 {
            wrong.push(format!("{fault:?}: {hits} came\n{}", built.printed));
        }
        if fault.is_retried() && hits == 0 {
            wrong.push(format!("{fault:?}: nothing came\n{}", built.printed));
        }
        // A machine is busy now and then, a server that delays builds each time.
        let most = demo.took * 2 + Duration::from_secs(3);
        let again = |number| demo.build_with(&format!("{fault:?}-{number}"), server, &[]).took;
        if built.took > most && (0..3).map(again).all(|took| took > most) {
            wrong.push(format!("{fault:?} took {:?}, without {:?}", built.took, demo.took));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn damaged_streams_are_sent_again_under_other_digests() {
    let demo = Demo::new();
    let server = demo.filled();
    for round in ["stream", "framed"] {
        server.damage();
        let reader = demo.build_with(&format!("{round}-reader"), &server, &[]);
        assert!(reader.received().0 == 0 && reader.warnings() == 1, "{}", reader.printed);
        assert!(reader.printed.contains("`upload=#true`"), "{}", reader.printed);
        // A stream that arrives too late is not checked.
        let is_repaired = (0..4).any(|number| {
            let name = |role: &str| format!("{round}-{role}-{number}");
            let writer = demo.build_with(&name("writer"), &server, &["--remote", "upload"]);
            assert!(
                writer.printed.contains("were sent again under other digests"),
                "{}",
                writer.printed
            );
            let reader = demo.build_with(&name("reader"), &server, &[]);
            reader.received().0 > 0 && reader.warnings() == 0
        });
        assert!(is_repaired);
    }
}

#[test]
fn reports_a_refusing_server_once() {
    let demo = Demo::new();
    for fault in [Fault::Refuses, Fault::ShortWrites, Fault::Full, Fault::Breaks] {
        let server = Server::start(TOKEN);
        server.misbehave(Some(fault));
        let name = format!("sending-{fault:?}");
        let built = demo.build_with(&name, &server, &["--remote", "short"]);
        assert_eq!(built.warnings(), usize::from(fault != Fault::Breaks), "{}", built.printed);
        if fault == Fault::Breaks {
            assert_eq!(server.entries(), 3, "{}", built.printed);
        }
    }
}

#[test]
fn where_a_shared_cache_is_required_its_trouble_is_an_error() {
    let demo = Demo::new();
    let dir = demo.dir.path();
    let build = |dest: &str, url: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command.args(["build", "--artifact-dir", "artifacts", "--version", "7.2.0"]);
        command.args(["--manifest", "own", "-o", dest, "--remote", "required"]).env(CACHE, url);
        command.args(["--compression", "max", "--xz-preset", "1"]);
        command.envs([("NO_COLOR", "1"), ("COLUMNS", "200"), ("NETRC", "/dev/null")]);
        command.args(more).env_remove("ROCKPACK_NO_CACHE").current_dir(dir).output().unwrap()
    };
    let stderr_of =
        |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("grpc://127.0.0.1:{port}");
    let output = build("nobody", &url, &["--cache", "own-cache"]);
    let messages = stderr_of(&output);
    assert_eq!(output.status.code(), Some(2), "{messages}");
    assert!(
        messages.contains("× the shared cache") && messages.contains("without `required`"),
        "{messages}"
    );
    assert!(dir.join("nobody/dist/SHA256SUMS").is_file(), "packages are in place");
    for (number, (url, more, text)) in [
        ("", &["--cache", "own-cache"][..], "remote \"required\" has no `cache` or `executor`"),
        (&url, &["--no-cache"], "a required remote: "),
        (&url, &["--cache", "/dev/null/cache"], "a required remote: "),
    ]
    .iter()
    .enumerate()
    {
        let dest = format!("none-{number}");
        let output = build(&dest, url, more);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", stderr_of(&output));
        assert!(stderr_of(&output).contains(text), "{more:?}: {}", stderr_of(&output));
        assert!(!dir.join(dest).join("dist").exists(), "{more:?}");
    }
}

#[test]
fn an_absent_server_is_one_warning() {
    let demo = Demo::new();
    // The port was just closed, so no server listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("grpc://127.0.0.1:{port}");
    let built = demo.build("nobody", &url, &[]);
    assert_eq!((built.sums.as_str(), built.warnings()), (demo.local_sums.as_str(), 1));
    assert!(built.printed.contains(&format!("the shared cache {url} failed")));
    // A client that waits for TLS gets an error if the server has none.
    let server = Server::start(TOKEN);
    let tls = server.url().replace("grpc:", "grpcs:");
    let built = demo.build("clear", &tls, &[]);
    assert_eq!(built.sums, demo.local_sums);
    let folded = built.printed.replace("\n  │ ", " ");
    assert!(
        folded.contains("the server does not speak TLS; without it, write grpc://"),
        "{folded}"
    );
    // Wrong connections are reported before building.
    fs::write(demo.dir.path().join("own/no.pem"), "tell-nobody\n").unwrap();
    for (remote, variable, expected) in [
        ("tls", None, "tls: the connection to the server has no TLS"),
        ("pem", Some((CACHE, "")), "certificate: own/no.pem has no certificate in PEM"),
        ("unset", None, "the variable NOT_SET is not set"),
        ("file", None, "own/nowhere"),
        ("machine", None, "remote \"machine\" has `machine`, but no `executor`"),
        ("silnt", None, "packages.kdl declares no remote `silnt`"),
        ("silo", Some((CACHE, "http://cache")), "`http` is not a scheme of a shared cache"),
        ("silo", Some((CACHE, "grpc://cache")), "has no port; write grpc://cache:PORT"),
        ("silo", Some((CACHE, "grpc://me:pass@cache:1")), "remove the user and the password"),
        ("silo", Some((HEADER, "tell-nobody")), "a header must have the form NAME=VALUE"),
        (
            "silo",
            Some(("ROCKPACK_REMOTE_MODE", "write")),
            "ROCKPACK_REMOTE_MODE: must be `read` or `readwrite`, not `write`",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rockpack"));
        command.args(["build", "--artifact-dir", "artifacts", "-o", "never", "--manifest", "own"]);
        command.args(["--cache", "never-cache", "--remote", remote]).current_dir(demo.dir.path());
        command.env(CACHE, &url).envs(variable).env("NO_COLOR", "1").env("COLUMNS", "200");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{remote}: {text}");
        assert!(text.contains(expected) && !text.contains("tell-nobody"), "{remote}: {text}");
        assert!(!demo.dir.path().join("never").exists());
    }
}

#[test]
fn headers_of_a_line_are_sent_and_the_variable_counts_for_more() {
    let demo = Demo::new();
    let server = demo.filled();
    fs::write(demo.dir.path().join("own/token"), format!("{TOKEN}\n")).unwrap();
    for (name, remote, header) in [
        ("env", "by-env", ""),
        ("file", "by-file", ""),
        ("both", "wrong", &*format!("authorization={TOKEN}")),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_rockpack"))
            .args(["build", "--artifact-dir", "artifacts", "-o", name, "--jobs", "2"])
            .args(["--manifest", "own", "--compression", "max", "--xz-preset", "1"])
            .args(["--version", "7.2.0.dev0", "--cache", &format!("{name}-cache")])
            .args(["--remote", remote])
            .current_dir(demo.dir.path())
            .envs([("NO_COLOR", "1"), ("COLUMNS", "200"), ("NETRC", "/dev/null")])
            .envs([("TOKEN", TOKEN), ("WRONG", "x"), (CACHE, &server.url()), (HEADER, header)])
            .output()
            .unwrap();
        let built = Built::new(&demo.dir.path().join(name), &output, Duration::ZERO);
        assert!(built.warnings() == 0 && built.received().0 > 0, "{name}: {}", built.printed);
    }
}
