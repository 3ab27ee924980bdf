//! Pictures of all faults of a plan: `tests/fixtures/errors/planning/NAME.kdl` with a catalog in
//! `NAME.catalog` and the rendered problems in `NAME.txt`. `./tasks accept planning_errors`
//! rewrites the pictures.
//!
//! A catalog has the format of `planning/tree.rs`, and lines `//`, `ask KEY=VALUE…` (options) and
//! `build KEY=VALUE…` (facts).

use plan::resolve;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base::source::{self, Code, Problem, Problems, Source};
use catalog::{BuildFacts, Catalog};
use manifest::{Manifest, ManifestFiles};
use plan::{Plan, Request, Sources, Templates};

use crate::planning::tree;

const FAMILIES: &str = r#"isa "gfx906" "old-all" product="A"
isa "gfx942" "gfx94X-all" "gfx94X-dcgpu" product="B"
isa "gfx1100" "gfx110X-all" product="C"
isa "gfx1101" "gfx110X-all" product="D"
isa "gfx1250"
isa "gfx1250-strict" package="gfx1250"
"#;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/errors")
}

fn fixtures() -> Vec<PathBuf> {
    let files =
        fs_err::read_dir(directory().join("planning")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|e| e == "kdl")).collect();
    files.sort();
    files
}

/// Catalog and request.
struct Scene {
    entries: Vec<String>,
    build: BuildFacts,
    request: Request,
}

impl Scene {
    fn read(file: &Path) -> Self {
        let text = fs_err::read_to_string(file).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with("//"));
        let (told, entries): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with("ask ") || line.starts_with("build "));
        let word = |first: &str, key: &str| {
            let line = told.iter().filter_map(|line| line.strip_prefix(first)).find_map(|rest| {
                rest.split_whitespace().find_map(|word| {
                    if word == key { Some("") } else { word.strip_prefix(key)?.strip_prefix('=') }
                })
            });
            line.map(str::to_owned)
        };
        let list = |text: Option<String>| {
            text.map(|text| text.split(',').map(str::to_owned).collect::<Vec<_>>())
        };
        let request = Request {
            version: word("ask", "version")
                .or(Some("1.0".to_owned()))
                .filter(|v| v != "-")
                .map(|version| version.parse().unwrap()),
            suffix: word("ask", "suffix").unwrap_or_default(),
            mode: word("ask", "mode").map(|mode| mode.parse().unwrap()),
            linux_families: list(word("ask", "linux")),
            windows_families: list(word("ask", "windows")),
            platform_tag: word("ask", "tag")
                .or(Some("linux_x86_64".to_owned()))
                .filter(|tag| tag != "-")
                .map(|tag| tag.parse().unwrap()),
            only: list(word("ask", "only"))
                .unwrap_or_default()
                .iter()
                .map(|name| name.parse().unwrap())
                .collect(),
            allowed: word("ask", "allow-unowned").map(|_| Code::UnownedFiles).into_iter().collect(),
            sources: list(word("ask", "sources")).map(|names| Sources {
                projects: names.iter().map(|name| (name.parse().unwrap(), 0)).collect(),
                ..Sources::default()
            }),
            ..Request::default()
        };
        let targets = list(word("build", "targets")).unwrap_or_default();
        let version = word("build", "version");
        let build = BuildFacts { kpack_split: true, targets, version, ..BuildFacts::default() };
        Self { entries: entries.into_iter().map(str::to_owned).collect(), build, request }
    }

    fn catalog(&self) -> Catalog {
        tree::catalog(&self.entries.join("\n"), self.build.clone())
    }

    /// Returns the catalog in reverse order of listing.
    fn reversed(&self) -> Catalog {
        let mut catalog = self.catalog();
        catalog.artifacts.reverse();
        catalog.artifacts.iter_mut().for_each(|artifact| artifact.entries.reverse());
        catalog
    }
}

fn manifest(file: &Path) -> Manifest {
    let packages = Source::new("packages.kdl", fs_err::read_to_string(file).unwrap());
    let beside = ManifestFiles {
        templates: vec!["meta", "runtime"],
        read: &|_| Err("no file is read here".to_owned()),
        built_in: None,
    };
    let decoded =
        Manifest::decode_beside(&packages, &Source::new("families.kdl", FAMILIES), &beside);
    decoded
        .unwrap_or_else(|problems| panic!("{} has to decode:\n{}", file.display(), draw(&problems)))
}

fn resolved(manifest: &Manifest, catalog: &Catalog, request: &Request) -> (Option<Plan>, Problems) {
    let file = |path: &str| (path.parse().unwrap(), String::new());
    let templates = Templates::from([
        ("runtime".to_owned(), vec![file("__init__.py")]),
        ("meta".to_owned(), vec![file("pyproject.toml")]),
    ]);
    match resolve::plan(manifest, catalog, &templates, request) {
        Ok((plan, warnings)) => (Some(plan), warnings),
        Err(problems) => (None, problems),
    }
}

fn draw(problems: &Problems) -> String {
    problems.iter().fold(String::new(), |mut out, problem| {
        out.push_str(&source::picture(problem, 100, source::Look::PLAIN));
        out + "\n"
    })
}

