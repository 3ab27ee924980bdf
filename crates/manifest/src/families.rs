//! The ISAs there are, and what else artifacts are built for.

use indexmap::IndexMap;

use base::names::{Family, Isa, TargetNames, without_features};
use base::source::Place;
use base::target::Values;

pub mod lines;

/// The ISAs there are, in the order of `families.kdl`, and what a build leaves out for some.
#[derive(Debug, Clone, Default)]
pub struct Families {
    /// ISA by name.
    pub isas: IndexMap<Isa, IsaFacts>,
    /// Levels above ISAs, by name.
    pub levels: IndexMap<String, Level>,
    /// Other splits of a build than ISAs and families: the values of each axis.
    pub axes: IndexMap<String, Vec<String>>,
    /// Parts of the build that are not built for every ISA, by name.
    pub subprojects: IndexMap<String, Vec<Isa>>,
}

/// What `families.kdl` says of one ISA.
#[derive(Debug, Clone)]
pub struct IsaFacts {
    /// Where it is declared.
    pub place: Place,
    /// The families it is in, besides its own name.
    pub families: Vec<String>,
    /// The ISA whose packages have its code; without one it has packages of its own.
    pub package: Option<Isa>,
    /// The level above it.
    pub parent: Option<String>,
    /// The number that ELF code objects have for it (`EF_AMDGPU_MACH`, LLVM's AMDGPU user guide).
    pub mach: Option<u32>,
}

/// `level "gpu9x" parent="gpu9"`: code that several ISAs run, in a package that theirs require.
#[derive(Debug, Clone)]
pub struct Level {
    /// Where it is declared.
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
    /// Whether `name` is the value of an axis.
    pub fn is_on_axis(&self, name: &str) -> bool {
        self.axes.values().flatten().any(|value| value == name)
    }

    /// The ISAs that have packages of their own.
    pub fn packaged(&self) -> impl Iterator<Item = &Isa> {
        self.isas.iter().filter(|(_, facts)| facts.package.is_none()).map(|(isa, _)| isa)
    }

    /// The target whose packages have what is built for `family`: features do not make another
    /// target, and an ISA can be packaged with another one.
    pub fn home<'f>(&'f self, family: &'f Family) -> &'f str {
        self.package_of(family.as_str())
    }

    /// The same for a name from elsewhere.
    pub fn package_of<'f>(&'f self, name: &'f str) -> &'f str {
        let name = without_features(name);
        let facts = self.isas.iter().find(|(isa, _)| isa.as_str() == name).map(|(_, facts)| facts);
        facts.and_then(|facts| facts.package.as_ref()).map_or(name, Isa::as_str)
    }

    /// The ISAs with packages that `name` (a family, a level or an ISA) stands for, smallest first;
    /// empty when nobody knows it.
    pub fn expand(&self, name: &str) -> Vec<Isa> {
        let named = |(isa, facts): &(&Isa, &IsaFacts)| {
            isa.as_str() == name
                || facts.families.iter().any(|f| f == name)
                || self.above(isa.as_str()).contains(&name)
        };
        let home = |(isa, facts): (&Isa, &IsaFacts)| facts.package.as_ref().unwrap_or(isa).clone();
        let mut isas: Vec<Isa> = self.isas.iter().filter(named).map(home).collect();
        isas.sort();
        isas.dedup();
        isas
    }

    /// The levels above an ISA or a level, the nearest first.
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

    /// Every name that [`Self::expand`] knows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let families =
            self.isas.values().flat_map(|facts| facts.families.iter().map(String::as_str));
        let levels = self.levels.keys().map(String::as_str);
        self.isas.keys().map(Isa::as_str).chain(levels).chain(families)
    }

    /// The names as files and code bear them, and where code of each belongs.
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
