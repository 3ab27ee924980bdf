//! The devel archive: all files, as links if runtime packages ship them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::describe::EVERY;
use super::install_tree::{Item, Target, View};
use super::links::{Filled, Owners, clears_execstack, installed, item_member, item_step};
use super::paths::PathMap;
use super::place::{broken, named};
use super::resolved_dist::ResolvedDist;
use super::rpath;
use super::select::{Selected, Selection};
use crate::{Absent, Member, Step};
use base::names::RelPath;
use base::source::{Code, Problem, Problems};
use catalog::EntryKind;

mod order;

pub(super) struct Devel {
    pub members: Vec<Member>,
    pub absent: Vec<Absent>,
}

pub(super) fn archive(
    dist: &ResolvedDist<'_>,
    selection: &Selection<'_>,
    view: &View<'_, '_>,
    shipped: &Owners<'_, '_>,
    problems: &mut Problems,
) -> Devel {
    let directory = |(&path, selected): (&&RelPath, &Selected<'_>)| Member {
        path: path.clone(),
        step: Step::Directory,
        executable: true,
        size: 0,
        rule: selected.rule.shown(),
    };
    let mut members: Vec<Member> = selection.directories.iter().map(directory).collect();
    let elsewhere =
        Elsewhere { owners: shipped.owners(dist), aliases: aliases(dist, selection, shipped) };
    for (&path, selected) in &selection.files {
        members.extend(member(dist, path, selected, view, &elsewhere, problems));
    }
    // The last member of a path counts.
    let members = members.into_iter().map(|member| (member.path.clone(), member));
    let mut members: BTreeMap<RelPath, Member> = members.collect();
    renamed(dist, selection, shipped, &mut members);
    add_parents(&mut members);
    let members = members.into_values().map(|m| Member { path: installed(dist, &m.path), ..m });
    Devel { members: order::links_last(members.collect()), absent: selection.absent().collect() }
}

struct Elsewhere<'s, 'a> {
    owners: PathMap<&'s RelPath, &'s Filled<'a>>,
    aliases: HashMap<&'s RelPath, &'s RelPath>,
}

/// Omits missing libraries: their links would dangle.
fn aliases<'s>(
    dist: &'s ResolvedDist<'_>,
    selection: &Selection<'_>,
    shipped: &Owners<'s, '_>,
) -> HashMap<&'s RelPath, &'s RelPath> {
    let mut aliases = HashMap::new();
    for filled in shipped.relied_on(dist) {
        let is_present = |real: &RelPath| {
            selection.files.contains_key(real) || filled.runtime.placed.contains_key(real)
        };
        for (path, (alias, _)) in
            filled.runtime.aliases.iter().filter(|(_, (alias, _))| is_present(&alias.real))
        {
            aliases.entry(path).or_insert(&alias.real);
        }
    }
    aliases
}

fn member(
    dist: &ResolvedDist<'_>,
    path: &RelPath,
    selected: &Selected<'_>,
    view: &View<'_, '_>,
    elsewhere: &Elsewhere<'_, '_>,
    problems: &mut Problems,
) -> Option<Member> {
    let link = |target: String| Member {
        path: path.clone(),
        step: Step::Link { target },
        executable: false,
        size: 0,
        rule: selected.rule.shown(),
    };
    if let Some(real) = elsewhere.aliases.get(path) {
        return Some(link(path.relative_to_sibling(real)));
    }
    if let Some(owner) = elsewhere.owners.get(path) {
        return Some(link(into_package(dist, owner, path)));
    }
    // Broken ELF files are allowed: some are test data.
    if let Some(problem) = broken(path, selected).filter(|problem| problem.code() == Code::BrokenPe)
    {
        problems.push(problem);
        return None;
    }
    if let EntryKind::Symlink { target } = &selected.item.entry.kind {
        if matches!(view.follow(path, target), Target::Outside) {
            let message = format!(
                "the link `{path}` of artifact `{}` leads outside the installation: `{target}`",
                selected.item.artifact.id
            );
            problems.push(
                Problem::error(Code::LinkOutside, message)
                    .label(selected.rule, "taken here")
                    .of_fact(named(&selected.item))
                    .help("make the link relative and inside of the installation in the build"),
            );
            return None;
        }
        return Some(link(target.clone()));
    }
    Some(Member { rule: selected.rule.shown(), ..file(dist, path, &selected.item) })
}

/// Keeps the rpath of ELF files; a `DT_RUNPATH` becomes a `DT_RPATH`.
fn file(dist: &ResolvedDist<'_>, path: &RelPath, item: &Item<'_>) -> Member {
    let step = item_step(item, clears_execstack(dist, path), rpath::converted);
    item_member(path.clone(), item, step)
}

fn into_package(dist: &ResolvedDist<'_>, owner: &Filled<'_>, path: &RelPath) -> String {
    installed(dist, path).relative_to_sibling(&installed(&owner.dist, path))
}

/// Links libraries that a runtime package ships under a SONAME without entry.
fn renamed(
    dist: &ResolvedDist<'_>,
    selection: &Selection<'_>,
    shipped: &Owners<'_, '_>,
    members: &mut BTreeMap<RelPath, Member>,
) {
    for filled in shipped.relied_on(dist) {
        for (path, (alias, rule)) in &filled.runtime.aliases {
            if selection.files.contains_key(path)
                && !members.contains_key(&alias.real)
                && filled.runtime.placed.contains_key(&alias.real)
            {
                let step = Step::Link { target: into_package(dist, filled, &alias.real) };
                let path = alias.real.clone();
                members.insert(
                    path.clone(),
                    Member { path, step, executable: false, size: 0, rule: rule.shown() },
                );
            }
        }
    }
}

fn add_parents(members: &mut BTreeMap<RelPath, Member>) {
    let (mut directories, mut missing) = (HashSet::new(), Vec::new());
    for path in members.keys() {
        // Their parents are known.
        let new = std::iter::successors(path.parent(), RelPath::parent)
            .take_while(|directory| directories.insert(directory.clone()));
        missing.extend(new.filter(|directory| !members.contains_key(directory)));
    }
    for path in missing {
        let member = Member {
            path: path.clone(),
            step: Step::Directory,
            executable: true,
            size: 0,
            rule: EVERY.into(),
        };
        members.insert(path, member);
    }
}
