use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{ARTIFACTS, Descriptor, Digest, ONLY, PACKAGES, Statement, Subject};
use crate::provenance::contents;
use wheel::package::distribution_of;

impl Statement {
    /// Keeps only packages for which `stays` returns true, by path below `dist` and SHA-256.
    #[must_use]
    pub fn restricted(mut self, stays: impl Fn(&str, &str) -> bool) -> Self {
        self.subject.retain(|subject| stays(&subject.name, &subject.digest.sha256));
        let file = |subject: &Subject| subject.name.rsplit('/').next().and_then(distribution_of);
        let packages: BTreeSet<String> = self.subject.iter().filter_map(file).collect();
        // Inputs of a project are removed with its packages.
        let inputs = &mut self.predicate.build_definition.resolved_dependencies;
        inputs.retain(|input| {
            input.packages().is_none_or(|names| names.iter().any(|name| packages.contains(*name)))
        });
        self
    }

    /// Adds `other` if builder, parameters and inputs are equal, except `only`; otherwise returns
    /// it.
    pub fn unite(&mut self, other: Self) -> Result<(), Box<Self>> {
        if self.contradicts(&other) {
            return Err(Box::new(other));
        }
        let theirs = other.predicate.build_definition;
        let ours = &mut self.predicate.build_definition;
        let only = united_only(
            ours.external_parameters.remove(ONLY),
            theirs.external_parameters.get(ONLY).cloned(),
        );
        ours.external_parameters.extend(only.map(|only| (ONLY.to_owned(), only)));
        for descriptor in theirs.resolved_dependencies {
            add(&mut ours.resolved_dependencies, descriptor);
        }
        contents::sort(&mut ours.resolved_dependencies);
        self.subject.extend(other.subject);
        self.subject.sort_by(|a, b| a.name.cmp(&b.name));
        self.subject.dedup();
        Ok(())
    }

    fn contradicts(&self, other: &Self) -> bool {
        let definitions = (&self.predicate.build_definition, &other.predicate.build_definition);
        let (ours, theirs) =
            (&definitions.0.resolved_dependencies, &definitions.1.resolved_dependencies);
        let our_digests: BTreeMap<&str, &Digest> =
            ours.iter().map(|our| (&*our.name, &our.digest)).collect();
        let mut theirs = theirs.iter().filter(|their| their.name != ARTIFACTS);
        let mut has_other_input = || {
            theirs.any(|their| {
                our_digests.get(&*their.name).is_some_and(|digest| **digest != their.digest)
                    || ours.iter().any(|our| is_other_project_build(our, their))
            })
        };
        self.difference(other).is_some()
            || self.other_options(other).is_some()
            || self.predicate.run_details != other.predicate.run_details
            || has_other_input()
    }
}

/// Returns whether these are builds of one project with different inputs. The digests do not show
/// it, because builds of one commit can use different tools or variables.
fn is_other_project_build(ours: &Descriptor, theirs: &Descriptor) -> bool {
    let plain = |descriptor: &Descriptor| {
        let mut plain = descriptor.clone();
        plain.annotations.remove(PACKAGES);
        plain
    };
    ours.name == theirs.name && ours.packages().is_some() && plain(ours) != plain(theirs)
}

fn add(inputs: &mut Vec<Descriptor>, new: Descriptor) {
    let is_same = |input: &&mut Descriptor| input.name == new.name && input.packages().is_some();
    let Some(input) = inputs.iter_mut().find(is_same) else {
        if !inputs.contains(&new) {
            inputs.push(new);
        }
        return;
    };
    let packages = input.packages().into_iter().chain(new.packages()).flatten();
    let packages: BTreeSet<String> = packages.map(str::to_owned).collect();
    input.annotations.insert(PACKAGES.to_owned(), packages.into_iter().collect());
}

/// Unites the packages that both builds are limited to. `None`, no limit, if one build is complete:
/// then the union is complete.
fn united_only(ours: Option<Value>, theirs: Option<Value>) -> Option<Value> {
    let (Some(Value::Array(mut ours)), Some(Value::Array(theirs))) = (ours, theirs) else {
        return None;
    };
    ours.extend(theirs);
    ours.sort_by_key(Value::to_string);
    ours.dedup();
    Some(Value::Array(ours))
}
