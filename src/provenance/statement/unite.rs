//! One statement out of those of several runs, where they tell of one build.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ARTIFACTS, Digest, ONLY, Statement};
use crate::provenance::contents;

impl Statement {
    /// The same, of only those packages that `stays` holds for, by path below `dist` and SHA-256.
    #[must_use]
    pub fn restricted(mut self, stays: impl Fn(&str, &str) -> bool) -> Self {
        self.subject.retain(|subject| stays(&subject.name, &subject.digest.sha256));
        self
    }

    /// Takes in what `other` tells of, if both could be of one run: the same builder, parameters and inputs,
    /// with `only` apart. Otherwise gives it back.
    ///
    /// # Errors
    /// With `other` as it was.
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
            if !ours.resolved_dependencies.contains(&descriptor) {
                ours.resolved_dependencies.push(descriptor);
            }
        }
        contents::sort(&mut ours.resolved_dependencies);
        self.subject.extend(other.subject);
        self.subject.sort_by(|a, b| a.name.cmp(&b.name));
        self.subject.dedup();
        Ok(())
    }

    /// Whether two statements cannot be of one run.
    fn contradicts(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        let digests: BTreeMap<&str, &Digest> =
            ours.resolved_dependencies.iter().map(|found| (&*found.name, &found.digest)).collect();
        let mut others = theirs.resolved_dependencies.iter().filter(|d| d.name != ARTIFACTS);
        self.difference(other).is_some()
            || self.other_options(other).is_some()
            || self.predicate.run_details != other.predicate.run_details
            || others
                .any(|found| digests.get(&*found.name).is_some_and(|own| **own != found.digest))
    }
}

/// What two runs asked for: everything, if one of them did.
fn both_only(ours: Option<Value>, theirs: Option<Value>) -> Option<Value> {
    let (Some(Value::Array(mut ours)), Some(Value::Array(theirs))) = (ours, theirs) else {
        return None;
    };
    ours.extend(theirs);
    ours.sort_by_key(Value::to_string);
    ours.dedup();
    Some(Value::Array(ours))
}
