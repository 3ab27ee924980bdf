//! Places selected entries in runtime wheels, which cannot hold links.

use std::collections::BTreeMap;

use super::install_tree::{Item, Target, View};
use super::select::{Selected, Selection};
use crate::Absent;
use base::names::RelPath;
use base::source::{Code, Place, Problem, Problems};
use binary::elf::stub::StubMachine;
use binary::elf::{ElfFacts, ElfKind};
use catalog::{EntryKind, FileType};

#[derive(Debug, Clone)]
pub(super) enum Placed<'a> {
    File(Item<'a>),
    Stub { target: RelPath, machine: StubMachine },
    Forward(Alias<'a>),
}

#[derive(Debug, Clone)]
pub(super) struct Alias<'a> {
    pub library: Item<'a>,
    pub real: RelPath,
}

#[derive(Debug, Default)]
pub(super) struct Runtime<'a> {
    pub placed: BTreeMap<RelPath, (Placed<'a>, &'a Place)>,
    /// Links in devel; in the wheel, only for alias rules.
    pub aliases: BTreeMap<RelPath, (Alias<'a>, &'a Place)>,
    pub absent: Vec<Absent>,
}

/// `machine` is for stubs that start scripts.
pub(super) fn runtime<'a>(
    selection: &Selection<'a>,
    view: &View<'_, 'a>,
    machine: StubMachine,
    problems: &mut Problems,
) -> Runtime<'a> {
    let (placed, renamed) = (Vec::with_capacity(selection.files.len()), BTreeMap::new());
    let out = Runtime::default();
    let mut placing = Placing { selection, view, machine, out, placed, renamed, problems };
    for (&path, selected) in &selection.files {
        match &selected.item.entry.kind {
            EntryKind::File { .. } => placing.file(path, selected),
            EntryKind::Symlink { target } => placing.link(path, target, selected),
            EntryKind::Directory => {}
        }
    }
    placing.empty_directories();
    placing.out.absent.extend(selection.absent());
    placing.out.placed = placing.placed.into_iter().collect();
    placing.out
}

pub(super) fn shared_library<'a>(item: &Item<'a>) -> Option<&'a ElfFacts> {
    item.entry.elf().filter(|facts| facts.kind.is_library())
}

struct Placing<'p, 'a> {
    selection: &'p Selection<'a>,
    view: &'p View<'p, 'a>,
    machine: StubMachine,
    out: Runtime<'a>,
    /// The last one at a path counts.
    placed: Vec<(RelPath, (Placed<'a>, &'a Place))>,
    /// Libraries under a SONAME that no selected entry has.
    renamed: BTreeMap<RelPath, Item<'a>>,
    problems: &'p mut Problems,
}

