//! Libraries of an installation that the loader does not find.

use std::collections::HashSet;

use super::{Installed, Loads, Tree};

/// Library that the loader does not find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfoundLibrary<'a> {
    /// File that needs the library.
    pub file: usize,
    /// Needed name.
    pub library: &'a str,
    /// Installed files with this name.
    pub bearers: Vec<usize>,
    /// A program or another file loads the file.
    pub is_loaded: bool,
}

/// Libraries found neither in own directories nor through all loaders. Libraries without a file of
/// their name are of the system.
pub fn unfound_libraries<'a>(tree: &Tree<'a>) -> Vec<UnfoundLibrary<'a>> {
    let (loads, loaded) = (Loads::new(tree), loaded(tree));
    let mut libraries = Vec::new();
    for (file, own) in tree.files().iter().enumerate() {
        for &name in tree.needed(file) {
            let library = tree.library(name);
            let is_path = library.contains('/');
            if is_path
                || tree.own_library(file, name, file).is_some()
                || loads.through(file, name).is_some()
            {
                continue;
            }
            let fits =
                |other: &usize| *other != file && tree.files()[*other].machine == own.machine;
            let bearers: Vec<usize> = tree.bearers(name).into_iter().filter(fits).collect();
            if !bearers.is_empty() {
                let is_loaded = !own.is_library || loaded.contains(&file);
                libraries.push(UnfoundLibrary { file, library, bearers, is_loaded });
            }
        }
    }
    libraries
}

fn loaded(tree: &Tree<'_>) -> HashSet<usize> {
    let files = 0..tree.count();
    let needs = files.flat_map(|file| tree.needed(file).iter().map(move |name| (file, *name)));
    needs.filter_map(|(file, name)| tree.own_library(file, name, file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::ElfFacts;
    use crate::elf::forward::forwarding_library;
    use crate::elf::stub::StubMachine;
    use crate::loader::{Content, Entry, Linked};

    type File = (&'static str, ElfFacts);

    fn library(path: &'static str, soname: &str, needed: &str, rpath: &str) -> File {
        let rpath = if rpath.is_empty() { "$ORIGIN/none" } else { rpath };
        linked(path, &forwarding_library(StubMachine::X86_64, soname, needed, rpath).unwrap())
    }

    fn linked(path: &'static str, bytes: &Vec<u8>) -> File {
        (path, crate::elf::facts(bytes).unwrap().unwrap())
    }

    fn unfound(files: &[File]) -> Vec<UnfoundLibrary<'_>> {
        let linked = files.iter().map(|(path, facts)| (path, Linked::new(facts)));
        let entries: Vec<Entry<'_>> = linked
            .map(|(path, linked)| Entry { owner: 0, path, content: Content::Linked(linked) })
            .collect();
        unfound_libraries(&Tree::new(&entries))
    }

    fn names(files: &[File]) -> Vec<(usize, String)> {
        unfound(files).into_iter().map(|it| (it.file, it.library.to_owned())).collect()
    }

    #[test]
    fn finds_library_by_rpath() {
        let beside = library("a/libb.so", "libb.so", "libc.so.6", "");
        for (rpath, is_unfound) in [("", true), ("$ORIGIN", false), ("$ORIGIN/../b", true)] {
            let user = library("a/user.so", "user.so", "libb.so", rpath);
            let expected = if is_unfound { vec![(0, "libb.so".to_owned())] } else { vec![] };
            assert_eq!(names(&[user, beside.clone()]), expected, "{rpath}");
        }
    }

    #[test]
    fn finds_library_by_file_name_not_soname() {
        let other = library("a/libb-1.so", "libb.so", "libc.so.6", "");
        let user = library("a/user.so", "user.so", "libb.so", "$ORIGIN");
        assert_eq!(names(&[user, other]), [(0, "libb.so".to_owned())]);
    }

    #[test]
    fn searches_directories_of_loading_files() {
        let middle = library("a/lib/libm1.so", "libm1.so", "libend.so", "");
        let end = library("a/lib/libend.so", "libend.so", "libc.so.6", "");
        let root = library("a/root.so", "root.so", "libm1.so", "$ORIGIN/lib");
        assert_eq!(names(&[root, middle.clone(), end.clone()]), []);
        assert_eq!(names(&[middle.clone(), end.clone()]), [(0, "libend.so".to_owned())]);
        // DT_RUNPATH (29) instead of DT_RPATH (15) does not apply to loaded libraries.
        let mut bytes =
            forwarding_library(StubMachine::X86_64, "root.so", "libm1.so", "$ORIGIN/lib").unwrap();
        let at = bytes.chunks(8).position(|word| word == 15_u64.to_le_bytes()).unwrap() * 8;
        bytes[at] = 29;
        let root = linked("a/root.so", &bytes);
        assert_eq!(names(&[root, middle, end]), [(1, "libend.so".to_owned())]);
    }

    #[test]
    fn marks_unloaded_files_uncertain() {
        let loaded = |files: &[File]| {
            unfound(files).iter().map(|lost| (lost.file, lost.is_loaded)).collect::<Vec<_>>()
        };
        let end = library("a/libend.so", "libend.so", "libc.so.6", "");
        let plugin = library("a/lib/plugin.so", "plugin.so", "libend.so", "");
        assert_eq!(loaded(&[plugin.clone(), end.clone()]), [(0, false)]);
        let user = library("a/user.so", "user.so", "plugin.so", "$ORIGIN/lib");
        assert_eq!(loaded(&[plugin, end, user]), [(0, true)]);
    }

    #[test]
    fn ignores_libraries_of_no_package() {
        let user = library("a/user.so", "user.so", "libelse.so", "");
        let arm = forwarding_library(StubMachine::Aarch64, "libelse.so", "x", "$ORIGIN").unwrap();
        assert_eq!(names(&[user, linked("b/libelse.so", &arm)]), []);
    }
}