/// Renders the problems; for a valid plan, its warnings and notes.
fn picture(manifest: &Manifest, catalog: &Catalog, request: &Request) -> String {
    let (plan, problems) = resolved(manifest, catalog, request);
    let plan = plan.map(|plan| review::summary_text(&plan, true)).unwrap_or_default();
    let text = draw(&problems) + &plan;
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn problems_of(file: &Path) -> Vec<Problem> {
    let scene = Scene::read(&file.with_extension("catalog"));
    resolved(&manifest(file), &scene.catalog(), &scene.request).1.iter().cloned().collect()
}

fn stem(file: &Path) -> &str {
    file.file_stem().unwrap().to_str().unwrap()
}

#[test]
fn every_fault_has_its_picture() {
    let mut differ = Vec::new();
    for file in fixtures() {
        let scene = Scene::read(&file.with_extension("catalog"));
        let manifest = manifest(&file);
        let picture = picture(&manifest, &scene.catalog(), &scene.request);
        differ.extend(workbench::expected::difference(&file.with_extension("txt"), &picture));
        assert_eq!(
            self::picture(&manifest, &scene.reversed(), &scene.request),
            picture,
            "{}: the order changes it",
            file.display()
        );
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn every_file_belongs_to_a_fixture() {
    for entry in fs_err::read_dir(directory().join("planning")).unwrap() {
        let file = entry.unwrap().path();
        assert!(
            file.with_extension("kdl").exists() && file.with_extension("catalog").exists(),
            "{} is alone",
            file.display()
        );
    }
}

/// Eleven is the closure of links, which has separate tests.
#[test]
fn every_fault_of_the_list_is_provoked_twice() {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for file in fixtures() {
        *count.entry(stem(&file).split('-').next().unwrap().to_owned()).or_default() += 1;
    }
    for fault in ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "12", "13", "mix"] {
        assert!(count.get(fault).is_some_and(|n| *n >= 2), "{fault}: {count:?}");
    }
}

/// A problem with a rule's line has a help text; a conflict labels both parties.
#[test]
fn problems_have_a_place_and_a_remedy() {
    let alone = [
        Code::ImpossibleVersion,
        Code::PlatformTag,
        Code::TagContradicted,
        Code::UnknownTarget,
        Code::MissingTarget,
        Code::UnownedFiles,
        Code::ExecutableStack,
    ];
    let of_the_command_line = [Code::UnknownPackage, Code::ImpossibleName, Code::MissingSource];
    for file in fixtures() {
        for problem in problems_of(&file) {
            assert!(problem.remedy().is_some(), "{}: {problem} has no remedy", file.display());
            let placed = alone.contains(&problem.code())
                || of_the_command_line.contains(&problem.code())
                || !problem.labels().is_empty();
            assert!(placed, "{}: {problem} has no place", file.display());
            let says_both = problem.labels().len() > 1
                || problem
                    .labels()
                    .iter()
                    .all(|(_, text)| text.contains(" and ") || text.contains("both"));
            let conflict = matches!(
                problem.code(),
                Code::PathConflict
                    | Code::TwoOwners
                    | Code::CaseClash
                    | Code::FileAndDirectory
                    | Code::SonameClash
            );
            assert!(!conflict || says_both, "{}: {problem} labels one party", file.display());
        }
    }
}

#[test]
fn one_mistake_is_one_problem_and_independent_ones_are_all_shown() {
    let codes = |name: &str| {
        let problems = problems_of(&directory().join("planning").join(name).with_extension("kdl"));
        problems.iter().map(|p| p.code().as_str()).collect::<Vec<_>>()
    };
    assert_eq!(codes("03-artifact-misspelt"), ["missing-artifact"]);
    assert_eq!(codes("mix-of-consequences"), ["missing-artifact"]);
    assert_eq!(codes("01-path-of-two-artifacts"), ["path-conflict"]);
    assert_eq!(codes("06-link-outside"), ["link-outside"]);
    let mut found = codes("mix-of-independent-faults");
    found.sort_unstable();
    let expected = [
        "broken-elf",
        "impossible-name",
        "matches-nothing",
        "matches-nothing",
        "missing-artifact",
        "missing-artifact",
        "missing-library",
        "path-conflict",
        "unknown-package",
        "unowned-files",
    ];
    assert_eq!(found, expected);
    let mut found = codes("mix-of-targets-and-rules");
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "impossible-name",
            "matches-nothing",
            "missing-target",
            "unknown-target",
            "unknown-target"
        ]
    );
}

/// Every code of planning has a fixture, so that its picture was reviewed.
#[test]
fn every_code_of_planning_has_a_fixture() {
    let source = |path: &Path| fs_err::read_to_string(path).unwrap();
    let plan = walkdir::WalkDir::new(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/plan/src/resolve"),
    )
    .into_iter()
    .map(Result::unwrap);
    let text: String = plan.filter(|e| e.file_type().is_file()).map(|e| source(e.path())).collect();
    let used: BTreeSet<&str> = Code::ALL
        .iter()
        .filter(|code| text.contains(&format!("Code::{code:?}")))
        .map(|c| c.as_str())
        .collect();
    let shown: BTreeSet<&str> =
        fixtures().iter().flat_map(|file| problems_of(file)).map(|p| p.code().as_str()).collect();
    // `check` reports these before planning.
    let earlier = [Code::UnknownTemplate, Code::InvalidText];
    // `tests/planning` shows these: a `.catalog` has no PE files, no device code and one system.
    let planning = [
        Code::BrokenPe,
        Code::MisplacedCode,
        Code::OtherSystem,
        Code::PathTooLong,
        Code::UnsafeName,
        Code::WrongPlatform,
    ];
    // `tests/diff` shows these: they are about two builds.
    let compared = [Code::CollidingNames, Code::Loss];
    let elsewhere: BTreeSet<&str> =
        earlier.iter().chain(&planning).chain(&compared).map(|c| c.as_str()).collect();
    let unseen: Vec<&&str> =
        used.iter().filter(|code| !shown.contains(*code) && !elsewhere.contains(*code)).collect();
    assert!(unseen.is_empty(), "no fixture shows {unseen:?}");
}
