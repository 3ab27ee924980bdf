use std::fmt;
use std::sync::OnceLock;

use super::lines::lines;
use crate::Machine;
use crate::elf::stub::StubMachine;

/// Architecture of a platform tag (`x86_64`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture(&'static str);

struct Facts {
    architecture: Architecture,
    machine: Machine,
    /// Name in the SONAME of musl.
    musl: &'static str,
    /// Loaders of glibc and musl.
    loaders: [&'static str; 2],
}

impl Architecture {
    /// Returns all architectures with policies.
    pub fn all() -> impl Iterator<Item = Self> {
        facts().iter().map(|facts| facts.architecture)
    }

    /// Returns the architecture of a processor; `None` without policies.
    pub fn of(machine: Machine) -> Option<Self> {
        facts().iter().find(|facts| facts.machine == machine).map(|facts| facts.architecture)
    }

    /// Returns the architecture that compressed platform tags name.
    pub fn in_tags(tags: &str) -> Option<Self> {
        let names =
            |it: &Self, tag: &str| tag.strip_suffix(it.0).is_some_and(|start| start.ends_with('_'));
        tags.split('.').find_map(|tag| Self::all().find(|it| names(it, tag)))
    }

    /// Returns the name in tags.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Returns whether programs of other systems have this `PT_INTERP`.
    pub(super) fn has_loader(self, path: &str) -> bool {
        facts().iter().any(|facts| facts.architecture == self && facts.loaders.contains(&path))
    }

    pub(super) fn musl(self) -> &'static str {
        facts().iter().find(|facts| facts.architecture == self).map_or(self.0, |facts| facts.musl)
    }
}

impl From<StubMachine> for Architecture {
    fn from(machine: StubMachine) -> Self {
        match machine {
            StubMachine::X86_64 => Self("x86_64"),
            StubMachine::Aarch64 => Self("aarch64"),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

fn facts() -> &'static [Facts] {
    static FACTS: OnceLock<Vec<Facts>> = OnceLock::new();
    FACTS.get_or_init(|| {
        let machines = lines().filter(|line| line.what == "machine");
        machines.filter_map(|line| facts_of(line.architectures, line.list)).collect()
    })
}

fn facts_of(name: &'static str, list: &'static str) -> Option<Facts> {
    let mut words = list.split(' ');
    let (number, bits) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let machine = Machine::new(number, bits, words.next()? == "big");
    let musl = words.next()?;
    let loaders = [words.next()?, words.next()?];
    Some(Facts { architecture: Architecture(name), machine, musl, loaders })
}
