//! Costs of a night by the number of nights in the index.
//!
//! ```text
//! cargo bench --bench nights                 10, 100 and 1,000 nights of 17 packages
//! cargo bench --bench nights -- --nights N   that many
//! ```
//!
//! Each action has its own process with one thread of transfers, and a directory that counts
//! requests:
//!
//! * mirror: writes pages for another store, then once more without a change.
//! * index: `index write` without a change; verify: all packages as one set.

#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on has failed")]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use base::source::Source;
use check::{Set, Targets, judge};
use fs_err as fs;
use index::publish::{self, Form, Layout, Mirror, Retention};
use index::simple;
use index::store::Directory;
use manifest::{Dated, Manifest};
use record::gate::{self, Gate, PackageFile};

#[expect(dead_code, reason = "tests hide objects, too")]
#[path = "../tests/publishing/failing.rs"]
mod failing;
#[path = "../src/open_files.rs"]
mod open_files;
#[path = "../tests/index/packages.rs"]
#[expect(dead_code, reason = "nights have wheels alone")]
mod packages;

use failing::Failing;

const SIZES: [usize; 3] = [10, 100, 1_000];
const PARTS: usize = 16;
const ACTIONS: [&str; 8] =
    ["publish", "again", "first prune", "prune", "mirror", "mirror again", "index", "verify"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        Some(arguments.get(at + 1).expect("a value").as_str())
    };
    if let (Some(action), Some(place), Some(nights)) =
        (value("--measure"), value("--place"), value("--nights"))
    {
        measure(action, Path::new(place), nights.parse().unwrap());
    } else if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --all-targets` starts it too.
        println!("not measured: this is for `cargo bench`");
    } else {
        bench(&value("--nights").map_or(SIZES.to_vec(), |nights| vec![nights.parse().unwrap()]));
    }
}

fn bench(sizes: &[usize]) {
    println!(
        "{:>7}  {:<14} {:>9} {:>12} {:>10} {:>10}",
        "nights", "action", "requests", "bytes", "time", "memory"
    );
    for nights in sizes {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        (1..=*nights).for_each(|number| night(&made, number));
        night(&dir.path().join("next"), nights + 1);
        for action in ["first"].into_iter().chain(ACTIONS) {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--measure", action, "--nights", &nights.to_string(), "--place"]);
            let output = child.arg(dir.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            println!("{nights:>7}  {}", String::from_utf8_lossy(&output.stdout).trim_end());
        }
    }
}

/// Makes a selector that pins its parts.
fn night(dir: &Path, number: usize) {
    let version = format!("1.0a{number}");
    let parts: Vec<String> = (0..PARTS).map(|part| format!("part-{part}")).collect();
    let pins: Vec<String> = parts.iter().map(|part| format!("{part}=={version}")).collect();
    packages::wheel(
        dir,
        "selector",
        &version,
        &pins.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    for part in &parts {
        packages::wheel(dir, part, &version, &[]);
    }
}

fn measure(action: &str, place: &Path, nights: usize) {
    open_files::allow_many();
    let (store, copy) = (place.join("store"), place.join("copy"));
    let bucket = |root: &Path| Failing::new(Directory::new(root), usize::MAX, false).encoding();
    let (own, other) = (bucket(&store), bucket(&copy));
    let start = Instant::now();
    match action {
        "first" => publish(&place.join("made"), &own),
        "publish" | "again" => publish(&place.join("next"), &own),
        "first prune" => prune(&store, &own, 1, nights),
        "prune" => prune(&store, &own, 2, nights),
        "mirror" | "mirror again" => mirror(&own, &other),
        "index" => drop(simple::write(&place.join("made"), simple::Layout::Flat, None).unwrap()),
        _ => verify(&place.join("made")),
    }
    let time = start.elapsed();
    let requests = [&own, &other].map(|bucket| bucket.requests.lock().unwrap().len());
    let bytes = [&own, &other].map(|bucket| bucket.bytes.load(std::sync::atomic::Ordering::SeqCst));
    println!(
        "{action:<14} {:>9} {:>12} {:>8.2} s {:>7} MB",
        requests.iter().sum::<usize>(),
        bytes.iter().sum::<u64>(),
        time.as_secs_f64(),
        peak_kilobytes() / 1000,
    );
}

fn manifest() -> Manifest {
    let source = |name: &str, text: &str| Source::new(name, text);
    let packages =
        source("packages.kdl", "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n");
    let families = source("families.kdl", include_str!("../families.kdl"));
    Manifest::decode(&packages, &families).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn publish(dir: &Path, bucket: &Failing) {
    let (manifest, layout) = (manifest(), Layout::from_form(Form::Projects));
    let gate = Gate {
        command: check::Command::Publish,
        manifest: &manifest,
        allowed: &[],
        on_allowed: &|_| (),
    };
    let options = publish::Options { layout, jobs: 1, ..publish::Options::default() };
    publish::publish(dir, bucket, &options, &gate, &|_| ()).unwrap();
}

/// Makes the packages of a night old, and removes them.
fn prune(store: &Path, bucket: &Failing, night: usize, nights: usize) {
    let now = SystemTime::now();
    for project in fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path()) {
        let version = format!("-1.0a{night}-");
        let old = |path: &PathBuf| path.to_string_lossy().contains(&version);
        let files = fs::read_dir(&project).into_iter().flatten().map(|entry| entry.unwrap().path());
        for path in files.filter(old) {
            let file = fs::File::options().write(true).open(path).unwrap();
            file.into_parts().0.set_modified(now - Duration::from_hours(24 * 90)).unwrap();
        }
    }
    let layout = Layout::from_form(Form::Projects);
    let retention = Retention {
        layout,
        days: 30,
        date: Dated::Upload,
        now,
        yes: nights < 3,
        dry_run: false,
        jobs: 1,
    };
    let pruned = publish::prune(bucket, &retention, &|_| ()).unwrap();
    assert_eq!(pruned.removed, PARTS + 1);
}

fn mirror(from: &Failing, to: &Failing) {
    let public = "https://packages.example/".to_owned();
    let (layout, projects) = (Layout::from_form(Form::Projects), BTreeSet::new());
    let mirror = Mirror { layout, public, projects, dry_run: false, cache: None };
    publish::mirror(from, to, &mirror, &|_| ()).unwrap();
}

fn verify(dir: &Path) {
    let targets = Arc::new(Targets::new(manifest().families.target_names()));
    let found = wheel::package::packages(dir).unwrap();
    let entrants = found.into_iter().map(|found| {
        let name = found.path.file_name().unwrap().to_string_lossy().into_owned();
        PackageFile { path: found.path, form: found.form, name, file_name: None }
    });
    let packages = gate::read(&entrants.collect::<Vec<_>>(), &targets).unwrap();
    let set = Set { packages, environment: &|_: &str| true, targets: None };
    let errors = judge(&set, check::Command::Verify);
    assert!(errors.is_empty(), "{errors:?}");
}

/// Returns the peak memory of the process (`VmHWM` of `/proc/self/status`).
fn peak_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
