//! The closure's result for libraries, compared with this machine's loader (glibc), over random
//! trees of libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use base::names::Compression;
use base::source::Source;
use catalog::{Catalog, SourcePath, scan};
use manifest::Manifest;
use plan::resolve::{Closure, Resolved};
use plan::{Distribution, Form, Member, Metadata, Step};

const LOADER: &str = if cfg!(target_arch = "x86_64") {
    "/lib64/ld-linux-x86-64.so.2"
} else {
    "/lib/ld-linux-aarch64.so.1"
};
const WORLDS: u64 = 40;
const DIRECTORIES: [&str; 4] = ["_x/lib", "_x/lib/deep", "_x/bin", "_y/lib"];
const ENTRIES: [&str; 7] = [
    "$ORIGIN",
    "$ORIGIN/deep",
    "$ORIGIN/..",
    "$ORIGIN/../lib",
    "${ORIGIN}/../../_y/lib",
    "$ORIGIN/../../_x/lib/deep",
    "/nowhere",
];
const NAMES: usize = 6;

/// Pseudo-random numbers, equal on every run (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn choose_some<T: Copy>(&mut self, of: &[T], most: usize) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| of[self.below(of.len())]).collect()
    }
}

/// Links a library of this machine that needs others, which may be missing at that time.
fn link(stubs: &Path, to: &Path, name: &str, needed: &[String], rpath: &[&str], new_tags: bool) {
    let mut ld = Command::new("ld");
    ld.args(["-shared", "--no-as-needed", "-soname", name, "-o"]).arg(to);
    ld.arg(if new_tags { "--enable-new-dtags" } else { "--disable-new-dtags" });
    if !rpath.is_empty() {
        ld.arg("-rpath").arg(rpath.join(":"));
    }
    run(ld.arg(stubs.join("empty.o")).args(needed.iter().map(|n| stubs.join(n))));
}

