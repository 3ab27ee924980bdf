//! The files of a wheel, each with the wheel that it goes into.

use std::collections::{BTreeMap, BTreeSet};

use super::error::SplitError;
use super::fat::{self, Archive, Fat};
use super::input::{Input, none, refused};
use super::scan::{self, Inside};
use base::names::{TargetNames, without_features};
use base::source::{Code, Problem, Problems};
use base::text::counted;
use binary::device_code::{Code as DeviceCode, Reading};
use build::assignment::{Assignment, Home, Line, Misfit};
use manifest::{DeviceBy, Families, SplitFiles};

/// A file of the host that has device code inside and stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The member.
    pub member: String,
    /// Its place in the wheel.
    pub(super) index: usize,
    /// The targets that it has code for.
    pub targets: Vec<String>,
    /// Its size in bytes.
    pub size: u64,
}

/// Where each member goes.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub host: Vec<usize>,
    /// The files of each target, with the globs that took them.
    pub targets: BTreeMap<String, Vec<(usize, Line)>>,
    pub whole: Vec<Whole>,
    /// Files of the host whose code goes into archives.
    pub fats: Vec<Fat>,
    /// These archives, by target.
    pub archives: BTreeMap<String, Vec<Archive>>,
}

/// So many files are named of those with the same fault.
const FEW: usize = 3;

/// Sorts the members by their paths, and looks into those that can have code.
pub(super) fn sorted(
    input: &Input<'_>,
    families: &Families,
    threads: usize,
) -> Result<Sorted, SplitError> {
    let assignment = Assignment::new(input.rule, families);
    let (mut sorted, mut kept) = (Sorted::default(), BTreeSet::new());
    let mut misfits: BTreeMap<Misfit, Vec<String>> = BTreeMap::new();
    let mut used = (BTreeSet::new(), BTreeSet::new());
    let info = format!("{}/", input.wheel.dist_info());
    let mut read = Vec::new();
    for (index, path) in &input.members {
        if path.as_str().starts_with(&info) {
            sorted.host.push(*index);
            continue;
        }
        match assignment.home(path) {
            Ok(Home::Host) => sorted.host.push(*index),
            Ok(Home::Kept(line)) => {
                used.1.insert(line);
                kept.insert(*index);
                sorted.host.push(*index);
            }
            Ok(Home::Target(target, line)) => {
                used.0.insert(line);
                sorted.targets.entry(target).or_default().push((*index, line));
            }
            Err((misfit, names)) => {
                misfits.entry(misfit).or_default().push(format!("`{path}` ({names})"));
                continue;
            }
        }
        read.push(*index);
    }
    let mut problems = idle(&input.rule.files, &used.0);
    problems.extend(idle(&input.rule.keeps, &used.1));
    for (misfit, files) in misfits {
        problems.push(told(input, misfit, &files));
    }
    none(problems)?;
    let reading = Reading::new(families.target_names().prefixes());
    read.retain(|index| !kept.contains(index));
    let inside = scan::inside(&input.wheel, read, &reading, threads)?;
    none(compared(input, assignment.names(), &inside, &mut sorted))?;
    if input.rule.by.contains(&DeviceBy::Bundle) {
        none(unbundled(input, families, &mut sorted)?)?;
    }
    Ok(sorted)
}

/// Takes the code out of programs and libraries.
fn unbundled(
    input: &Input<'_>,
    families: &Families,
    sorted: &mut Sorted,
) -> Result<Problems, SplitError> {
    let (mut problems, mut stuck) = (Problems::new(), Vec::new());
    for whole in std::mem::take(&mut sorted.whole) {
        match Fat::read(input, families, whole.index, &whole.member.parse()?) {
            Ok(fat) => sorted.fats.push(fat),
            Err(why) if why.is_about_the_file() => {
                stuck.push(format!("`{}` ({why})", whole.member));
            }
            Err(why) => return Err(why.into()),
        }
    }
    if !stuck.is_empty() {
        let file = counted(stuck.len(), "file");
        let what = format!("{file} with device code that cannot be taken out: {}", listed(&stuck));
        let help = "name it in a `host` line of packages.kdl, with the reason why it stays whole";
        problems.push(refused(&input.path, &what, help));
    }
    sorted.archives = fat::archives(input, families, &sorted.fats);
    for target in sorted.archives.keys() {
        sorted.targets.entry(target.clone()).or_default();
    }
    let paths = sorted.archives.values().flatten().map(|archive| &archive.path);
    let there: Vec<String> = paths
        .filter(|path| input.wheel.zip().find(path).is_some())
        .map(|path| format!("`{path}`"))
        .collect();
    if !there.is_empty() {
        let what = format!("it has {} already, where code of its libraries goes", listed(&there));
        let help = "give the wheel as it was built, or take `bundle` out of the `device-by` line";
        problems.push(refused(&input.path, &what, help));
    }
    Ok(problems)
}

