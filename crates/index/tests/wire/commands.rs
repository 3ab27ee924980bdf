//! Runner of the cases of one kind of store, many at a time.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant, UNIX_EPOCH};

use base::source::{Problems, Source};
use base::text::with_causes;
use catalog::Demands;
use manifest::{Dated, Manifest};
use record::content::Rules;
use record::gate::{self, Gate};
use rockpack_index::earlier::{EarlierQuery, earlier};
use rockpack_index::fetch::{self, RemoteArchive, Selection, fetch_pinned, pin, select};
use rockpack_index::publish::{self, Form, Layout, Mirror, Retention};
use rockpack_index::store::{self, Access, Body, Bucket, Headers, Options, UrlOrigin};
use tempfile::TempDir;

use crate::cases::{Case, Group, Operation, Phase, WRONG_FILE};
use crate::faults::Must;
use crate::server::{FILE, OLD, SIDECAR, WHEEL, another, wheel};

/// Time limits of the test: a thirtieth of the program's (`Options::default`).
pub const PATIENCE: Duration = Duration::from_secs(2);
const STALL: Duration = Duration::from_secs(1);
/// Limit of tries, alone, of a case that a busy machine ended: during the other steps of CI, the
/// machine can be busy for longer than [`STALL`] more than once.
const REPEATS: usize = 3;
/// Number of parallel commands; more than cores, because most of them only wait.
const AT_ONCE: usize = 48;

/// Addresses of the server.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'s> {
    pub control: &'s str,
    pub store: &'s str,
}

pub fn run<'c>(cases: &'c [Case], group: &str, server: Addresses<'_>) {
    let place = temporary();
    let dist = place.path().join("dist");
    std::fs::create_dir(&dist).unwrap();
    std::fs::write(dist.join(WHEEL), wheel()).unwrap();
    let of_group = cases.iter().enumerate().filter(|(_, case)| case.group.name() == group);
    let (heavy, light): (Vec<_>, Vec<_>) = of_group.partition(|(_, case)| case.is_heavy());
    // Ends the line `test … ` of the test harness, so that each result has a line.
    println!();
    let to_repeat = Mutex::new(Vec::new());
    let run_all = |cases: Vec<(usize, &'c Case)>, at_once: usize| {
        let queue = Mutex::new(cases.into_iter());
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(|| {
                    while let Some((number, case)) = { queue.lock().unwrap().next() } {
                        let outcome = outcome(number, case, server, &dist);
                        // A busy machine can end a command before the request of the fault.
                        if is_of_a_busy_machine(case, &outcome.1)
                            || !fault_was_played(number, case, server)
                        {
                            to_repeat.lock().unwrap().push((number, case));
                        } else {
                            print_outcome(case, &outcome);
                        }
                    }
                });
            }
        });
    };
    let one_at_a_time = light.iter().any(|(_, case)| runs_alone(case));
    run_all(light, if one_at_a_time { 1 } else { AT_ONCE });
    run_all(heavy, 1);
    let to_repeat = to_repeat.into_inner().unwrap();
    for (number, case) in to_repeat {
        let again = || {
            // `outcome` begins the cases that run alone.
            if !runs_alone(case) {
                control("begin", number, case, server);
            }
            outcome(number, case, server, &dist)
        };
        let mut last = again();
        for _ in 1..REPEATS {
            if is_of_a_busy_machine(case, &last.1) {
                last = again();
            }
        }
        print_outcome(case, &last);
    }
    println!("memory\t{}", memory());
}

/// Returns whether the case runs without others, because the server cannot see its number in a
/// request for credentials or in a TLS handshake.
fn runs_alone(case: &Case) -> bool {
    case.phase == Phase::Credentials || case.group.is_encrypted()
}

/// Returns whether a time limit ended a case, or a connection that ended between its handshake and
/// its request (hyper then drops the server's reason): it is then repeated alone, because the machine
/// may be busy. Not for cases that accept any error: a timeout is one. The texts are those of
/// [`STALL`], [`PATIENCE`], the slowest accepted transfer and hyper.
fn is_of_a_busy_machine(case: &Case, outcome: &str) -> bool {
    let texts = ["for 1 s", "for 2 s", "less than 1024", "connection was not ready"];
    texts.iter().any(|text| outcome.contains(text))
        && !matches!(case.fault.must, Must::End | Must::Fail(""))
}

