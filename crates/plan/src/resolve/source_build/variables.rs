use std::collections::BTreeMap;

use crate::Request;
use crate::resolve::targets::Targets;
use base::source::{Code, Problem, Problems, nearest};
use manifest::{Filling, Manifest, setting};

pub(super) struct Variables<'a> {
    values: BTreeMap<&'a str, String>,
    isas: String,
}

impl<'a> Variables<'a> {
    /// The command line overrides the manifest.
    pub fn new(
        manifest: &'a Manifest,
        request: &Request,
        targets: &Targets,
        problems: &mut Problems,
    ) -> Self {
        let mut isas: Vec<String> = Vec::new();
        for built in &targets.built {
            for isa in manifest.families.expand(built).into_iter().map(String::from) {
                if !isas.contains(&isa) {
                    isas.push(isa);
                }
            }
        }
        let mut variables = Self { values: BTreeMap::new(), isas: isas.join(";") };
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

    fn unknown(&self, name: &str) -> Problem {
        let text = format!("--variable: the manifest has no variable `{name}`");
        let names: Vec<String> = self.values.keys().map(|name| format!("`{name}`")).collect();
        let near = nearest(name, self.values.keys().copied());
        let hint = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let known = match names.as_slice() {
            [] => "the manifest has no variables".to_owned(),
            names => format!("the variables are {}", names.join(", ")),
        };
        Problem::usage(Code::InvalidText, text).help(format!("{hint}{known}"))
    }

    /// Placeholders that only a build knows remain.
    pub fn fill(&self, text: &str) -> String {
        setting::fill(text, |place| match place {
            Filling::Isas => Some(self.isas.clone()),
            Filling::Variable(name) => self.values.get(name.as_str()).cloned(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Given, runtime};

    #[test]
    fn an_isa_of_several_families_is_listed_once() {
        let mut given =
            Given::new(&[runtime("core", "artifact \"a\" \"lib\"")], "a_lib_generic f text f");
        let cases: [(&[&str], &str); 4] = [
            (&["gfx942"], "gfx942"),
            (&["gfx94X-all", "gfx94X-dcgpu"], "gfx942"),
            (&["gfx94X-all", "gfx110X-all", "gfx942"], "gfx942;gfx1100;gfx1101"),
            (&[], ""),
        ];
        for (built, expected) in cases {
            given.targets.built = built.iter().map(|name| (*name).to_owned()).collect();
            let (request, mut problems) = (Request::default(), Problems::new());
            let variables =
                Variables::new(&given.manifest, &request, &given.targets, &mut problems);
            assert_eq!(variables.fill("-D{isas}"), format!("-D{expected}"));
        }
    }
}