impl<'a> Placing<'_, 'a> {
    fn file(&mut self, path: &RelPath, selected: &Selected<'a>) {
        if let Some(problem) = broken(path, selected) {
            return self.problems.push(problem);
        }
        let soname = shared_library(&selected.item).and_then(|facts| facts.soname.as_deref());
        match soname.filter(|s| *s != path.file_name()) {
            None => self.insert(path.clone(), Placed::File(selected.item), selected.rule),
            Some(soname) => self.misnamed(path, soname, selected),
        }
    }

    /// Places the library under its SONAME; the file name is an alias.
    fn misnamed(&mut self, path: &RelPath, soname: &str, selected: &Selected<'a>) {
        let Some(real) = self.path_of_soname(path, soname, selected) else { return };
        if !self.has_soname(&real, soname) {
            if let Some(problem) = self.not_free(&real, selected) {
                return self.problems.push(problem);
            }
            self.renamed.insert(real.clone(), selected.item);
            self.insert(real.clone(), Placed::File(selected.item), selected.rule);
        }
        self.alias(path, Alias { library: selected.item, real }, selected.rule);
    }

    fn not_free(&self, real: &RelPath, selected: &Selected<'a>) -> Option<Problem> {
        if let Some((exclude, _)) = self.selection.excluded.get(real) {
            return Some(soname_excluded(real, selected, exclude));
        }
        let Some(other) = self.selection.files.get(real) else {
            return self.renamed.get(real).map(|other| two_libraries(real, other, selected));
        };
        let dropped = match &other.item.entry.kind {
            EntryKind::Symlink { target } => {
                !matches!(self.view.follow(real, target), Target::File(_))
            }
            EntryKind::File { .. } | EntryKind::Directory => false,
        };
        (!dropped).then(|| soname_taken(real, selected))
    }

    fn path_of_soname(
        &mut self,
        path: &RelPath,
        soname: &str,
        selected: &Selected<'a>,
    ) -> Option<RelPath> {
        let real = path.with_file_name(soname);
        if let Err(e) = &real {
            self.problems.push(
                Problem::error(
                    Code::SonameClash,
                    format!("the SONAME of `{path}` is not a file name: {e}"),
                )
                .label(selected.rule, "taken here"),
            );
        }
        real.ok()
    }

    fn has_soname(&self, path: &RelPath, soname: &str) -> bool {
        let Some(selected) = self.selection.files.get(path) else { return false };
        let item = match &selected.item.entry.kind {
            EntryKind::Symlink { target } => match self.view.follow(path, target) {
                Target::File(item) => item,
                Target::Directory | Target::Missing(_) | Target::Outside | Target::Loop => {
                    return false;
                }
            },
            EntryKind::File { .. } | EntryKind::Directory => selected.item,
        };
        shared_library(&item).is_some_and(|facts| facts.soname.as_deref() == Some(soname))
    }

    fn link(&mut self, path: &RelPath, text: &str, selected: &Selected<'a>) {
        match self.view.follow(path, text) {
            Target::File(item) => self.link_to_file(path, item, selected),
            Target::Directory => self.drop(
                path,
                "a link to a directory; wheels cannot hold links".to_owned(),
                selected.rule,
            ),
            Target::Missing(gone) => {
                self.drop(path, format!("dangles: no artifact has `{gone}`"), selected.rule);
            }
            Target::Loop => self.drop(path, "is circular".to_owned(), selected.rule),
            Target::Outside => self.problems.push(leads_outside(path, text, selected)),
        }
    }

    fn link_to_file(&mut self, path: &RelPath, item: Item<'a>, selected: &Selected<'a>) {
        if let Some(facts) = shared_library(&item) {
            self.link_to_library(path, item, facts, selected);
        } else if let Some(machine) = program(&item, self.machine) {
            self.insert(
                path.clone(),
                Placed::Stub { target: item.entry.path.clone(), machine },
                selected.rule,
            );
        } else {
            self.insert(path.clone(), Placed::File(item), selected.rule);
        }
    }

    fn link_to_library(
        &mut self,
        path: &RelPath,
        item: Item<'a>,
        facts: &ElfFacts,
        selected: &Selected<'a>,
    ) {
        let Some(soname) = facts.soname.as_deref() else {
            let real = item.entry.path.clone();
            return self.alias(path, Alias { library: item, real }, selected.rule);
        };
        if soname == path.file_name() {
            return self.insert(path.clone(), Placed::File(item), selected.rule);
        }
        let Some(here) = self.path_of_soname(path, soname, selected) else { return };
        let real = if self.selection.files.contains_key(&here) {
            Some(here)
        } else {
            self.path_of_soname(&item.entry.path, soname, selected)
        };
        if let Some(real) = real {
            self.alias(path, Alias { library: item, real }, selected.rule);
        }
    }

    fn alias(&mut self, path: &RelPath, alias: Alias<'a>, rule: &'a Place) {
        self.out.aliases.insert(path.clone(), (alias, rule));
    }

    fn insert(&mut self, path: RelPath, placed: Placed<'a>, rule: &'a Place) {
        self.placed.push((path, (placed, rule)));
    }

    fn drop(&mut self, path: &RelPath, reason: String, rule: &Place) {
        self.out.absent.push(Absent { path: path.clone(), reason, rule: rule.shown() });
    }

    fn empty_directories(&mut self) {
        for (&path, selected) in &self.selection.directories {
            if self.view.is_empty_directory(path) {
                self.drop(
                    path,
                    "an empty directory; wheels hold only files".to_owned(),
                    selected.rule,
                );
            }
        }
    }
}

