//! Uses between source files.
//!
//! A name counts as used from the file that defines it: a re-export (`pub use`) makes users
//! independent of the re-exporting module.

use std::collections::{BTreeMap, BTreeSet};

/// Modules by path (`cache::table`; the crate's root is empty), each with its file.
pub struct Modules {
    files: BTreeMap<String, Module>,
}

struct Module {
    /// File below `src`.
    file: String,
    /// Imports by their local names.
    names: BTreeMap<String, Import>,
    /// Code without `use` statements.
    code: String,
}

struct Import {
    /// Path from the crate's root.
    path: Vec<String>,
    /// Re-exported.
    handed_on: bool,
}

/// Maximum length of a chain of re-exports.
const HANDED_ON: usize = 8;

impl Modules {
    /// Parses files: path below `src`, and code without comments, strings and tests.
    pub fn new<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Self {
        let mut modules = Self { files: BTreeMap::new() };
        for (file, code) in files {
            let module = file.strip_suffix(".rs").unwrap_or(file).replace('/', "::");
            let module = if ["lib", "main"].contains(&&*module) { String::new() } else { module };
            let (uses, code) = uses(code);
            let (file, names) = (file.to_owned(), BTreeMap::new());
            let added = Module { file, names, code };
            // Library and program share one tree; no name is in both.
            let there = modules.files.entry(module).or_insert(added);
            for (path, name, handed_on) in uses {
                there.names.insert(name, Import { path, handed_on });
            }
        }
        let known: Vec<String> = modules.files.keys().cloned().collect();
        for module in known {
            modules.root_imports(&module);
        }
        modules
    }

    /// Makes the imports of a module start at the crate's root, and removes imports of other
    /// crates.
    fn root_imports(&mut self, module: &str) {
        let Some(there) = self.files.get_mut(module) else { return };
        let names = std::mem::take(&mut there.names);
        let rooted = names.into_iter().filter_map(|(name, import)| {
            let path = self.rooted(module, &import.path, &BTreeMap::new())?;
            Some((name, Import { path, ..import }))
        });
        let rooted: BTreeMap<String, Import> = rooted.collect();
        if let Some(there) = self.files.get_mut(module) {
            there.names = rooted;
        }
    }

    /// Converts a path in `module` to a path from the crate's root. Returns `None` for local names
    /// and other crates.
    fn rooted(
        &self,
        module: &str,
        path: &[String],
        names: &BTreeMap<String, Import>,
    ) -> Option<Vec<String>> {
        let mut at: Vec<String> =
            module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let first = path.first()?;
        let mut rest = path;
        match &**first {
            "crate" | "rockpack" => (at, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            name => {
                let child = joined(&at, name);
                if let Some(import) = names.get(name) {
                    (at, rest) = (import.path.clone(), &path[1..]);
                } else if !self.files.contains_key(&child) {
                    return None;
                }
            }
        }
        at.extend(rest.iter().cloned());
        Some(at)
    }

    /// Returns the module that defines a rooted path, or `None` if the path is a module.
    fn defined(&self, path: &[String], depth: usize) -> Option<&str> {
        let mut module = String::new();
        for (index, part) in path.iter().enumerate() {
            let below = joined(&[module.clone()], part);
            if self.files.contains_key(&below) {
                module = below;
                continue;
            }
            let (name, there) = self.files.get_key_value(&module)?;
            let handed = there.names.get(part).filter(|import| import.handed_on && depth > 0);
            return match handed {
                Some(import) => {
                    let path = [&import.path[..], &path[index + 1..]].concat();
                    self.defined(&path, depth - 1)
                }
                None => Some(name),
            };
        }
        None
    }

    /// Returns the used files of each file.
    pub fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (module, there) in &self.files {
            let words: BTreeSet<&str> = words(&there.code).collect();
            let imported = there.names.iter().filter_map(|(name, import)| {
                let used = !import.handed_on || words.contains(&**name);
                self.defined(&import.path, HANDED_ON).filter(|_| used)
            });
            let written = paths(&there.code).filter_map(|path| {
                let path = self.rooted(module, &path, &there.names)?;
                self.defined(&path, HANDED_ON)
            });
            let used = imported.chain(written).filter(|other| other != module);
            let used = used.map(|other| &*self.files[other].file);
            edges.entry(&there.file).or_default().extend(used);
        }
        edges
    }
}

