//! A store, web server and source of credentials, which plays the fault of each case.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::hash::Sha256;
use rockpack_index::patch;
use tempfile::TempDir;
use wheel::archive::deflate::Packed;
use wheel::archive::metadata::Metadata;
use wheel::archive::wheel::{WheelWriter, dist_info_dir, wheel_file_name};

use crate::cases::{Case, Group, Phase};
use crate::tls::{Door, Doors, listen};

pub const FILE: &str = "base_lib_generic.tar.xz";
pub const SIDECAR: &str = "base_lib_generic.tar.xz.sha256sum";
pub const WHEEL: &str = "a_part-1.0-py3-none-any.whl";
/// Earlier versions, of which a copy of the index has the oldest.
pub const OLD: &str = "a_part-0.8-py3-none-any.whl";
const MIDDLE: &str = "a_part-0.9-py3-none-any.whl";
pub const TIME_IN_XML: &str = "2026-11-02T00:00:00.000Z";
pub const TIME: &str = "Mon, 02 Nov 2026 00:00:00 GMT";
const CONTENT: &[u8] = b"0123456789";

pub fn wheel() -> Vec<u8> {
    let (dist, version) = ("a-part".parse().unwrap(), "1.0".parse().unwrap());
    let metadata = Metadata { requires_python: ">=3.8".to_owned(), ..Metadata::default() };
    let metadata = metadata.render(&dist, &version, &[]).unwrap();
    let time = "1709208000".parse().unwrap();
    let mut wheel = WheelWriter::new(io::Cursor::new(Vec::new()), &dist, &version, time).unwrap();
    let info = dist_info_dir(&dist, &version).unwrap();
    let tags = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    for (path, content) in [
        ("a_part.py".parse().unwrap(), "A = 1\n".to_owned()),
        (info.join(&"METADATA".parse().unwrap()), metadata),
        (info.join(&"WHEEL".parse().unwrap()), tags.to_owned()),
    ] {
        wheel.member(&path, false, &Packed::stored(content.into_bytes())).unwrap();
    }
    assert_eq!(wheel_file_name(&dist, &version, "any"), WHEEL);
    wheel.finish().unwrap().into_inner()
}

/// Bytes of an earlier version: nobody opens it.
pub fn another(name: &str) -> Vec<u8> {
    [&wheel()[..], name.as_bytes()].concat()
}

pub struct Request {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    fn read(lines: &mut BufReader<TcpStream>) -> io::Result<Option<(Self, String)>> {
        let mut head = String::new();
        loop {
            let before = head.len();
            lines.read_line(&mut head)?;
            if head.len() == before {
                return Ok(None);
            }
            if head.ends_with("\r\n\r\n") {
                break;
            }
        }
        let mut words = head.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: BTreeMap<String, String> = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        lines.read_exact(&mut body)?;
        // Google's keys have their slashes encoded.
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let query = query.to_owned();
        Ok(Some((Self { method, path, query, headers, body }, head)))
    }

    /// Number of the case, in path, prefix or body.
    fn case(&self) -> Option<usize> {
        let body = if self.method == "POST" { &self.body[..] } else { b"" };
        let text = format!("{}/{}/{}", self.path, self.query, String::from_utf8_lossy(body));
        let parts = text.split(['/', '=', '&', '>', '<', '%']);
        // A prefix is encoded: `prefix=c12%2F`.
        let number = |part: &str| part.strip_prefix('c')?.parse().ok();
        parts.into_iter().find_map(number)
    }

    fn key(&self) -> &str {
        let index = self.path.split('/').position(|part| {
            part.strip_prefix('c').is_some_and(|rest| rest.parse::<usize>().is_ok())
        });
        let Some(index) = index else { return "" };
        let start: usize = self.path.split('/').take(index + 1).map(|part| part.len() + 1).sum();
        self.path.get(start..).unwrap_or_default()
    }

    fn is_list(&self) -> bool {
        self.query.contains("list-type=2") || self.query.contains("comp=list")
    }

