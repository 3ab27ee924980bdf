//! Mistakes in the shipped manifest, by kind and seed, planned on a catalog of a full tree.
//!
//! `./tasks test-all mistakes:: -- --nocapture` prints the number of each outcome.

use std::collections::{BTreeMap, BTreeSet};

use base::names::RelPath;
use base::source::{Problems, Source};
use catalog::Catalog;
use manifest::{BuiltIn, Manifest, ManifestFiles};
use plan::{Plan, Request, Templates, resolve};
use rayon::prelude::*;
use review::diff::{self, Contents};

use crate::package_mutations::Noise;
use crate::repository;
use edits::{Edit, KINDS, Line};

#[path = "mistakes/edits.rs"]
mod edits;
#[path = "mistakes/named.rs"]
mod named;
#[path = "mistakes/promises.rs"]
mod promises;
#[path = "mistakes/proposals.rs"]
mod proposals;

/// Seeds of a mistake; twice as many with `ROCKPACK_THOROUGH`.
const SEEDS: u64 = 24;

/// Seeds of a mistake of one place.
const NAMED_SEEDS: u64 = 5;

/// Of these mistakes, one is planned on the full catalog; all with `ROCKPACK_THOROUGH`.
const FULL: u64 = 16;

/// Of these mistakes, the help of one is obeyed; of all with `ROCKPACK_THOROUGH`.
const OBEYED: u64 = 4;

/// Errors and warnings of one mistake.
const MOST_PROBLEMS: usize = 12;

/// Percentage that only a comparison of plans may show, such as deleted names.
const MOST_SHOWN: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    NotPlanned,
    Warned,
    Noted,
    Lost,
    Shown,
    Harmless,
    Silent,
}

struct Scene {
    files: Vec<(String, String)>,
    lines: Vec<Line>,
    catalog: Catalog,
    templates: Templates,
    plan: Plan,
    told: BTreeSet<String>,
    promises: BTreeSet<(String, String)>,
}

struct Planned {
    plan: Plan,
    warnings: Vec<String>,
}

impl Scene {
    fn new(catalog: &str) -> Self {
        let files: Vec<(String, String)> = repository::kdl_files()
            .into_iter()
            .map(|name| (name.clone(), repository::text(&name)))
            .collect();
        let lines = files.iter().enumerate().flat_map(|(file, (_, text))| lines(file, text));
        let lines = lines.collect();
        let path = format!("{}/golden/{catalog}.catalog.json.xz", env!("CARGO_MANIFEST_DIR"));
        let catalog = Catalog::load(path.as_ref()).unwrap();
        let templates = templates();
        let manifest = decode(&files).unwrap();
        let planned = planned(&manifest, &catalog, &templates).unwrap();
        let promises = promises::of(&planned.plan);
        let told = planned.warnings.into_iter().chain(notes(&planned.plan)).collect();
        Self { files, lines, catalog, templates, plan: planned.plan, told, promises }
    }

    fn describe(&self, edits: &[Edit]) -> String {
        let line = |edit: &Edit| {
            let is_it = |line: &&Line| (line.file, line.number) == (edit.file, edit.number);
            let was = self.lines.iter().find(is_it).unwrap().text.trim();
            let now = edit.text.as_deref().unwrap_or("(deleted)").trim();
            format!("\n    {}:{} {was}\n    ==> {now}", self.files[edit.file].0, edit.number + 1)
        };
        edits.iter().map(line).collect()
    }

    /// Errors and warnings that the shipped manifest does not have, and the plan.
    fn judged(&self, files: &[(String, String)]) -> (Problems, Option<Plan>) {
        let manifest = match decode(files) {
            Ok(manifest) => manifest,
            Err(problems) => return (problems, None),
        };
        let mut problems = manifest.warnings();
        match resolve::plan(&manifest, &self.catalog, &self.templates, &Request::default()) {
            Ok((plan, warnings)) => {
                let new =
                    warnings.iter().filter(|warning| !self.told.contains(&warning.to_string()));
                new.cloned().for_each(|warning| problems.push(warning));
                (problems, Some(plan))
            }
            Err(more) => {
                problems.extend(more);
                (problems, None)
            }
        }
    }

