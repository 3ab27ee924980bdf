//! The wheel for each file of a wheel that is split.

use std::collections::{BTreeMap, BTreeSet};

use super::error::SplitError;
use super::fat::{self, Archive, Fat};
use super::input::{Input, refusal, refuse_any};
use super::scan::{self, Inside};
use base::names::{RelPath, TargetNames, without_features};
use base::source::{Code, Problem, Problems};
use base::text::counted;
use binary::device_code::{Code as DeviceCode, Reading};
use manifest::{DeviceBy, Families, SplitFiles};
use record::assignment::{Assignment, Home, Line, Misfit};

/// Host file with device code that stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsplitFile {
    /// Member.
    pub member: String,
    pub(super) index: usize,
    /// Targets of its code.
    pub targets: Vec<String>,
    /// Size in bytes.
    pub size: u64,
}

#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub host: Vec<usize>,
    /// Files of each target, with the globs that took them.
    pub targets: BTreeMap<String, Vec<(usize, Line)>>,
    pub whole: Vec<UnsplitFile>,
    pub fats: Vec<Fat>,
    pub archives: BTreeMap<String, Vec<Archive>>,
}

const FEW: usize = 3;

pub(super) fn sorted(
    input: &Input<'_>,
    families: &Families,
    threads: usize,
) -> Result<Sorted, SplitError> {
    let assignment = Assignment::new(input.rule, families);
    let (mut sorted, read) = by_path(input, &assignment)?;
    let reading = Reading::new(families.target_names().prefixes());
    let inside = scan::inside(&input.wheel, read, &reading, threads)?;
    refuse_any(compared(input, assignment.names(), &inside, &mut sorted))?;
    if input.rule.by.contains(&DeviceBy::Bundle) {
        refuse_any(unbundled(input, families, &mut sorted)?)?;
    }
    Ok(sorted)
}

/// Sorts by path; also returns the members to be scanned.
fn by_path(
    input: &Input<'_>,
    assignment: &Assignment<'_>,
) -> Result<(Sorted, Vec<usize>), SplitError> {
    let (mut sorted, mut read) = (Sorted::default(), Vec::new());
    let (mut taking, mut keeping) = (BTreeSet::new(), BTreeSet::new());
    let mut misfits: BTreeMap<Misfit, Vec<String>> = BTreeMap::new();
    let info = format!("{}/", input.wheel.dist_info());
    let is_info = |path: &str| path.starts_with(&info);
    let (infos, files): (Vec<_>, Vec<_>) =
        input.members.iter().partition(|(_, path)| is_info(path.as_str()));
    for (index, path) in files {
        match assignment.home(path) {
            Ok(Home::Host) => {
                sorted.host.push(*index);
                read.push(*index);
            }
            Ok(Home::Kept(line)) => {
                keeping.insert(line);
                sorted.host.push(*index);
            }
            Ok(Home::Target(target, line)) => {
                taking.insert(line);
                sorted.targets.entry(target).or_default().push((*index, line));
                read.push(*index);
            }
            Err((misfit, names)) => {
                misfits.entry(misfit).or_default().push(format!("`{path}` ({names})"));
            }
        }
    }
    sorted.host.extend(infos.into_iter().map(|(index, _)| *index));
    let mut problems = idle(&input.rule.files, &taking);
    problems.extend(idle(&input.rule.keeps, &keeping));
    for (misfit, files) in misfits {
        problems.extend(homeless(input, misfit, &files));
    }
    refuse_any(problems)?;
    Ok((sorted, read))
}

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
    let reason = "with device code that cannot be moved";
    let help = "name it in a `host` line of packages.kdl, with a reason";
    problems.extend(of_files(input, &stuck, reason, help));
    if !sorted.fats.is_empty() {
        problems.extend(brought(input));
    }
    sorted.archives = fat::archives(input, families, &sorted.fats);
    for target in sorted.archives.keys() {
        sorted.targets.entry(target.clone()).or_default();
    }
    let paths = sorted.archives.values().flatten().map(|archive| &archive.path);
    let present = paths.filter(|path| input.wheel.zip().find(path).is_some());
    let present: Vec<String> = present.map(|path| format!("`{path}`")).collect();
    if !present.is_empty() {
        let reason = format!(
            "it already has {}, the archive for the code of its libraries",
            listed(&present)
        );
        let help = "give the original wheel, or remove `bundle` from the `device-by` line";
        problems.push(refusal(&input.path, &reason, help));
    }
    Ok(problems)
}

