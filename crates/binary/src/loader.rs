//! Libraries as the dynamic loader finds them: those that a file finds itself ([`Tree`]), and those
//! library only through the files that load it ([`Loads`]).
//!
//! `DT_RPATH` applies to everything that a file loads, and a loaded library is found without a
//! search. So loads are simulated breadth-first, as in glibc.

use std::collections::{HashMap, HashSet, VecDeque};

mod dlls;
mod tree;
mod unfound;

pub use dlls::{Dll, DllContent, DllFault, DllImport, Dlls};
pub use tree::{Candidate, Content, Entry, File, Linked, Tree};
pub use unfound::{UnfoundLibrary, unfound_libraries};

/// Numbered files and names, as the dynamic loader (ld.so(8)) finds them.
pub trait Installed {
    /// Returns the number of files.
    fn count(&self) -> usize;

    /// Needed names in order.
    fn needed(&self, file: usize) -> &[usize];

    /// SONAME, if another file needs it.
    fn soname(&self, file: usize) -> Option<usize>;

    /// Returns whether loaded libraries search its directories (`DT_RPATH`).
    fn inherited(&self, file: usize) -> bool;

    /// Returns the library `name` in the directories of `file`, installed together with `root`.
    fn own_library(&self, file: usize, name: usize, root: usize) -> Option<usize>;

    /// All libraries with this name.
    fn bearers(&self, name: usize) -> Vec<usize>;
}

type Needs = HashSet<(usize, usize)>;
type LoadedBy = HashMap<usize, Vec<usize>>;

/// Result of the simulated loads.
#[derive(Debug, Default)]
pub struct Loads {
    outcomes: HashMap<(usize, usize), Outcome>,
    visits: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    /// Library, and root of the load that found it.
    library: Option<(usize, usize)>,
    failed: bool,
}

/// Beyond this limit, dependencies count as not found.
const MOST_VISITS: usize = 200_000;

impl Loads {
    /// Simulates the loads of dependencies that files cannot find themselves.
    pub fn new(installed: &impl Installed) -> Self {
        let (pending, loaded_by) = survey(installed);
        let mut loads = Self::default();
        let mut needs: Vec<_> = pending.iter().copied().collect();
        needs.sort_unstable();
        for need in needs {
            loads.try_loaders(installed, &pending, &loaded_by, need);
        }
        loads
    }

    /// Nearest root first, until one fails.
    fn try_loaders(
        &mut self,
        installed: &impl Installed,
        pending: &Needs,
        loaded_by: &LoadedBy,
        need: (usize, usize),
    ) {
        let mut visited = HashSet::from([need.0]);
        let mut open = VecDeque::from([need.0]);
        while let Some(at) = open.pop_front() {
            for &root in
                loaded_by.get(&at).into_iter().flatten().filter(|loader| visited.insert(**loader))
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

    /// Library that every load finds, and root of the first load.
    pub fn through(&self, file: usize, name: usize) -> Option<(usize, usize)> {
        self.outcomes.get(&(file, name)).filter(|outcome| !outcome.failed)?.library
    }
}

fn survey(installed: &impl Installed) -> (Needs, LoadedBy) {
    let (mut pending, mut loaded_by) = (Needs::new(), LoadedBy::new());
    for file in 0..installed.count() {
        for &name in installed.needed(file) {
            if let Some(library) = installed.own_library(file, name, file) {
                loaded_by.entry(library).or_default().push(file);
                continue;
            }
            // Other loads may find any library with this name.
            for library in installed.bearers(name) {
                loaded_by.entry(library).or_default().push(file);
                pending.insert((file, name));
            }
        }
    }
    (pending, loaded_by)
}

struct Load<'i, I> {
    installed: &'i I,
    root: usize,
    queue: VecDeque<usize>,
    loaders: HashMap<usize, Option<usize>>,
    /// By file name and SONAME.
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

    fn run(mut self, pending: &Needs, need: (usize, usize), loads: &mut Loads) {
        let installed = self.installed;
        while let Some(file) = self.queue.pop_front() {
            loads.visits += 1;
            for &name in installed.needed(file) {
                let loaded = self.library(file, name);
                if file != self.root && pending.contains(&(file, name)) {
                    let outcome = loads.outcomes.entry((file, name)).or_default();
                    outcome.failed |= loaded.is_none();
                    outcome.library =
                        outcome.library.or(loaded.map(|library| (library, self.root)));
                    if (file, name) == need {
                        return;
                    }
                }
                if let Some(library) = loaded {
                    self.known.insert(name, library);
                    self.enter(library, Some(file));
                }
            }
        }
    }

    fn enter(&mut self, file: usize, loader: Option<usize>) {
        if self.loaders.contains_key(&file) {
            return;
        }
        self.loaders.insert(file, loader);
        self.queue.push_back(file);
        self.known.extend(self.installed.soname(file).map(|name| (name, file)));
    }

    fn library(&self, file: usize, name: usize) -> Option<usize> {
        if let Some(library) = self.known.get(&name) {
            return Some(*library);
        }
        let installed = self.installed;
        let above = std::iter::successors(self.loaders.get(&file).copied().flatten(), |at| {
            self.loaders.get(at).copied().flatten()
        });
        // With DT_RUNPATH, a file searches only its own directories and does not pass them on.
        let lenders = above.filter(|at| installed.inherited(*at) && installed.inherited(file));
        std::iter::once(file)
            .chain(lenders)
            .find_map(|at| installed.own_library(at, name, self.root))
    }
}
