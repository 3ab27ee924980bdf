//! ISAs, families and levels.

use indexmap::IndexMap;

use base::names::{Family, Isa, TargetNames, without_features};
use base::source::Place;
use base::target::Values;

pub mod lines;

/// ISAs in the order of `families.kdl`, and the parts of a build that some lack.
#[derive(Debug, Clone, Default)]
pub struct Families {
    /// ISAs by name.
    pub isas: IndexMap<Isa, IsaFacts>,
    /// Levels above ISAs, by name.
    pub levels: IndexMap<String, Level>,
    /// Values of each axis.
    pub axes: IndexMap<String, Vec<String>>,
    /// Parts of the build, with the ISAs that lack them.
    pub subprojects: IndexMap<String, Vec<Isa>>,
    /// ISAs of the program's own list.
    pub of_program: IndexMap<Isa, ProgramIsa>,
}

/// Line of an ISA in the program's own list.
#[derive(Debug, Clone)]
pub struct ProgramIsa {
    /// `EF_AMDGPU_MACH`.
    pub mach: Option<u32>,
    /// Text of the line.
    pub line: String,
}

/// Facts of one ISA.
#[derive(Debug, Clone)]
pub struct IsaFacts {
    /// Place of its declaration.
    pub place: Place,
    /// Its families, without its own name.
    pub families: Vec<String>,
    /// The ISA with its packages, if another.
    pub package: Option<Isa>,
    /// The level above it.
    pub parent: Option<String>,
    /// `EF_AMDGPU_MACH` (LLVM's AMDGPU user guide).
    pub mach: Option<u32>,
    /// Wavefront that compilers use by default.
    pub wave: Option<Wavefront>,
}

/// Number of lanes that run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wavefront {
    /// 32 lanes.
    Wave32,
    /// 64 lanes.
    Wave64,
}

impl Wavefront {
    /// Returns the wavefront with this number of lanes.
    pub fn of_lanes(lanes: usize) -> Option<Self> {
        match lanes {
            32 => Some(Self::Wave32),
            64 => Some(Self::Wave64),
            _ => None,
        }
    }

    /// Returns its lanes: 32 or 64.
    pub fn lanes(self) -> u32 {
        match self {
            Self::Wave32 => 32,
            Self::Wave64 => 64,
        }
    }
}

/// A level above ISAs: they run its code, and their packages require its package.
#[derive(Debug, Clone)]
pub struct Level {
    /// Place of its declaration.
    pub place: Place,
    /// The level above it.
    pub parent: Option<String>,
}

impl Values for Families {
    fn isas(&self) -> Vec<String> {
        let levels = self.levels.keys().cloned();
        self.packaged().map(ToString::to_string).chain(levels).collect()
    }

    fn families(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    fn axis(&self, name: &str) -> Vec<String> {
        self.axes.get(name).cloned().unwrap_or_default()
    }
}

impl Families {
    /// Returns whether `name` is the value of an axis.
    pub fn is_on_axis(&self, name: &str) -> bool {
        self.axes.values().flatten().any(|value| value == name)
    }

    pub(crate) fn packaged(&self) -> impl Iterator<Item = &Isa> {
        self.isas.iter().filter(|(_, facts)| facts.package.is_none()).map(|(isa, _)| isa)
    }

    /// Returns the target with the packages of code for `family`: features make no other target,
    /// and an ISA can use another's packages.
    pub fn target_of<'f>(&'f self, family: &'f Family) -> &'f str {
        self.package_of(family.as_str())
    }

    /// Returns the target for any name.
    pub fn package_of<'f>(&'f self, name: &'f str) -> &'f str {
        let name = without_features(name);
        let facts = self.isas.iter().find(|(isa, _)| isa.as_str() == name).map(|(_, facts)| facts);
        facts.and_then(|facts| facts.package.as_ref()).map_or(name, Isa::as_str)
    }

    /// Returns the ISAs with packages of a family, level or ISA, smallest first; empty for unknown
    /// names.
    pub fn expand(&self, name: &str) -> Vec<Isa> {
        let has_name = |(isa, facts): &(&Isa, &IsaFacts)| {
            isa.as_str() == name
                || facts.families.iter().any(|f| f == name)
                || self.above(isa.as_str()).contains(&name)
        };
        let home = |(isa, facts): (&Isa, &IsaFacts)| facts.package.as_ref().unwrap_or(isa).clone();
        let mut isas: Vec<Isa> = self.isas.iter().filter(has_name).map(home).collect();
        isas.sort();
        isas.dedup();
        isas
    }

    /// Returns the levels above an ISA or a level, the nearest first.
    pub fn above(&self, name: &str) -> Vec<&str> {
        let isa = self.isas.iter().find(|(isa, _)| isa.as_str() == name);
        let mut next = match isa {
            Some((_, facts)) => facts.parent.as_deref(),
            None => self.levels.get(name).and_then(|level| level.parent.as_deref()),
        };
        let mut above = Vec::new();
        while let Some(level) = next.filter(|level| !above.contains(level)) {
            above.push(level);
            next = self.levels.get(level).and_then(|level| level.parent.as_deref());
        }
        above
    }

    /// Returns every name that [`Self::expand`] knows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let families =
            self.isas.values().flat_map(|facts| facts.families.iter().map(String::as_str));
        let levels = self.levels.keys().map(String::as_str);
        self.isas.keys().map(Isa::as_str).chain(levels).chain(families)
    }

    /// Returns the names in files and code, with the target of each.
    pub fn target_names(&self) -> TargetNames {
        let mut names = TargetNames::default();
        for (isa, facts) in &self.isas {
            names.add_isa(isa, self.package_of(isa.as_str()), facts.mach);
        }
        for name in self.names().filter(|name| !self.isas.keys().any(|isa| isa.as_str() == *name)) {
            names.add_group(name, self.expand(name).iter().map(Isa::as_str));
        }
        names
    }
}
