//! The ISAs there are, and what else artifacts are built for.

use indexmap::IndexMap;

use crate::names::Isa;
use crate::source::Place;
use crate::target::Values;

/// The ISAs there are, in the order of `families.kdl`, and what a build leaves out for some.
#[derive(Debug, Clone, Default)]
pub struct Families {
    /// ISA by name.
    pub isas: IndexMap<Isa, IsaFacts>,
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
}

impl Values for Families {
    fn isas(&self) -> Vec<String> {
        self.isas.keys().map(ToString::to_string).collect()
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

    /// The ISAs that `name` (a family or an ISA) stands for, smallest first; empty when nobody knows it.
    pub fn expand(&self, name: &str) -> Vec<Isa> {
        let named = |(isa, facts): &(&Isa, &IsaFacts)| {
            isa.as_str() == name || facts.families.iter().any(|f| f == name)
        };
        let mut isas: Vec<Isa> =
            self.isas.iter().filter(named).map(|(isa, _)| isa.clone()).collect();
        isas.sort();
        isas
    }

    /// Every name that [`Self::expand`] knows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let families =
            self.isas.values().flat_map(|facts| facts.families.iter().map(String::as_str));
        self.isas.keys().map(Isa::as_str).chain(families)
    }
}
