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
        let left: BTreeSet<String> = self.subject.iter().filter_map(file).collect();
        // Inputs of a project are removed with its packages.
        let inputs = &mut self.predicate.build_definition.resolved_dependencies;
        inputs.retain(|input| {
            input.packages().is_none_or(|names| names.iter().any(|name| left.contains(*name)))
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
        let only = both_only(
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
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        let digests: BTreeMap<&str, &Digest> =
            ours.resolved_dependencies.iter().map(|found| (&*found.name, &found.digest)).collect();
        let mut others = theirs.resolved_dependencies.iter().filter(|d| d.name != ARTIFACTS);
        let mut other_content = || {
            others.any(|found| {
                digests.get(&*found.name).is_some_and(|own| **own != found.digest)
                    || ours.resolved_dependencies.iter().any(|own| differs(own, found))
            })
        };
        self.difference(other).is_some()
            || self.other_options(other).is_some()
            || self.predicate.run_details != other.predicate.run_details
            || other_content()
    }
}

/// Builds of one commit can use different tools or variables.
fn differs(ours: &Descriptor, theirs: &Descriptor) -> bool {
    let plain = |descriptor: &Descriptor| {
        let mut plain = descriptor.clone();
        plain.annotations.remove(PACKAGES);
        plain
    };
    ours.name == theirs.name && ours.packages().is_some() && plain(ours) != plain(theirs)
}

fn add(all: &mut Vec<Descriptor>, new: Descriptor) {
    let same = |own: &&mut Descriptor| own.name == new.name && own.packages().is_some();
    let Some(own) = all.iter_mut().find(same) else {
        if !all.contains(&new) {
            all.push(new);
        }
        return;
    };
    let both = own.packages().into_iter().chain(new.packages()).flatten();
    let both: BTreeSet<String> = both.map(str::to_owned).collect();
    own.annotations.insert(PACKAGES.to_owned(), both.into_iter().collect());
}

/// A complete build makes the union complete.
fn both_only(ours: Option<Value>, theirs: Option<Value>) -> Option<Value> {
    let (Some(Value::Array(mut ours)), Some(Value::Array(theirs))) = (ours, theirs) else {
        return None;
    };
    ours.extend(theirs);
    ours.sort_by_key(Value::to_string);
    ours.dedup();
    Some(Value::Array(ours))
}