    pub fn phase(&self) -> Phase {
        let key = self.key();
        let is_page = key.is_empty()
            || key.ends_with("index.json")
            || key.ends_with("index.html")
            || key == "a-part";
        match &*self.method {
            _ if self.path.starts_with("/credentials") => Phase::Credentials,
            _ if self.is_list() => Phase::List,
            "PUT" if key.ends_with(".rockpack-conditions") => Phase::Probe,
            "PUT" if is_page => Phase::PageWrite,
            "PUT" => Phase::Write,
            "DELETE" | "POST" => Phase::Delete,
            _ if key.rsplit_once('.').is_some_and(|(_, end)| end == "patch") => {
                if key.contains(MIDDLE) { Phase::Series } else { Phase::Patch }
            }
            _ if key.ends_with(".sha256sum") && self.method == "GET" => Phase::Sidecar,
            _ if is_page => Phase::Page,
            "HEAD" => Phase::Head,
            _ => Phase::File,
        }
    }
}

#[derive(Clone)]
pub struct Answer {
    pub status: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn new(status: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    pub fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head
    }

    /// Whole answer, with its length.
    pub fn bytes(&self, is_head: bool) -> Vec<u8> {
        let head = format!("{}Content-Length: {}\r\n\r\n", self.head(), self.body.len());
        let body = if is_head { &[][..] } else { &self.body };
        [head.as_bytes(), body].concat()
    }
}

/// A request of the phase of a case, and the honest answer.
pub struct Exchange<'e> {
    pub stream: &'e TcpStream,
    pub request: &'e Request,
    pub honest: Answer,
    pub group: Group,
    pub case: usize,
    /// Number of earlier requests of the phase.
    pub number: usize,
    pub elsewhere: &'e str,
    pub store: &'e Mutex<Store>,
}

impl Exchange<'_> {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.write_all(bytes.as_ref())
    }

    pub fn honest(&self) -> Answer {
        self.honest.clone()
    }

    pub fn is_head(&self) -> bool {
        self.request.method == "HEAD"
    }

    pub fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let bytes = answer.bytes(self.is_head());
        self.send(bytes)
    }

    /// Sends a piece until the client leaves.
    pub fn endless(&mut self, piece: &[u8], pause: Duration) -> io::Result<()> {
        loop {
            self.send(piece)?;
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
    }

    /// Waits until the client leaves.
    pub fn silence(&mut self) -> io::Result<()> {
        let mut stream = self.stream;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    }
}

/// Objects of a case, by key, with their generations.
#[derive(Debug, Default)]
pub struct Store(BTreeMap<String, (Vec<u8>, u64)>);

