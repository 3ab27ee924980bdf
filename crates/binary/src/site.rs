//! ELF files of one site-packages.

use std::collections::{HashMap, HashSet};

use super::loader::{Installed, Loads};
use crate::Machine;
use crate::elf::{ElfFacts, Rpath};

/// Loader properties of an installed ELF file.
#[derive(Debug, Clone)]
pub struct Linked {
    /// Path below site-packages.
    pub path: String,
    /// Processor.
    pub machine: Machine,
    is_library: bool,
    is_module: bool,
    soname: Option<String>,
    needed: Vec<String>,
    directories: Vec<String>,
    inherited: bool,
}

impl Linked {
    /// `is_module` marks Python imports; `None` if the host does not load the file.
    pub fn new(path: String, facts: &ElfFacts, is_module: bool) -> Option<Self> {
        if !facts.kind.runs_on_hosts() {
            return None;
        }
        let (directory, _) = path.rsplit_once('/').unwrap_or_default();
        // The loader ignores DT_RPATH if DT_RUNPATH is present.
        let text = facts.runpath.as_deref().or(facts.rpath.as_deref()).unwrap_or_default();
        let directories =
            Rpath::new(text).directories().filter_map(|entry| entry.inside(directory));
        Some(Self {
            machine: facts.machine,
            is_library: facts.kind.is_library(),
            is_module,
            soname: facts.soname.clone(),
            needed: facts.needed.clone(),
            directories: directories.collect(),
            inherited: facts.runpath.is_none(),
            path,
        })
    }

    fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    fn bears(&self) -> impl Iterator<Item = &str> {
        let soname = self.soname.as_deref().filter(|name| *name != self.file_name());
        std::iter::once(self.file_name()).chain(soname).filter(|_| self.is_library)
    }
}

/// Library that the loader does not find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost<'s> {
    /// File that needs the library.
    pub file: usize,
    /// Needed name.
    pub library: &'s str,
    /// Installed files with this name.
    pub there: Vec<usize>,
    /// Certain failure: the file is a program, a Python module, or loaded by another file.
    pub certain: bool,
}

/// Files installed together, numbered.
#[derive(Debug)]
pub struct Site<'s> {
    files: Vec<&'s Linked>,
    names: Vec<&'s str>,
    numbers: HashMap<&'s str, usize>,
    needed: Vec<Vec<usize>>,
    /// Packages that are never installed together can share a path.
    at: HashMap<(&'s str, &'s str), Vec<usize>>,
    bearers: HashMap<usize, Vec<usize>>,
}

impl<'s> Site<'s> {
    /// Indexes the files.
    pub fn new(files: impl IntoIterator<Item = &'s Linked>) -> Self {
        let files: Vec<&Linked> = files.into_iter().collect();
        let mut site = Self {
            needed: Vec::with_capacity(files.len()),
            names: Vec::new(),
            numbers: HashMap::new(),
            at: HashMap::new(),
            bearers: HashMap::new(),
            files,
        };
        for file in &site.files {
            let numbers = file.needed.iter().map(|name| {
                *site.numbers.entry(name).or_insert_with(|| {
                    site.names.push(name);
                    site.names.len() - 1
                })
            });
            site.needed.push(numbers.collect());
        }
        for (number, file) in site.files.iter().enumerate() {
            let place = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            site.at.entry(place).or_default().push(number);
            for name in file.bears().filter_map(|name| site.numbers.get(name)) {
                site.bearers.entry(*name).or_default().push(number);
            }
        }
        site
    }

    /// Libraries found neither in own directories nor through all loaders.
    pub fn lost(&self) -> Vec<Lost<'s>> {
        let loads = Loads::new(self);
        let (mut lost, loaded) = (Vec::new(), self.loaded());
        for (file, needed) in self.needed.iter().enumerate() {
            for &name in needed.iter().filter(|name| !self.names[**name].contains('/')) {
                let is_found =
                    self.own(file, name, file).is_some() || loads.through(file, name).is_some();
                let there = if is_found { Vec::new() } else { self.others(file, name) };
                if !there.is_empty() {
                    let Linked { is_module, is_library, .. } = self.files[file];
                    let certain = *is_module || !is_library || loaded.contains(&file);
                    lost.push(Lost { file, library: self.names[name], there, certain });
                }
            }
        }
        lost
    }

    fn loaded(&self) -> HashSet<usize> {
        let needs = self.needed.iter().enumerate();
        let needs = needs.flat_map(|(file, names)| names.iter().map(move |name| (file, *name)));
        needs.filter_map(|(file, name)| self.own(file, name, file)).collect()
    }

    fn others(&self, file: usize, name: usize) -> Vec<usize> {
        let fits = |other: &usize| self.files[*other].machine == self.files[file].machine;
        self.bearers(name).into_iter().filter(|other| *other != file).filter(fits).collect()
    }
}

