use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::install_tree::Item;
use super::paths::PathMap;
use super::place::{Alias, Placed, Runtime, shared_library};
use super::resolved_dist::ResolvedDist;
use super::rpath;
use crate::{Absent, Member, Step};
use base::names::{ModuleName, PackageName, RelPath};
use base::source::{Code, Place, Problem, Problems};
use binary::elf::ElfFacts;
use binary::elf::forward::forwarding_library;
use binary::elf::stub::{StubMachine, exec_stub};
use catalog::{EntryKind, FileType};

pub(super) struct Filled<'a> {
    pub dist: ResolvedDist<'a>,
    pub runtime: Runtime<'a>,
}

/// The first distribution in build order owns a path.
pub(super) struct Owners<'s, 'a> {
    filled: &'s [Filled<'a>],
    by_name: HashMap<(&'s str, Option<&'s str>), &'s Filled<'a>>,
}

pub(super) fn by_package<'f, 'a>(
    filled: &'f [Filled<'a>],
) -> HashMap<&'f PackageName, Vec<&'f Filled<'a>>> {
    let mut packages: HashMap<_, Vec<_>> = HashMap::new();
    for one in filled {
        packages.entry(&one.dist.package.name.value).or_default().push(one);
    }
    packages
}

impl<'s, 'a> Owners<'s, 'a> {
    pub fn new(filled: &'s [Filled<'a>]) -> Self {
        let mut by_name = HashMap::with_capacity(filled.len());
        for one in filled {
            by_name.entry((one.dist.name.as_str(), one.dist.variant.as_str())).or_insert(one);
        }
        Self { filled, by_name }
    }

    pub fn filled(&self, dist: &ResolvedDist<'_>) -> Option<&'s Filled<'a>> {
        self.by_name.get(&(dist.name.as_str(), dist.variant.as_str())).copied()
    }

    /// Searches distributions that are installed wherever `for_whom` is.
    pub fn owner(&self, path: &RelPath, for_whom: &ResolvedDist<'_>) -> Option<&'s Filled<'a>> {
        self.filled.iter().find(|f| {
            for_whom.relies_on(&f.dist)
                && !f.dist.is_overlay()
                && f.runtime.placed.contains_key(path)
        })
    }

    pub fn owners(&self, for_whom: &'s ResolvedDist<'_>) -> PathMap<&'s RelPath, &'s Filled<'a>> {
        let mut owners = PathMap::default();
        for filled in self.relied_on(for_whom) {
            for path in filled.runtime.placed.keys() {
                owners.entry(path).or_insert(filled);
            }
        }
        owners
    }

    pub fn relied_on(
        &self,
        for_whom: &'s ResolvedDist<'_>,
    ) -> impl Iterator<Item = &'s Filled<'a>> {
        self.filled.iter().filter(|f| for_whom.relies_on(&f.dist) && !f.dist.is_overlay())
    }
}

pub(super) fn members(
    filled: &Filled<'_>,
    shipped: &Owners<'_, '_>,
    directories: &[RelPath],
    problems: &mut Problems,
) -> (Vec<Member>, Vec<Absent>) {
    let (mut members, mut absent) = (Vec::new(), Vec::new());
    for (path, (placed, rule)) in &filled.runtime.placed {
        let made = match placed {
            Placed::File(item) => Ok(file(filled, path, item, directories)),
            Placed::Stub { target, machine } => stub(filled, shipped, path, target, *machine),
            Placed::Forward(alias) => forward(filled, shipped, path, alias),
        };
        match made {
            Ok(member) => members.push(Member { rule: rule.shown(), ..member }),
            Err(reason) if has_to_be(filled, path) => problems.push(
                Problem::error(
                    Code::MissingLibrary,
                    format!(
                        "alias `{path}` of {} has no \
                    library: {reason}",
                        filled.dist.name
                    ),
                )
                .label(rule, "requested here")
                .help(
                    "take the library in a runtime package, remove the line, or give a \
                        reason: optional=\"…\"",
                ),
            ),
            Err(reason) => absent.push(Absent { path: path.clone(), reason, rule: rule.shown() }),
        }
    }
    (members, absent)
}

/// A stub needs a shipped target.
pub(super) fn is_shipped(filled: &Filled<'_>, shipped: &Owners<'_, '_>, path: &RelPath) -> bool {
    match filled.runtime.placed.get(path) {
        Some((Placed::Stub { target, .. }, _)) => owner(filled, shipped, target).is_some(),
        Some(_) => true,
        None => false,
    }
}

fn has_to_be(filled: &Filled<'_>, path: &RelPath) -> bool {
    filled.dist.package.aliases.iter().any(|rule| *rule.path == *path && rule.optional.is_none())
}

pub(super) fn installed(dist: &ResolvedDist<'_>, path: &RelPath) -> RelPath {
    below(&dist.platform_dir, path)
}

pub(super) fn below(module: &ModuleName, path: &RelPath) -> RelPath {
    RelPath::from(module).join(path)
}