impl Store {
    fn for_case(case: &Case) -> Self {
        use crate::cases::Operation;
        let sha256 = |bytes: &[u8]| Sha256::of(bytes).to_string();
        let mut store = Self::default();
        let mut add = |key: &str, bytes: &[u8]| {
            store.0.insert(key.to_owned(), (bytes.to_owned(), 1));
        };
        if matches!(
            case.operation,
            Operation::ArtifactFetch | Operation::Range | Operation::Replace | Operation::Delete
        ) {
            add(FILE, CONTENT);
            add(SIDECAR, format!("{}\n", sha256(CONTENT)).as_bytes());
        } else if case.operation != Operation::Publish {
            let (wheel, old, middle) = (wheel(), another(OLD), another(MIDDLE));
            let file = |name: &str, bytes: &[u8]| {
                serde_json::json!({"filename": name, "url": name, "size": bytes.len(),
                    "hashes": {"sha256": sha256(bytes)}})
            };
            let mut files = vec![file(WHEEL, &wheel)];
            let mut add_patch = |name: &str, old: &[u8], new: &[u8]| {
                let patch = patch::encode(old, new).unwrap().unwrap();
                add(&format!("a-part/{}", patch::patch_name(name, &sha256(old))), &patch);
            };
            if case.operation == Operation::IndexSeries {
                files.extend([file(MIDDLE, &middle), file(OLD, &old)]);
                add_patch(MIDDLE, &old, &middle);
                add_patch(WHEEL, &middle, &wheel);
            } else if case.phase == Phase::Patch {
                add_patch(WHEEL, &old, &wheel);
            }
            let page = serde_json::json!({
                "meta": {"api-version": "1.1"},
                "name": "a-part",
                "files": files,
            });
            add("a-part/index.json", page.to_string().as_bytes());
            add("index.json", br#"{"projects":[{"name":"a-part"}]}"#);
            add(&format!("a-part/{WHEEL}"), &wheel);
        }
        store
    }

    pub fn list(&self, case: usize, group: Group, token: Option<&str>) -> String {
        let items: String = self
            .0
            .iter()
            .map(|(key, (bytes, number))| {
                item(group, &format!("c{case}/{key}"), bytes.len(), *number)
            })
            .collect();
        listing(group, &items, token)
    }

    fn put(&mut self, key: &str, request: &Request, group: Group) -> Answer {
        let now = self.0.get(key).map_or(0, |(_, number)| *number);
        let header = |name: &str| request.headers.get(name).map(String::as_str);
        let refused = match (header("if-none-match"), header("if-match")) {
            (Some(_), _) => now > 0,
            (_, Some(tag)) => tag != etag(now),
            _ => false,
        };
        let generation = header("x-goog-if-generation-match");
        if refused || generation.is_some_and(|generation| generation != now.to_string()) {
            let is_azure = matches!(group, Group::Azure | Group::Machine);
            let exists = is_azure && header("if-none-match").is_some();
            return Answer::new(
                if exists { "409 Conflict" } else { "412 Precondition Failed" },
                "",
            );
        }
        self.force(key, &request.body)
    }

    /// Writes whatever the condition is.
    pub fn force(&mut self, key: &str, body: &[u8]) -> Answer {
        let now = self.0.get(key).map_or(0, |(_, number)| *number);
        self.0.insert(key.to_owned(), (body.to_owned(), now + 1));
        let mut answer = Answer::new("201 Created", "");
        answer.headers = tags(now + 1);
        answer
    }
}

fn etag(number: u64) -> String {
    format!("\"{number:032}\"")
}

fn tags(number: u64) -> Vec<(&'static str, String)> {
    vec![
        ("ETag", etag(number)),
        ("Last-Modified", TIME.to_owned()),
        ("x-goog-generation", number.to_string()),
    ]
}

pub fn item(group: Group, key: &str, size: usize, number: u64) -> String {
    let tag = etag(number);
    match group {
        Group::Azure | Group::Machine => format!(
            "<Blob><Name>{key}</Name><Properties><Last-Modified>{TIME}</Last-Modified>\
             <Content-Length>{size}</Content-Length><Content-Type>x/y</Content-Type>\
             <Etag>{tag}</Etag></Properties></Blob>"
        ),
        _ => format!(
            "<Contents><Key>{key}</Key><LastModified>{TIME_IN_XML}</LastModified>\
             <ETag>{tag}</ETag><Size>{size}</Size></Contents>"
        ),
    }
}

pub fn listing(group: Group, items: &str, token: Option<&str>) -> String {
    match group {
        Group::Azure | Group::Machine => format!(
            "<?xml version=\"1.0\"?><EnumerationResults><MaxResults>1000</MaxResults><Blobs>{items}</Blobs>\
             <NextMarker>{}</NextMarker></EnumerationResults>",
            token.unwrap_or_default()
        ),
        _ => {
            let next = token
                .map(|token| format!("<NextContinuationToken>{token}</NextContinuationToken>"));
            let is_cut = token.is_some();
            let next = next.unwrap_or_default();
            format!(
                "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>{is_cut}</IsTruncated>\
                 {items}{next}</ListBucketResult>"
            )
        }
    }
}

pub struct Server {
    pub address: String,
    /// Addresses of the groups with encryption.
    encrypted: BTreeMap<String, String>,
    pub secrets: PathBuf,
    /// The trusted authority, a file in PEM.
    pub authority: PathBuf,
    _dir: TempDir,
    shared: Arc<Shared>,
}

struct Shared {
    cases: Vec<Case>,
    stores: Vec<Mutex<Store>>,
    counts: Vec<AtomicUsize>,
    /// Case of each group that runs its cases one after another.
    now: Mutex<BTreeMap<String, usize>>,
    elsewhere: String,
    saw_referer: AtomicBool,
}

impl Server {
    pub fn start(cases: Vec<Case>, elsewhere: &Elsewhere) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let dir = TempDir::new().unwrap();
        let shared = Arc::new(Shared {
            stores: cases.iter().map(|case| Mutex::new(Store::for_case(case))).collect(),
            counts: cases.iter().map(|_| AtomicUsize::new(0)).collect(),
            cases,
            now: Mutex::default(),
            elsewhere: elsewhere.address.clone(),
            saw_referer: AtomicBool::new(false),
        });
        let of_threads = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = of_threads.clone();
                // A client that leaves is no failure.
                std::thread::spawn(move || drop(shared.talk(&stream)));
            }
        });
        let doors = Doors::new(dir.path());
        let (secrets, authority) = (dir.path().to_owned(), doors.authority.clone());
        let doors = Arc::new(doors);
        let encrypted = Group::ALL.into_iter().filter(|group| group.is_encrypted());
        let open = |group: Group| (group.name(), open(&doors, group, &address, &shared));
        let encrypted = encrypted.map(open).collect();
        Self { address, encrypted, secrets, authority, _dir: dir, shared }
    }

    /// Address of the stores of a group.
    pub fn store(&self, group: Group) -> &str {
        self.encrypted.get(&group.name()).unwrap_or(&self.address)
    }

    /// True if the fault of a case was played.
    pub fn was_asked(&self, case: usize) -> bool {
        self.shared.counts[case].load(Ordering::SeqCst) > 0
    }

    pub fn saw_referer(&self) -> bool {
        self.shared.saw_referer.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn talk(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        let mut lines = BufReader::new(stream.try_clone()?);
        while let Some((request, head)) = Request::read(&mut lines)? {
            if head.to_lowercase().contains("\r\nreferer:") {
                self.saw_referer.store(true, Ordering::SeqCst);
            }
            if let Some(answer) = self.of_client(&request.path) {
                let mut stream = stream;
                stream.write_all(&answer.bytes(false))?;
                continue;
            }
            let phase = request.phase();
            let number = match phase {
                Phase::Credentials => self.of_credentials(&request.path),
                _ => request.case(),
            };
            let Some(number) = number.filter(|number| *number < self.cases.len()) else {
                return Ok(());
            };
            let case = &self.cases[number];
            let honest = self.honest(&request, number, phase);
            let mut exchange = Exchange {
                stream,
                request: &request,
                honest,
                group: case.group,
                case: number,
                number: 0,
                elsewhere: &self.elsewhere,
                store: &self.stores[number],
            };
            if phase == case.phase {
                exchange.number = self.counts[number].fetch_add(1, Ordering::SeqCst);
                (case.fault.play)(&mut exchange)?;
                if case.fault.closes {
                    return Ok(());
                }
            } else {
                let bytes = exchange.honest.bytes(exchange.is_head());
                exchange.send(bytes)?;
            }
        }
        Ok(())
    }

    /// `/begin/GROUP/CASE` begins a case, `/played/GROUP/CASE` asks whether its fault was played.
    fn of_client(&self, path: &str) -> Option<Answer> {
        let [verb, group, number] = path.split('/').skip(1).collect::<Vec<_>>()[..] else {
            return None;
        };
        let number: usize = number.parse().ok()?;
        match verb {
            "begin" => {
                self.now.lock().unwrap().insert(group.to_owned(), number);
                *self.stores[number].lock().unwrap() = Store::for_case(&self.cases[number]);
                self.counts[number].store(0, Ordering::SeqCst);
                Some(Answer::new("200 OK", ""))
            }
            "played" => {
                let was_played = self.counts[number].load(Ordering::SeqCst) > 0;
                Some(Answer::new(if was_played { "200 OK" } else { "404 Not Found" }, ""))
            }
            _ => None,
        }
    }

    /// Door of the next connection.
    fn door(&self, group: Group) -> Option<Door> {
        let number = *self.now.lock().unwrap().get(&group.name())?;
        let case = &self.cases[number];
        if case.phase == Phase::Connect {
            self.counts[number].fetch_add(1, Ordering::SeqCst);
        }
        case.fault.door
    }

    fn of_credentials(&self, path: &str) -> Option<usize> {
        let group = match path.as_bytes().get("/credentials/".len())? {
            b'c' => Group::Container,
            _ => Group::Machine,
        };
        self.now.lock().unwrap().get(&group.name()).copied()
    }

    fn honest(&self, request: &Request, number: usize, phase: Phase) -> Answer {
        let group = self.cases[number].group;
        let mut store = self.stores[number].lock().unwrap();
        let key = request.key().to_owned();
        match (&*request.method, phase) {
            (_, Phase::Credentials) => credentials(group),
            (_, Phase::List) => Answer::new("200 OK", store.list(number, group, None)),
            // Conditions are judged once, also if a fault precedes the answer.
            ("PUT", _) => store.put(&key, request, group),
            ("POST", _) => Answer::new("200 OK", "<DeleteResult></DeleteResult>"),
            ("DELETE", _) => Answer::new("204 No Content", ""),
            _ => get(&store, &key, request),
        }
    }
}