impl Installed for Site<'_> {
    fn count(&self) -> usize {
        self.files.len()
    }

    fn needed(&self, file: usize) -> &[usize] {
        &self.needed[file]
    }

    fn soname(&self, file: usize) -> Option<usize> {
        self.numbers.get(self.files[file].soname.as_deref()?).copied()
    }

    fn inherited(&self, file: usize) -> bool {
        self.files[file].inherited
    }

    fn own(&self, file: usize, name: usize, _root: usize) -> Option<usize> {
        let name = self.names[name];
        self.files[file].directories.iter().find_map(|directory| {
            let there = self.at.get(&(directory.as_str(), name))?;
            let fits = |other: &&usize| {
                let other = self.files[**other];
                other.is_library && other.machine == self.files[file].machine
            };
            there.iter().find(fits).copied()
        })
    }

    fn bearers(&self, name: usize) -> Vec<usize> {
        self.bearers.get(&name).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::forward::forwarding_library;
    use crate::elf::stub::StubMachine;

    fn library(path: &str, soname: &str, needed: &str, rpath: &str) -> Linked {
        let rpath = if rpath.is_empty() { "$ORIGIN/none" } else { rpath };
        linked(path, &forwarding_library(StubMachine::X86_64, soname, needed, rpath).unwrap())
    }

    fn linked(path: &str, bytes: &Vec<u8>) -> Linked {
        Linked::new(path.to_owned(), &crate::elf::facts(bytes).unwrap().unwrap(), false).unwrap()
    }

    fn lost(files: &[Linked]) -> Vec<(usize, String)> {
        let site = Site::new(files);
        site.lost().into_iter().map(|lost| (lost.file, lost.library.to_owned())).collect()
    }

    #[test]
    fn a_library_is_found_where_the_rpath_leads() {
        let beside = library("a/libb.so", "libb.so", "libc.so.6", "");
        for (rpath, found) in [("", false), ("$ORIGIN", true), ("$ORIGIN/../b", false)] {
            let user = library("a/user.so", "user.so", "libb.so", rpath);
            let expected = if found { vec![] } else { vec![(0, "libb.so".to_owned())] };
            assert_eq!(lost(&[user, beside.clone()]), expected, "{rpath}");
        }
    }

    #[test]
    fn a_library_is_found_by_its_file_name_and_not_by_its_soname() {
        let other = library("a/libb-1.so", "libb.so", "libc.so.6", "");
        let user = library("a/user.so", "user.so", "libb.so", "$ORIGIN");
        assert_eq!(lost(&[user, other]), [(0, "libb.so".to_owned())]);
    }

    #[test]
    fn directories_of_those_that_load_a_file_count() {
        let middle = library("a/lib/libm1.so", "libm1.so", "libend.so", "");
        let end = library("a/lib/libend.so", "libend.so", "libc.so.6", "");
        let root = library("a/root.so", "root.so", "libm1.so", "$ORIGIN/lib");
        assert_eq!(lost(&[root, middle.clone(), end.clone()]), []);
        assert_eq!(lost(&[middle.clone(), end.clone()]), [(0, "libend.so".to_owned())]);
        // DT_RUNPATH (29) instead of DT_RPATH (15) does not apply to loaded libraries.
        let mut bytes =
            forwarding_library(StubMachine::X86_64, "root.so", "libm1.so", "$ORIGIN/lib").unwrap();
        let at = bytes.chunks(8).position(|word| word == 15_u64.to_le_bytes()).unwrap() * 8;
        bytes[at] = 29;
        let root = linked("a/root.so", &bytes);
        assert_eq!(lost(&[root, middle, end]), [(1, "libend.so".to_owned())]);
    }

    #[test]
    fn what_nothing_loads_is_lost_only_perhaps() {
        let lost = |files: &[Linked]| {
            let certain = |lost: &Lost<'_>| (lost.file, lost.certain);
            Site::new(files).lost().iter().map(certain).collect::<Vec<_>>()
        };
        let end = library("a/libend.so", "libend.so", "libc.so.6", "");
        let plugin = library("a/lib/plugin.so", "plugin.so", "libend.so", "");
        assert_eq!(lost(&[plugin.clone(), end.clone()]), [(0, false)]);
        let module = Linked { is_module: true, ..plugin.clone() };
        assert_eq!(lost(&[module, end.clone()]), [(0, true)]);
        let user = library("a/user.so", "user.so", "plugin.so", "$ORIGIN/lib");
        assert_eq!(lost(&[plugin, end, user]), [(0, true)]);
    }

    #[test]
    fn what_is_nowhere_is_not_lost() {
        let user = library("a/user.so", "user.so", "libelse.so", "");
        let arm = forwarding_library(StubMachine::Aarch64, "libelse.so", "x", "$ORIGIN").unwrap();
        assert_eq!(lost(&[user, linked("b/libelse.so", &arm)]), []);
    }
}