    /// Number of problems; proposals of the first, and faults of the manifests that obey them.
    fn obeyed(&self, edits: &[Edit]) -> (usize, Vec<(String, Option<String>)>) {
        let files = edited(&self.files, edits);
        let (problems, _) = self.judged(&files);
        let count = problems.iter().count();
        let Some(problem) = problems.iter().next() else { return (count, Vec::new()) };
        let judge = |proposal: proposals::Proposal| {
            let (after, plan) = self.judged(&proposal.files);
            let stays = after.iter().find(|other| other.message() == problem.message());
            let fault = match (stays, plan) {
                (Some(stays), _) => Some(format!("it stays: {}", stays.message())),
                (None, Some(plan)) => {
                    let found = promises::of(&plan);
                    proposal.nonsense(&plan, self.promises.difference(&found).count())
                }
                // Another part of the mistake.
                (None, None) if edits.len() > 1 || count > 1 => None,
                (None, None) => {
                    Some(after.iter().next().map_or_else(String::new, |it| it.message().to_owned()))
                }
            };
            (format!("{}: {}", problem.message(), proposal.text), fault)
        };
        (count, proposals::of(problem, &files).into_iter().map(judge).collect())
    }

    fn outcome(&self, edits: &[Edit]) -> (Outcome, String) {
        let files = edited(&self.files, edits);
        let manifest = match decode(&files) {
            Ok(manifest) => manifest,
            Err(problems) => return (Outcome::Refused, text(&problems)),
        };
        let warned = manifest.warnings();
        let new = match planned(&manifest, &self.catalog, &self.templates) {
            Ok(new) => new,
            Err(problems) => return (Outcome::NotPlanned, text(&problems)),
        };
        let found = promises::of(&new.plan);
        let lost: Vec<&(String, String)> = self.promises.difference(&found).collect();
        if !warned.is_empty() {
            return (Outcome::Warned, text(&warned));
        }
        if let Some(warning) = new.warnings.iter().find(|w| !self.told.contains(*w)) {
            return (Outcome::Warned, warning.clone());
        }
        if let Some(note) = notes(&new.plan).find(|n| !self.told.contains(n)) {
            return (Outcome::Noted, note);
        }
        if lost.is_empty() {
            return (Outcome::Harmless, String::new());
        }
        let (old, now) =
            (Contents::of_plan("old", &self.plan), Contents::of_plan("new", &new.plan));
        let diff = diff::diff(&old, &now);
        if diff.unallowed_losses().next().is_some() {
            return (Outcome::Lost, diff.verdict());
        }
        let shown = diff::text(&diff, true);
        let hidden = lost.iter().find(|(distribution, _)| !shown.contains(distribution.as_str()));
        let (distribution, fact) = hidden.unwrap_or(&lost[0]);
        let fact = fact.lines().next().unwrap_or_default();
        let text = format!("{} lost, such as {distribution}: {fact}", lost.len());
        (if hidden.is_some() { Outcome::Silent } else { Outcome::Shown }, text)
    }
}

fn lines(file: usize, text: &str) -> Vec<Line> {
    let is_content = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//")
    };
    let lines = text.lines().enumerate().filter(|(_, line)| is_content(line));
    lines.map(|(number, text)| Line { file, number, text: text.to_owned() }).collect()
}

fn edited(files: &[(String, String)], edits: &[Edit]) -> Vec<(String, String)> {
    let changed = |file: usize, number: usize, line: &str| {
        let edit = edits.iter().find(|edit| (edit.file, edit.number) == (file, number));
        edit.map_or(Some(line.to_owned()), |edit| edit.text.clone())
    };
    let text = |file: usize, text: &str| {
        let lines = text.lines().enumerate();
        lines.filter_map(|(number, line)| changed(file, number, line)).map(|l| l + "\n").collect()
    };
    let files = files.iter().enumerate();
    files.map(|(file, (name, whole))| (name.clone(), text(file, whole))).collect()
}

fn decode(files: &[(String, String)]) -> Result<Manifest, Problems> {
    let find = |name: &str| files.iter().find(|(n, _)| n == name).map(|(_, text)| text.clone());
    let read = |path: &RelPath| {
        let other = || std::fs::read_to_string(repository::root().join(path.as_str()));
        find(path.as_str()).map_or_else(|| other().map_err(|e| e.to_string()), Ok)
    };
    let shipped =
        ["packages.kdl", "families.kdl"].map(|name| Source::new(name, repository::text(name)));
    let built_in = BuiltIn { packages: &shipped[0], families: &shipped[1], read: &read };
    let templates = vec!["meta", "runtime", "choice"];
    let beside = ManifestFiles { templates, read: &read, built_in: Some(built_in) };
    let [packages, families] =
        ["packages.kdl", "families.kdl"].map(|name| Source::new(name, find(name).unwrap()));
    Manifest::decode_beside(&packages, &families, &beside)
}

fn planned(
    manifest: &Manifest,
    catalog: &Catalog,
    templates: &Templates,
) -> Result<Planned, Problems> {
    let (plan, warnings) = resolve::plan(manifest, catalog, templates, &Request::default())?;
    let told = warnings.iter().filter(|w| w.expectation().is_none()).map(ToString::to_string);
    Ok(Planned { warnings: told.collect(), plan })
}

