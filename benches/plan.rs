//! Time and memory of plans by the size of the catalog.
//!
//! ```text
//! cargo bench --bench plan                   20,000 to 2,000,000 entries for 40 ISAs
//! cargo bench --bench plan -- --entries N    that many
//! cargo bench --bench plan -- --tree DIR     a real artifact directory
//! cargo bench --bench plan -- --edit FILE    answer to an edit: check and plan of a saved catalog
//! cargo bench --bench plan -- --packages 2000,4000    that many packages of four files
//! ```
//!
//! Catalogs are synthetic, for the repository's packages.kdl. Times of check and plan are on the clock, with
//! all cores; the others are processor time of one thread.
//!
//! * floor: clones the entries and sorts them by path; the time of a plan is a multiple of it.

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on has failed")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use plan::resolve;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use base::names::RelPath;
use base::source::{Code, Problems, Source};
use catalog::{self, Catalog, CatalogEntry};
use fs_err as fs;
use manifest::{Manifest, ManifestFiles};
use plan::resolve::explain::{Argument, Explainer, ManifestByMode, explanation_text};
use plan::{Plan, Request, Templates};
use review::diff;
use review::diff::Contents;
use rustix::time::{ClockId, clock_gettime};
use walkdir::WalkDir;

#[path = "plan/packages.rs"]
mod packages;
#[path = "plan/synthetic.rs"]
mod synthetic;
#[path = "plan/walk.rs"]
mod walk;

const ISAS: usize = 40;
const SIZES: [usize; 3] = [20_000, 200_000, 2_000_000];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        arguments
            .iter()
            .position(|a| a == name)
            .map(|at| arguments.get(at + 1).expect("a value").as_str())
    };
    if let Some(size) = value("--measure") {
        measure(size.parse().unwrap());
    } else if let Some(count) = value("--measure-packages") {
        measure_packages(count.parse().unwrap());
    } else if !arguments.iter().any(|a| a == "--bench") {
        // `cargo test --all-targets` starts it too.
        println!("not measured: this is for `cargo bench`");
    } else if let Some(file) = value("--edit") {
        let catalog = Catalog::load(Path::new(file)).unwrap();
        let took = (0..5).map(|_| elapsed(|| resolve(&manifest(0), &catalog)).0).min().unwrap();
        println!("{:>9}  check and plan of {file}", seconds(took.as_secs_f64()));
    } else if let Some(dir) = value("--tree") {
        bench_tree(Path::new(dir));
    } else if let Some(counts) = value("--packages") {
        bench_packages(counts);
    } else {
        bench_sizes(&value("--entries").map_or(SIZES.to_vec(), |size| vec![size.parse().unwrap()]));
    }
}

/// Result of one process: seconds, and bytes.
struct Measured {
    entries: f64,
    members: f64,
    check: f64,
    plan: f64,
    files: f64,
    json: f64,
    read: f64,
    diff: f64,
    floor: f64,
    catalog_memory: f64,
    plan_memory: f64,
}

impl Measured {
    fn line(&self) -> String {
        let times =
            [self.check, self.plan, self.files, self.json, self.read, self.diff, self.floor];
        let all = [self.entries, self.members]
            .into_iter()
            .chain(times)
            .chain([self.catalog_memory, self.plan_memory]);
        all.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
    }

    fn parse(line: &str) -> Self {
        let numbers: Vec<f64> = line.split_whitespace().map(|n| n.parse().unwrap()).collect();
        let [
            entries,
            members,
            check,
            plan,
            files,
            json,
            read,
            diff,
            floor,
            catalog_memory,
            plan_memory,
        ] = numbers[..]
        else {
            panic!("{line}")
        };
        Self {
            entries,
            members,
            check,
            plan,
            files,
            json,
            read,
            diff,
            floor,
            catalog_memory,
            plan_memory,
        }
    }

    fn row(&self) -> String {
        aligned([
            self.entries.to_string(),
            self.members.to_string(),
            seconds(self.check),
            seconds(self.plan),
            format!("{:.2} µs", self.plan / self.entries * 1e6),
            format!("{:.1}", self.plan / self.floor),
            seconds(self.files),
            seconds(self.json),
            seconds(self.read),
            seconds(self.diff),
            megabytes(self.catalog_memory),
            megabytes(self.plan_memory),
            format!("{:.0} B", self.plan_memory / self.entries),
            seconds(self.floor),
        ])
    }
}