/// Returns the modules of `std` that code imports or names in a path: `fs` of `use std::{fs, io};`.
pub fn std_paths(code: &str) -> BTreeSet<String> {
    let (imports, rest) = uses(code);
    let imports = imports.into_iter().map(|(path, _, _)| path);
    let all = imports.chain(paths(&rest).map(|path| {
        // A path can begin with `::`.
        path.into_iter().filter(|part| !part.is_empty()).collect()
    }));
    all.filter(|path| path.len() > 1 && path[0] == "std").map(|path| path[1].clone()).collect()
}

/// Returns groups of files that use each other, directly or indirectly, by uses that `counts`.
pub fn cycles<'e>(
    edges: &BTreeMap<&'e str, BTreeSet<&'e str>>,
    counts: impl Fn(&str, &str) -> bool,
) -> Vec<BTreeSet<&'e str>> {
    let reach = |from: &'e str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            let used = edges.get(file).into_iter().flatten().copied();
            next.extend(used.filter(|other| counts(file, other) && seen.insert(*other)));
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|file| (*file, reach(file))).collect();
    let mut cycles = BTreeSet::new();
    for (file, seen) in &reached {
        if seen.contains(file) {
            let back = |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(file));
            cycles.insert(seen.iter().filter(back).copied().collect());
        }
    }
    cycles.into_iter().collect()
}

fn joined(parts: &[String], last: &str) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty()).map(String::as_str);
    parts.chain([last]).collect::<Vec<_>>().join("::")
}

/// Imported path, local name, and whether it is re-exported.
type Use = (Vec<String>, String, bool);

/// Splits code into its `use` statements and the rest.
fn uses(code: &str) -> (Vec<Use>, String) {
    let (mut found, mut rest, mut at) = (Vec::new(), String::new(), 0);
    for statement in code.split_inclusive([';', '{', '}']) {
        let start = at;
        at += statement.len();
        if start < rest.len() {
            continue;
        }
        let head = statement.trim_start();
        let after = head.strip_prefix("pub").map_or(head, |after| {
            let after = after.trim_start();
            after.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(after, |(_, a)| a)
        });
        let handed_on = after.len() != head.len();
        let after = after.trim_start();
        // An attribute before `use` belongs to the same statement.
        let Some(tree) = after.strip_prefix("use ").or_else(|| behind_attribute(after)) else {
            rest.push_str(statement);
            continue;
        };
        let from = start + (statement.len() - tree.len());
        let end = code[from..].find(';').map_or(code.len(), |end| from + end + 1);
        tree_of(&code[from..end - 1], &mut Vec::new(), handed_on, &mut found);
        rest.extend(code[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        // Multi-byte characters occur only in comments and strings.
        while rest.len() < end {
            rest.push(' ');
        }
    }
    (found, rest)
}

fn behind_attribute(head: &str) -> Option<&str> {
    head.strip_prefix("#[")?.split_once(']')?.1.trim_start().strip_prefix("use ")
}

/// Splits `a::{b, c as d}`.
fn tree_of(tree: &str, above: &mut Vec<String>, handed_on: bool, found: &mut Vec<Use>) {
    let tree = tree.trim();
    let depth = above.len();
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, Some(group.trim_end().trim_end_matches('}'))),
        None => (tree, None),
    };
    let (path, alias) = path.split_once(" as ").map_or((path, None), |(p, a)| (p, Some(a.trim())));
    above.extend(path.split("::").map(str::trim).filter(|p| !p.is_empty()).map(str::to_owned));
    if let Some(group) = group {
        parts(group).for_each(|part| tree_of(part, above, handed_on, found));
    } else {
        let mut path = above.clone();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = alias.or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
        if !path.is_empty() {
            found.push((path, name, handed_on));
        }
    }
    above.truncate(depth);
}

/// Splits at commas outside braces.
fn parts(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = list.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty())
}

fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns all paths of two or more names.
fn paths(code: &str) -> impl Iterator<Item = Vec<String>> {
    let chunks = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    chunks.filter(|chunk| chunk.contains("::")).map(|chunk| {
        chunk.split("::").map(|part| part.trim_matches(':').to_owned()).collect::<Vec<_>>()
    })
}
