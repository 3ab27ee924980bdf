//! The policies, from the table.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::{Libc, StubMachine, architecture};
use crate::Machine;

/// What every system of a tag has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The tag without its architecture: `manylinux_2_17`.
    pub name: &'static str,
    /// Older names of the same (`manylinux2014`).
    pub aliases: Vec<&'static str>,
    /// The C library.
    pub libc: Libc,
    /// The C library's release.
    pub release: (u32, u32),
    content: Content,
}

/// What the lines of a policy and of those before it add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Content {
    versions: BTreeSet<String>,
    libraries: BTreeSet<String>,
    forbidden: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

/// The symbol versions that glibc's policies speak of; those of other libraries are those libraries' own business.
const JUDGED: [&str; 6] = ["GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC"];

const TABLE: &str = include_str!("table.tsv");

/// The policies of an architecture and C library, the oldest first.
pub fn policies(machine: StubMachine, libc: Libc) -> &'static [Policy] {
    static POLICIES: OnceLock<Vec<(StubMachine, Libc, Vec<Policy>)>> = OnceLock::new();
    let all = POLICIES.get_or_init(|| {
        let both =
            |machine| [Libc::Glibc, Libc::Musl].map(|libc| (machine, libc, read(machine, libc)));
        StubMachine::ALL.into_iter().flat_map(both).collect()
    });
    all.iter()
        .find(|(m, l, _)| (*m, *l) == (machine, libc))
        .map_or(&[], |(_, _, policies)| policies)
}

/// Whether some policy promises this library for a machine.
pub fn is_promised(machine: Machine, library: &str) -> bool {
    let Some(machine) = StubMachine::of(machine) else { return false };
    let both = [Libc::Glibc, Libc::Musl].map(|libc| policies(machine, libc));
    both.into_iter().flatten().any(|policy| policy.has_library(library))
}

/// Whether a policy forbids this symbol of a library that it allows.
pub(super) fn is_forbidden_somewhere(library: &str, symbol: &str) -> bool {
    static FORBIDDEN: OnceLock<BTreeSet<(&str, &str)>> = OnceLock::new();
    let all = FORBIDDEN.get_or_init(|| {
        let symbols =
            lines().filter_map(|line| Some((line.what.strip_prefix("forbid ")?, line.list)));
        symbols
            .flat_map(|(library, list)| list.split(' ').map(move |symbol| (library, symbol)))
            .collect()
    });
    all.contains(&(library, symbol))
}

struct Line {
    policy: &'static str,
    architectures: &'static str,
    what: &'static str,
    list: &'static str,
}

fn lines() -> impl Iterator<Item = Line> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        Some(Line {
            policy: columns.next()?,
            architectures: columns.next()?,
            what: columns.next()?,
            list: columns.next()?,
        })
    })
}

fn read(machine: StubMachine, libc: Libc) -> Vec<Policy> {
    let mut policies: Vec<Policy> = Vec::new();
    let mut content = Content::default();
    for line in lines().filter(|line| line.policy.starts_with(libc.prefix())) {
        let ours = line.architectures.split(' ').any(|name| name == architecture(machine));
        if line.what != "policy" && ours {
            content.add(&line, machine);
        } else if ours && let Some(release) = release(line.policy) {
            let aliases = line.list.split(' ').filter(|alias| *alias != "-").collect();
            policies.push(Policy {
                name: line.policy,
                aliases,
                libc,
                release,
                content: Content::default(),
            });
        }
        if let Some(policy) = policies.last_mut().filter(|policy| policy.name == line.policy) {
            policy.content = content.clone();
        }
    }
    policies
}

/// `(2, 17)` of `manylinux_2_17`.
pub(super) fn release(name: &str) -> Option<(u32, u32)> {
    let mut words = name.split('_').skip(1).map(str::parse);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(major)), Some(Ok(minor)), None) => Some((major, minor)),
        _ => None,
    }
}

impl Content {
    fn add(&mut self, line: &Line, machine: StubMachine) {
        let list = line.list.split(' ');
        match line.what.split_once(' ') {
            Some(("forbid", library)) => self.forbidden.entry(library).or_default().extend(list),
            Some((_, library)) => {
                let symbols = self.forbidden.entry(library).or_default();
                list.for_each(|symbol| {
                    symbols.remove(symbol);
                });
            }
            None if line.what == "library" => self
                .libraries
                .extend(list.map(|name| name.replace("{arch}", architecture(machine)))),
            None => self.versions.extend(list.map(|version| format!("{}_{version}", line.what))),
        }
    }
}

impl Policy {
    /// Whether its systems have a symbol version (`GLIBC_2.17`); those that it does not speak of count as there.
    pub fn has_version(&self, version: &str) -> bool {
        let judged = version.split_once('_').is_some_and(|(name, _)| JUDGED.contains(&name));
        self.libc == Libc::Musl || !judged || self.content.versions.contains(version)
    }

    /// Whether its systems have a library, by the name that NEEDED gives it.
    pub fn has_library(&self, name: &str) -> bool {
        // The loader itself is there wherever a file is loaded. musl's own builds name libc without an architecture.
        name.starts_with("ld-linux")
            || self.content.libraries.contains(name)
            || (self.libc == Libc::Musl && (name == "libc.so" || name.starts_with("ld-musl-")))
    }

    /// Whether a symbol of a library may not be used, though the library may.
    pub fn forbids(&self, library: &str, symbol: &str) -> bool {
        self.content.forbidden.get(library).is_some_and(|symbols| symbols.contains(symbol))
    }

    /// The whole tag: `manylinux_2_17_x86_64`.
    pub fn tag(&self, machine: StubMachine) -> String {
        format!("{}_{}", self.name, architecture(machine))
    }
}