fn notes(plan: &Plan) -> impl Iterator<Item = String> {
    plan.notes.iter().map(|note| note.text.clone())
}

fn text(problems: &Problems) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    format!("{} problems: {}", all.len(), all[0])
}

fn templates() -> Templates {
    let of = |name: &str| {
        let root = repository::root().join("runtime").join(name);
        let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter();
        let texts = files.map(Result::unwrap).filter_map(|entry| {
            let path = entry.path().strip_prefix(&root).unwrap().to_str()?.parse().ok()?;
            Some((path, std::fs::read_to_string(entry.path()).ok()?))
        });
        (name.to_owned(), texts.collect())
    };
    Templates::from(["meta", "runtime", "choice", "common"].map(of))
}

#[test]
fn no_mistake_is_silent() {
    let thorough = std::env::var_os("ROCKPACK_THOROUGH").is_some();
    let (full, small) = (Scene::new("kpack-full"), Scene::new("kpack-small"));
    let mut cases = Vec::new();
    for ((kind, choose), number) in KINDS.into_iter().zip(1..) {
        for seed in 0..SEEDS * if thorough { 2 } else { 1 } {
            let scene = if thorough || seed % FULL == 0 { &full } else { &small };
            let edits = choose(&scene.lines, &mut Noise(number * 10_000 + seed));
            cases.extend(edits.map(|edits| (kind, seed, scene, edits)));
        }
    }
    for (named, number) in named::NAMED.iter().zip(100..) {
        for seed in 0..NAMED_SEEDS {
            let edit = named.edit(&small.lines, &mut Noise(number * 10_000 + seed));
            cases.push((named.kind, seed, &small, vec![edit]));
        }
    }
    let kinds: BTreeSet<&str> = cases.iter().map(|(kind, ..)| *kind).collect();
    assert!(cases.len() >= 500 && kinds.len() >= 50, "{} of {}", cases.len(), kinds.len());
    let outcomes = cases.par_iter().map(|(kind, seed, scene, edits)| {
        let (outcome, text) = scene.outcome(edits);
        println!("{outcome:?}: {kind} {seed}: {text}{}", scene.describe(edits));
        let is_told = matches!(outcome, Outcome::Refused | Outcome::NotPlanned | Outcome::Warned);
        let is_small = std::ptr::eq(*scene, &raw const small);
        let is_obeyed = thorough || (is_small && seed % OBEYED == 0);
        let (count, obeyed) =
            if is_told && is_obeyed { scene.obeyed(edits) } else { (0, Vec::new()) };
        (*kind, *seed, outcome, obeyed, count)
    });
    let judged: Vec<_> = outcomes.collect();
    let proposals = || {
        judged.iter().flat_map(|(kind, seed, _, all, _)| {
            all.iter().map(move |(text, fault)| (kind, seed, text, fault))
        })
    };
    let mut wrong = 0;
    for (kind, seed, text, fault) in proposals() {
        if let Some(fault) = fault {
            wrong += 1;
            println!("wrong help of {kind} {seed}: {text}: {fault}");
        }
    }
    println!("{} proposals obeyed, {wrong} wrong", proposals().count());
    assert_eq!(wrong, 0, "help that is wrong when it is obeyed");
    let most = judged.iter().map(|(.., count)| *count).max().unwrap_or_default();
    println!("{most} problems at most");
    assert!(most <= MOST_PROBLEMS, "{most} problems of one mistake");
    let outcomes = judged.iter().map(|(kind, _, outcome, ..)| (*kind, *outcome));
    let outcomes: Vec<(&str, Outcome)> = outcomes.collect();
    let mut counts: BTreeMap<Outcome, usize> = BTreeMap::new();
    let mut of_kinds: BTreeMap<(&str, Outcome), usize> = BTreeMap::new();
    for (kind, outcome) in outcomes {
        *counts.entry(outcome).or_default() += 1;
        *of_kinds.entry((kind, outcome)).or_default() += 1;
    }
    for ((kind, outcome), count) in of_kinds {
        println!("{count:4} {kind}: {outcome:?}");
    }
    println!("{counts:?} of {}", cases.len());
    assert_eq!(counts.get(&Outcome::Silent), None);
    let shown = counts.get(&Outcome::Shown).copied().unwrap_or_default();
    assert!(shown * 100 <= cases.len() * MOST_SHOWN, "{shown} are shown by diff alone");
    let harmless = counts.get(&Outcome::Harmless).copied().unwrap_or_default();
    assert!(harmless * 2 < cases.len(), "{harmless} lose nothing: the generator makes no mistakes");
}