fn program(item: &Item<'_>, build: StubMachine) -> Option<StubMachine> {
    match &item.entry.kind {
        EntryKind::File { content: FileType::Elf(facts), .. } => {
            let runs = matches!(
                facts.kind,
                ElfKind::Executable | ElfKind::StaticExecutable | ElfKind::StaticPie
            );
            StubMachine::of(facts.machine).filter(|_| runs)
        }
        EntryKind::File { content: FileType::Script, executable: true, .. } => Some(build),
        EntryKind::File { .. } | EntryKind::Directory | EntryKind::Symlink { .. } => None,
    }
}

pub(super) fn broken(path: &RelPath, selected: &Selected<'_>) -> Option<Problem> {
    let EntryKind::File { content, .. } = &selected.item.entry.kind else { return None };
    let (format, code, reason) = match content {
        FileType::BrokenElf(reason) => ("an ELF file", Code::BrokenElf, reason),
        FileType::BrokenPe(reason) => ("a PE file", Code::BrokenPe, reason),
        FileType::BrokenImportLibrary(reason) => ("an import library", Code::BrokenPe, reason),
        _ => return None,
    };
    let message = format!(
        "`{path}` of artifact `{}` has the signature of {format}, but is malformed: {reason}",
        selected.item.artifact.id
    );
    Some(
        Problem::error(code, message)
            .label(selected.rule, "taken here")
            .of_fact(named(&selected.item))
            .help("exclude the file, or build it again: it may be truncated"),
    )
}

fn leads_outside(path: &RelPath, text: &str, selected: &Selected<'_>) -> Problem {
    Problem::error(
        Code::LinkOutside,
        format!(
            "the link `{path}` of artifact `{}` leads outside the installation: `{text}`",
            selected.item.artifact.id
        ),
    )
    .label(selected.rule, "taken here")
    .of_fact(named(&selected.item))
    .help("exclude the link, or make it relative and inside of the installation in the build")
}

pub(super) fn named(item: &Item<'_>) -> String {
    format!("`{}` of artifact `{}`", item.entry.path, item.artifact.id)
}

fn two_libraries(real: &RelPath, one: &Item<'_>, other: &Selected<'_>) -> Problem {
    Problem::error(
        Code::SonameClash,
        format!(
            "{} and {} both have the SONAME `{real}`, but no entry has this name",
            named(one),
            named(&other.item)
        ),
    )
    .label(other.rule, "both taken here")
    .of_fact(format!("{} {}", named(one), named(&other.item)))
    .help("exclude one of them, or add a link with the SONAME to one of them in the build")
}

fn soname_taken(real: &RelPath, selected: &Selected<'_>) -> Problem {
    Problem::error(
        Code::SonameClash,
        format!("{} has the SONAME `{real}`, but `{real}` is another file", named(&selected.item)),
    )
    .label(selected.rule, "both taken here")
    .of_fact(named(&selected.item))
    .help("exclude one of them, or correct the SONAME or the file names in the build")
}

fn soname_excluded(real: &RelPath, selected: &Selected<'_>, exclude: &Place) -> Problem {
    Problem::error(
        Code::SonameExcluded,
        format!("{} has the SONAME `{real}`, but `{real}` is excluded", named(&selected.item)),
    )
    .label(selected.rule, "takes the library")
    .label(exclude, "excludes its SONAME")
    .of_fact(named(&selected.item))
    .help("exclude all names of the library, or none")
}

#[cfg(test)]
mod tests;