fn get(store: &Store, key: &str, request: &Request) -> Answer {
    let Some((bytes, number)) = store.0.get(key) else { return Answer::new("404 Not Found", "") };
    let range = request.headers.get("range").and_then(|range| range.strip_prefix("bytes="));
    let range = range.and_then(|range| range.split_once('-'));
    let range = range.and_then(|(a, b)| Some((a.parse::<usize>().ok()?, b.parse::<usize>().ok()?)));
    let mut answer = match range {
        // A client that continues after a fault can have more than the page said.
        Some((start, _)) if start >= bytes.len() => Answer::new("416 Range Not Satisfiable", ""),
        Some((start, end)) => {
            let end = end.min(bytes.len() - 1);
            let mut part = Answer::new("206 Partial Content", &bytes[start..=end]);
            part.headers.push(("Content-Range", format!("bytes {start}-{end}/{}", bytes.len())));
            part
        }
        None => Answer::new("200 OK", &bytes[..]),
    };
    answer.headers.extend(tags(*number));
    answer
}

fn credentials(group: Group) -> Answer {
    let text = match group {
        Group::Container => {
            r#"{"AccessKeyId":"AKIAHUNTER2","SecretAccessKey":"hunter2secret","Token":"hunter2token",
               "Expiration":"2099-01-01T00:00:00Z"}"#
        }
        _ => r#"{"access_token":"hunter2bearer","expires_on":"4070908800","token_type":"Bearer"}"#,
    };
    Answer::new("200 OK", text)
}

/// Serves encrypted connections behind the door of the case that runs; returns the address.
fn open(doors: &Arc<Doors>, group: Group, server: &str, shared: &Arc<Shared>) -> String {
    let (listener, address) = listen();
    let (doors, server, shared) = (doors.clone(), server.to_owned(), shared.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Some(door) = shared.door(group) else { continue };
            let (doors, server) = (doors.clone(), server.clone());
            // A client that leaves is no failure.
            std::thread::spawn(move || drop(doors.serve(stream, door, &server)));
        }
    });
    address
}

/// Another origin, which keeps what it hears.
pub struct Elsewhere {
    pub address: String,
    heard: Arc<Mutex<String>>,
}

impl Elsewhere {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(String::new()));
        let keeps = heard.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                if let Ok(Some((_, head))) = Request::read(&mut lines) {
                    keeps.lock().unwrap().push_str(&head);
                }
                let text = crate::cases::ECHO;
                let start = "HTTP/1.1 403 No\r\nConnection: close\r\n";
                let _ = write!(stream, "{start}Content-Length: {}\r\n\r\n{text}", text.len());
            }
        });
        Self { address, heard }
    }

    pub fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}