/// Globs that match nothing, and were to match something.
fn idle(lines: &[SplitFiles], used: &BTreeSet<Line>) -> Problems {
    let mut problems = Problems::new();
    for (line, files) in lines.iter().enumerate().filter(|(_, files)| files.optional.is_none()) {
        for (at, glob) in files.globs.iter().enumerate() {
            if !used.contains(&(line, at)) {
                let what = format!("`{}` matches no file that it is meant for", glob.as_str());
                let problem = Problem::error(Code::MatchesNothing, what)
                    .label(&glob.place, "no file of the wheel")
                    .help("correct the glob, take it away, or say with optional=\"…\" why there may be none");
                problems.push(problem);
            }
        }
    }
    problems
}

/// What is wrong with files that have no home.
fn told(input: &Input<'_>, misfit: Misfit, files: &[String]) -> Problem {
    let (what, help) = match misfit {
        Misfit::Unclaimed => (
            "named by a target, and no `files` line takes it",
            "name it in a `files` line of packages.kdl, or in a `host` line with the reason why it stays in the host wheel",
        ),
        Misfit::Several => (
            "named by several targets, and can go into one wheel only",
            "name it in a `host` line of packages.kdl, or take one of the names away",
        ),
        Misfit::Family => (
            "named by a family, of which no wheel is made",
            "say with a `target-word` line of packages.kdl which level or ISA is meant",
        ),
        Misfit::Unknown => (
            "named by an ISA that families.kdl does not have",
            "declare the ISA in families.kdl, or name the file in a `host` line of packages.kdl",
        ),
    };
    let named = listed(files);
    refused(&input.path, &format!("{} {what}: {named}", counted(files.len(), "file")), help)
}

fn listed(files: &[String]) -> String {
    let (shown, more) = files.split_at(files.len().min(FEW));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    shown.join(", ") + &more
}

/// Compares what is in files with where they go.
fn compared(
    input: &Input<'_>,
    names: &TargetNames,
    inside: &BTreeMap<usize, Inside>,
    sorted: &mut Sorted,
) -> Problems {
    let entries = input.wheel.entries();
    let (mut foreign, mut unclaimed) = (Vec::new(), Vec::new());
    for (target, files) in &sorted.targets {
        for (index, _) in files {
            let Some(found) = inside.get(index) else { continue };
            let all = targets(&found.code, names);
            let other: Vec<&String> =
                all.iter().filter(|name| !names.belongs(name, target)).collect();
            if let Some(other) = other.first() {
                foreign.push(format!("`{}` ({other} in {target})", entries[*index].name));
            }
        }
    }
    for index in &sorted.host {
        let Some(found) = inside.get(index) else { continue };
        let (member, all) = (entries[*index].name.clone(), targets(&found.code, names));
        if found.hosted && !all.is_empty() {
            let size = entries[*index].size;
            let targets = all.into_iter().collect();
            sorted.whole.push(Whole { member, index: *index, targets, size });
        } else {
            let told: Vec<String> = all.into_iter().collect();
            let told = if told.is_empty() { "unreadable".to_owned() } else { told.join(", ") };
            unclaimed.push(format!("`{member}` ({told})"));
        }
    }
    let mut problems = Problems::new();
    let file = |files: &[String]| counted(files.len(), "file");
    if !foreign.is_empty() {
        let what = format!(
            "{} with code for another target than its path names: {}",
            file(&foreign),
            listed(&foreign)
        );
        let help = "build the wheel again, or correct the `target-word` lines of packages.kdl";
        problems.push(refused(&input.path, &what, help));
    }
    if !unclaimed.is_empty() {
        let what = format!(
            "{} with device code that no line tells the target of: {}",
            file(&unclaimed),
            listed(&unclaimed)
        );
        let help = "the path of such a file has to name one target; name it in a `host` line of packages.kdl if it stays in the host wheel";
        problems.push(refused(&input.path, &what, help));
    }
    problems
}

/// The targets of code, without their features.
fn targets(code: &DeviceCode, names: &TargetNames) -> BTreeSet<String> {
    let ids = code.ids.iter().map(|id| without_features(id).to_owned());
    let mach =
        |mach: &u32| names.of_mach(*mach).map_or_else(|| format!("{mach:#x}"), str::to_owned);
    ids.chain(code.machs.iter().map(mach)).collect()
}
