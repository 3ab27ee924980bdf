//! Which members are compressed in another way than the rest.

use std::collections::BTreeMap;

use crate::{Distribution, Form, Request};
use base::names::{Compression, RelPath};
use manifest::{CompressionRule, Manifest};

/// The members of a wheel that rules compress in another way than the wheel's others. The first rule
/// that matches where a file is installed counts. A level that was asked for takes the place of every
/// rule but those that store: what they name does not shrink, whatever the level.
pub(super) fn otherwise(
    manifest: &Manifest,
    request: &Request,
    distribution: &Distribution,
) -> BTreeMap<RelPath, Compression> {
    let rules = &manifest.project.compression;
    if distribution.form == Form::Sdist || rules.is_empty() {
        return BTreeMap::new();
    }
    let counts =
        |rule: &&CompressionRule| request.compression.is_none() || rule.level == Compression::Store;
    let level = |installed: &RelPath| {
        rules.matching(installed).map(|(_, rule)| rule).find(counts).map(|rule| rule.level)
    };
    let members = distribution.members.iter().filter_map(|member| {
        let level = level(&member.step.source()?.path)
            .filter(|level| *level != distribution.compression)?;
        Some((member.path.clone(), level))
    });
    members.collect()
}
