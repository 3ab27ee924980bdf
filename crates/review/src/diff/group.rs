use std::borrow::Cow;
use std::cell::OnceCell;

use indexmap::IndexMap;

use super::Change;
use super::contents::{EntryContent, File, Package};
use super::difference::Difference;
use super::places::{FileChange, Universe, places};
use plan::Step;

pub(super) fn changes(
    old: Option<&Package<'_>>,
    new: Option<&Package<'_>>,
    found: IndexMap<Difference, Vec<FileChange>>,
) -> Vec<Change> {
    let universes = Universes::new(old, new);
    let mut changes: Vec<Change> = found
        .into_iter()
        .map(|(difference, files)| change(&universes, difference, files))
        .collect();
    changes.sort_by_key(|c| (rank(&c.difference), std::cmp::Reverse(c.files.len())));
    changes
}

fn change(
    universes: &Universes<'_, '_>,
    difference: Difference,
    mut files: Vec<FileChange>,
) -> Change {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let places = places(&files, universes.universe(&difference), most_places(&difference));
    Change { difference, places, files }
}

fn most_places(difference: &Difference) -> usize {
    match difference {
        Difference::Appeared { .. }
        | Difference::Vanished { .. }
        | Difference::Size
        | Difference::Content => 8,
        Difference::Rpath { .. }
        | Difference::Target { .. }
        | Difference::Alias { .. }
        | Difference::Machine { .. }
        | Difference::Executable { .. }
        | Difference::Stack { .. } => 1,
        Difference::Step { .. }
        | Difference::Source { .. }
        | Difference::Text
        | Difference::Absent { .. }
        | Difference::WasAbsent { .. }
        | Difference::AbsentOtherwise { .. } => 4,
    }
}

fn rank(difference: &Difference) -> usize {
    match difference {
        Difference::Vanished { .. } => 0,
        Difference::Appeared { .. } => 1,
        Difference::Step { .. } => 2,
        Difference::Source { .. } => 3,
        Difference::Rpath { .. } => 4,
        Difference::Target { .. } => 5,
        Difference::Alias { .. } => 6,
        Difference::Machine { .. } => 7,
        Difference::Executable { .. } => 8,
        Difference::Stack { .. } => 9,
        Difference::Size => 10,
        Difference::Text => 11,
        Difference::Content => 12,
        Difference::Absent { .. } => 13,
        Difference::AbsentOtherwise { .. } => 14,
        Difference::WasAbsent { .. } => 15,
    }
}

struct Universes<'p, 'a> {
    old: Option<&'p Package<'a>>,
    new: Option<&'p Package<'a>>,
    old_files: OnceCell<Universe<'a>>,
    new_files: OnceCell<Universe<'a>>,
    searching: OnceCell<Universe<'a>>,
    leading: OnceCell<Universe<'a>>,
    left_out: OnceCell<Universe<'a>>,
}

impl<'p, 'a> Universes<'p, 'a> {
    fn new(old: Option<&'p Package<'a>>, new: Option<&'p Package<'a>>) -> Self {
        Self {
            old,
            new,
            old_files: OnceCell::new(),
            new_files: OnceCell::new(),
            searching: OnceCell::new(),
            leading: OnceCell::new(),
            left_out: OnceCell::new(),
        }
    }

    fn universe(&self, difference: &Difference) -> &Universe<'a> {
        match difference {
            Difference::Vanished { .. } => {
                self.old_files.get_or_init(|| of_package(self.old, |_| true))
            }
            Difference::Rpath { .. } => {
                self.searching.get_or_init(|| of_package(self.new, searches))
            }
            Difference::Target { .. } | Difference::Alias { .. } | Difference::Machine { .. } => {
                self.leading.get_or_init(|| {
                    of_package(self.new, |f| matches!(f.kind(), "link" | "stub" | "alias"))
                })
            }
            Difference::Absent { .. }
            | Difference::AbsentOtherwise { .. }
            | Difference::WasAbsent { .. } => self.left_out.get_or_init(|| self.also_left_out()),
            Difference::Appeared { .. }
            | Difference::Step { .. }
            | Difference::Source { .. }
            | Difference::Executable { .. }
            | Difference::Stack { .. }
            | Difference::Size
            | Difference::Text
            | Difference::Content => self.new_files.get_or_init(|| of_package(self.new, |_| true)),
        }
    }

    fn also_left_out(&self) -> Universe<'a> {
        let absent =
            [self.old, self.new].into_iter().flatten().flat_map(|p| p.absent.into_iter().flatten());
        let files = [self.old, self.new].into_iter().flatten().flat_map(shown);
        let mut paths: Vec<Cow<'a, str>> =
            files.chain(absent.map(|a| Cow::Borrowed(a.path.as_str()))).collect();
        paths.sort_unstable();
        paths.dedup();
        Universe::new(paths.into_iter())
    }
}

fn searches(file: &File<'_>) -> bool {
    match file.content {
        EntryContent::Planned(Step::Relink { .. }) => true,
        EntryContent::Built(built) => built.search().is_some(),
        EntryContent::Planned(_) | EntryContent::Link(_) | EntryContent::Directory => false,
    }
}

pub(super) fn of_package<'a>(
    package: Option<&Package<'a>>,
    meant: impl Fn(&File<'a>) -> bool,
) -> Universe<'a> {
    let files = package
        .into_iter()
        .flat_map(|p| p.files.iter().filter(|f| !f.is_directory() && meant(f)).map(|f| p.shown(f)));
    Universe::new(files)
}

fn shown<'p, 'a>(package: &'p Package<'a>) -> impl Iterator<Item = Cow<'a, str>> + use<'p, 'a> {
    package.files.iter().filter(|f| !f.is_directory()).map(|f| package.shown(f))
}
