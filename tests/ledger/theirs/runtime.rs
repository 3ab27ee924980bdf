//! Files of runtime packages: no links, libraries under their SONAME, longer rpaths.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use binary::elf::{self, Edited, Edits, ElfKind, RpathEdit};
use fs_err as fs;

use super::pack::Member;

/// Contents of a platform directory.
#[derive(Default)]
pub struct Runtime {
    /// Platform directory.
    pub directory: String,
    /// Target for which only this package is.
    pub family: Option<String>,
    pub files: BTreeMap<String, Member>,
    /// SONAMEs of libraries by their other paths.
    pub aliases: BTreeMap<String, String>,
}

impl Runtime {
    /// Lays out files and links; `rpaths` are directories of `core`.
    pub fn populate(&mut self, entries: &BTreeMap<String, PathBuf>, rpaths: &[&str]) {
        for (path, source) in entries {
            // A link into another artifact dangles, and a link to a directory is dropped.
            let Ok(target) = source.canonicalize() else { continue };
            if target.is_dir() {
                continue;
            }
            let bytes = fs::read(&target).unwrap();
            let kind = elf::facts(&bytes).unwrap();
            let name = path.rsplit('/').next().unwrap_or_default();
            let library = kind.as_ref().filter(|facts| facts.kind == ElfKind::SharedLibrary);
            match library.and_then(|facts| facts.soname.as_deref()) {
                Some(soname) if soname != name => {
                    self.aliases.insert(path.clone(), soname.to_owned());
                }
                None if kind.is_some() && library.is_none() && source.is_symlink() => {
                    let launcher = fs::read_link(source).unwrap().display().to_string();
                    self.put(path, Member::program(launcher.into_bytes()));
                }
                _ => self.file(path, &target, rpaths),
            }
        }
    }

    /// Adds a file with a longer rpath, if it has one.
    pub fn file(&mut self, path: &str, source: &Path, rpaths: &[&str]) {
        let mut member = Member::of(source);
        let up = "../".repeat(path.matches('/').count() + 1);
        let added = rpaths.iter().map(|path| format!("$ORIGIN/{up}_rocm_sdk_core/{path}"));
        member.bytes = edited(member.bytes, RpathEdit::Append(added.collect()));
        self.put(path, member);
    }

    pub fn put(&mut self, path: &str, member: Member) {
        self.files.insert(path.to_owned(), member);
    }
}

/// Files of the dynamic loader with other search paths.
pub fn edited(bytes: Vec<u8>, rpath: RpathEdit) -> Vec<u8> {
    let facts = elf::facts(&bytes).unwrap();
    let is_dynamic = |kind| matches!(kind, ElfKind::SharedLibrary | ElfKind::Executable);
    if !facts.is_some_and(|facts| is_dynamic(facts.kind)) {
        return bytes;
    }
    let plan = elf::edit(&bytes, &Edits::rpath(rpath)).unwrap();
    let mut new = Vec::new();
    Edited::new(&bytes, &plan).reader().read_to_end(&mut new).unwrap();
    new
}