fn run(command: &mut Command) {
    let output = command.output().expect("GNU as and ld are needed for this test");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn stubs(dir: &Path) -> PathBuf {
    let stubs = dir.join("stubs");
    fs_err::create_dir_all(&stubs).unwrap();
    run(Command::new("as").arg("-o").arg(stubs.join("empty.o")).arg("/dev/null"));
    for n in 0..NAMES {
        let name = format!("lib{n}.so");
        link(&stubs, &stubs.join(&name), &name, &[], &[], false);
    }
    stubs
}

/// Makes a tree of up to ten libraries as an artifact directory. Returns their paths.
fn world(dir: &Path, stubs: &Path, numbers: &mut Numbers) -> PathBuf {
    let artifact = dir.join("all_lib_generic");
    let stage = artifact.join("stage");
    let names: Vec<String> = (0..NAMES).map(|n| format!("lib{n}.so")).collect();
    let mut taken = BTreeSet::new();
    for _ in 0..10 {
        let (directory, name) = (DIRECTORIES[numbers.below(4)], &names[numbers.below(NAMES - 1)]);
        let needed: BTreeSet<&String> = numbers
            .choose_some(&names.iter().collect::<Vec<_>>(), 3)
            .into_iter()
            .filter(|n| *n != name)
            .collect();
        let needed: Vec<String> = needed.into_iter().cloned().collect();
        let (rpath, new_tags) = (numbers.choose_some(&ENTRIES, 3), numbers.below(6) == 0);
        if taken.insert((directory, name.clone())) {
            fs_err::create_dir_all(stage.join(directory)).unwrap();
            link(stubs, &stage.join(directory).join(name), name, &needed, &rpath, new_tags);
        }
    }
    fs_err::write(artifact.join("artifact_manifest.txt"), "stage\n").unwrap();
    stage
}

/// Returns all libraries of the catalog unchanged in one distribution.
fn distribution(catalog: &Catalog) -> Distribution {
    let artifact = &catalog.artifacts[0];
    let entries = artifact.entries.iter().filter(|e| e.elf().is_some());
    let members = entries.map(|entry| Member {
        path: entry.path.clone(),
        step: Step::Copy {
            source: SourcePath {
                artifact: artifact.id.clone(),
                base: entry.base.clone(),
                path: entry.path.clone(),
            },
        },
        executable: true,
        size: entry.size(),
        rule: "packages.kdl:1".into(),
    });
    Distribution {
        package: "all".parse().unwrap(),
        variant: None,
        name: "all".parse().unwrap(),
        wheel_variant: None,
        index: None,
        variants: None,
        form: Form::Wheel,
        directory: "dist".parse().unwrap(),
        module: "all".parse().unwrap(),
        platform_dir: None,
        platform_tag: None,
        compression: Compression::Store,
        compressed_otherwise: BTreeMap::new(),
        metadata: Metadata::default(),
        entry_points: BTreeMap::new(),
        members: members.collect(),
        licenses: Vec::new(),
        archive: None,
        absent: Vec::new(),
        limits: plan::Limits::default(),
        estimate: None,
        content: None,
        new: None,
    }
}

/// Results of the loader for a file, by needed name: several if an earlier file did not find what a
/// later one found.
type Load = BTreeMap<String, Vec<Option<String>>>;

fn load(stage: &Path, path: &str) -> Load {
    let output = Command::new(LOADER)
        .arg(stage.join(path))
        .env_clear()
        .env("LD_TRACE_LOADED_OBJECTS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The loader does not list the file itself.
    let mut load =
        Load::from([(path.rsplit('/').next().unwrap().to_owned(), vec![Some(path.to_owned())])]);
    for (name, place) in text.lines().filter_map(|line| line.trim().split_once(" => ")) {
        let found = Path::new(place.split(" (").next().unwrap()).canonicalize().ok();
        let below = found.map(|p| {
            p.strip_prefix(stage.canonicalize().unwrap()).unwrap().to_str().unwrap().to_owned()
        });
        load.entry(name.to_owned()).or_default().push(below);
    }
    load
}

/// Returns the expected result for a need: the file's load decides, or every load that includes it.
/// Returns `None` if these do not show which file found the library.
fn expected(loads: &BTreeMap<String, Load>, path: &str, library: &str) -> Option<String> {
    if let Some(found) = &loads[path][library][0] {
        return Some(found.clone());
    }
    let by = loads.iter().filter(|(root, load)| {
        *root != path && load.values().flatten().any(|p| p.as_deref() == Some(path))
    });
    let answers: Vec<_> = by.map(|(_, load)| &load[library]).collect();
    if answers.iter().any(|answer| answer.len() > 1) {
        return None;
    }
    Some(match answers.first().and_then(|answer| answer[0].as_ref()) {
        Some(found) if answers.iter().all(|answer| answer[0].is_some()) => {
            format!("{found} by loaders")
        }
        _ => "nowhere".to_owned(),
    })
}

fn describe(resolved: &Resolved<'_>) -> String {
    match resolved {
        Resolved::Member(found) => found.member.path.to_string(),
        Resolved::ThroughLoader { found, .. } => format!("{} by loaders", found.member.path),
        Resolved::Unresolved { .. } => "nowhere".to_owned(),
        Resolved::Luck(_) | Resolved::System(_) | Resolved::Windows | Resolved::Missing(_) => {
            panic!("one distribution, no rules: {resolved:?}")
        }
    }
}

#[test]
fn the_loader_agrees_with_the_closure() {
    let dir = tempfile::tempdir().unwrap();
    let (stubs, mut numbers) = (stubs(dir.path()), Numbers(7));
    let project = Source::new(
        "packages.kdl",
        "common {\n    author \"A\"\n    requires-python \">=3.10\"\n}\n",
    );
    let manifest =
        Manifest::decode(&project, &Source::new("families.kdl", super::support::FAMILIES)).unwrap();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for number in 0..WORLDS {
        let artifacts = dir.path().join(number.to_string());
        let stage = world(&artifacts, &stubs, &mut numbers);
        let (catalog, _) = scan(&artifacts).unwrap();
        let distribution = distribution(&catalog);
        let closure = Closure::new(&manifest, &catalog, [&distribution]);
        let paths: Vec<&str> = distribution.members.iter().map(|m| m.path.as_str()).collect();
        let loads: BTreeMap<String, _> =
            paths.iter().map(|path| ((*path).to_owned(), load(&stage, path))).collect();
        for member in &distribution.members {
            for need in closure.needs(&distribution, &member.path) {
                let Some(expected) = expected(&loads, member.path.as_str(), need.library) else {
                    continue;
                };
                let said = describe(&need.resolved);
                assert_eq!(
                    said, expected,
                    "world {number}: {} needs {}",
                    member.path, need.library
                );
                *seen
                    .entry(if said.ends_with("by loaders") {
                        "by loaders"
                    } else if said == "nowhere" {
                        "nowhere"
                    } else {
                        "found"
                    })
                    .or_default() += 1;
            }
        }
    }
    assert!(
        seen.len() == 3 && seen.values().all(|count| *count >= 5),
        "each outcome comes about: {seen:?}"
    );
}