const HEADS: [&str; 14] = [
    "entries", "members", "check", "plan", "an entry", "× floor", "--files", "--json", "read",
    "diff", "catalog", "at most", "an entry", "floor",
];

fn aligned(cells: [String; 14]) -> String {
    cells.map(|cell| format!("{cell:>9}")).join(" ")
}

fn bench_sizes(sizes: &[usize]) {
    println!("{}", aligned(HEADS.map(str::to_owned)));
    for size in sizes {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--measure", &size.to_string()]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("{}", Measured::parse(&String::from_utf8(output.stdout).unwrap()).row());
    }
}

fn measure(size: usize) {
    let catalog = synthetic::catalog(&manifest(ISAS), size);
    let catalog_memory = peak_memory_from_now();
    let (check, manifest) = elapsed(|| manifest(ISAS));
    let (first, plan) = elapsed(|| resolve(&manifest, &catalog));
    let plan_memory = peak_memory();
    let members: usize = plan.distributions.iter().map(|d| d.all_members().count()).sum();
    let (files, _) = timed(|| review::files_text(&plan).len());
    let (json, text) = timed(|| serde_json::to_string_pretty(&plan).unwrap());
    let (read, _) = timed(|| Plan::read(&text).unwrap());
    drop(text);
    let changed = resolve(&manifest, &synthetic::later(&catalog));
    let (diff, text) = timed(|| diff_text(&plan, &changed));
    assert!(text.contains("\n  + "), "the difference has no new file:\n{text}");
    drop((plan, changed));
    let again = || elapsed(|| resolve(&manifest, &catalog)).0;
    let plan = median([first, again(), again()]);
    let (floor, _) = timed(|| cloned_and_sorted(&catalog).len());
    let entries = catalog.artifacts.iter().map(|a| a.entries.len()).sum::<usize>();
    let found = Measured {
        entries: count(entries),
        members: count(members),
        check: check.as_secs_f64(),
        plan: plan.as_secs_f64(),
        files: files.as_secs_f64(),
        json: json.as_secs_f64(),
        read: read.as_secs_f64(),
        diff: diff.as_secs_f64(),
        floor: floor.as_secs_f64(),
        catalog_memory,
        plan_memory,
    };
    println!("{}", found.line());
}

/// Prints a row for each number of packages, measured in a separate process.
fn bench_packages(counts: &str) {
    let heads = ["packages", "check", "plan", "text", "explain", "at most"];
    println!("{}", heads.map(|head| format!("{head:>9}")).join(" "));
    for count in counts.split(',') {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--measure-packages", count]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        print!("{}", String::from_utf8(output.stdout).unwrap());
    }
}

fn measure_packages(count: usize) {
    let (text, catalog) = (packages::manifest(count), packages::catalog(count));
    let source = Source::new("packages.kdl", text);
    let beside = |path: &RelPath| Err(format!("no file {path}"));
    let beside = ManifestFiles {
        templates: vec!["meta", "runtime", "choice"],
        read: &beside,
        built_in: None,
    };
    let families = Source::new("families.kdl", "");
    let (check, manifest) =
        elapsed(|| decoded(Manifest::decode_beside(&source, &families, &beside)));
    let (plan, made) = elapsed(|| resolve(&manifest, &catalog));
    let (text, _) = timed(|| review::summary_text(&made, false).len());
    let memory = peak_memory();
    drop(made);
    let (explain, _) = timed(|| explained(&manifest, &catalog, "lib/libl1.so.1").len());
    let cells = [check, plan, text, explain].map(|time| seconds(time.as_secs_f64()));
    let cells = cells.iter().map(|cell| format!("{cell:>9}")).collect::<Vec<_>>().join(" ");
    println!("{count:>9} {cells} {:>9}", megabytes(memory));
}

fn explained(manifest: &Manifest, catalog: &Catalog, path: &str) -> String {
    let request = Request { version: "7.2.0".parse().ok(), ..Request::default() };
    let modes = ManifestByMode::new(manifest, catalog, &request);
    let explainer = decoded(Explainer::new(&modes, catalog, &templates(), &request));
    let Ok(Argument::Path(path)) = explainer.find(path) else { panic!("{path} is unknown") };
    explanation_text(&explainer.explain(&path), false)
}

