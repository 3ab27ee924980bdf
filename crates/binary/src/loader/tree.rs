//! Files of an installation, indexed as the dynamic loader looks for them.

use std::collections::HashMap;

use super::Installed;
use crate::Machine;
use crate::elf::{ElfFacts, Rpath, RpathEntry};

/// File below site-packages that the loader does not skip.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Number of its package.
    pub owner: usize,
    /// Path.
    pub path: &'a str,
    /// Role for the loader.
    pub content: Content<'a>,
}

/// Role of a file for the loader.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// Program or library for hosts.
    Linked(Linked<'a>),
    /// Link with its text.
    Link(&'a str),
    /// Any other file: the loader fails.
    Other,
}

/// Loader properties of a program or library.
#[derive(Debug, Clone, Copy)]
pub struct Linked<'a> {
    /// Processor.
    pub machine: Machine,
    /// Other files can load it.
    pub is_library: bool,
    /// `DT_SONAME`.
    pub soname: Option<&'a str>,
    /// `DT_NEEDED`.
    pub needed: &'a [String],
    /// Search path.
    pub search: &'a str,
    /// Loaded files search there, too: `DT_RPATH`, not `DT_RUNPATH` (ld.so(8)).
    pub inherited: bool,
}

impl<'a> Linked<'a> {
    /// Properties of an ELF file.
    pub fn new(facts: &'a ElfFacts) -> Self {
        Self {
            machine: facts.machine,
            // A program cannot be loaded as a library (glibc since 2.30).
            is_library: facts.kind.is_library(),
            soname: facts.soname.as_deref(),
            needed: &facts.needed,
            // The loader ignores DT_RPATH if both tags exist.
            search: facts.runpath.as_deref().or(facts.rpath.as_deref()).unwrap_or_default(),
            inherited: facts.runpath.is_none(),
        }
    }

    /// Replaces the search path by a `DT_RPATH`.
    #[must_use]
    pub fn relinked(self, rpath: &'a str) -> Self {
        Self { search: rpath, inherited: true, ..self }
    }
}

/// Program or library of a [`Tree`].
#[derive(Debug)]
pub struct File<'a> {
    /// Number of its entry.
    pub entry: usize,
    /// Number of its package.
    pub owner: usize,
    /// Path.
    pub path: &'a str,
    /// Processor.
    pub machine: Machine,
    /// Other files can load it.
    pub is_library: bool,
    soname: Option<&'a str>,
    needed: Vec<usize>,
    search: usize,
    inherited: bool,
}

/// File with the name of a needed library.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Package; a link's target can be in another.
    pub owner: usize,
    /// Number of its entry.
    pub entry: usize,
    /// Number of the library; `None` if the loader fails.
    pub library: Option<usize>,
}

/// Files installed together. Names, directories and searches are numbers.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    files: Vec<File<'a>>,
    /// Directories with candidates, by search.
    searches: Vec<Vec<usize>>,
    names: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    directories: HashMap<&'a str, usize>,
    candidates: HashMap<(usize, usize), Vec<Candidate>>,
    places: HashMap<usize, Vec<usize>>,
    /// Libraries by a SONAME that is not their file name.
    by_soname: HashMap<usize, Vec<usize>>,
}

/// Texts of a package's links by path.
type Links<'a> = HashMap<&'a str, &'a str>;

impl<'a> Tree<'a> {
    /// Indexes the files.
    pub fn new(entries: &[Entry<'a>]) -> Self {
        let mut tree = Self::default();
        tree.name_needed(entries);
        let mut links: HashMap<usize, Links<'a>> = HashMap::new();
        for entry in entries {
            if let Content::Link(target) = entry.content {
                links.entry(entry.owner).or_default().insert(entry.path, target);
            }
        }
        let (mut named, mut searches) = (Vec::new(), Searches::default());
        for (number, entry) in entries.iter().enumerate() {
            let library = tree.add(number, entry, &mut searches);
            let (directory, name) = split(entry.path);
            if let Some(name) = tree.name(name) {
                named.push(NamedEntry { number, entry, directory, name, library });
            }
        }
        tree.index(&links, &named);
        tree.searches = searches.all.iter().map(|search| tree.search(search, &links)).collect();
        tree
    }

    /// All programs and libraries, numbered.
    pub fn files(&self) -> &[File<'a>] {
        &self.files
    }

    /// Number of a needed name.
    pub fn name(&self, library: &str) -> Option<usize> {
        self.numbers.get(library).copied()
    }

    /// Needed name with this number.
    pub fn library(&self, name: usize) -> &'a str {
        self.names[name]
    }

