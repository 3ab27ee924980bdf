//! Changed locks, catalogs, plans, contracts, provenance statements and bills of materials: a reader refuses each
//! change, or the change has an effect. Commands that read them end with 0 or 1, name the file, and write nothing.

use std::collections::BTreeMap;
use std::path::Path;

use base::text::with_causes;
use catalog::{Catalog, Lock};
use fs_err as fs;
use plan::Plan;
use record::recorded::statement_faults;
use record::sbom::{Document as Bill, SBOM_PATH};
use review::contract::Saved;
use serde_json::Value;

use crate::demo_tree::scratch;
use crate::package_mutations::Noise;
use crate::program::{Run, stderr, uncached};

#[path = "record_mutations/json.rs"]
mod json;

use json::Kind;

/// Mutants of each record and kind for its reader.
const MUTANTS: u64 = 6;
/// Mutants of each record for each command, which starts a process.
const RUNS: u64 = 3;

/// Text of a record as its reader understands it, or the reader's message.
type Read = fn(&Path) -> Result<String, String>;

/// A record, and commands that read it and write `new`.
struct Record {
    file: &'static str,
    read: Read,
    /// Kinds that can change no value.
    idle: &'static [Kind],
    commands: &'static [&'static str],
}

const RECORDS: [Record; 6] = [
    Record {
        file: "rockpack.lock",
        read: |file| match Lock::load(file) {
            Ok(lock) => Ok(format!("{lock:?}")),
            Err(error) => Err(error.to_string()),
        },
        idle: &[],
        commands: &[
            "artifact fetch file://HERE/archives -o new --locked",
            "build --artifact-dir archives -o new --locked --only core",
        ],
    },
    Record {
        file: "catalog.json",
        read: |file| {
            let catalog = Catalog::load(file).map_err(|error| with_causes(&error))?;
            let mut text = Vec::new();
            catalog.write_json(&mut text).unwrap();
            Ok(String::from_utf8(text).unwrap())
        },
        idle: &[],
        commands: &[
            "plan --catalog catalog.json",
            "diff --catalog catalog.json built-in",
            "build --catalog catalog.json --artifact-dir artifacts -o new --only core",
        ],
    },
    Record {
        file: "plan.json",
        read: |file| {
            let plan = Plan::read(&text(file)?).map_err(|error| with_causes(&error))?;
            Ok(serde_json::to_string(&plan).unwrap())
        },
        // The step of a member has its fields among the member's.
        idle: &[Kind::KeyMore],
        commands: &[
            "build --plan plan.json --artifact-dir artifacts -o new",
            "diff plan.json built-in --artifact-dir artifacts",
        ],
    },
    Record {
        file: "contract.json",
        read: |file| {
            let saved = Saved::read(&text(file)?, &"7.2.0".parse().unwrap());
            let saved = saved.map_err(|error| with_causes(&error))?;
            Ok(serde_json::to_string(&saved.contracts).unwrap())
        },
        // Sets.
        idle: &[Kind::ElementTwice],
        commands: &["diff contract.json built-in --artifact-dir artifacts"],
    },
    Record {
        file: "out/dist/provenance.intoto.json",
        read: |file| {
            let faults = statement_faults(file.parent().unwrap()).map_err(|e| with_causes(&e))?;
            match faults.first() {
                None => Ok(fs::read_to_string(file).unwrap()),
                Some(fault) => Err(format!("{}: {}", fault.kind, fault.detail)),
            }
        },
        idle: &[],
        commands: &["wheel verify out", "wheel promote out --to 7.2.0 -o new", "merge out -o new"],
    },
    Record {
        file: "bill.json",
        read: |file| {
            let text = text(file)?;
            let bill = Bill::read(&text).map_err(|error| error.to_string())?;
            // Promotion refuses other texts.
            if bill.to_json() == text { Ok(text) } else { Err("another text".to_owned()) }
        },
        idle: &[],
        commands: &[],
    },
];

fn text(file: &Path) -> Result<String, String> {
    String::from_utf8(fs::read(file).unwrap()).map_err(|error| error.to_string())
}

/// Runs a command, with `HERE` for the directory.
fn run(dir: &Path, args: &str) -> std::process::Command {
    let args = args.replace("HERE", dir.to_str().unwrap());
    let mut command = uncached(dir, &args.split(' ').collect::<Vec<_>>());
    command.env("ROCKPACK_MANIFEST", "built-in");
    command
}