fn manifest(isas: usize) -> Manifest {
    let read =
        |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let families = synthetic::families(&read("families.kdl"), isas);
    let beside = |path: &RelPath| Ok(read(path.as_str()));
    decoded(Manifest::decode_beside(
        &Source::new("packages.kdl", read("packages.kdl")),
        &Source::new("families.kdl", families),
        &ManifestFiles {
            templates: vec!["meta", "runtime", "choice"],
            read: &beside,
            built_in: None,
        },
    ))
}

/// Plans a synthetic catalog. Its programs lack scripts and some artifacts are in no package: errors in a real build.
fn resolve(manifest: &Manifest, catalog: &Catalog) -> Plan {
    let allowed = vec![Code::UnownedFiles, Code::ScriptTarget];
    let request = Request { version: "7.2.0".parse().ok(), allowed, ..Request::default() };
    decoded(resolve::plan(manifest, catalog, &templates(), &request)).0
}

fn decoded<T>(result: Result<T, Problems>) -> T {
    result.unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// Returns the difference of two plans, as shown to a reviewer.
fn diff_text(old: &Plan, new: &Plan) -> String {
    diff::text(
        &diff::diff(&Contents::of_plan("before", old), &Contents::of_plan("after", new)),
        false,
    )
}

/// Returns the runtime's sources; their text does not depend on the catalog.
fn templates() -> Templates {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    let mut templates = Templates::new();
    for found in
        WalkDir::new(&root).min_depth(2).sort_by_file_name().into_iter().map(Result::unwrap)
    {
        let path = found.path().strip_prefix(&root).unwrap().to_str().unwrap();
        let (template, below) = path.split_once('/').unwrap();
        if let (true, Ok(text)) = (found.file_type().is_file(), fs::read_to_string(found.path())) {
            templates.entry(template.to_owned()).or_default().push((below.parse().unwrap(), text));
        }
    }
    templates
}

fn cloned_and_sorted(catalog: &Catalog) -> Vec<CatalogEntry> {
    let mut entries: Vec<CatalogEntry> =
        catalog.artifacts.iter().flat_map(|a| a.entries.iter().cloned()).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// Measures the processor time of this thread.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = time_at_work();
    let made = std::hint::black_box(work());
    (time_at_work().checked_sub(start).unwrap(), made)
}

fn time_at_work() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Measures the elapsed time of work on several threads.
fn elapsed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = std::hint::black_box(work());
    (start.elapsed(), made)
}

fn median(mut times: [Duration; 3]) -> Duration {
    times.sort();
    times[1]
}

/// Resets the peak memory (`proc_pid_clear_refs(5)`), and returns the current memory.
fn peak_memory_from_now() -> f64 {
    fs::write("/proc/self/clear_refs", "5").unwrap();
    peak_memory()
}

/// Returns the peak memory of the process in bytes.
fn peak_memory() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}

/// Compares a plan of a real tree with walking the tree and reading its ELF headers.
fn bench_tree(dir: &Path) {
    let (walk, files) = (0..3).map(|_| elapsed(|| walk::walk(dir))).min().unwrap();
    let (scan, catalog) = (0..3)
        .map(|_| elapsed(|| decoded(catalog::scan(dir)).0))
        .min_by_key(|(time, _)| *time)
        .unwrap();
    let (plan, _) = (0..3)
        .map(|_| elapsed(|| resolve(&manifest(0), &catalog)))
        .min_by_key(|(time, _)| *time)
        .unwrap();
    println!("{files} files below {} on {} threads", dir.display(), rayon::current_num_threads());
    println!("{:>9}  walk, and read the ELF headers", seconds(walk.as_secs_f64()));
    let whole = scan + plan;
    for (time, what) in [(scan, "scan"), (plan, "check and plan"), (whole, "scan, check and plan")]
    {
        println!(
            "{:>9}  {what}: {:.2} × the walk",
            seconds(time.as_secs_f64()),
            time.as_secs_f64() / walk.as_secs_f64()
        );
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of entries is far below 2^52")]
fn count(n: usize) -> f64 {
    n as f64
}

fn seconds(time: f64) -> String {
    if time < 1.0 { format!("{:.1} ms", time * 1e3) } else { format!("{time:.2} s") }
}

fn megabytes(bytes: f64) -> String {
    format!("{:.0} MB", bytes / 1e6)
}
