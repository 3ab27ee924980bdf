//! Wheel-variant files under a new name, without labels of removed targets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::change::Change;
use super::error::PromoteError;
use super::input::{Body, Input, output, refusal};
use super::rewritten::dist_name;
use super::set::Set;
use super::targets::Targets;
use super::{Action, Package, metadata};
use base::names::VariantLabel;
use base::regular;
use wheel::archive::variants::{Variants, file_name};

const LONGEST: u64 = 1 << 20;

pub(super) fn target<'t>(input: &Input, targets: &'t Targets) -> Option<&'t str> {
    label(input)?;
    let (requirements, _) = metadata::requirements(&input.metadata);
    match requirements.as_slice() {
        [one] => targets.target_of(&one.name),
        _ => None,
    }
}

fn label(input: &Input) -> Option<&VariantLabel> {
    match &input.body {
        Body::Wheel(wheel) => wheel.name().variant.as_ref(),
        Body::Sdist(_) => None,
    }
}

/// The variant files; `gone` are packages for removed targets.
pub(super) fn files(
    kept: &[Input],
    gone: &[Input],
    set: &Set,
) -> Result<Vec<Package>, PromoteError> {
    let mut files: BTreeMap<PathBuf, &Input> = BTreeMap::new();
    for input in kept.iter().filter(|input| label(input).is_some()) {
        let name = file_name(&dist_name(input)?, &input.version);
        files.entry(input.found.path.with_file_name(name)).or_insert(input);
    }
    let labels: BTreeSet<&VariantLabel> = gone.iter().filter_map(label).collect();
    files.into_iter().map(|(from, input)| file(from, input, &labels, set)).collect()
}

fn file(
    from: PathBuf,
    input: &Input,
    gone: &BTreeSet<&VariantLabel>,
    set: &Set,
) -> Result<Package, PromoteError> {
    let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = regular::read_to_string(&from, LONGEST)?;
    let mut data = Variants::read(text.as_bytes()).map_err(|error| {
        let reason = format!("its variant data is malformed: {error}");
        refusal(&name, reason, "build the packages again")
    })?;
    let mut changes = Vec::new();
    for label in gone {
        if data.variants.remove(*label).is_some() {
            changes.push(Change::removal(&name, "variants", label.as_str()));
        }
    }
    let text = if changes.is_empty() { text } else { data.text() };
    let output = output(&input.found, &file_name(&dist_name(input)?, &set.to))?;
    let below = input.below_dist();
    let directory =
        below.rsplit_once('/').map_or_else(String::new, |(above, _)| format!("{above}/"));
    Ok(Package { from, input: directory + &name, output, changes, action: Action::Text(text) })
}