    /// Files with a name, in each directory that a file searches.
    pub fn searched(&self, file: usize, name: usize) -> impl Iterator<Item = &Candidate> {
        let directories = &self.searches[self.files[file].search];
        directories.iter().flat_map(move |directory| self.candidates_in(*directory, name))
    }

    /// Files with a name, in any directory.
    pub fn candidates(&self, name: usize) -> impl Iterator<Item = &Candidate> {
        let directories = self.places.get(&name).into_iter().flatten();
        directories.flat_map(move |directory| self.candidates_in(*directory, name))
    }

    fn candidates_in(&self, directory: usize, name: usize) -> &[Candidate] {
        self.candidates.get(&(directory, name)).map_or(&[], Vec::as_slice)
    }

    fn name_needed(&mut self, entries: &[Entry<'a>]) {
        for entry in entries {
            let Content::Linked(linked) = entry.content else { continue };
            for name in linked.needed {
                self.numbers.entry(name).or_insert_with(|| {
                    self.names.push(name);
                    self.names.len() - 1
                });
            }
        }
    }

    fn add(
        &mut self,
        number: usize,
        entry: &Entry<'a>,
        searches: &mut Searches<'a>,
    ) -> Option<usize> {
        let Content::Linked(linked) = entry.content else { return None };
        let Entry { owner, path, .. } = *entry;
        let (origin, file_name) = split(path);
        let file = self.files.len();
        self.files.push(File {
            entry: number,
            owner,
            path,
            machine: linked.machine,
            is_library: linked.is_library,
            soname: linked.soname,
            needed: linked.needed.iter().filter_map(|name| self.name(name)).collect(),
            search: searches.number(Search { owner, origin, text: linked.search }),
            inherited: linked.inherited,
        });
        if !linked.is_library {
            return None;
        }
        let soname = linked.soname.filter(|soname| *soname != file_name);
        if let Some(name) = soname.and_then(|soname| self.name(soname)) {
            self.by_soname.entry(name).or_default().push(file);
        }
        Some(file)
    }

    fn index(&mut self, links: &HashMap<usize, Links<'a>>, named: &[NamedEntry<'_, 'a>]) {
        let mut by_path: HashMap<&str, Vec<usize>> = HashMap::new();
        if !links.is_empty() {
            for (number, file) in self.files.iter().enumerate() {
                by_path.entry(file.path).or_default().push(number);
            }
        }
        for one in named {
            let library = match one.entry.content {
                Content::Link(target) => {
                    let links = links.get(&one.entry.owner);
                    // The loader skips a dangling link.
                    let Some(file) = self.followed(one, target, links, &by_path) else { continue };
                    Some(file)
                }
                _ => one.library,
            };
            let number = self.directories.len();
            let directory = *self.directories.entry(one.directory).or_insert(number);
            let candidates = self.candidates.entry((directory, one.name)).or_default();
            if candidates.is_empty() {
                self.places.entry(one.name).or_default().push(directory);
            }
            candidates.push(Candidate { owner: one.entry.owner, entry: one.number, library });
        }
    }

    /// `None` if the link dangles.
    fn followed(
        &self,
        one: &NamedEntry<'_, 'a>,
        target: &str,
        links: Option<&Links<'a>>,
        by_path: &HashMap<&str, Vec<usize>>,
    ) -> Option<usize> {
        let path = walk(one.directory, target, links)?;
        let files = by_path.get(path.as_str())?;
        // Devel trees of several families have equal paths; the link's own tree has priority.
        let same_owner = files.iter().find(|file| self.files[**file].owner == one.entry.owner);
        same_owner.or(files.first()).copied()
    }

    fn search(&self, search: &Search<'a>, links: &HashMap<usize, Links<'a>>) -> Vec<usize> {
        let (mut directories, links) = (Vec::new(), links.get(&search.owner));
        for rest in Rpath::new(search.text).directories().filter_map(RpathEntry::below_origin) {
            let directory = walk(search.origin, rest, links);
            let number = directory.and_then(|it| self.directories.get(it.as_str()).copied());
            directories.extend(number.filter(|number| !directories.contains(number)));
        }
        directories
    }
}

/// Files without an environment: all meet.
impl Installed for Tree<'_> {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn needed(&self, file: usize) -> &[usize] {
        &self.files[file].needed
    }

    fn soname(&self, file: usize) -> Option<usize> {
        self.name(self.files[file].soname?)
    }

    fn inherited(&self, file: usize) -> bool {
        self.files[file].inherited
    }

    fn own_library(&self, file: usize, name: usize, _root: usize) -> Option<usize> {
        let is_for = |library: &usize| self.files[*library].machine == self.files[file].machine;
        self.searched(file, name).filter_map(|it| it.library).find(is_for)
    }

    fn bearers(&self, name: usize) -> Vec<usize> {
        let by_soname = self.by_soname.get(&name).into_iter().flatten().copied();
        self.candidates(name).filter_map(|it| it.library).chain(by_soname).collect()
    }
}

