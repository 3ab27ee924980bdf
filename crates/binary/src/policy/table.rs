use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::lines::{Line, lines};
use super::{Architecture, Libc};
use crate::Machine;

/// Promises of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Tag without architecture: `manylinux_2_17`.
    pub name: &'static str,
    /// Older names (`manylinux2014`).
    pub aliases: Vec<&'static str>,
    /// C library.
    pub libc: Libc,
    /// Release of the C library.
    pub release: (u32, u32),
    content: TableLines,
}

/// A policy's table lines and its predecessors'.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct TableLines {
    versions: BTreeSet<String>,
    libraries: BTreeSet<String>,
    forbidden: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

/// Versions that glibc's policies regulate.
const JUDGED: [&str; 6] = ["GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC"];

/// Returns the policies, oldest first.
pub fn policies(architecture: Architecture, libc: Libc) -> &'static [Policy] {
    static POLICIES: OnceLock<Vec<(Architecture, Libc, Vec<Policy>)>> = OnceLock::new();
    let policies = POLICIES.get_or_init(|| {
        let of_libcs = |it| [Libc::Glibc, Libc::Musl].map(|libc| (it, libc, read(it, libc)));
        Architecture::all().flat_map(of_libcs).collect()
    });
    policies
        .iter()
        .find(|(a, l, _)| (*a, *l) == (architecture, libc))
        .map_or(&[], |(_, _, policies)| policies)
}

/// Returns whether any policy promises the library.
pub fn is_promised(machine: Machine, library: &str) -> bool {
    let Some(architecture) = Architecture::of(machine) else { return false };
    let policies = [Libc::Glibc, Libc::Musl].map(|libc| policies(architecture, libc));
    policies.into_iter().flatten().any(|policy| policy.has_library(library))
}

/// Libraries of which any policy forbids a symbol.
pub(super) fn forbidding_libraries(symbol: &str) -> &'static BTreeSet<&'static str> {
    static FORBIDDEN: OnceLock<BTreeMap<&str, BTreeSet<&str>>> = OnceLock::new();
    static NONE: BTreeSet<&str> = BTreeSet::new();
    let by_symbol = FORBIDDEN.get_or_init(|| {
        let mut by_symbol: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in lines() {
            let Some(library) = line.what.strip_prefix("forbid ") else { continue };
            for symbol in line.list.split(' ') {
                by_symbol.entry(symbol).or_default().insert(library);
            }
        }
        by_symbol
    });
    by_symbol.get(symbol).unwrap_or(&NONE)
}

fn read(architecture: Architecture, libc: Libc) -> Vec<Policy> {
    let is_ours = |line: &Line| {
        let mut names = line.architectures.split(' ');
        line.policy.starts_with(libc.prefix())
            && names.any(|name| name == "*" || name == architecture.name())
    };
    let lines: Vec<Line> = lines().filter(is_ours).collect();
    let mut content = TableLines::default();
    let policies = lines.chunk_by(|one, next| one.policy == next.policy).filter_map(|lines| {
        lines
            .iter()
            .filter(|line| line.what != "policy")
            .for_each(|line| content.add(line, architecture));
        let line = lines.iter().find(|line| line.what == "policy")?;
        let aliases = line.list.split(' ').filter(|alias| *alias != "-").collect();
        let release = release(line.policy)?;
        Some(Policy { name: line.policy, aliases, libc, release, content: content.clone() })
    });
    policies.collect()
}

pub(super) fn release(name: &str) -> Option<(u32, u32)> {
    let mut words = name.split('_').skip(1).map(str::parse);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(major)), Some(Ok(minor)), None) => Some((major, minor)),
        _ => None,
    }
}

impl TableLines {
    fn add(&mut self, line: &Line, architecture: Architecture) {
        let list = line.list.split(' ');
        match line.what.split_once(' ') {
            Some(("forbid", library)) => self.forbidden.entry(library).or_default().extend(list),
            Some((_, library)) => {
                let symbols = self.forbidden.entry(library).or_default();
                list.for_each(|symbol| {
                    symbols.remove(symbol);
                });
            }
            None if line.what == "library" => {
                self.libraries.extend(list.map(|name| name.replace("{arch}", architecture.musl())));
            }
            None => self.versions.extend(list.map(|version| format!("{}_{version}", line.what))),
        }
    }
}

impl Policy {
    /// True for unregulated versions.
    pub(crate) fn has_version(&self, version: &str) -> bool {
        let judged = version.split_once('_').is_some_and(|(name, _)| JUDGED.contains(&name));
        self.libc == Libc::Musl || !judged || self.content.versions.contains(version)
    }

    pub(crate) fn has_library(&self, name: &str) -> bool {
        // The loader is present wherever a file is loaded. musl names its libc without an
        // architecture.
        is_glibc_loader(name)
            || self.content.libraries.contains(name)
            || (self.libc == Libc::Musl && (name == "libc.so" || name.starts_with("ld-musl-")))
    }

    /// Returns whether a symbol of an allowed library is forbidden.
    pub fn forbids(&self, library: &str, symbol: &str) -> bool {
        self.content.forbidden.get(library).is_some_and(|symbols| symbols.contains(symbol))
    }

    /// Returns the whole tag: `manylinux_2_17_x86_64`.
    pub fn tag(&self, architecture: Architecture) -> String {
        format!("{}_{architecture}", self.name)
    }
}

pub(super) fn is_glibc_loader(name: &str) -> bool {
    name.starts_with("ld-linux") || name.starts_with("ld64.so.")
}
