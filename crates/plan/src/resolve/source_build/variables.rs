use std::collections::BTreeMap;

use crate::Request;
use crate::resolve::targets::{Targets, families_option};
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Filling, Manifest, Wavefront, setting};

pub(super) struct Variables<'a> {
    values: BTreeMap<&'a str, String>,
    isas: Vec<(String, Option<Wavefront>)>,
    /// Option of the command line for the families of the built system.
    pub families_option: String,
}

impl<'a> Variables<'a> {
    /// The command line overrides the manifest.
    pub fn new(
        manifest: &'a Manifest,
        request: &Request,
        targets: &Targets,
        problems: &mut Problems,
    ) -> Self {
        let mut isas: Vec<(String, Option<Wavefront>)> = Vec::new();
        for built in &targets.built {
            for isa in manifest.families.expand(built) {
                let wave = manifest.families.isas.get(&isa).and_then(|facts| facts.wave);
                if !isas.iter().any(|(other, _)| other == isa.as_str()) {
                    isas.push((isa.into(), wave));
                }
            }
        }
        let families_option = families_option(targets.system);
        let mut variables = Self { values: BTreeMap::new(), isas, families_option };
        for (name, value) in &manifest.python.variables {
            let value = variables.fill(value.as_str());
            variables.values.insert(name.as_str(), value);
        }
        for (name, value) in &request.variables {
            match variables.values.get_mut(name.as_str()) {
                Some(old) => value.clone_into(old),
                None => problems.push(variables.unknown(name)),
            }
        }
        variables
    }

    fn listed(&self, fits: impl Fn(Option<Wavefront>) -> bool) -> Option<String> {
        let names = self.isas.iter().filter(|(_, wave)| fits(*wave)).map(|(isa, _)| isa.as_str());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| names.join(";"))
    }

    pub(super) fn isas(&self) -> impl Iterator<Item = &str> {
        self.isas.iter().map(|(isa, _)| isa.as_str())
    }

    fn unknown(&self, name: &str) -> Problem {
        let text = format!("--variable: the manifest has no variable `{name}`");
        let names: Vec<String> = self.values.keys().map(|name| format!("`{name}`")).collect();
        let near = nearest(name, self.values.keys().copied());
        let hint = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let list = match names.as_slice() {
            [] => "the manifest has no variables".to_owned(),
            names => format!("the variables are {}", names.join(", ")),
        };
        Problem::usage(Code::InvalidText, text).help(format!("{hint}{list}"))
    }

    /// Placeholders that only a build knows remain, and empty lists of ISAs.
    pub fn fill(&self, text: &str) -> String {
        setting::fill(text, |place| match place {
            Filling::Isas => self.listed(|_| true),
            Filling::IsasOf(wave) => self.listed(|of| of == Some(*wave)),
            Filling::Variable(name) => self.values.get(name.as_str()).cloned(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime};

    #[test]
    fn an_isa_of_several_families_is_listed_once() {
        let mut fixture =
            Fixture::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
        let cases: [(&[&str], &str); 4] = [
            (&["gfx942"], "gfx942"),
            (&["gfx94X-all", "gfx94X-dcgpu"], "gfx942"),
            (&["gfx94X-all", "gfx110X-all", "gfx942"], "gfx942;gfx1100;gfx1101"),
            (&[], "{isas}"),
        ];
        for (built, expected) in cases {
            fixture.targets.built = built.iter().map(|name| (*name).to_owned()).collect();
            let (request, mut problems) = (Request::default(), Problems::new());
            let variables =
                Variables::new(&fixture.manifest, &request, &fixture.targets, &mut problems);
            assert_eq!(variables.fill("-D{isas}"), format!("-D{expected}"));
        }
    }
}