/// A runtime in the wheel is loaded in place of the required one.
fn brought(input: &Input<'_>) -> Problems {
    let is_runtime = |path: &RelPath| input.rule.runtimes.iter().any(|it| it.has(path.file_name()));
    let paths = input.members.iter().map(|(_, path)| path).filter(|path| is_runtime(path));
    let paths: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
    let reason = "of a runtime, which is loaded instead of the required one";
    let help = "remove it from the wheel, or remove `bundle` from the `device-by` line";
    of_files(input, &paths, reason, help)
}

fn idle(lines: &[SplitFiles], used: &BTreeSet<Line>) -> Problems {
    let mut problems = Problems::new();
    for (line, files) in lines.iter().enumerate().filter(|(_, files)| files.optional.is_none()) {
        for (at, glob) in files.globs.iter().enumerate() {
            if !used.contains(&(line, at)) {
                let reason = format!("`{}` matches no file", glob.as_str());
                let problem = Problem::error(Code::MatchesNothing, reason)
                    .label(&glob.place, "no file of the wheel")
                    .help("correct the glob, remove it, or give a reason: optional=\"…\"");
                problems.push(problem);
            }
        }
    }
    problems
}

fn homeless(input: &Input<'_>, misfit: Misfit, files: &[String]) -> Problems {
    let (reason, help) = match misfit {
        Misfit::Unclaimed => (
            "with the name of a target, but not on a `files` line",
            "name it in a `files` line of packages.kdl, or in a `host` line with a reason",
        ),
        Misfit::Several => (
            "with the names of several targets",
            "name it in a `host` line of packages.kdl, or remove one of the names: a file can be \
             in one wheel only",
        ),
        Misfit::Family => (
            "with the name of a family, which has no wheel",
            "give its level or ISA in a `target-word` line of packages.kdl",
        ),
        Misfit::Unknown => (
            "with the name of an ISA that families.kdl does not declare",
            "declare the ISA in families.kdl, or name the file in a `host` line of packages.kdl",
        ),
    };
    of_files(input, files, reason, help)
}

fn of_files(input: &Input<'_>, files: &[String], reason: &str, help: &str) -> Problems {
    if files.is_empty() {
        return Problems::new();
    }
    let file = counted(files.len(), "file");
    refusal(&input.path, &format!("{file} {reason}: {}", listed(files)), help).into()
}

fn listed(files: &[String]) -> String {
    let (shown, more) = files.split_at(files.len().min(FEW));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    shown.join(", ") + &more
}

/// Compares code in files with their wheels; finds the files that stay whole.
fn compared(
    input: &Input<'_>,
    names: &TargetNames,
    inside: &BTreeMap<usize, Inside>,
    sorted: &mut Sorted,
) -> Problems {
    let entries = input.wheel.entries();
    let mut unclaimed = Vec::new();
    for index in &sorted.host {
        let Some(found) = inside.get(index) else { continue };
        let (member, size) = (entries[*index].name.clone(), entries[*index].size);
        let targets: Vec<String> = targets(&found.code, names).into_iter().collect();
        if targets.is_empty() {
            unclaimed.push(format!("`{member}` (unreadable)"));
        } else if found.hosted {
            sorted.whole.push(UnsplitFile { member, index: *index, targets, size });
        } else {
            unclaimed.push(format!("`{member}` ({})", targets.join(", ")));
        }
    }
    let mut problems = Problems::new();
    let reason = "with code for another target than in its path";
    let help = "build the wheel again, or correct the `target-word` lines of packages.kdl";
    problems.extend(of_files(input, &foreign(input, names, inside, sorted), reason, help));
    let reason = "with device code for an unknown target";
    let help = "write one target into its path, or name it in a `host` line of packages.kdl to \
        keep it in the host wheel";
    problems.extend(of_files(input, &unclaimed, reason, help));
    problems
}

fn foreign(
    input: &Input<'_>,
    names: &TargetNames,
    inside: &BTreeMap<usize, Inside>,
    sorted: &Sorted,
) -> Vec<String> {
    let files = sorted
        .targets
        .iter()
        .flat_map(|(target, files)| files.iter().map(move |(index, _)| (target, *index)));
    let foreign = files.filter_map(|(target, index)| {
        let targets = targets(&inside.get(&index)?.code, names);
        let misplaced = targets.iter().find(|name| !names.belongs(name, target))?;
        Some(format!("`{}` ({misplaced} in {target})", input.wheel.entries()[index].name))
    });
    foreign.collect()
}

fn targets(code: &DeviceCode, names: &TargetNames) -> BTreeSet<String> {
    let ids = code.ids.iter().map(|id| without_features(id).to_owned());
    let mach =
        |mach: &u32| names.of_mach(*mach).map_or_else(|| format!("{mach:#x}"), str::to_owned);
    ids.chain(code.machs.iter().map(mach)).collect()
}