fn file(filled: &Filled<'_>, path: &RelPath, item: &Item<'_>, directories: &[RelPath]) -> Member {
    let clears = clears_execstack(&filled.dist, path);
    let path = installed(&filled.dist, path);
    let step = item_step(item, clears, |facts| rpath::new_rpath(facts, &path, directories));
    item_member(path, item, step)
}

/// Returns whether a line of the package clears the executable stack of the file at a path.
pub(super) fn clears_execstack(dist: &ResolvedDist<'_>, path: &RelPath) -> bool {
    dist.package.execstacks.matching(path).next().is_some()
}

/// `clears` removes a request for an executable stack.
pub(super) fn item_step(
    item: &Item<'_>,
    clears: bool,
    rpath: impl Fn(&ElfFacts) -> Option<String>,
) -> Step {
    let source = item.origin();
    let Some(facts) = item.entry.elf().filter(|facts| rpath::editable(facts)) else {
        return Step::Copy { source };
    };
    let clear_execstack = clears && facts.executable_stack.is_some();
    match rpath(facts) {
        Some(rpath) => Step::Relink { source, rpath, clear_execstack },
        None if clear_execstack => {
            let rpath = facts.rpath.clone().unwrap_or_default();
            Step::Relink { source, rpath, clear_execstack }
        }
        None => Step::Copy { source },
    }
}

/// The caller sets the rule.
pub(super) fn item_member(path: RelPath, item: &Item<'_>, step: Step) -> Member {
    Member {
        path,
        step,
        executable: item.entry.is_executable(),
        size: item.entry.size(),
        rule: Arc::default(),
    }
}

fn stub(
    filled: &Filled<'_>,
    shipped: &Owners<'_, '_>,
    path: &RelPath,
    target: &RelPath,
    machine: StubMachine,
) -> Result<Member, String> {
    let owner = owner(filled, shipped, target)
        .ok_or_else(|| format!("its target `{target}` is in no runtime package"))?;
    let (from, destination) = (installed(&filled.dist, path), installed(owner, target));
    let target = from.relative_to_sibling(&destination);
    let size = exec_stub(machine, &target).map_err(|e| e.to_string())?.len() as u64;
    Ok(Member {
        path: from,
        step: Step::Stub { target, machine },
        executable: true,
        size,
        rule: Arc::default(),
    })
}

/// Scripts that exec stubs start: by the stub's path, relative to its directory.
pub(super) fn started_scripts(
    filled: &Filled<'_>,
    shipped: &Owners<'_, '_>,
) -> BTreeMap<RelPath, String> {
    let script = |(path, (placed, _)): (&RelPath, &(Placed<'_>, &Place))| {
        let Placed::Stub { target, .. } = placed else { return None };
        let owner = if filled.runtime.placed.contains_key(target) {
            filled
        } else {
            shipped.owner(target, &filled.dist)?
        };
        let (Placed::File(item), _) = owner.runtime.placed.get(target)? else { return None };
        let EntryKind::File { content: FileType::Script, .. } = item.entry.kind else {
            return None;
        };
        let (from, destination) = (installed(&filled.dist, path), installed(&owner.dist, target));
        Some((path.clone(), from.relative_to_sibling(&destination)))
    };
    filled.runtime.placed.iter().filter_map(script).collect()
}

fn owner<'s, 'a>(
    filled: &'s Filled<'a>,
    shipped: &Owners<'s, 'a>,
    path: &RelPath,
) -> Option<&'s ResolvedDist<'a>> {
    let is_own = matches!(filled.runtime.placed.get(path), Some((Placed::File(_), _)));
    if is_own { Some(&filled.dist) } else { shipped.owner(path, &filled.dist).map(|f| &f.dist) }
}

fn forward(
    filled: &Filled<'_>,
    shipped: &Owners<'_, '_>,
    path: &RelPath,
    alias: &Alias<'_>,
) -> Result<Member, String> {
    let owner = owner(filled, shipped, &alias.real)
        .ok_or_else(|| format!("the library `{}` is in no runtime package", alias.real))?;
    let (from, destination) = (installed(&filled.dist, path), installed(owner, &alias.real));
    let way = from.relative_to_sibling(&destination);
    let rpath = way
        .rsplit_once('/')
        .map_or_else(|| "$ORIGIN".to_owned(), |(dir, _)| format!("$ORIGIN/{dir}"));
    let facts = shared_library(&alias.library);
    let machine = facts
        .and_then(|f| StubMachine::of(f.machine))
        .ok_or("its library is for another machine")?;
    let (soname, needed) = (path.file_name().to_owned(), alias.real.file_name().to_owned());
    let size = forwarding_library(machine, &soname, &needed, &rpath)
        .map_err(|e| e.to_string())?
        .len() as u64;
    let step = Step::Alias { soname, needed, rpath, machine };
    Ok(Member { path: from, step, executable: false, size, rule: Arc::default() })
}

#[cfg(test)]
mod tests;
