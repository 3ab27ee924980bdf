use std::borrow::Cow;
use std::cell::OnceCell;

use indexmap::IndexMap;

use super::Change;
use super::contents::{EntryContent, File, Package};
use super::places::{FileChange, Universe, places};
use super::what::What;
use plan::Step;

pub(super) fn changes(
    old: Option<&Package<'_>>,
    new: Option<&Package<'_>>,
    found: IndexMap<What, Vec<FileChange>>,
) -> Vec<Change> {
    let universes = Universes::new(old, new);
    let mut changes: Vec<Change> =
        found.into_iter().map(|(what, files)| change(&universes, what, files)).collect();
    changes.sort_by_key(|c| (rank(&c.what), std::cmp::Reverse(c.files.len())));
    changes
}

fn change(universes: &Universes<'_, '_>, what: What, mut files: Vec<FileChange>) -> Change {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let places = places(&files, universes.universe(&what), most_places(&what));
    Change { what, places, files }
}

fn most_places(what: &What) -> usize {
    match what {
        What::Appeared { .. } | What::Vanished { .. } | What::Size | What::Content => 8,
        What::Rpath { .. }
        | What::Target { .. }
        | What::Alias { .. }
        | What::Machine { .. }
        | What::Executable { .. }
        | What::Stack { .. } => 1,
        What::Step { .. }
        | What::Source { .. }
        | What::Text
        | What::Absent { .. }
        | What::WasAbsent { .. }
        | What::AbsentOtherwise { .. } => 4,
    }
}

fn rank(what: &What) -> usize {
    match what {
        What::Vanished { .. } => 0,
        What::Appeared { .. } => 1,
        What::Step { .. } => 2,
        What::Source { .. } => 3,
        What::Rpath { .. } => 4,
        What::Target { .. } => 5,
        What::Alias { .. } => 6,
        What::Machine { .. } => 7,
        What::Executable { .. } => 8,
        What::Stack { .. } => 9,
        What::Size => 10,
        What::Text => 11,
        What::Content => 12,
        What::Absent { .. } => 13,
        What::AbsentOtherwise { .. } => 14,
        What::WasAbsent { .. } => 15,
    }
}

struct Universes<'p, 'a> {
    old: Option<&'p Package<'a>>,
    new: Option<&'p Package<'a>>,
    gone: OnceCell<Universe<'a>>,
    there: OnceCell<Universe<'a>>,
    searching: OnceCell<Universe<'a>>,
    leading: OnceCell<Universe<'a>>,
    left_out: OnceCell<Universe<'a>>,
}

impl<'p, 'a> Universes<'p, 'a> {
    fn new(old: Option<&'p Package<'a>>, new: Option<&'p Package<'a>>) -> Self {
        let (gone, there, searching, leading, left_out) = Default::default();
        Self { old, new, gone, there, searching, leading, left_out }
    }

    fn universe(&self, what: &What) -> &Universe<'a> {
        match what {
            What::Vanished { .. } => self.gone.get_or_init(|| of_package(self.old, |_| true)),
            What::Rpath { .. } => self.searching.get_or_init(|| of_package(self.new, searches)),
            What::Target { .. } | What::Alias { .. } | What::Machine { .. } => {
                self.leading.get_or_init(|| {
                    of_package(self.new, |f| matches!(f.kind(), "link" | "stub" | "alias"))
                })
            }
            What::Absent { .. } | What::AbsentOtherwise { .. } | What::WasAbsent { .. } => {
                self.left_out.get_or_init(|| self.also_left_out())
            }
            What::Appeared { .. }
            | What::Step { .. }
            | What::Source { .. }
            | What::Executable { .. }
            | What::Stack { .. }
            | What::Size
            | What::Text
            | What::Content => self.there.get_or_init(|| of_package(self.new, |_| true)),
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
