//! One statement out of those of several runs, where they tell of one build.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    ARTIFACTS, BUILD_TYPE, Descriptor, Digest, ONLY, PACKAGES, PROMOTION_TYPE, Statement, Subject,
};
use crate::package::distribution_of;

impl Statement {
    /// The same, of only those packages that `stays` holds for, by path below `dist` and SHA-256.
    #[must_use]
    pub fn restricted(mut self, stays: impl Fn(&str, &str) -> bool) -> Self {
        self.subject.retain(|subject| stays(&subject.name, &subject.digest.sha256));
        let file = |subject: &Subject| subject.name.rsplit('/').next().and_then(distribution_of);
        let left: BTreeSet<String> = self.subject.iter().filter_map(file).collect();
        // Inputs of a project are of its packages alone.
        let inputs = &mut self.predicate.build_definition.resolved_dependencies;
        inputs.retain(|input| {
            input.packages().is_none_or(|names| names.iter().any(|name| left.contains(*name)))
        });
        self
    }

    /// Takes in what `other` tells of, if both could be of one run: the same builder, parameters and inputs,
    /// with `only` apart. Otherwise gives it back.
    ///
    /// # Errors
    /// With `other` as it was.
    pub fn unite(&mut self, other: Self) -> Result<(), Box<Self>> {
        if self.contradiction(&other).is_some() {
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
        self.subject.extend(other.subject);
        self.subject.sort_by(|a, b| a.name.cmp(&b.name));
        self.subject.dedup();
        Ok(())
    }

    /// What two builds decided differently, in words: version, mode or platform tag. Packages of builds that
    /// decided differently do not belong together, and neither do those of two kinds of build.
    pub fn decided_otherwise(&self, other: &Self) -> Option<String> {
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        if ours.build_type != theirs.build_type {
            let one_is = |kind: &&str| [ours, theirs].iter().any(|of| of.build_type == *kind);
            let by = [(BUILD_TYPE, "build"), (PROMOTION_TYPE, "promote")];
            let by = by.into_iter().find(|(kind, _)| one_is(kind)).map_or("split", |(_, by)| by);
            return Some(format!("only one of them was made by `rockpack {by}`"));
        }
        difference(&ours.internal_parameters, &theirs.internal_parameters)
    }

    /// What keeps two statements from being of one run, in words: nothing if they can be.
    fn contradiction(&self, other: &Self) -> Option<String> {
        let (ours, theirs) = (&self.predicate.build_definition, &other.predicate.build_definition);
        let different = self
            .decided_otherwise(other)
            .or_else(|| difference(&ours.external_parameters, &theirs.external_parameters));
        if different.is_some() {
            return different;
        }
        let digests: BTreeMap<&str, &Digest> =
            ours.resolved_dependencies.iter().map(|found| (&*found.name, &found.digest)).collect();
        let mut others = theirs.resolved_dependencies.iter().filter(|d| d.name != ARTIFACTS);
        let other_content = others.find(|found| {
            digests.get(&*found.name).is_some_and(|digest| **digest != found.digest)
                || ours.resolved_dependencies.iter().any(|own| differs(own, found))
        });
        if let Some(found) = other_content {
            return Some(format!("they are made of two different {}", found.name));
        }
        let run = |statement: &Self| {
            serde_json::to_value(&statement.predicate.run_details).unwrap_or_default()
        };
        (run(self) != run(other)).then(|| "they are by two different builders or runs".to_owned())
    }
}

/// Whether two inputs of projects have one name, and are not the same but for the packages they went into: the build
/// of one commit can have other tools or variables.
fn differs(ours: &Descriptor, theirs: &Descriptor) -> bool {
    let plain = |descriptor: &Descriptor| {
        let mut plain = descriptor.clone();
        plain.annotations.remove(PACKAGES);
        plain
    };
    ours.name == theirs.name && ours.packages().is_some() && plain(ours) != plain(theirs)
}

/// Adds an input that is not there yet; the packages of one that is are united.
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

/// The first parameter that has two values, `only` apart.
fn difference(ours: &Map<String, Value>, theirs: &Map<String, Value>) -> Option<String> {
    let mut names = ours.keys().chain(theirs.keys()).filter(|name| *name != ONLY);
    let name = names.find(|name| ours.get(*name) != theirs.get(*name))?;
    let (ours, theirs) = (shown(ours.get(name)), shown(theirs.get(name)));
    Some(format!("{name} is {ours} and {theirs}"))
}

/// A parameter as people write it.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "not given".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
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