/// Creates a directory, in memory if possible, because hundreds at a time are slow on a disk.
fn temporary() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// Largest memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn outcome(number: usize, case: &Case, server: Addresses<'_>, dist: &Path) -> (Duration, String) {
    let start = Instant::now();
    let dir = temporary();
    if runs_alone(case) {
        control("begin", number, case, server);
    }
    // One thread for each command: in a shared pool, its tasks could wait for another command's.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let result = pool.install(|| run_command(number, case, server.store, dist, dir.path()));
    let text = match result {
        Ok(()) => "done".to_owned(),
        Err(text) => format!("error: {}", text.replace(['\n', '\t'], " ")),
    };
    (start.elapsed(), text)
}

fn print_outcome(case: &Case, (duration, outcome): &(Duration, String)) {
    let line = format!("case\t{}\t{}\t{outcome}\n", case.name(), duration.as_millis());
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

/// Returns whether the server has played the fault.
fn fault_was_played(number: usize, case: &Case, server: Addresses<'_>) -> bool {
    control("played", number, case, server).starts_with("HTTP/1.1 200")
}

fn control(verb: &str, number: usize, case: &Case, server: Addresses<'_>) -> String {
    let mut stream =
        std::net::TcpStream::connect(server.control.trim_start_matches("http://")).unwrap();
    let path = format!("/{verb}/{}/{number}", case.group.name());
    write!(stream, "GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    std::io::Read::read_exact(&mut stream, &mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn options(group: Group) -> Options {
    let access =
        if matches!(group, Group::Web | Group::Https) { Access::Any } else { Access::Signed };
    let pause = Duration::from_millis(1);
    Options { access, retries: 1, pause, stall: STALL, patience: PATIENCE, ..Options::default() }
}

fn open(group: Group, url: &str) -> Result<Arc<dyn Bucket>, String> {
    store::open(url, &options(group)).map(Into::into).map_err(|error| with_causes(&error))
}

fn run_command(
    number: usize,
    case: &Case,
    server: &str,
    dist: &Path,
    dir: &Path,
) -> Result<(), String> {
    let bucket = open(case.group, &case.group.url(number, server))?;
    match case.operation {
        Operation::ArtifactFetch => artifact_fetch(case.group, &bucket, dir),
        Operation::IndexFetch | Operation::IndexSeries => index_fetch(&bucket, dir),
        Operation::Publish => publish_set(&*bucket, dist),
        Operation::Mirror => mirror(&*bucket, dir),
        Operation::Prune => prune(&*bucket),
        Operation::Earlier => compare_with_published(&*bucket),
        Operation::Range => bucket.get_range(&key(FILE), 2..6, None).map(drop).map_err(text),
        Operation::Replace => replace(&*bucket),
        Operation::Delete => bucket.delete(&key(FILE)).map_err(text),
    }
}

fn key(text: &str) -> base::names::RelPath {
    text.parse().unwrap()
}

fn text(error: impl std::error::Error) -> String {
    with_causes(&error)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
fn messages(problems: Problems) -> String {
    problems.iter().map(|problem| problem.message().to_owned()).collect::<Vec<_>>().join("; ")
}

fn artifact_fetch(group: Group, bucket: &Arc<dyn Bucket>, dir: &Path) -> Result<(), String> {
    let archives = if matches!(group, Group::Web | Group::Https) {
        let object = bucket.head(&key(FILE)).map_err(text)?.ok_or("absent")?;
        vec![RemoteArchive::new(bucket.clone(), object, None)]
    } else {
        let selection = Selection::all(&**bucket).map_err(text)?;
        selection.archives(bucket)
    };
    let demands = Demands { checksums: false, lock: None };
    fetch::download(&archives, dir, &demands).map(drop).map_err(messages)
}

fn index_fetch(bucket: &Arc<dyn Bucket>, dir: &Path) -> Result<(), String> {
    // An earlier wheel, so that patches apply.
    std::fs::write(dir.join(OLD), another(OLD)).unwrap();
    let open = |url: &str, url_origin: UrlOrigin| {
        store::open(url, &Options { url_origin, access: Access::Anonymous, ..options(Group::Web) })
    };
    let files = select(bucket, &open, &[pin("a-part==1.0").unwrap()]).map_err(messages)?;
    let fetched = fetch_pinned(&files, dir).map(drop).map_err(messages);
    // A failed fetch leaves no file, and a successful one the right file.
    match (std::fs::read(dir.join(WHEEL)), &fetched) {
        (Ok(bytes), Ok(())) if bytes == wheel() => fetched,
        // A failed fetch leaves no file.
        (Err(_), Err(_)) => fetched,
        (content, _) => Err(format!("{WRONG_FILE}: {fetched:?}, and the file is {content:?}")),
    }
}

fn publish_set(bucket: &dyn Bucket, dist: &Path) -> Result<(), String> {
    let manifest = manifest()?;
    let gate = Gate {
        command: gate::Command::Publish,
        manifest: &manifest,
        allowed: &[],
        on_allowed: &|_| (),
    };
    let options = publish::Options {
        layout: Layout::from_form(Form::Projects),
        jobs: 1,
        ..Default::default()
    };
    publish::publish(dist, bucket, &options, &gate, &|_| ()).map(drop).map_err(text)
}

fn mirror(source: &dyn Bucket, dir: &Path) -> Result<(), String> {
    let dest =
        store::open(dir.join("pages").to_str().unwrap(), &Options::default()).map_err(text)?;
    let mirror = Mirror {
        layout: Layout::from_form(Form::Projects),
        public: "https://example.org/whl/".to_owned(),
        projects: std::collections::BTreeSet::default(),
        dry_run: false,
        cache: None,
    };
    publish::mirror(source, &*dest, &mirror, &|_| ()).map(drop).map_err(text)
}

fn prune(bucket: &dyn Bucket) -> Result<(), String> {
    let retention = Retention {
        layout: Layout::from_form(Form::Projects),
        days: 1,
        date: Dated::Upload,
        // The year 2052: every file is old enough.
        now: UNIX_EPOCH + Duration::from_hours(24 * 30_000),
        yes: true,
        dry_run: false,
        jobs: 1,
    };
    publish::prune(bucket, &retention, &|_| ()).map(drop).map_err(text)
}

fn manifest() -> Result<Manifest, String> {
    let families = Source::new("families.kdl", include_str!("../../../../families.kdl"));
    let packages = Source::new(
        "packages.kdl",
        "common {\n    author \"A\"\n    requires-python \">=3.8\"\n}\n",
    );
    Manifest::decode(&packages, &families).map_err(messages)
}

fn compare_with_published(bucket: &dyn Bucket) -> Result<(), String> {
    let manifest = manifest()?;
    let rules = Rules::new(&manifest);
    let wheel = "a_part-2.0-py3-none-any.whl".parse().unwrap();
    let query = EarlierQuery { wheels: [("a-part".to_owned(), wheel)].into(), rules: &rules };
    match earlier(bucket, None, &query) {
        // `Nothing`: the page of the test lists no content, so there is nothing to compare with.
        Ok(_) | Err(rockpack_index::earlier::EarlierError::Nothing { .. }) => Ok(()),
        Err(error) => Err(text(error)),
    }
}

fn replace(bucket: &dyn Bucket) -> Result<(), String> {
    let headers =
        Headers { content_type: "", cache_control: "", content_encoding: "", sha256: None };
    let object = bucket.head(&key(SIDECAR)).map_err(text)?.ok_or("absent")?;
    // Google's API needs the generation to replace, which `head` did not return; on the test server
    // it is 1.
    let object = store::Object { version: object.version.or(Some("1".to_owned())), ..object };
    let written = bucket.replace(&object, Body::Bytes(b"new"), &headers).map_err(text)?;
    if written.is_done() { Ok(()) } else { Err("refused".to_owned()) }
}
