use std::collections::HashMap;

use crate::resolve::rpath;
use crate::resolve::sources::Sources;
use crate::{Distribution, Member, Step};
use binary::Facts;
use binary::elf::{ElfFacts, Machine, Rpath, RpathEntry};
use catalog::{Catalog, CatalogEntry};

#[derive(Debug)]
pub(super) struct File<'a> {
    pub distribution: usize,
    pub member: &'a Member,
    pub machine: Machine,
    pub soname: Option<&'a str>,
    pub needed: Vec<usize>,
    pub search: usize,
    /// Search of loaded files too: `DT_RPATH`, not `DT_RUNPATH` (ld.so(8)).
    pub inherited: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Standing {
    File(usize),
    /// Skipped by the loader.
    OtherMachine,
    /// The loader fails.
    NoLibrary,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    /// A link's target can be in another.
    pub distribution: usize,
    pub member: &'a Member,
    pub standing: Standing,
}

/// Names, directories and searches are indices.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    pub files: Vec<File<'a>>,
    /// Directories with candidates, by search.
    pub searches: Vec<Vec<usize>>,
    pub names: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    directories: HashMap<&'a str, usize>,
    candidates: HashMap<(usize, usize), Vec<Candidate<'a>>>,
    places: HashMap<usize, Vec<usize>>,
}

type Links<'a> = HashMap<&'a str, &'a str>;

impl<'a> Tree<'a> {
    pub fn new(
        catalog: &'a Catalog,
        sources: &Sources<'a>,
        distributions: &[&'a Distribution],
    ) -> Self {
        let mut tree = Self::default();
        let links: Vec<Links<'a>> = distributions.iter().map(|d| links(d)).collect();
        tree.names_needed(catalog, distributions);
        let mut named = Vec::new();
        let mut searches = Searches::default();
        for (number, distribution) in distributions.iter().enumerate() {
            for member in distribution.all_members() {
                tree.add(number, member, sources, &mut searches, &mut named);
            }
        }
        tree.index(&links, &named);
        tree.searches = searches.found.iter().map(|search| tree.search(search, &links)).collect();
        tree
    }

    pub fn name(&self, library: &str) -> Option<usize> {
        self.numbers.get(library).copied()
    }

    pub(crate) fn standing(&self, directory: usize, name: usize) -> &[Candidate<'a>] {
        self.candidates.get(&(directory, name)).map_or(&[], Vec::as_slice)
    }

    pub fn bearers(&self, name: usize) -> impl Iterator<Item = Candidate<'a>> {
        let directories = self.places.get(&name).into_iter().flatten();
        directories.flat_map(move |directory| self.standing(*directory, name).iter().copied())
    }

