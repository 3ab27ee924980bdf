use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use super::contents::{Area, Contents, EntryContent, File, Package};
use catalog::SourcePath;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct At {
    pub package: usize,
    pub file: usize,
}

/// Files without a counterpart under the same path of the paired package.
#[derive(Debug, Default)]
pub(super) struct Unpaired {
    pub removed: Vec<At>,
    pub added: Vec<At>,
    /// Links that became files. The file can have moved here from another package, so it counts as
    /// a changed step only if no move explains it.
    pub filled: Vec<Move>,
    /// Files that became links, likewise: the file can have moved to another package.
    pub emptied: Vec<Move>,
}

/// Removed and added directories with removed or added files, which list them already.
#[derive(Debug, Default)]
pub(super) struct ImpliedDirectories {
    pub removed: HashSet<At>,
    pub added: HashSet<At>,
}

pub(super) type Move = (At, At);

impl Unpaired {
    /// Most certain first: equal source and path, source, path, bytes.
    pub fn moves(&mut self, old: &Contents<'_>, new: &Contents<'_>) -> Vec<Move> {
        let old_file = |at: &At| PlacedFile {
            package: &old.packages[at.package],
            file: &old.packages[at.package].files[at.file],
        };
        let new_file = |at: &At| PlacedFile {
            package: &new.packages[at.package],
            file: &new.packages[at.package].files[at.file],
        };
        let mut moves = Vec::new();
        moves.extend(take_pairs(
            &mut self.removed,
            &mut self.added,
            |a| old_file(a).source_and_path(),
            |b| new_file(b).source_and_path(),
            true,
        ));
        moves.extend(take_pairs(
            &mut self.removed,
            &mut self.added,
            |a| old_file(a).source(),
            |b| new_file(b).source(),
            false,
        ));
        moves.extend(take_pairs(
            &mut self.removed,
            &mut self.added,
            |a| old_file(a).path(),
            |b| new_file(b).path(),
            false,
        ));
        moves.extend(take_pairs(
            &mut self.removed,
            &mut self.added,
            |a| old_file(a).bytes(),
            |b| new_file(b).bytes(),
            false,
        ));
        let (mut filled, mut emptied) = (
            self.filled.iter().map(|(_, b)| *b).collect(),
            self.emptied.iter().map(|(a, _)| *a).collect(),
        );
        moves.extend(take_pairs(
            &mut self.removed,
            &mut filled,
            |a| old_file(a).source_and_path(),
            |b| new_file(b).source_and_path(),
            false,
        ));
        moves.extend(take_pairs(
            &mut emptied,
            &mut self.added,
            |a| old_file(a).source_and_path(),
            |b| new_file(b).source_and_path(),
            false,
        ));
        let (filled, emptied): (HashSet<At>, HashSet<At>) =
            (filled.into_iter().collect(), emptied.into_iter().collect());
        self.filled.retain(|(_, b)| filled.contains(b));
        self.emptied.retain(|(a, _)| emptied.contains(a));
        moves
    }

    pub fn implied_directories(
        &self,
        old: &Contents<'_>,
        new: &Contents<'_>,
        moves: &[Move],
    ) -> ImpliedDirectories {
        ImpliedDirectories {
            removed: implied_directories(old, &self.removed, moves.iter().map(|(a, _)| *a)),
            added: implied_directories(new, &self.added, moves.iter().map(|(_, b)| *b)),
        }
    }
}

fn implied_directories(
    side: &Contents<'_>,
    unpaired: &[At],
    moved: impl Iterator<Item = At>,
) -> HashSet<At> {
    let file = |at: &At| &side.packages[at.package].files[at.file];
    let place = |at: &At| (at.package, file(at).area, file(at).path);
    let directories: Vec<At> =
        unpaired.iter().copied().filter(|at| file(at).is_directory()).collect();
    if directories.is_empty() {
        return HashSet::new();
    }
    let mut files: Vec<_> = unpaired
        .iter()
        .copied()
        .chain(moved)
        .filter(|at| !file(at).is_directory())
        .map(|at| place(&at))
        .collect();
    files.sort_unstable();
    let has_files = |at: &At| {
        let (package, area, path) = place(at);
        let below = format!("{path}/");
        let first = files.partition_point(|f| *f < (package, area, below.as_str()));
        files
            .get(first)
            .is_some_and(|(p, a, file)| *p == package && *a == area && file.starts_with(&below))
    };
    directories.into_iter().filter(has_files).collect()
}

/// Removes pairs of equal keys from both lists, in order. With `repeats`, the last old place of a key
/// is paired with all further new ones, such as each family's package.
fn take_pairs<K: Hash + Eq>(
    removed: &mut Vec<At>,
    added: &mut Vec<At>,
    old: impl Fn(&At) -> Option<K>,
    new: impl Fn(&At) -> Option<K>,
    repeats: bool,
) -> Vec<Move> {
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let mut places: HashMap<K, VecDeque<usize>> = HashMap::with_capacity(removed.len());
    for (index, at) in removed.iter().enumerate() {
        if let Some(key) = old(at) {
            places.entry(key).or_default().push_back(index);
        }
    }
    let (mut moves, mut paired) = (Vec::new(), vec![false; removed.len()]);
    added.retain(|at| {
        let from = new(at).and_then(|key| {
            let waiting = places.get_mut(&key)?;
            if repeats && waiting.len() == 1 {
                waiting.front().copied()
            } else {
                waiting.pop_front()
            }
        });
        if let Some(from) = from {
            paired[from] = true;
            moves.push((removed[from], *at));
        }
        from.is_none()
    });
    let mut index = 0;
    removed.retain(|_| {
        index += 1;
        !paired[index - 1]
    });
    moves
}

#[derive(Clone, Copy)]
struct PlacedFile<'p, 'a> {
    package: &'p Package<'a>,
    file: &'p File<'a>,
}

impl<'a> PlacedFile<'_, 'a> {
    fn source(self) -> Option<(&'a SourcePath, Area)> {
        Some((self.file.origin()?, self.file.area))
    }

    fn source_and_path(self) -> Option<(&'a SourcePath, Area, &'a str)> {
        Some((self.file.origin()?, self.file.area, self.file.path))
    }

    /// `None` for files of every package: outside of platform directories, or empty.
    fn path(self) -> Option<(&'a str, bool)> {
        let link = match self.file.content {
            EntryContent::Directory => return None,
            EntryContent::Link(_) => true,
            EntryContent::Planned(_) | EntryContent::Built(_) => false,
        };
        let is_ambiguous = self.file.area != Area::Platform || self.file.size == 0 && !link;
        (!is_ambiguous && self.package.platform_dir.is_some()).then_some((self.file.path, link))
    }

    fn bytes(self) -> Option<(u32, u64, Area)> {
        match self.file.content {
            EntryContent::Built(built) if self.file.size > 0 && self.file.area != Area::Module => {
                Some((built.bytes.crc32, self.file.size, self.file.area))
            }
            EntryContent::Built(_)
            | EntryContent::Planned(_)
            | EntryContent::Link(_)
            | EntryContent::Directory => None,
        }
    }
}