struct NamedEntry<'e, 'a> {
    number: usize,
    entry: &'e Entry<'a>,
    directory: &'a str,
    name: usize,
    library: Option<usize>,
}

#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct Search<'a> {
    owner: usize,
    origin: &'a str,
    text: &'a str,
}

#[derive(Default)]
struct Searches<'a> {
    numbers: HashMap<Search<'a>, usize>,
    all: Vec<Search<'a>>,
}

impl<'a> Searches<'a> {
    fn number(&mut self, search: Search<'a>) -> usize {
        *self.numbers.entry(search).or_insert_with(|| {
            self.all.push(search);
            self.all.len() - 1
        })
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Linux's limit (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// `None` out of the tree, or in a circle of links.
fn walk(from: &str, text: &str, links: Option<&Links<'_>>) -> Option<String> {
    let mut path = from.to_owned();
    let mut rest: Vec<&str> = text.split('/').rev().collect();
    let mut followed = 0;
    while let Some(segment) = rest.pop() {
        match segment {
            "" | "." => continue,
            ".." if path.is_empty() => return None,
            ".." => {
                path.truncate(split(&path).0.len());
                continue;
            }
            name if path.is_empty() => path.push_str(name),
            name => {
                path.push('/');
                path.push_str(name);
            }
        }
        if let Some(target) = links.and_then(|links| links.get(path.as_str())) {
            followed += 1;
            if followed > MOST_LINKS || target.starts_with('/') {
                return None;
            }
            path.truncate(split(&path).0.len());
            rest.extend(target.split('/').rev());
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_links_within_the_tree_only() {
        let links = Links::from([
            ("d/llvm", "lib/llvm"),
            ("d/lib/llvm/up", ".."),
            ("d/a", "b"),
            ("d/b", "a"),
            ("d/abs", "/lib"),
        ]);
        let walk = |from: &str, text: &str| walk(from, text, Some(&links));
        assert_eq!(walk("d/bin", "/../lib").as_deref(), Some("d/lib"));
        assert_eq!(walk("d/bin", "../llvm/lib").as_deref(), Some("d/lib/llvm/lib"));
        assert_eq!(
            walk("d", "llvm/../x").as_deref(),
            Some("d/lib/x"),
            "`..` is of where the link leads to"
        );
        assert_eq!(walk("d", "llvm/up/y").as_deref(), Some("d/lib/y"));
        assert_eq!(walk("d", "../c/./lib").as_deref(), Some("c/lib"));
        assert_eq!(walk("d", "../.."), None);
        assert_eq!(walk("d", "a/x"), None, "a circle");
        assert_eq!(walk("d", "abs/x"), None);
    }
}
