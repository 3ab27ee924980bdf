//! Needs that the dynamic loader serves only through the files that load a file.
//!
//! `DT_RPATH` counts for everything that a file loads, and a library that is loaded already is
//! found without a search. Both depend on what is loaded first, so loads are gone through from
//! each file that may lead to such a need, breadth first, as glibc does it.

use std::collections::{HashMap, HashSet, VecDeque};

/// Installed files as the loader (ld.so(8)) sees them. Files and the names that they need have numbers.
pub trait Installed {
    /// The number of files.
    fn count(&self) -> usize;

    /// The names that a file needs, in order.
    fn needed(&self, file: usize) -> &[usize];

    /// The SONAME of a file, if some file needs it.
    fn soname(&self, file: usize) -> Option<usize>;

    /// Whether what a file loads searches the file's directories too: with `DT_RPATH`, not with `DT_RUNPATH`.
    fn inherited(&self, file: usize) -> bool;

    /// The library of a name that a file's own directories have, with all that is installed where `root` is.
    fn own(&self, file: usize, name: usize, root: usize) -> Option<usize>;

    /// Every library of a name.
    fn bearers(&self, name: usize) -> Vec<usize>;
}

/// Files with names that they need, by number.
type Needs = HashSet<(usize, usize)>;
/// Of each file those that load it.
type LoadedBy = HashMap<usize, Vec<usize>>;

/// Needs that only loaders serve.
#[derive(Debug, Default)]
pub struct Loads {
    /// By file and name: how the loads went that came by.
    outcomes: HashMap<(usize, usize), Outcome>,
    /// How many files were gone through so far.
    visits: usize,
}

/// How loads went.
#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    /// The library, and the file whose load found it.
    found: Option<(usize, usize)>,
    /// Some load did not find it.
    failed: bool,
}

/// Files gone through before the rest counts as not found. Where so many rely on what loads them,
/// one line gives them an rpath of their own; it is the remedy anyway.
const MOST_VISITS: usize = 200_000;

impl Loads {
    /// Goes through the loads of all files that have such needs.
    pub fn new(installed: &impl Installed) -> Self {
        let (pending, loaded_by) = survey(installed);
        let mut loads = Self::default();
        let mut asked: Vec<_> = pending.iter().copied().collect();
        asked.sort_unstable();
        for need in asked {
            loads.ask(installed, &pending, &loaded_by, need);
        }
        loads
    }

    /// Goes through loads that may come by a need, the nearest first, until one fails.
    fn ask(
        &mut self,
        installed: &impl Installed,
        pending: &Needs,
        loaded_by: &LoadedBy,
        need: (usize, usize),
    ) {
        let mut known = HashSet::from([need.0]);
        let mut open = VecDeque::from([need.0]);
        while let Some(at) = open.pop_front() {
            for &root in
                loaded_by.get(&at).into_iter().flatten().filter(|loader| known.insert(**loader))
            {
                if self.outcomes.get(&need).is_some_and(|outcome| outcome.failed) {
                    return;
                }
                if self.visits > MOST_VISITS {
                    self.outcomes.entry(need).or_default().failed = true;
                    return;
                }
                Load::new(installed, root).run(pending, need, self);
                open.push_back(root);
            }
        }
    }

    /// The library that every load finds for this need, and the first file whose load does.
    pub fn through(&self, file: usize, name: usize) -> Option<(usize, usize)> {
        self.outcomes.get(&(file, name)).filter(|outcome| !outcome.failed)?.found
    }
}

/// Needs that the files do not serve themselves though the library is somewhere, and for each file those that load it.
fn survey(installed: &impl Installed) -> (Needs, LoadedBy) {
    let (mut pending, mut loaded_by) = (Needs::new(), LoadedBy::new());
    for file in 0..installed.count() {
        for &name in installed.needed(file) {
            if let Some(found) = installed.own(file, name, file) {
                loaded_by.entry(found).or_default().push(file);
                continue;
            }
            // What a loader may find for it is loaded by this file as well.
            for library in installed.bearers(name) {
                loaded_by.entry(library).or_default().push(file);
                pending.insert((file, name));
            }
        }
    }
    (pending, loaded_by)
}

/// One file being loaded, with all that it needs.
struct Load<'i, I> {
    installed: &'i I,
    root: usize,
    /// Files in the order in which they are loaded.
    queue: VecDeque<usize>,
    /// Of each file the one that loaded it.
    loaders: HashMap<usize, Option<usize>>,
    /// Libraries by the names under which they are known.
    known: HashMap<usize, usize>,
}

impl<'i, I: Installed> Load<'i, I> {
    fn new(installed: &'i I, root: usize) -> Self {
        let mut load = Self {
            installed,
            root,
            queue: VecDeque::new(),
            loaders: HashMap::new(),
            known: HashMap::new(),
        };
        load.enter(root, None);
        load
    }

    /// Loads until it is known what becomes of the `asked` need; notes what becomes of others on the way.
    fn run(mut self, pending: &Needs, asked: (usize, usize), loads: &mut Loads) {
        let installed = self.installed;
        while let Some(file) = self.queue.pop_front() {
            loads.visits += 1;
            for &name in installed.needed(file) {
                let found = self.library(file, name);
                if file != self.root && pending.contains(&(file, name)) {
                    let outcome = loads.outcomes.entry((file, name)).or_default();
                    outcome.failed |= found.is_none();
                    outcome.found = outcome.found.or(found.map(|library| (library, self.root)));
                    if (file, name) == asked {
                        return;
                    }
                }
                if let Some(library) = found {
                    self.known.insert(name, library);
                    self.enter(library, Some(file));
                }
            }
        }
    }

    /// Notes that a file is loaded, once.
    fn enter(&mut self, file: usize, loader: Option<usize>) {
        if self.loaders.contains_key(&file) {
            return;
        }
        self.loaders.insert(file, loader);
        self.queue.push_back(file);
        self.known.extend(self.installed.soname(file).map(|name| (name, file)));
    }

    /// One that is loaded already, else the first in the directories of the file and of those that loaded it.
    fn library(&self, file: usize, name: usize) -> Option<usize> {
        if let Some(library) = self.known.get(&name) {
            return Some(*library);
        }
        let installed = self.installed;
        let above = std::iter::successors(self.loaders.get(&file).copied().flatten(), |at| {
            self.loaders.get(at).copied().flatten()
        });
        // A file with DT_RUNPATH searches that alone, and lends it to nobody.
        let lenders = above.filter(|at| installed.inherited(*at) && installed.inherited(file));
        std::iter::once(file).chain(lenders).find_map(|at| installed.own(at, name, self.root))
    }
}