    fn names_needed(&mut self, catalog: &'a Catalog, distributions: &[&'a Distribution]) {
        let facts =
            catalog.artifacts.iter().flat_map(|a| &a.entries).filter_map(CatalogEntry::binary);
        let forwarded =
            distributions.iter().flat_map(|d| &d.members).filter_map(|m| match &m.step {
                Step::Alias { needed, .. } => Some(needed),
                _ => None,
            });
        for name in facts.flat_map(|f| f.needs).chain(forwarded) {
            self.numbers.entry(name).or_insert_with(|| {
                self.names.push(name);
                self.names.len() - 1
            });
        }
    }

    fn add(
        &mut self,
        number: usize,
        member: &'a Member,
        sources: &Sources<'a>,
        searches: &mut Searches<'a>,
        named: &mut Vec<Named<'a>>,
    ) {
        let standing = match &member.step {
            Step::Copy { source } | Step::Relink { source, .. } => match sources.facts(source) {
                Some(facts) if rpath::loadable(facts) => {
                    let file = self.add_file(number, member, facts, searches);
                    // A program cannot be loaded as a library (glibc since 2.30).
                    if facts.kind.is_library() { Standing::File(file) } else { Standing::NoLibrary }
                }
                Some(ElfFacts { machine: Machine::Other { .. }, .. }) => Standing::OtherMachine,
                Some(_) | None => Standing::NoLibrary,
            },
            Step::Alias { soname, needed, rpath, machine } => Standing::File(self.push(File {
                distribution: number,
                member,
                machine: machine.machine(),
                soname: Some(soname),
                needed: self.name(needed).into_iter().collect(),
                search: searches.number(number, member, rpath),
                inherited: true,
            })),
            Step::Link { .. } | Step::Stub { .. } | Step::Render { .. } => Standing::NoLibrary,
            Step::Directory => return,
        };
        let (directory, name) = split(member.path.as_str());
        if let Some(name) = self.name(name) {
            named.push(Named { distribution: number, member, directory, name, standing });
        }
    }

    fn add_file(
        &mut self,
        distribution: usize,
        member: &'a Member,
        facts: &'a ElfFacts,
        searches: &mut Searches<'a>,
    ) -> usize {
        // The loader ignores DT_RPATH if both tags exist; a relink leaves only DT_RPATH.
        let (text, inherited) = match &member.step {
            Step::Relink { rpath, .. } => (rpath.as_str(), true),
            _ => (
                facts.runpath.as_deref().or(facts.rpath.as_deref()).unwrap_or_default(),
                facts.runpath.is_none(),
            ),
        };
        let facts = Facts::from(facts);
        self.push(File {
            distribution,
            member,
            machine: facts.machine,
            soname: facts.name,
            needed: facts.needs.iter().filter_map(|name| self.name(name)).collect(),
            search: searches.number(distribution, member, text),
            inherited,
        })
    }

    fn push(&mut self, file: File<'a>) -> usize {
        self.files.push(file);
        self.files.len() - 1
    }

    fn index(&mut self, links: &[Links<'a>], named: &[Named<'a>]) {
        let mut by_path: HashMap<&str, Vec<usize>> = HashMap::new();
        if links.iter().any(|l| !l.is_empty()) {
            for (number, file) in self.files.iter().enumerate() {
                by_path.entry(file.member.path.as_str()).or_default().push(number);
            }
        }
        for one in named {
            let standing = match &one.member.step {
                Step::Link { target } => {
                    match self.followed(one, target, &links[one.distribution], &by_path) {
                        Some(standing) => standing,
                        None => continue,
                    }
                }
                _ => one.standing,
            };
            let number = self.directories.len();
            let directory = *self.directories.entry(one.directory).or_insert(number);
            let candidates = self.candidates.entry((directory, one.name)).or_default();
            if candidates.is_empty() {
                self.places.entry(one.name).or_default().push(directory);
            }
            candidates.push(Candidate {
                distribution: one.distribution,
                member: one.member,
                standing,
            });
        }
    }

    /// `None` if the link dangles.
    fn followed(
        &self,
        one: &Named<'a>,
        target: &str,
        links: &Links<'a>,
        by_path: &HashMap<&str, Vec<usize>>,
    ) -> Option<Standing> {
        let path = walk(one.directory, target, links)?;
        let there = by_path.get(path.as_str())?;
        // Devel trees of several families have equal paths; the link's own tree has priority.
        let own = there.iter().find(|file| self.files[**file].distribution == one.distribution);
        own.or(there.first()).map(|file| Standing::File(*file))
    }

    fn search(&self, search: &Search<'a>, links: &[Links<'a>]) -> Vec<usize> {
        let mut directories = Vec::new();
        for rest in Rpath::new(search.text).directories().filter_map(RpathEntry::below_origin) {
            let directory = walk(search.origin, rest, &links[search.distribution]);
            let known = directory.and_then(|d| self.directories.get(d.as_str()).copied());
            directories.extend(known.filter(|d| !directories.contains(d)));
        }
        directories
    }
}

struct Named<'a> {
    distribution: usize,
    member: &'a Member,
    directory: &'a str,
    name: usize,
    standing: Standing,
}

#[derive(PartialEq, Eq, Hash, Clone, Copy)]
struct Search<'a> {
    distribution: usize,
    origin: &'a str,
    text: &'a str,
}

#[derive(Default)]
struct Searches<'a> {
    numbers: HashMap<Search<'a>, usize>,
    found: Vec<Search<'a>>,
}

impl<'a> Searches<'a> {
    fn number(&mut self, distribution: usize, member: &'a Member, text: &'a str) -> usize {
        let search = Search { distribution, origin: split(member.path.as_str()).0, text };
        *self.numbers.entry(search).or_insert_with(|| {
            self.found.push(search);
            self.found.len() - 1
        })
    }
}

fn links(distribution: &Distribution) -> Links<'_> {
    let members = distribution.archive.iter().flat_map(|a| &a.members);
    let links = members.filter_map(|m| match &m.step {
        Step::Link { target } => Some((m.path.as_str(), target.as_str())),
        _ => None,
    });
    links.collect()
}

pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Linux's limit (`path_resolution(7)`).
const MOST_LINKS: usize = 40;

/// `None` out of the tree, or in a circle of links.
fn walk(from: &str, text: &str, links: &Links<'_>) -> Option<String> {
    let mut at = from.to_owned();
    let mut rest: Vec<&str> = text.split('/').rev().collect();
    let mut followed = 0;
    while let Some(segment) = rest.pop() {
        match segment {
            "" | "." => continue,
            ".." if at.is_empty() => return None,
            ".." => {
                at.truncate(split(&at).0.len());
                continue;
            }
            name if at.is_empty() => at.push_str(name),
            name => {
                at.push('/');
                at.push_str(name);
            }
        }
        if let Some(target) = links.get(at.as_str()) {
            followed += 1;
            if followed > MOST_LINKS || target.starts_with('/') {
                return None;
            }
            at.truncate(split(&at).0.len());
            rest.extend(target.split('/').rev());
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_goes_through_links_and_not_out_of_the_tree() {
        let links = Links::from([
            ("d/llvm", "lib/llvm"),
            ("d/lib/llvm/up", ".."),
            ("d/a", "b"),
            ("d/b", "a"),
            ("d/abs", "/lib"),
        ]);
        let walk = |from: &str, text: &str| walk(from, text, &links);
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