/// Makes all records in a directory.
fn records() -> tempfile::TempDir {
    let scratch = scratch(true);
    let dir = scratch.path();
    let succeed = |args: &str| run(dir, args).succeed();
    succeed("artifact pack artifacts -o archives");
    succeed("artifact fetch file://HERE/archives -o fetched --lock rockpack.lock");
    succeed("artifact scan --artifact-dir artifacts -o catalog.json");
    let plan = "plan --catalog catalog.json --version 7.2.0 --json";
    fs::write(dir.join("plan.json"), succeed(plan)).unwrap();
    fs::write(dir.join("contract.json"), succeed(&format!("{plan} --contract"))).unwrap();
    let build = "build --artifact-dir artifacts -o out --version 7.2.0rc1 --only meta,core";
    succeed(&format!("{build} --platform-tag linux_x86_64"));
    let wheel = "out/dist/rocm_sdk_core-7.2.0rc1-py3-none-linux_x86_64.whl";
    let mut wheel = zip::ZipArchive::new(fs::File::open(dir.join(wheel)).unwrap()).unwrap();
    let bill = format!("rocm_sdk_core-7.2.0rc1.dist-info/{SBOM_PATH}");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut wheel.by_name(&bill).unwrap(), &mut bytes).unwrap();
    fs::write(dir.join("bill.json"), bytes).unwrap();
    scratch
}

/// Result of reading a mutant.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    Effective,
    /// The same values in other words.
    Equal,
}

#[test]
fn readers_refuse_changed_records_or_read_the_change() {
    let scratch = records();
    for Record { file, read, idle, .. } in RECORDS {
        let path = scratch.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let original = read(&path).unwrap();
        let mut counts = BTreeMap::new();
        for (kind, seed) in
            Kind::ALL.into_iter().flat_map(|kind| (0..MUTANTS).map(move |seed| (kind, seed)))
        {
            let bytes = json::mutant(kind, &text, &document, &mut Noise(seed));
            fs::write(&path, &bytes).unwrap();
            let outcome = match read(&path) {
                Err(message) => {
                    assert!(!message.is_empty(), "{file} {kind:?} {seed}");
                    Outcome::Refused
                }
                Ok(text) if text != original => Outcome::Effective,
                Ok(_) => Outcome::Equal,
            };
            let equal = || serde_json::from_slice::<Value>(&bytes).is_ok_and(|it| it == document);
            assert!(
                outcome != Outcome::Equal
                    || kind != Kind::KeyTwice && (idle.contains(&kind) || equal()),
                "{file} {kind:?} {seed}: the change is ignored"
            );
            *counts.entry(outcome).or_insert(0) += 1;
        }
        fs::write(&path, &text).unwrap();
        println!("{file}: {counts:?}");
        assert!(counts[&Outcome::Refused] > 35, "{file}: {counts:?}");
    }
}

#[test]
fn commands_refuse_changed_records_and_write_nothing() {
    let scratch = records();
    let dir = scratch.path();
    let mut counts = BTreeMap::new();
    for Record { file, commands, .. } in RECORDS {
        let path = dir.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        for (number, command) in (0..).zip(commands) {
            for seed in number * RUNS..(number + 1) * RUNS {
                let mut noise = Noise(seed);
                let kind = Kind::ALL[noise.below(Kind::ALL.len())];
                fs::write(&path, json::mutant(kind, &text, &document, &mut noise)).unwrap();
                let output = run(dir, command).output().unwrap();
                let (said, status) = (stderr(&output), output.status.code());
                let scene = format!("{command}, {file} {kind:?} {seed}");
                assert!(status == Some(0) || status == Some(1), "{scene}: {status:?} {said}");
                let new = dir.join("new");
                if status == Some(1) {
                    // Of a readable record, `diff` shows the losses, and a build other artifacts.
                    let name = file.rsplit('/').next().unwrap();
                    let parts = [name, "undo it", "does not match the catalog"];
                    assert!(parts.iter().any(|part| said.contains(part)), "{scene}: {said}");
                    assert!(!new.exists(), "{scene}: {said}");
                } else if command.contains("--locked") {
                    let lock = serde_json::from_slice::<Value>(&fs::read(&path).unwrap());
                    assert_eq!(lock.unwrap(), document, "{scene}: {said}");
                }
                fs::remove_dir_all(&new).ok();
                *counts.entry(status).or_insert(0) += 1;
            }
        }
        fs::write(&path, &text).unwrap();
    }
    println!("{counts:?}");
    assert!(counts[&Some(1)] > 10, "{counts:?}");
}
